//! The component of `bash` over the same scripts, in the sandbox that a user gets.
//!
//! Owns the sandbox of the suite, with native programs where the machine can show them, and the
//! reading of an answer. It must never know what a script is about.

use crate::data::{Answer, Script, prepare};
use crate::native::lacks;
use futures::StreamExt;
use hotcell::policy::{Mode, PathRules, Policy, ProcessRules};
use hotcell::process::{ProcessLimits, ProcessSettings, Processes};
use hotcell::protocol::{Capabilities, Limits, OutputStream, ToolCall};
use hotcell::sandbox::{CallOutput, Sandbox, SandboxSettings};
use hotcell::tools::{BUILTINS, CallWatcher, Toolbox};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Topics whose scripts start native programs, and those programs.
const NATIVE: [(&str, &str); 2] = [("git", "git"), ("programs", "python3")];

/// Where every distribution has them.
const SEARCH_PATH: [&str; 3] = ["/usr/local/bin", "/usr/bin", "/bin"];

/// Lines that the tool adds to what a command printed.
const NOTES: [&str; 2] = [
    "(no output)\n",
    "[file modes do not reach the disk: chmod holds for this call only]\n",
];

/// Seconds a script has. None takes one, on a machine that is not busy.
const TIMEOUT_SECS: u64 = 300;

/// Sees nothing.
struct Nobody;

impl CallOutput for Nobody {
    fn output(&self, _: OutputStream, _: String) {}
}

impl CallWatcher for Nobody {
    fn compiling(&self, _: &str) {}
}

/// What the component answers to each of `scripts`, without those that this machine cannot show.
pub async fn run(scripts: &[Script]) -> BTreeMap<String, Answer> {
    let place = tempfile::tempdir().expect("a temporary directory");
    let root = place.path().canonicalize().expect("a real path");
    let programs = NATIVE.map(|(_, program)| program);
    let has_native = !lacks(&programs, &SEARCH_PATH);
    let toolbox = toolbox(&root, has_native).await;
    let is_shown =
        |script: &&Script| has_native || NATIVE.iter().all(|(topic, _)| *topic != script.topic());
    let at_once = std::thread::available_parallelism().map_or(2, usize::from);
    let runs = scripts
        .iter()
        .filter(is_shown)
        .enumerate()
        .map(|(number, script)| {
            let workspace = root.join(number.to_string()).join("workspace");
            prepare(script, &workspace);
            let (toolbox, command) = (Arc::clone(&toolbox), script.command());
            let (name, policy) = (script.name.clone(), policy(&workspace));
            async move {
                let run = async move { answer(&toolbox, &policy, &name, command).await };
                tokio::spawn(run).await.expect("no panic")
            }
        });
    futures::stream::iter(runs)
        .buffer_unordered(at_once.min(8))
        .collect()
        .await
}

async fn toolbox(root: &Path, has_native: bool) -> Arc<Toolbox> {
    let processes = has_native.then(|| {
        Processes::new(ProcessSettings {
            launcher: env!("CARGO_BIN_EXE_hotcell").into(),
            workspace: root.to_owned(),
            programs: NATIVE.map(|(_, program)| program.to_owned()).to_vec(),
            search_path: SEARCH_PATH.map(PathBuf::from).to_vec(),
            limits: ProcessLimits {
                processes: 64,
                ..ProcessLimits::default()
            },
            ..ProcessSettings::default()
        })
        .expect("a private directory")
    });
    let sandbox = Sandbox::new(SandboxSettings {
        processes,
        cache: Some(Path::new(env!("CARGO_TARGET_TMPDIR")).join("compiled")),
        pooling: false,
        ..SandboxSettings::default()
    })
    .expect("the engine starts");
    let bash = BUILTINS.iter().find(|builtin| builtin.name == "bash");
    let toolbox = Toolbox::load(&sandbox, &[*bash.expect("the shell")], &[]).await;
    Arc::new(toolbox.expect("the shell loads"))
}

fn policy(workspace: &Path) -> Policy {
    Policy {
        mode: Mode::Act,
        allowed: Capabilities::ALL,
        workspace: workspace.to_owned(),
        skills: None,
        paths: PathRules::default(),
        processes: ProcessRules {
            programs: NATIVE.map(|(_, program)| program.to_owned()).to_vec(),
            read_only_programs: Vec::new(),
            network: false,
        },
        limits: Limits {
            deadline_ms: 1000 * (TIMEOUT_SECS + 10),
            ..Limits::default()
        },
    }
}

async fn answer(
    toolbox: &Toolbox,
    policy: &Policy,
    name: &str,
    command: String,
) -> (String, Answer) {
    let call = ToolCall {
        id: "1".to_owned(),
        name: "bash".to_owned(),
        arguments: serde_json::json!({ "command": command, "timeout_secs": TIMEOUT_SECS }),
        malformed: None,
    };
    // A session of its own: the working directory is kept in one.
    let result = toolbox.call(policy, name, &call, Arc::new(Nobody)).await;
    let answer = match result.error {
        None => read(&result.text()),
        Some(_) => Answer::new(&result.text(), -1),
    };
    (name.to_owned(), answer)
}

/// What was printed, and the status, of an answer. A script that was stopped has none.
fn read(answer: &str) -> Answer {
    let Some((printed, rest)) = answer.rsplit_once("[exit status ") else {
        return Answer::new(answer, -1);
    };
    let printed = NOTES.iter().rev().fold(printed, |printed, note| {
        printed.strip_suffix(note).unwrap_or(printed)
    });
    let status = rest.split(',').next().and_then(|text| text.parse().ok());
    Answer::new(printed, status.unwrap_or(-1))
}
