//! A native program in the process sandbox: against the same alone, in namespaces, and in bwrap.
//!
//! bwrap is the baseline of the goal and not on every machine. `unshare` is on nearly every one: it
//! makes the same namespaces and nothing else, no root of its own, no Landlock, no seccomp, no
//! limits, so it is the floor of what any sandbox of namespaces costs.

use crate::support::{policy, runtime};
use crate::table::{Goal, Table};
use crate::throughput::median;
use hotcell::policy::{Decision, Grant, Policy, ProcessRules};
use hotcell::process::{Command, Exit, Layers, ProcessSettings, Processes};
use hotcell::protocol::{Capabilities, Capability, ToolDefinition};
use std::path::{Path, PathBuf};
use std::time::Instant;
use tokio::io::AsyncReadExt;

const ROUNDS: usize = 100;

/// Where every distribution has programs. What is found elsewhere may need more than the system's
/// directories.
const SEARCH_PATH: [&str; 3] = ["/usr/local/bin", "/usr/bin", "/bin"];

const UNSHARE: &[&str] = &["-Urmpnif", "--mount-proc"];

/// What hotcell's sandbox gives: the system read-only, the workspace, own `/tmp`, `/proc` and
/// devices, every namespace, no capability, and an end with the parent.
const BWRAP: &[&str] = &[
    "--unshare-all",
    "--die-with-parent",
    "--new-session",
    "--cap-drop",
    "ALL",
    "--ro-bind",
    "/usr",
    "/usr",
    "--ro-bind-try",
    "/lib",
    "/lib",
    "--ro-bind-try",
    "/lib64",
    "/lib64",
    "--ro-bind-try",
    "/bin",
    "/bin",
    "--ro-bind-try",
    "/etc",
    "/etc",
    "--proc",
    "/proc",
    "--dev",
    "/dev",
    "--tmpfs",
    "/tmp",
    "--clearenv",
];

pub fn measure(table: &Table) {
    let Some(git) = found("git") else {
        table.note("`git --version` is not measured: there is no git on this machine");
        return;
    };
    let runtime = runtime(2);
    let launcher = Path::new(env!("CARGO_BIN_EXE_hotcell"));
    let layers = runtime.block_on(Layers::probe(launcher));
    if let Some((layer, why)) = layers.first_lacking() {
        let note = format!("`git --version` is not measured: no {layer} ({why})");
        table.note(&note);
        return;
    }
    let directory = tempfile::tempdir().expect("a temporary directory");
    let workspace = directory.path().canonicalize().expect("it is there");
    let sandbox = Sandboxed::new(&workspace, launcher);
    let unshare = found("unshare").map(|unshare| wrapped(&unshare, UNSHARE, &git));
    let bwrap = found("bwrap").map(|bwrap| {
        let place = workspace.display().to_string();
        let bind = ["--bind", &place, "/workspace", "--chdir", "/workspace"];
        wrapped(&bwrap, &[BWRAP, &bind].concat(), &git)
    });
    let others = [
        ("alone", Some(vec![git.display().to_string()])),
        ("by unshare", unshare),
        ("by bwrap", bwrap),
    ];
    runtime.block_on(compare(table, &sandbox, &workspace, &others));
}

async fn compare(
    table: &Table,
    sandbox: &Sandboxed,
    workspace: &Path,
    others: &[(&str, Option<Vec<String>>)],
) {
    let mut here = Vec::new();
    let mut there = vec![Vec::new(); others.len()];
    let mut ratios = vec![Vec::new(); others.len()];
    for round in 0..=ROUNDS {
        let ours = sandbox.version().await;
        for (index, (_, line)) in others.iter().enumerate() {
            let Some(line) = line else { continue };
            let theirs = version(line, workspace).await;
            // The first round only warms up.
            if round > 0 {
                there[index].push(theirs);
                ratios[index].push(ours / theirs);
            }
        }
        if round > 0 {
            here.push(ours);
        }
    }
    table.tell("`git --version`, hotcell's sandbox", median(here), "ms");
    for ((way, line), (times, ratios)) in others.iter().zip(there.into_iter().zip(ratios)) {
        let name = format!("`git --version`, hotcell's sandbox to the same {way}");
        if line.is_none() {
            table.note(&format!("{name}: it is not on this machine"));
            continue;
        }
        table.tell(&format!("`git --version`, {way}"), median(times), "ms");
        match *way {
            "by bwrap" => table.judge(&name, median(ratios), "x", Goal::AtMost(1.5)),
            _ => table.tell(&name, median(ratios), "x"),
        }
    }
}

fn found(program: &str) -> Option<PathBuf> {
    let mut places = SEARCH_PATH
        .iter()
        .map(|place| Path::new(place).join(program));
    places.find(|path| path.is_file())
}

fn wrapped(program: &Path, options: &[&str], git: &Path) -> Vec<String> {
    let mut line = vec![program.display().to_string()];
    line.extend(options.iter().map(|option| (*option).to_owned()));
    line.push(git.display().to_string());
    line
}

/// Runs a line to its end with the output read, as hotcell does.
async fn version(line: &[String], workspace: &Path) -> f64 {
    let begun = Instant::now();
    let output = tokio::process::Command::new(&line[0])
        .args(&line[1..])
        .arg("--version")
        .current_dir(workspace)
        .stdin(std::process::Stdio::null())
        .output()
        .await
        .expect("it starts");
    let took = begun.elapsed().as_secs_f64() * 1e3;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(text.starts_with("git version"), "{line:?}: {complaint}");
    took
}

/// git behind hotcell's boundary.
struct Sandboxed {
    processes: Processes,
    grant: Grant,
}

impl Sandboxed {
    fn new(workspace: &Path, launcher: &Path) -> Self {
        let processes = Processes::new(ProcessSettings {
            launcher: launcher.to_owned(),
            workspace: workspace.to_owned(),
            programs: vec!["git".to_owned()],
            search_path: SEARCH_PATH.map(PathBuf::from).to_vec(),
            ..ProcessSettings::default()
        })
        .expect("a private directory");
        let policy = Policy {
            processes: ProcessRules {
                programs: vec!["git".to_owned()],
                read_only_programs: Vec::new(),
                network: false,
            },
            ..policy(workspace)
        };
        let tool = ToolDefinition {
            name: "t".to_owned(),
            description: String::new(),
            input_schema: serde_json::json!({ "type": "object" }),
            requires: [Capability::WorkspaceRead].into_iter().collect(),
            accepts: Capabilities::ALL,
        };
        match policy.decide(&tool) {
            Decision::Grant(grant) => Sandboxed { processes, grant },
            Decision::Deny(rule) => panic!("everything is allowed, and yet: {rule}"),
        }
    }

    async fn version(&self) -> f64 {
        let command = Command {
            program: "git".to_owned(),
            arguments: vec!["--version".to_owned()],
            ..Command::default()
        };
        let begun = Instant::now();
        let spawned = self.processes.spawn(command, &self.grant).await;
        let mut child = spawned.expect("git starts");
        drop(child.stdin.take());
        let mut output = child.stdout.take().expect("standard output");
        let mut text = Vec::new();
        output.read_to_end(&mut text).await.expect("it is read");
        let ended = child.ended().await;
        let took = begun.elapsed().as_secs_f64() * 1e3;
        assert!(ended.exit == Exit::Code(0) && text.starts_with(b"git version"));
        took
    }
}
