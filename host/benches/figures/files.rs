//! Work on files: by a guest through hotcell's file system, by the same guest over wasmtime-wasi's,
//! and by the system calls alone.
//!
//! Each sample is many operations in one call, so that what a call costs does not hide what an
//! operation costs. wasmtime-wasi stands here twice: as a host gets it that links it and sets
//! nothing, and answering on the calling thread, which it calls blocking.

use crate::support::raw::RawHost;
use crate::support::{SLOTS, Unwatched, policy, runtime};
use crate::table::{Goal, Table};
use crate::throughput::median;
use hotcell::policy::{Decision, Grant};
use hotcell::protocol::{Capabilities, Capability, ToolDefinition};
use hotcell::sandbox::{Component, Invocation, Sandbox, SandboxSettings};
use hotcell_test_artifacts::Guest;
use rustix::fs::{CWD, Dir, Mode, OFlags, openat};
use std::borrow::Cow;
use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use tempfile::TempDir;

/// Operations in one call.
const TIMES: u32 = 1_000;

/// Names in the large directory.
const NAMES: u32 = 10_000;

const BLOCK: usize = 4096;

/// How often the ways take turns.
const ROUNDS: usize = 60;

/// A row of the table: the work of the guest, how many operations it is, and the same natively.
struct Row {
    name: &'static str,
    arguments: String,
    path: &'static str,
    operations: u32,
    natively: fn(&Path),
}

fn rows() -> [Row; 3] {
    [
        Row {
            name: "open and read 4 KiB",
            arguments: format!("read {TIMES} sub/deep/block"),
            path: "sub/deep/block",
            operations: TIMES,
            natively: read_natively,
        },
        Row {
            name: "open and write 4 KiB",
            arguments: format!("write {TIMES} sub/deep/made"),
            path: "sub/deep/made",
            operations: TIMES,
            natively: write_natively,
        },
        Row {
            name: "list a name of 10,000",
            arguments: "list 1 many".to_owned(),
            path: "many",
            operations: NAMES,
            natively: list_natively,
        },
    ]
}

pub fn measure(table: &Table) {
    let runtime = runtime(2);
    let directory = workspace();
    let worker = runtime.block_on(Worker::new(directory.path()));
    let guest = Guest::FileWork.bytes();
    let inline = RawHost::new(&guest, directory.path(), SLOTS);
    let mut stock = RawHost::new(&guest, directory.path(), SLOTS);
    stock.on_calling_thread = false;
    for row in rows() {
        let path = directory.path().join(row.path);
        let [
            mut native,
            mut by_hotcell,
            mut by_inline,
            mut by_stock,
            mut ratios,
        ] = [const { Vec::new() }; 5];
        for round in 0..=ROUNDS {
            let each = f64::from(row.operations);
            let micros = |begun: Instant| begun.elapsed().as_secs_f64() * 1e6 / each;
            let begun = Instant::now();
            (row.natively)(&path);
            let natively = micros(begun);
            let [hotcell, inline, stock] = runtime.block_on(async {
                let begun = Instant::now();
                worker.work(&row.arguments).await;
                let hotcell = micros(begun);
                let begun = Instant::now();
                inline.call("guest", &row.arguments).await;
                let inline = micros(begun);
                let begun = Instant::now();
                stock.call("guest", &row.arguments).await;
                [hotcell, inline, micros(begun)]
            });
            // The first round only warms up.
            if round > 0 {
                native.push(natively);
                by_hotcell.push(hotcell);
                by_inline.push(inline);
                by_stock.push(stock);
                ratios.push(hotcell / natively);
            }
        }
        for (way, times) in [
            ("native", native),
            ("hotcell", by_hotcell),
            ("wasmtime-wasi", by_stock),
            ("wasmtime-wasi on the calling thread", by_inline),
        ] {
            table.tell(&format!("{}, {way}", row.name), median(times), "µs");
        }
        let name = format!("{}, hotcell to native", row.name);
        table.judge(&name, median(ratios), "x", Goal::AtMost(3.0));
    }
}

/// A workspace with a file to read and a large directory.
fn workspace() -> TempDir {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let at = |path: &str| directory.path().join(path);
    for below in ["sub/deep", "many"] {
        std::fs::create_dir_all(at(below)).expect("made");
    }
    for file in ["sub/deep/block", "sub/deep/made"] {
        std::fs::write(at(file), [b'x'; BLOCK]).expect("written");
    }
    for index in 0..NAMES {
        std::fs::write(at(&format!("many/file-{index:05}.txt")), "").expect("written");
    }
    directory
}

/// The guest behind hotcell's boundary.
struct Worker {
    component: Component,
    grant: Grant,
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
