//! Every tool by every escape, in both modes.

use crate::scene::{CANARY, Scene, difference};
use crate::table::{ESCAPES, Escape, NO_FILES};
use crate::tools::{self, Call, TOOLS};
use hotcell::policy::{Mode, PathRules, Policy, ProcessRules};
use hotcell::protocol::{
    Capabilities, Capability, Limits, OutputStream, ToolCall, ToolErrorKind, ToolResult,
};
use hotcell::sandbox::{CallOutput, Sandbox, SandboxSettings};
use hotcell::tools::{BUILTINS, CallWatcher, Toolbox};
use hotcell_test_artifacts::WORD_COUNT;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

pub const MODES: [Mode; 2] = [Mode::Act, Mode::Plan];

/// What is in the memory and the settings of this very process, and in no answer.
const MARKS: &[&str] = &[CANARY, "CARGO_MANIFEST_DIR=", "root:x:0"];

/// A scene with every tool in it.
pub struct Bench {
    pub toolbox: Toolbox,
    pub scene: Scene,
}

impl Bench {
    pub async fn new() -> Bench {
        let sandbox = Sandbox::new(SandboxSettings {
            cache: Some(Path::new(env!("CARGO_TARGET_TMPDIR")).join("compiled")),
            pooling: false,
            slots: 8,
            ..SandboxSettings::default()
        })
        .expect("a sandbox");
        let toolbox = Toolbox::load(&sandbox, BUILTINS, &[PathBuf::from(WORD_COUNT)])
            .await
            .expect("every tool");
        Bench {
            toolbox,
            scene: Scene::new(),
        }
    }

    pub fn policy(&self, mode: Mode) -> Policy {
        let process = Capabilities::from_iter([Capability::Process]);
        Policy {
            mode,
            allowed: Capabilities::ALL.difference(process),
            workspace: self.scene.at("ws"),
            skills: Some(self.scene.at("skills")),
            paths: PathRules::default(),
            processes: ProcessRules::default(),
            limits: Limits::default(),
        }
    }

    /// The result, and everything that was said meanwhile.
    pub async fn call(&self, mode: Mode, call: &Call) -> (ToolResult, String) {
        let (name, arguments) = call;
        let said = Arc::new(Said::default());
        let call = ToolCall {
            id: "1".to_owned(),
            name: (*name).to_owned(),
            arguments: arguments.clone(),
            malformed: None,
        };
        let watcher = Arc::clone(&said);
        let policy = self.policy(mode);
        let result = self.toolbox.call(&policy, "session", &call, watcher).await;
        let said = said.0.lock().unwrap_or_else(PoisonError::into_inner);
        let text = format!("{}\n{}", result.text(), *said);
        drop(said);
        (result, text)
    }

    fn path(&self, escape: &Escape) -> String {
        let outside = self.scene.at("outside").display().to_string();
        escape.path.replace("{out}", &outside)
    }
}

/// Everything that a tool says while it runs.
#[derive(Default)]
struct Said(Mutex<String>);

impl CallOutput for Said {
    fn output(&self, _: OutputStream, text: String) {
        let mut said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        said.push_str(&text);
    }
}

impl CallWatcher for Said {
    fn compiling(&self, _: &str) {}
}

/// A call says its own arguments again at times; what it was told is no secret.
fn says_a_secret(text: &str, call: &Call) -> Option<&'static str> {
    let told = call.1.to_string();
    let is_secret = |mark: &&&str| text.contains(**mark) && !told.contains(**mark);
    MARKS.iter().find(is_secret).copied()
}

#[tokio::test]
async fn no_tool_gets_out_or_around_by_any_escape_in_any_mode() {
    let bench = Bench::new().await;
    let before = bench.scene.picture();
    let mut cells = 0;
    for mode in MODES {
        for escape in ESCAPES {
            let path = bench.path(escape);
            for call in tools::attempts(escape, &path) {
                let (_, text) = bench.call(mode, &call).await;
                let secret = says_a_secret(&text, &call);
                assert_eq!(secret, None, "{mode:?} {call:?}: {text}");
                let changed = difference(&before, &bench.scene.picture());
                assert!(changed.is_empty(), "{mode:?} {call:?}: {text}\n{changed:?}");
                cells += 1;
            }
        }
    }
    assert!(cells > 2_000, "only {cells} cells");
}

#[tokio::test]
async fn a_name_of_a_skill_is_a_name_and_no_path() {
    let bench = Bench::new().await;
    let before = bench.scene.picture();
    for mode in MODES {
        for call in tools::by_name() {
            let (result, text) = bench.call(mode, &call).await;
            assert!(result.is_error(), "{mode:?} {call:?}: {text}");
            assert!(text.len() < 2_000, "{mode:?} {call:?}: {}", text.len());
            let secret = says_a_secret(&text, &call);
            assert_eq!(secret, None, "{mode:?} {call:?}: {text}");
        }
    }
    assert_eq!(bench.scene.picture(), before);
}

