//! A component of somebody else that calls the raw functions of WASI, without any library before
//! the sandbox.

use crate::matrix::MODES;
use crate::scene::{CANARY, Scene, difference};
use crate::table::{Closed, ESCAPES, NO_FILES};
use hotcell::policy::{Decision, Grant, Mode, PathRules, Policy, ProcessRules};
use hotcell::protocol::{
    Capabilities, Capability, Limits, OutputStream, ResultContent, ToolDefinition, ToolErrorKind,
};
use hotcell::sandbox::{CallOutcome, CallOutput, Component, Invocation, Sandbox, SandboxSettings};
use hotcell_test_artifacts::Guest;
use std::borrow::Cow;
use std::sync::Arc;

/// What looks at a path, or at a name below it.
const LOOKS: &[&str] = &[
    "read /workspace %",
    "read-in /workspace sub ../%",
    "list /workspace %",
    "readlink /workspace %/f",
    "link /workspace % stolen",
    "rename /workspace % stolen",
    "between /workspace /skills link % stolen",
    "between /workspace /skills rename % stolen",
];

/// What changes a path.
const CHANGES: &[&str] = &[
    "write /workspace %",
    "append /workspace %",
    "create /workspace %",
    "create-new /workspace %",
    "create-by-reader /workspace %",
    "truncate /workspace %",
    "truncate-by-reader /workspace %",
    "resize /workspace %",
    "write-by-reader /workspace %",
    "stream-by-reader /workspace %",
    "resize-by-reader /workspace %",
    "touch /workspace %",
    "touch-open /workspace %",
    "mkdir /workspace %",
    "mkdir-in /workspace sub ../%",
    "rmdir /workspace %",
    "unlink /workspace %/",
    "rename /workspace kept.txt %",
    "link /workspace kept.txt %",
    "symlink /workspace kept.txt %",
    "between /skills /workspace link one/SKILL.md %",
    "between /skills /workspace rename one/SKILL.md %",
];

/// Opens to read what is there, and makes what is not: harmless where it is only closed to change.
const OPENS: &str = "create-by-reader /workspace ";

/// Those of [`LOOKS`] and [`CHANGES`] that act on a link or a name and not on what it leads to.
const BY_NAME: &[&str] = &[
    "rename /workspace %",
    "rename /workspace kept",
    "link /workspace % s",
];

pub fn sandbox() -> Sandbox {
    Sandbox::new(SandboxSettings {
        cache: Some(std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("compiled")),
        pooling: false,
        slots: 8,
        ..SandboxSettings::default()
    })
    .expect("a sandbox")
}

pub fn load(sandbox: &Sandbox, guest: Guest) -> Component {
    let loaded = sandbox.load(Cow::Owned(guest.bytes()));
    loaded.expect("it begins like a component")
}

/// What a plugin that takes all it can gets in this mode.
pub fn grant(scene: &Scene, mode: Mode, limits: Limits) -> Grant {
    let policy = Policy {
        mode,
        allowed: Capabilities::ALL,
        workspace: scene.at("ws"),
        skills: Some(scene.at("skills")),
        paths: PathRules::default(),
        processes: ProcessRules::default(),
        limits,
    };
    let tool = ToolDefinition {
        name: "guest".to_owned(),
        description: String::new(),
        input_schema: serde_json::json!({ "type": "object" }),
        requires: [Capability::WorkspaceRead].into_iter().collect(),
        accepts: Capabilities::ALL,
    };
    match policy.decide(&tool) {
        Decision::Grant(grant) => grant,
        Decision::Deny(rule) => panic!("reading is allowed, and yet: {rule}"),
    }
}

/// Says nothing.
pub struct Nobody;

impl CallOutput for Nobody {
    fn output(&self, _: OutputStream, _: String) {}
}

pub async fn call(component: &Component, grant: &Grant, arguments: &str) -> CallOutcome {
    let invocation = Invocation {
        tool: "guest".to_owned(),
        arguments: arguments.to_owned(),
        call_id: "1".to_owned(),
        session_id: "session".to_owned(),
    };
    component.call(grant, invocation, Arc::new(Nobody)).await
}

pub fn text(outcome: &CallOutcome) -> &str {
    match outcome.result.as_deref() {
        Ok([ResultContent::Text { text }]) => text,
        other => panic!("expected one text: {other:?}"),
    }
}

