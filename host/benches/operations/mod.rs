//! Work on files: by a guest through hotcell's file system, by the same guest over wasmtime-wasi's,
//! and by the system calls alone.
//!
//! Each sample is many operations in one call, so that what a call costs does not hide what an
//! operation costs. `bash` is measured by whole commands over a tree of 1,000 files.

use crate::support::raw::RawHost;
use crate::support::{SLOTS, Unwatched, policy, runtime, toolbox};
use criterion::{Criterion, Throughput};
use hotcell::policy::Decision;
use hotcell::protocol::{Capabilities, Capability, ToolCall, ToolDefinition};
use hotcell::sandbox::{Component, Invocation, Sandbox, SandboxSettings};
use hotcell::tools::{BUILTINS, Toolbox};
use hotcell_test_artifacts::Guest;
use rustix::fs::{CWD, Dir, Mode, OFlags, openat};
use std::borrow::Cow;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

/// Operations in one call.
const TIMES: u64 = 1_000;

/// Names in the large directory.
const NAMES: usize = 10_000;

const BLOCK: usize = 4096;

/// A workspace with a file to read, a large directory, and a tree to search.
fn workspace() -> TempDir {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let at = |path: &str| directory.path().join(path);
    for below in ["sub/deep", "many"] {
        std::fs::create_dir_all(at(below)).expect("made");
    }
    std::fs::write(at("sub/deep/block"), [b'x'; BLOCK]).expect("written");
    for index in 0..NAMES {
        std::fs::write(at(&format!("many/file-{index:05}.txt")), "").expect("written");
    }
    // Ten directories of ten of ten, one file in three Rust.
    for index in 0..1_000 {
        let below = at(&format!("tree/{}/{}", index / 100, index / 10 % 10));
        std::fs::create_dir_all(&below).expect("made");
        let ending = if index % 3 == 0 { "rs" } else { "txt" };
        let text = format!("line {index}\n").repeat(40) + "needle\n";
        std::fs::write(below.join(format!("file-{index}.{ending}")), text).expect("written");
    }
    directory
}

/// The guest behind hotcell's boundary.
struct Worker {
    component: Component,
    grant: hotcell::policy::Grant,
}

impl Worker {
    async fn new(workspace: &Path) -> Self {
        let sandbox = Sandbox::new(SandboxSettings {
            slots: SLOTS,
            ..SandboxSettings::default()
        })
        .expect("the sandbox starts");
        let component = sandbox
            .load(Cow::Owned(Guest::FileWork.bytes()))
            .expect("it is a component");
        let tool = ToolDefinition {
            name: "guest".to_owned(),
            description: String::new(),
            input_schema: serde_json::json!({ "type": "object" }),
            requires: [Capability::WorkspaceRead, Capability::WorkspaceWrite]
                .into_iter()
                .collect(),
            accepts: Capabilities::NONE,
        };
        match policy(workspace).decide(&tool) {
            Decision::Grant(grant) => Worker { component, grant },
            Decision::Deny(rule) => panic!("everything is allowed, and yet: {rule}"),
        }
    }

    async fn work(&self, arguments: &str) {
        let invocation = Invocation {
            tool: "guest".to_owned(),
            arguments: arguments.to_owned(),
            call_id: "call".to_owned(),
            session_id: "session".to_owned(),
        };
        let output = Arc::new(Unwatched);
        let outcome = self.component.call(&self.grant, invocation, output).await;
        assert!(outcome.result.is_ok(), "{:?}", outcome.result);
    }
}