/// Nobody reads what a FIFO holds, and nobody waits for it.
#[tokio::test]
async fn what_is_no_file_is_refused_at_once_by_every_tool() {
    let bench = Bench::new().await;
    let before = bench.scene.picture();
    for mode in MODES {
        for path in NO_FILES {
            let escape = Escape {
                path,
                closed: crate::table::Closed::Whole,
                is_name: true,
                rule: None,
            };
            for call in tools::attempts(&escape, path) {
                let begun = Instant::now();
                let (_, text) = bench.call(mode, &call).await;
                // Far more than a call takes, far less than the deadline that ends a wait.
                let took = begun.elapsed();
                assert!(
                    took < Duration::from_secs(60),
                    "{mode:?} {call:?}: {took:?}"
                );
                let changed = difference(&before, &bench.scene.picture());
                assert!(changed.is_empty(), "{mode:?} {call:?}: {text}\n{changed:?}");
            }
        }
    }
}

#[tokio::test]
async fn every_tool_there_is_is_in_the_matrix_and_works() {
    let bench = Bench::new().await;
    let listed = bench.toolbox.list();
    let names: Vec<&str> = listed
        .iter()
        .map(|tool| tool.definition.name.as_str())
        .collect();
    assert_eq!(names, TOOLS, "a tool without escapes");
    let tried: Vec<&str> = ESCAPES
        .iter()
        .flat_map(|escape| tools::attempts(escape, "x"))
        .map(|(tool, _)| tool)
        .collect();
    for tool in TOOLS {
        assert!(tried.contains(tool), "no attempt by {tool}");
    }
    // One link that leads out spoils nothing: in a workspace full of them, each tool does its work.
    for mode in MODES {
        for (call, part) in tools::in_order() {
            let (result, text) = bench.call(mode, &call).await;
            assert!(
                !result.is_error() && text.contains(part),
                "{mode:?} {call:?}: {text}"
            );
        }
    }
    for (call, made) in tools::changes_in_order() {
        let made = bench.scene.at("ws").join(made);
        let earlier = std::fs::read(&made).ok();
        let (_, text) = bench.call(Mode::Plan, &call).await;
        assert_eq!(
            std::fs::read(&made).ok(),
            earlier,
            "{call:?} in plan mode: {text}"
        );
        let (result, text) = bench.call(Mode::Act, &call).await;
        assert!(!result.is_error(), "{call:?}: {text}");
        assert_ne!(std::fs::read(&made).ok(), earlier, "{call:?}");
    }
}

#[tokio::test]
async fn plan_mode_has_no_tool_that_only_changes() {
    let bench = Bench::new().await;
    for name in ["write_file", "edit_file"] {
        let call = (
            name,
            serde_json::json!({ "path": "kept.txt", "old": "k", "new": "c" }),
        );
        let (result, text) = bench.call(Mode::Plan, &call).await;
        assert_eq!(result.error, Some(ToolErrorKind::Denied), "{text}");
    }
}

#[tokio::test]
async fn each_tool_names_the_rule() {
    use crate::table::Closed;
    let bench = Bench::new().await;
    for escape in ESCAPES {
        let Some(rule) = escape.rule else { continue };
        let path = bench.path(escape);
        let read = ("read_file", serde_json::json!({ "path": path }));
        let write = (
            "write_file",
            serde_json::json!({ "path": path, "content": "owned" }),
        );
        let redirect = (
            "bash",
            serde_json::json!({ "command": format!("echo owned > {path}") }),
        );
        let mut calls = Vec::new();
        if escape.closed == Closed::Whole {
            calls.push(read.clone());
        }
        // A name can be replaced, and the shell reads a link at the end of a path itself.
        if !escape.is_name {
            calls.extend([write, redirect]);
        }
        for call in calls {
            // Without this, write_file refuses what was not read, before anybody is asked.
            bench.call(Mode::Act, &read).await;
            let (_, text) = bench.call(Mode::Act, &call).await;
            assert!(text.contains(rule), "{call:?}: {text}");
        }
    }
}

#[tokio::test]
async fn where_a_link_leads_is_named_by_every_tool() {
    use serde_json::json;
    let bench = Bench::new().await;
    let outside = bench.scene.at("outside").display().to_string();
    for call in [
        (
            "write_file",
            json!({ "path": "outbox/x", "content": "owned" }),
        ),
        ("read_file", json!({ "path": "outbox/f" })),
        ("grep", json!({ "path": "outbox", "pattern": "x" })),
        ("bash", json!({ "command": "echo owned > outbox/x" })),
        ("bash", json!({ "command": "cat outbox/f" })),
    ] {
        let (_, text) = bench.call(Mode::Act, &call).await;
        assert!(text.contains(&outside), "{call:?}: {text}");
    }
}