#[tokio::test]
async fn no_raw_operation_gets_out_or_around_in_any_mode() {
    let scene = Scene::new();
    let before = scene.picture();
    let hands = load(&sandbox(), Guest::Files);
    let outside = scene.at("outside").display().to_string();
    let mut cells = 0;
    for mode in MODES {
        let grant = grant(&scene, mode, Limits::default());
        for escape in ESCAPES {
            let path = escape.path.replace("{out}", &outside);
            let looks = if escape.closed == Closed::Whole {
                LOOKS
            } else {
                &[]
            };
            for operation in looks.iter().chain(CHANGES) {
                let is_by_name = BY_NAME.iter().any(|part| operation.contains(part));
                if escape.is_name && is_by_name {
                    continue;
                }
                let operation = operation.replace('%', &path);
                let outcome = call(&hands, &grant, &operation).await;
                let answer = text(&outcome);
                let reads = escape.closed == Closed::ToChange && operation.starts_with(OPENS);
                let is_harmless = answer.starts_with("refused") || reads && answer == "ok ";
                assert!(is_harmless, "{mode:?} {operation}: {answer}");
                let told = outcome.refusals.join("\n");
                assert!(!told.contains(CANARY), "{mode:?} {operation}: {told}");
                let changed = difference(&before, &scene.picture());
                assert!(changed.is_empty(), "{mode:?} {operation}: {changed:?}");
                cells += 1;
            }
        }
        for path in NO_FILES {
            for operation in [
                "read", "write", "append", "create", "truncate", "resize", "list",
            ] {
                let operation = format!("{operation} /workspace {path}");
                let outcome = call(&hands, &grant, &operation).await;
                let answer = text(&outcome);
                assert!(
                    answer.starts_with("refused"),
                    "{mode:?} {operation}: {answer}"
                );
            }
        }
        let outcome = call(&hands, &grant, "read /workspace kept.txt").await;
        assert_eq!(text(&outcome), "ok kept\n", "{mode:?}");
    }
    assert!(cells > 2_000, "only {cells} cells");
    assert_eq!(scene.picture(), before);
}

/// Long names, NUL, dots without end, and numbers near the end of what a number can say.
#[tokio::test]
async fn arguments_that_no_library_would_send_are_errors_in_any_mode() {
    let scene = Scene::new();
    std::fs::write(scene.at("ws/note.txt"), "a note").expect("written");
    std::os::unix::fs::symlink("loop", scene.at("ws/loop")).expect("linked");
    let before = scene.picture();
    let hostile = load(&sandbox(), Guest::HostilePaths);
    for mode in MODES {
        let grant = grant(&scene, mode, Limits::default());
        let outcome = call(&hostile, &grant, "").await;
        let expected = match mode {
            Mode::Act => "nothing was allowed",
            // The file cannot be opened to write at all.
            Mode::Plan => "the note does not open",
        };
        assert_eq!(text(&outcome), expected, "{mode:?}");
        assert!(outcome.refusals.len() <= 6, "{:?}", outcome.refusals);
        assert_eq!(difference(&before, &scene.picture()), Vec::<String>::new());
    }
}

/// 100,000 handles are asked for; the limit ends the call, and gives back every handle it had.
#[tokio::test]
async fn handles_without_end_end_the_call_and_leave_none_behind() {
    let scene = Scene::new();
    std::fs::write(scene.at("ws/note.txt"), "a note").expect("written");
    let greedy = load(&sandbox(), Guest::FloodFiles);
    let note = scene.at("ws/note.txt");
    let open = || {
        let handles = std::fs::read_dir("/proc/self/fd").expect("Linux");
        let targets = handles.filter_map(|handle| std::fs::read_link(handle.ok()?.path()).ok());
        targets.filter(|target| *target == note).count()
    };
    for mode in MODES {
        let grant = grant(&scene, mode, Limits::default());
        let outcome = call(&greedy, &grant, "{}").await;
        let failure = outcome.result.expect_err("it is ended");
        assert_eq!(
            failure.kind,
            ToolErrorKind::LimitExceeded,
            "{}",
            failure.message
        );
        assert!(failure.message.contains("resources"), "{}", failure.message);
        assert_eq!(open(), 0, "{mode:?}");
    }
}