/// As a native tool does it: by the whole path, with the fewest system calls.
fn read_natively(path: &Path) {
    for _ in 0..TIMES {
        let file = openat(CWD, path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
        let mut block = Vec::with_capacity(BLOCK);
        rustix::io::pread(
            file.expect("it opens"),
            rustix::buffer::spare_capacity(&mut block),
            0,
        )
        .expect("it reads");
        black_box(block);
    }
}

fn write_natively(path: &Path) {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::CLOEXEC;
    for _ in 0..TIMES {
        let file = openat(CWD, path, flags, Mode::from(0o666)).expect("it opens");
        rustix::io::pwrite(file, &[b'x'; BLOCK], 0).expect("it writes");
    }
}

fn list_natively(path: &Path) {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let handle = openat(CWD, path, flags, Mode::empty()).expect("it opens");
    let mut names = 0;
    for entry in Dir::new(handle).expect("it lists") {
        // A name of its own, as every user of a listing needs.
        black_box(entry.expect("it reads").file_name().to_owned());
        names += 1;
    }
    assert_eq!(names, NAMES + 2);
}

/// Single operations, a thousand in a call.
pub fn operations(criterion: &mut Criterion) {
    let runtime = runtime(2);
    let directory = workspace();
    let worker = runtime.block_on(Worker::new(directory.path()));
    let raw = RawHost::new(&Guest::FileWork.bytes(), directory.path(), SLOTS);
    type Natively = fn(&Path);
    let rows: [(&str, String, &str, u64, Natively, bool); 3] = [
        (
            "open and read 4 KiB",
            format!("read {TIMES} sub/deep/block"),
            "sub/deep/block",
            TIMES,
            read_natively,
            true,
        ),
        (
            "open and write 4 KiB",
            format!("write {TIMES} sub/deep/made"),
            "sub/deep/made",
            TIMES,
            write_natively,
            // The baseline opens its workspace to read.
            false,
        ),
        (
            "list 10,000 names",
            "list 1 many".to_owned(),
            "many",
            NAMES as u64,
            list_natively,
            true,
        ),
    ];
    for (name, arguments, path, elements, natively, is_read) in rows {
        let mut group = criterion.benchmark_group(name);
        group.throughput(Throughput::Elements(elements));
        let path = directory.path().join(path);
        group.bench_function("native", |bencher| bencher.iter(|| natively(&path)));
        group.bench_function("hotcell", |bencher| {
            bencher.to_async(&runtime).iter(|| worker.work(&arguments));
        });
        if is_read {
            group.bench_function("wasmtime-wasi", |bencher| {
                bencher
                    .to_async(&runtime)
                    .iter(|| raw.call("guest", &arguments));
            });
        }
        group.finish();
    }
}

/// bash behind both file systems.
struct Shells {
    toolbox: Toolbox,
    raw: RawHost,
    workspace: PathBuf,
}

impl Shells {
    async fn by_hotcell(&self, command: &str) {
        let call = ToolCall {
            id: "call".to_owned(),
            name: "bash".to_owned(),
            arguments: serde_json::json!({ "command": command }),
            malformed: None,
        };
        let policy = policy(&self.workspace);
        let watcher = Arc::new(Unwatched);
        let result = self.toolbox.call(&policy, "session", &call, watcher).await;
        assert!(!result.is_error(), "{}", result.text());
    }

    async fn by_wasmtime(&self, command: &str) {
        let arguments = serde_json::json!({ "command": command }).to_string();
        self.raw.call("bash", &arguments).await;
    }
}

/// Whole commands of bash.
pub fn commands(criterion: &mut Criterion) {
    let runtime = runtime(2);
    let directory = workspace();
    let bash = BUILTINS
        .iter()
        .find(|builtin| builtin.name == "bash")
        .expect("bash is built in");
    let cache = tempfile::tempdir().expect("a temporary directory");
    let shells = Shells {
        toolbox: runtime.block_on(toolbox(
            std::slice::from_ref(bash),
            &cache.path().join("cache"),
        )),
        raw: RawHost::new(bash.wasm, directory.path(), SLOTS),
        workspace: directory.path().to_owned(),
    };
    for command in ["find tree -name '*.rs'", "grep -rn needle tree"] {
        let mut group = criterion.benchmark_group(format!("bash: {command}, 1,000 files"));
        group.sample_size(10);
        group.bench_function("hotcell", |bencher| {
            bencher
                .to_async(&runtime)
                .iter(|| shells.by_hotcell(command));
        });
        group.bench_function("wasmtime-wasi", |bencher| {
            bencher
                .to_async(&runtime)
                .iter(|| shells.by_wasmtime(command));
        });
        group.finish();
    }
}
