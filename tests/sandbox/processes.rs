//! The `process` import: programs through streams and polls, and their end with the call.

use crate::support::{self, Heard, LIMITS, invocation, load, text};
use hotcell::policy::{Decision, Grant, Mode, PathRules, Policy, ProcessRules};
use hotcell::process::{ProcessSettings, Processes};
use hotcell::protocol::{Capabilities, Capability, Limits, ToolDefinition};
use hotcell::sandbox::{CallOutcome, Component, Sandbox};
use hotcell_test_artifacts::Guest;
use std::path::Path;
use std::sync::Arc;

fn processes(workspace: &Path) -> Processes {
    Processes::new(ProcessSettings {
        launcher: env!("CARGO_BIN_EXE_hotcell").into(),
        workspace: workspace.to_owned(),
        programs: vec!["sh".to_owned()],
        search_path: ["/usr/bin", "/bin"].map(Into::into).to_vec(),
        ..ProcessSettings::default()
    })
    .expect("a private directory")
}

fn grant(workspace: &Path, capabilities: &[Capability], limits: Limits) -> Grant {
    let policy = Policy {
        mode: Mode::Act,
        allowed: Capabilities::ALL,
        workspace: workspace.to_owned(),
        skills: None,
        paths: PathRules::default(),
        processes: ProcessRules {
            programs: vec!["sh".to_owned(), "absent-program".to_owned()],
            ..ProcessRules::default()
        },
        limits,
    };
    let tool = ToolDefinition {
        name: "t".to_owned(),
        description: String::new(),
        input_schema: serde_json::json!({"type": "object"}),
        requires: capabilities.iter().copied().collect(),
        accepts: Capabilities::NONE,
    };
    match policy.decide(&tool) {
        Decision::Grant(grant) => grant,
        Decision::Deny(rule) => panic!("refused: {rule}"),
    }
}

const EVERYTHING: [Capability; 3] = [
    Capability::WorkspaceRead,
    Capability::WorkspaceWrite,
    Capability::Process,
];

struct Bench {
    workspace: tempfile::TempDir,
    component: Component,
}

impl Bench {
    /// A bench with processes, unless this machine gives no sandbox for them.
    fn on_a_machine_with_processes() -> Option<Self> {
        (!crate::native::lacks(&["sh"], &["/usr/bin", "/bin"])).then(|| Bench::new(true))
    }

    fn new(offered: bool) -> Self {
        let workspace = tempfile::tempdir().expect("a directory");
        let mut settings = support::settings(true);
        settings.processes = offered.then(|| processes(workspace.path()));
        let sandbox = Sandbox::new(settings).expect("the engine starts");
        Bench {
            component: load(&sandbox, Guest::RunPrograms),
            workspace,
        }
    }

    async fn ask(&self, capabilities: &[Capability], arguments: &str) -> CallOutcome {
        let grant = grant(self.workspace.path(), capabilities, LIMITS);
        self.ask_with(&grant, arguments).await
    }

    async fn ask_with(&self, grant: &Grant, arguments: &str) -> CallOutcome {
        self.component
            .call(grant, invocation(arguments), Arc::new(Heard::default()))
            .await
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
pub async fn a_table_of_programs_through_the_import() {
    let Some(bench) = Bench::on_a_machine_with_processes() else {
        return;
    };
    for (arguments, expected) in [
        ("available", "sh"),
        ("run\nsh\n-c\ncat; exit 3", "from the guest\ncode 3"),
        // Each reads what it is fed first: a pipe that nobody reads is closed when its program ends.
        (
            "run\nsh\n-c\ncat > /dev/null; pwd; kill $$",
            "/workspace\nsignal 15",
        ),
        (
            "run\nsh\n-c\ncat > /dev/null; head -c 300000 /dev/zero | wc -c",
            "300000\ncode 0",
        ),
        ("run\nabsent-program", "not found"),
        ("kill\nsh\n-c\nsleep 600", "Some(Exit::Signal(9))"),
    ] {
        let outcome = bench.ask(&EVERYTHING, arguments).await;
        assert_eq!(text(&outcome), expected, "{arguments}");
    }
    let outcome = bench.ask(&EVERYTHING, "run\n./evil").await;
    assert!(
        text(&outcome).starts_with("denied: `./evil` is a path"),
        "{outcome:?}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_the_grant_or_without_processes_the_answer_says_which() {
    for (offered, capabilities, expected) in [
        (
            true,
            &[Capability::WorkspaceRead][..],
            "denied: the `process` capability was not granted to this call",
        ),
        (
            false,
            &EVERYTHING,
            "denied: native processes are not offered in this run",
        ),
        (
            true,
            &[Capability::Process],
            "denied: a process works in the workspace, and the `workspace-read` capability",
        ),
    ] {
        let bench = Bench::new(offered);
        let outcome = bench.ask(capabilities, "run\nsh\n-c\ntrue").await;
        assert!(text(&outcome).starts_with(expected), "{outcome:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_guest_leaves_running_ends_with_the_call() {
    let Some(bench) = Bench::on_a_machine_with_processes() else {
        return;
    };
    let script = "leave\nsh\n-c\nsetsid sh -c 'sleep 600; echo mark-of-a-guest' & sleep 600";
    let outcome = bench.ask(&EVERYTHING, script).await;
    assert_eq!(text(&outcome), "left");
    let running = std::fs::read_dir("/proc")
        .expect("/proc")
        .flatten()
        .any(|process| {
            std::fs::read_to_string(process.path().join("cmdline"))
                .is_ok_and(|line| line.contains("mark-of-a-guest"))
        });
    assert!(!running);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_process_makes_against_the_rules_is_told_with_the_answer() {
    let Some(bench) = Bench::on_a_machine_with_processes() else {
        return;
    };
    let outcome = bench.ask(&EVERYTHING, "run\nsh\n-c\ncat > .bashrc").await;
    assert_eq!(text(&outcome), "code 0");
    assert_eq!(
        outcome.refusals,
        ["`.bashrc` is protected; the process made it, and it was removed"]
    );
    assert!(!bench.workspace.path().join(".bashrc").exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_deadline_of_the_call_ends_its_processes() {
    let Some(bench) = Bench::on_a_machine_with_processes() else {
        return;
    };
    let limits = Limits {
        deadline_ms: 500,
        ..LIMITS
    };
    let grant = grant(bench.workspace.path(), &EVERYTHING, limits);
    let script = "run\nsh\n-c\nsleep 600; echo mark-of-a-deadline";
    let outcome = bench.ask_with(&grant, script).await;
    let (_, message) = support::failure(&outcome);
    assert!(message.contains("deadline_ms"), "{message}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_guest_that_starts_programs_without_end_is_refused_at_some_point() {
    let Some(bench) = Bench::on_a_machine_with_processes() else {
        return;
    };
    let outcome = bench.ask(&EVERYTHING, "flood").await;
    assert!(
        text(&outcome).contains("processes run already"),
        "{outcome:?}"
    );
}
