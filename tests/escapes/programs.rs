//! Native programs by the escapes that are paths: as commands of `bash`, and alone.
//!
//! Where the kernel gives no sandbox or a program is not installed this says so and ends. What
//! programs may do that components may not is in SECURITY.md: read the system's own directories,
//! and write to a file by each of its names.

use crate::matrix::MODES;
use crate::native::lacks;
use crate::raw::Nobody;
use crate::scene::{CANARY, Scene, difference};
use crate::table::{Closed, ESCAPES, Escape};
use hotcell::policy::{Decision, Mode, PathRules, Policy, ProcessRules};
use hotcell::process::{Command, ProcessSettings, Processes};
use hotcell::protocol::{Capabilities, Capability, Limits, ToolCall, ToolDefinition};
use hotcell::sandbox::{Sandbox, SandboxSettings};
use hotcell::tools::{BUILTINS, CallWatcher, Toolbox};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::io::AsyncReadExt;

const PROGRAMS: [&str; 3] = ["git", "python3", "sh"];

const SEARCH_PATH: [&str; 3] = ["/usr/local/bin", "/usr/bin", "/bin"];

impl CallWatcher for Nobody {
    fn compiling(&self, _: &str) {}
}

/// Scripts of `sh` that look at `$P`, each as a whole table of programs would.
const LOOKS: &[&str] = &[
    "cat \"$P\"",
    "cd \"$(dirname \"$P\")\" && cat \"$(basename \"$P\")\"",
    "cp \"$P\" t && cat t; rm -f t",
    "ln -s \"$P\" t; cat t; rm -f t",
    "ln \"$P\" t && cat t; rm -f t",
    "git hash-object --no-filters \"$P\" && git -c core.pager=cat diff --no-index /dev/null \"$P\"",
    "python3 -c 'import sys; print(open(sys.argv[1]).read())' \"$P\"",
];

/// The same for what changes it.
const CHANGES: &[&str] = &[
    "echo owned > \"$P\"",
    "echo owned >> \"$P\"",
    "chmod 777 \"$P\"",
    "touch -d 2001-01-01 \"$P\"",
    "mkdir -p \"$P\"",
    "truncate -s 0 \"$P\"",
    "python3 -c 'import os, sys; os.utime(sys.argv[1], (1, 1))' \"$P\"",
    "python3 -c 'import sys; open(sys.argv[1], \"r+\").write(\"owned\")' \"$P\"",
    "git config --file \"$P\" core.owned true",
];

/// Ends of a script that leave no trace, where the thing is a name in the workspace.
const TAKES: &[&str] = &["mv \"$P\" t && mv t \"$P\"", "rm -rf \"$P\""];

fn scripts(escape: &Escape) -> Vec<&'static str> {
    let mut scripts = CHANGES.to_vec();
    if escape.closed == Closed::Whole {
        scripts.extend(LOOKS);
    }
    if !escape.is_name {
        scripts.extend(TAKES);
    }
    scripts
}

/// Whether the rule is one for components alone.
fn is_open_to_programs(escape: &Escape) -> bool {
    escape.path == "hard.txt"
}

struct Natives {
    scene: Scene,
    processes: Processes,
}

impl Natives {
    fn new() -> Option<Natives> {
        if lacks(&PROGRAMS, &SEARCH_PATH) {
            return None;
        }
        let scene = Scene::new();
        let processes = Processes::new(ProcessSettings {
            launcher: env!("CARGO_BIN_EXE_hotcell").into(),
            workspace: scene.at("ws"),
            programs: PROGRAMS.map(str::to_owned).to_vec(),
            search_path: SEARCH_PATH.map(PathBuf::from).to_vec(),
            ..ProcessSettings::default()
        })
        .expect("a private directory");
        Some(Natives { scene, processes })
    }

    fn policy(&self, mode: Mode) -> Policy {
        let programs = PROGRAMS.map(str::to_owned).to_vec();
        Policy {
            mode,
            allowed: Capabilities::ALL,
            workspace: self.scene.at("ws"),
            skills: None,
            paths: PathRules::default(),
            processes: ProcessRules {
                programs: programs.clone(),
                read_only_programs: programs,
                network: false,
            },
            limits: Limits::default(),
        }
    }

    fn path(&self, escape: &Escape) -> String {
        let outside = self.scene.at("outside").display().to_string();
        escape.path.replace("{out}", &outside)
    }

    /// One script with every escape after the other: a start a cell would be an hour.
    fn script(&self, quoted: impl Fn(&str) -> String) -> String {
        let mut script = String::new();
        for escape in ESCAPES.iter().filter(|escape| !is_open_to_programs(escape)) {
            script.push_str(&format!("P={}\n", quoted(&self.path(escape))));
            for line in scripts(escape) {
                script.push_str(&format!("( {line} ) < /dev/null\n"));
            }
        }
        script
    }

    fn check(&self, before: &std::collections::BTreeMap<PathBuf, String>, what: &str, said: &str) {
        let place = said.find(CANARY).map(|at| at.saturating_sub(500));
        let around = place.map(|at| said.get(at..).unwrap_or(said).chars().take(600).collect());
        assert_eq!(around, None::<String>, "{what}");
        assert!(!said.contains("CARGO_MANIFEST_DIR="), "{what}");
        let changed = difference(before, &self.scene.picture());
        assert!(changed.is_empty(), "{what}: {changed:?}");
    }
}

