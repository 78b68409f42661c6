//! What an instance that lives costs.

use crate::process::{measured_by_child, resident_bytes};
use crate::support::raw::RawHost;
use crate::support::{policy, runtime, workspace};
use crate::table::{Goal, Table};
use crate::throughput::median;
use hotcell::policy::{Decision, Policy};
use hotcell::protocol::{OutputStream, ToolDefinition};
use hotcell::sandbox::{CallOutput, Invocation, Sandbox, SandboxSettings};
use hotcell_test_artifacts::Guest;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// The name of this figure as a child.
pub const CHILD: &str = "memory";
/// Instances that sleep at once.
const INSTANCES: u32 = 500;

pub fn measure(table: &Table) {
    let of = |way: &str| {
        let samples = (0..3).flat_map(|_| measured_by_child(CHILD, &[way.as_ref()]));
        median(samples.collect()) / 1024.0
    };
    let (hotcell, raw) = (of("hotcell"), of("wasmtime"));
    table.tell("memory a live instance, hotcell", hotcell, "KiB");
    table.tell("memory a live instance, wasmtime alone", raw, "KiB");
    table.judge(
        "memory a live instance to wasmtime alone",
        hotcell / raw,
        "x",
        Goal::AtMost(1.5),
    );
}

/// Bytes an instance.
pub fn child(way: &str) -> Vec<f64> {
    let runtime = runtime(2);
    let each = runtime.block_on(async {
        match way {
            "hotcell" => sleeping_in_hotcell().await,
            _ => sleeping_in_wasmtime().await,
        }
    });
    // The guests sleep for an hour.
    runtime.shutdown_background();
    vec![each]
}

async fn sleeping_in_hotcell() -> f64 {
    let workspace = workspace();
    let sandbox = Sandbox::new(SandboxSettings {
        slots: INSTANCES + 1,
        ..SandboxSettings::default()
    })
    .expect("the sandbox starts");
    let bytes = Guest::Sleep.bytes();
    let component = sandbox.load(bytes.into()).expect("the guest loads");
    let definitions = component
        .describe()
        .await
        .expect("the guest describes itself");
    let policy = policy(workspace.path());
    let awake = Arc::new(Awake::default());
    let start = || {
        let (component, awake) = (component.clone(), Arc::clone(&awake));
        let (grant, invocation) = sleep(&policy, &definitions[0]);
        tokio::spawn(async move { component.call(&grant, invocation, awake).await });
    };
    let reports = || awake.0.load(Ordering::Relaxed);
    each(start, reports).await
}

fn sleep(policy: &Policy, tool: &ToolDefinition) -> (hotcell::policy::Grant, Invocation) {
    let Decision::Grant(grant) = policy.decide(tool) else {
        panic!("the guest is granted what it asks for");
    };
    let invocation = Invocation {
        tool: tool.name.clone(),
        arguments: "{}".to_owned(),
        call_id: "call".to_owned(),
        session_id: "session".to_owned(),
    };
    (grant, invocation)
}

async fn sleeping_in_wasmtime() -> f64 {
    let workspace = workspace();
    let bytes = Guest::Sleep.bytes();
    let raw = Arc::new(RawHost::new(&bytes, workspace.path(), INSTANCES + 1));
    let start = || {
        let raw = Arc::clone(&raw);
        tokio::spawn(async move { raw.call("guest", "{}").await });
    };
    each(start, || raw.reports.load(Ordering::Relaxed)).await
}

/// Starts one instance to warm up, then all, and answers the growth for each of them.
async fn each(start: impl Fn(), reports: impl Fn() -> usize) -> f64 {
    let all_sleep = async |count: usize| {
        while reports() < count {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        // They report right before they sleep.
        tokio::time::sleep(Duration::from_millis(100)).await;
    };
    start();
    all_sleep(1).await;
    let before = resident_bytes();
    for _ in 0..INSTANCES {
        start();
    }
    all_sleep(1 + INSTANCES as usize).await;
    (resident_bytes() - before) / f64::from(INSTANCES)
}

/// Counts the guests that are about to sleep.
#[derive(Default)]
struct Awake(AtomicUsize);

impl CallOutput for Awake {
    fn output(&self, _stream: OutputStream, _text: String) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}
