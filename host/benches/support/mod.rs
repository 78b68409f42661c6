//! What the benchmarks compare: hotcell's own path and the least a host could do.
//!
//! Owns the raw baseline, wasmtime alone with the same component and the same engine settings, and
//! the sample workspace. It must never take a shortcut for one side only.

pub mod raw;

use hotcell::policy::{Mode, PathRules, Policy, ProcessRules};
use hotcell::protocol::{Capabilities, Limits, OutputStream, ToolCall};
use hotcell::sandbox::{CallOutput, Sandbox, SandboxSettings};
use hotcell::tools::{BUILTINS, Builtin, CallWatcher, Toolbox};
use raw::RawHost;
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// The file that every read in the benchmarks reads: 4 KiB of text in lines of 64 bytes.
const SAMPLE: &str = "sample.txt";

/// How many instances can live at once, on both sides.
pub const SLOTS: u32 = 64;

/// A workspace with the file to read.
pub fn workspace() -> TempDir {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let line = format!("{}\n", "x".repeat(63));
    std::fs::write(directory.path().join(SAMPLE), line.repeat(64)).expect("the sample file");
    directory
}

/// A runtime with this many workers.
pub fn runtime(workers: usize) -> Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(workers)
        .enable_all()
        .build()
        .expect("a tokio runtime")
}

/// The policy of an ordinary run.
pub fn policy(workspace: &Path) -> Policy {
    Policy {
        mode: Mode::Act,
        allowed: Capabilities::ALL,
        workspace: workspace.canonicalize().expect("the workspace is there"),
        skills: None,
        paths: PathRules::default(),
        processes: ProcessRules::default(),
        limits: Limits::default(),
    }
}

/// A toolbox of these components, ready. `cache` spares the compilation.
pub async fn toolbox(builtins: &[Builtin], cache: &Path) -> Toolbox {
    let sandbox = Sandbox::new(SandboxSettings {
        cache: Some(cache.to_owned()),
        slots: SLOTS,
        ..SandboxSettings::default()
    })
    .expect("the sandbox starts");
    let toolbox = Toolbox::load(&sandbox, builtins, &[])
        .await
        .expect("the built-in tools load");
    let faults = toolbox.verify().await;
    assert!(faults.is_empty(), "{faults:?}");
    toolbox
}

/// The component of `read_file`.
pub fn files() -> &'static Builtin {
    BUILTINS
        .iter()
        .find(|builtin| builtin.name == "files")
        .expect("the files component is built in")
}

/// The measured call, ready to be made in three ways.
pub struct Reading {
    /// With `read_file` in it.
    pub toolbox: Arc<Toolbox>,
    /// What the call may touch.
    pub policy: Policy,
    raw: RawHost,
    arguments: String,
    workspace: TempDir,
}

impl Reading {
    /// Compiles the component for both hosts.
    pub async fn new() -> Self {
        let workspace = workspace();
        let cache = workspace.path().join("cache");
        Reading {
            toolbox: Arc::new(toolbox(std::slice::from_ref(files()), &cache).await),
            policy: policy(workspace.path()),
            raw: RawHost::new(files().wasm, workspace.path(), SLOTS),
            arguments: serde_json::json!({ "path": SAMPLE }).to_string(),
            workspace,
        }
    }

    /// The call as a model makes it.
    pub fn call(&self) -> ToolCall {
        ToolCall {
            id: "call".to_owned(),
            name: "read_file".to_owned(),
            arguments: serde_json::from_str(&self.arguments).expect("JSON"),
            malformed: None,
        }
    }

    /// As a run makes it, without the run: schema, policy, locks, sandbox, component, result.
    pub async fn by_hotcell(&self) {
        let call = self.call();
        let watcher = Arc::new(Unwatched);
        let result = self
            .toolbox
            .call(&self.policy, "session", &call, watcher)
            .await;
        assert!(!result.is_error(), "{}", result.text());
    }

    /// By wasmtime alone.
    pub async fn by_wasmtime(&self) {
        self.raw.call("read_file", &self.arguments).await;
    }

    /// By a native process.
    pub async fn by_cat(&self) {
        let output = tokio::process::Command::new("cat")
            .arg(self.workspace.path().join(SAMPLE))
            .output()
            .await
            .expect("cat runs");
        assert!(output.status.success() && output.stdout.len() == 4 << 10);
    }
}

/// Nobody watches.
pub struct Unwatched;

impl CallOutput for Unwatched {
    fn output(&self, _stream: OutputStream, _text: String) {}
}

impl CallWatcher for Unwatched {
    fn compiling(&self, _tool: &str) {}
}