fn quoted(path: &str) -> String {
    format!("'{}'", path.replace('\'', "'\\''"))
}

#[tokio::test]
async fn no_program_alone_gets_out_or_around_in_any_mode() {
    let Some(natives) = Natives::new() else {
        return;
    };
    let before = natives.scene.picture();
    for mode in MODES {
        let tool = ToolDefinition {
            name: "t".to_owned(),
            description: String::new(),
            input_schema: serde_json::json!({ "type": "object" }),
            requires: [Capability::WorkspaceRead].into_iter().collect(),
            accepts: Capabilities::ALL,
        };
        let Decision::Grant(grant) = natives.policy(mode).decide(&tool) else {
            panic!("programs are allowed in {mode:?}");
        };
        let script = format!("{}echo the end", natives.script(quoted));
        let command = Command {
            program: "sh".to_owned(),
            arguments: vec!["-c".to_owned(), script],
            ..Command::default()
        };
        let spawned = natives.processes.spawn(command, &grant).await;
        let mut child = spawned.expect("sh starts");
        drop(child.stdin.take());
        let mut out = child.stdout.take().expect("standard output");
        let mut err = child.stderr.take().expect("standard error");
        let (mut said, mut complained) = (String::new(), Vec::new());
        let (read, complaints) = tokio::join!(
            out.read_to_string(&mut said),
            err.read_to_end(&mut complained)
        );
        read.expect("text");
        complaints.expect("read");
        child.ended().await;
        assert!(
            said.ends_with("the end\n"),
            "{mode:?}: it did not get to the end"
        );
        said.push_str(&String::from_utf8_lossy(&complained));
        natives.check(&before, &format!("{mode:?}"), &said);
    }
}

#[tokio::test]
async fn no_program_that_bash_starts_gets_out_or_around_in_any_mode() {
    let Some(natives) = Natives::new() else {
        return;
    };
    let sandbox = Sandbox::new(SandboxSettings {
        processes: Some(natives.processes.clone()),
        cache: Some(Path::new(env!("CARGO_TARGET_TMPDIR")).join("compiled")),
        pooling: false,
        slots: 2,
        ..SandboxSettings::default()
    })
    .expect("the engine starts");
    let bash = BUILTINS.iter().find(|builtin| builtin.name == "bash");
    let toolbox = Toolbox::load(&sandbox, &[*bash.expect("the shell")], &[])
        .await
        .expect("the shell loads");
    let before = natives.scene.picture();
    // Of programs that are no commands of the component, one is enough for each.
    let read = "import sys; print(open(sys.argv[1]).read())";
    let write = "import sys; open(sys.argv[1], \"a\").write(\"owned\")";
    for mode in MODES {
        for escape in ESCAPES.iter().filter(|escape| !is_open_to_programs(escape)) {
            let path = quoted(&natives.path(escape));
            let mut script = format!("python3 -c '{write}' {path}; git config -f {path} a.b c\n");
            if escape.closed == Closed::Whole {
                script.push_str(&format!("python3 -c '{read}' {path}; python3 {path}\n"));
            }
            script.push_str("echo the end");
            let call = ToolCall {
                id: "1".to_owned(),
                name: "bash".to_owned(),
                arguments: serde_json::json!({ "command": script }),
                malformed: None,
            };
            let policy = natives.policy(mode);
            let result = toolbox
                .call(&policy, "session", &call, Arc::new(Nobody))
                .await;
            let text = result.text();
            assert!(text.contains("the end"), "{mode:?} {}: {text}", escape.path);
            natives.check(&before, &format!("{mode:?} {}: {text}", escape.path), &text);
        }
    }
}

/// What a native program is for has to work, or the tests above show nothing.
#[tokio::test]
async fn a_program_works_in_the_workspace_and_changes_nothing_in_plan_mode() {
    let Some(natives) = Natives::new() else {
        return;
    };
    let made = natives.scene.at("ws/sub/made");
    for (mode, is_made) in [(Mode::Plan, false), (Mode::Act, true)] {
        let tool = ToolDefinition {
            name: "t".to_owned(),
            description: String::new(),
            input_schema: serde_json::json!({ "type": "object" }),
            requires: [Capability::WorkspaceRead].into_iter().collect(),
            accepts: Capabilities::ALL,
        };
        let Decision::Grant(grant) = natives.policy(mode).decide(&tool) else {
            panic!("programs are allowed in {mode:?}");
        };
        let command = Command {
            program: "sh".to_owned(),
            arguments: vec![
                "-c".to_owned(),
                "cat kept.txt; echo x > sub/made".to_owned(),
            ],
            ..Command::default()
        };
        let spawned = natives.processes.spawn(command, &grant).await;
        let mut child = spawned.expect("sh starts");
        let mut out = child.stdout.take().expect("standard output");
        let mut said = String::new();
        out.read_to_string(&mut said).await.expect("text");
        child.ended().await;
        assert_eq!(said, "kept\n", "{mode:?}");
        assert_eq!(made.exists(), is_made, "{mode:?}");
    }
}
