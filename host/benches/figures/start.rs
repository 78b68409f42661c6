//! What a start costs: the first on a machine, and every other.

use crate::process::{measured_by_child, resident_bytes};
use crate::support::{Unwatched, policy, runtime, toolbox, workspace};
use crate::table::{Goal, Table};
use crate::throughput::median;
use hotcell::protocol::ToolCall;
use hotcell::sandbox::{Sandbox, SandboxSettings};
use hotcell::tools::{BUILTINS, Toolbox};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Instant;

/// The names of these figures as children.
pub const FIRST: &str = "first-start";
pub const IDLE: &str = "idle";

pub fn measure(table: &Table) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let cache = directory.path().join("cache");
    let first = measured_by_child(FIRST, &[cache.as_os_str()]);
    table.tell(
        "first start ever: the first answer of read_file",
        first[0],
        "ms",
    );
    table.tell(
        "first start ever: all built-in tools compiled",
        first[1],
        "ms",
    );
    let idle: Vec<f64> = (0..3)
        .flat_map(|_| measured_by_child(IDLE, &[cache.as_os_str()]))
        .collect();
    table.judge(
        "memory of an idle host, all built-in tools loaded",
        median(idle) / 1e6,
        "MB",
        Goal::AtMost(120.0),
    );
    list_tools(directory.path());
    let warm: Vec<f64> = (0..20).map(|_| list_tools(directory.path())).collect();
    table.judge(
        "warm start of `hotcell tools`",
        median(warm),
        "ms",
        Goal::AtMost(100.0),
    );
}

/// Milliseconds until `hotcell tools` has ended.
fn list_tools(directory: &Path) -> f64 {
    let [home, project] = ["home", "project"].map(|name| directory.join(name));
    for path in [&home, &project] {
        std::fs::create_dir_all(path).expect("a directory");
    }
    let started = Instant::now();
    let status = Command::new(env!("CARGO_BIN_EXE_hotcell"))
        .arg("tools")
        .current_dir(project)
        .env_clear()
        .env("HOME", home)
        .stdout(Stdio::null())
        .status()
        .expect("hotcell runs");
    assert!(status.success(), "{status}");
    millis(started)
}

/// Milliseconds to the first answer and to the last component, with nothing in the cache.
pub fn first(cache: &Path) -> Vec<f64> {
    let workspace = workspace();
    let policy = policy(workspace.path());
    runtime(2).block_on(async {
        let started = Instant::now();
        let sandbox = Sandbox::new(SandboxSettings {
            cache: Some(cache.to_owned()),
            ..SandboxSettings::default()
        })
        .expect("the sandbox starts");
        let toolbox = Toolbox::load(&sandbox, BUILTINS, &[])
            .await
            .expect("the built-in tools load");
        toolbox.prepare();
        let call = ToolCall {
            id: "call".to_owned(),
            name: "read_file".to_owned(),
            arguments: serde_json::json!({ "path": "sample.txt" }),
            malformed: None,
        };
        let result = toolbox
            .call(&policy, "session", &call, Arc::new(Unwatched))
            .await;
        assert!(!result.is_error(), "{}", result.text());
        let answered = millis(started);
        let faults = toolbox.verify().await;
        assert!(faults.is_empty(), "{faults:?}");
        vec![answered, millis(started)]
    })
}

/// Bytes of a host that is ready and does nothing.
pub fn idle(cache: &Path) -> Vec<f64> {
    runtime(2).block_on(async {
        let toolbox = toolbox(BUILTINS, cache).await;
        let resident = resident_bytes();
        drop(toolbox);
        vec![resident]
    })
}

fn millis(started: Instant) -> f64 {
    started.elapsed().as_secs_f64() * 1e3
}
