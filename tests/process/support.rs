//! A workspace with a world around it, and programs to run in it.
//!
//! Owns the setting of every test: a workspace, a canary beside it, and their digests. Must never
//! know what a test is about.

use crate::native::lacks;
use hotcell::policy::{Decision, Grant, Mode, PathRules, Policy, ProcessRules};
use hotcell::process::{
    Child, Command, Ended, Exit, Layers, ProcessLimits, ProcessSettings, Processes, SpawnError,
};
use hotcell::protocol::{Capabilities, Capability, Limits, ToolDefinition};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// What nobody inside may read or change.
pub const SECRET: &str = "the canary sings";

/// The programs that tests start; the last is nowhere.
const PROGRAMS: [&str; 4] = ["sh", "python3", "git", "absent-program"];

/// Where every distribution has them. Not the search path of whoever runs the tests: what is found
/// there may need more than the system's directories.
const SEARCH_PATH: [&str; 3] = ["/usr/local/bin", "/usr/bin", "/bin"];

pub struct Stage {
    root: TempDir,
    pub mode: Mode,
    pub allowed: Capabilities,
    pub settings: ProcessSettings,
    pub rules: PathRules,
    pub network: bool,
}

/// What a program said, and how it ended.
#[derive(Debug)]
pub struct Told {
    pub stdout: String,
    pub stderr: String,
    pub ended: Ended,
}

impl Told {
    pub fn succeeded(&self) -> bool {
        self.ended.exit == Exit::Code(0)
    }
}

impl Stage {
    /// A stage, unless this machine cannot show what a test is about.
    pub fn new() -> Option<Self> {
        let programs = &PROGRAMS[..PROGRAMS.len() - 1];
        (!lacks(programs, &SEARCH_PATH)).then(Stage::anywhere)
    }

    /// A stage on every machine.
    pub fn anywhere() -> Self {
        let root = tempfile::tempdir().expect("temporary directory");
        let stage = Stage {
            root,
            mode: Mode::Act,
            allowed: Capabilities::ALL,
            settings: ProcessSettings::default(),
            rules: PathRules::default(),
            network: false,
        };
        fs::create_dir(stage.path("ws")).expect("workspace");
        stage.file("ws/hello.txt", "hello\n");
        stage.file("outside/canary.txt", SECRET);
        stage.file("outside/deep/canary.sh", SECRET);
        let settings = ProcessSettings {
            launcher: env!("CARGO_BIN_EXE_hotcell").into(),
            workspace: stage.workspace(),
            programs: PROGRAMS.map(str::to_owned).to_vec(),
            search_path: SEARCH_PATH.map(PathBuf::from).to_vec(),
            limits: ProcessLimits {
                processes: 64,
                ..ProcessLimits::default()
            },
            ..ProcessSettings::default()
        };
        Stage { settings, ..stage }
    }

    /// A path below the root of the stage.
    pub fn path(&self, below: &str) -> PathBuf {
        let root = self.root.path().canonicalize().expect("real path");
        root.join(below)
    }

    pub fn workspace(&self) -> PathBuf {
        self.path("ws")
    }

    pub fn file(&self, below: &str, text: &str) -> PathBuf {
        let path = self.path(below);
        fs::create_dir_all(path.parent().expect("a parent")).expect("directory");
        fs::write(&path, text).expect("file");
        path
    }

    pub fn executable(&self, below: &str, text: &str) -> PathBuf {
        let path = self.file(below, text);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("mode");
        path
    }

    pub fn policy(&self) -> Policy {
        Policy {
            mode: self.mode,
            allowed: self.allowed,
            workspace: self.workspace(),
            skills: None,
            paths: self.rules.clone(),
            processes: ProcessRules {
                programs: self.settings.programs.clone(),
                read_only_programs: vec!["sh".to_owned()],
                network: self.network,
            },
            limits: Limits::default(),
        }
    }

    /// The grant that the policy gives a tool that accepts everything.
    pub fn grant(&self) -> Grant {
        let tool = ToolDefinition {
            name: "t".to_owned(),
            description: String::new(),
            input_schema: serde_json::json!({"type": "object"}),
            requires: Capabilities::from_iter([Capability::WorkspaceRead]),
            accepts: Capabilities::ALL,
        };
        match self.policy().decide(&tool) {
            Decision::Grant(grant) => grant,
            Decision::Deny(rule) => panic!("the tool is refused: {rule}"),
        }
    }

    pub fn processes(&self) -> Processes {
        Processes::new(self.settings.clone()).expect("a private directory")
    }

    pub async fn spawn(&self, command: Command) -> Result<Child, SpawnError> {
        self.processes().spawn(command, &self.grant()).await
    }

    /// Runs a program to its end.
    pub async fn run(&self, command: Command) -> Told {
        self.run_with(command, &[]).await
    }

    /// As [`Stage::run`], with bytes for its standard input.
    pub async fn run_with(&self, command: Command, input: &[u8]) -> Told {
        let child = self.spawn(command).await.expect("the program starts");
        told(child, input).await
    }

    pub async fn sh(&self, script: &str) -> Told {
        self.run(sh(script)).await
    }

    pub async fn python(&self, script: &str) -> Told {
        self.run(python(script)).await
    }

    /// Every path outside of the workspace, with mode, and content or target.
    pub fn outside(&self) -> BTreeMap<PathBuf, String> {
        digests(&self.path("outside"))
    }

    /// Whether any process of this machine still runs that was told `mark` as an argument.
    pub fn is_running(&self, mark: &str) -> bool {
        let processes = fs::read_dir("/proc").expect("/proc");
        processes.flatten().any(|process| {
            fs::read(process.path().join("cmdline")).is_ok_and(|line| {
                line.windows(mark.len())
                    .any(|window| window == mark.as_bytes())
            })
        })
    }
}

/// Every path below `root`, with its mode, and its content's digest or its target.
pub fn digests(root: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut open = vec![root.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory).expect("directory") {
            let path = entry.expect("entry").path();
            let metadata = path.symlink_metadata().expect("metadata");
            let content = if metadata.is_dir() {
                open.push(path.clone());
                String::new()
            } else if metadata.is_symlink() {
                format!("{:?}", fs::read_link(&path).expect("link"))
            } else if !metadata.is_file() {
                // Reading a pipe waits for somebody to write.
                format!("{:?}", metadata.file_type())
            } else {
                let bytes = fs::read(&path).expect("file");
                Sha256::digest(bytes)
                    .iter()
                    .map(|byte| format!("{byte:02x}"))
                    .collect()
            };
            let mode = metadata.permissions().mode();
            found.insert(path, format!("{mode:o} {content}"));
        }
    }
    found
}

pub async fn told(mut child: Child, input: &[u8]) -> Told {
    let mut stdin = child.stdin.take().expect("standard input");
    let mut stdout = child.stdout.take().expect("standard output");
    let mut stderr = child.stderr.take().expect("standard error");
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let feed = async {
        // A program that does not read its input is fine.
        let _ = stdin.write_all(input).await;
        drop(stdin);
    };
    let (_, out_read, err_read) = tokio::join!(
        feed,
        stdout.read_to_end(&mut out),
        stderr.read_to_end(&mut err)
    );
    out_read.expect("standard output");
    err_read.expect("standard error");
    let ended = child.ended().await;
    Told {
        stdout: String::from_utf8_lossy(&out).into_owned(),
        stderr: String::from_utf8_lossy(&err).into_owned(),
        ended,
    }
}

pub fn command(program: &str, arguments: &[&str]) -> Command {
    Command {
        program: program.to_owned(),
        arguments: arguments.iter().map(|text| (*text).to_owned()).collect(),
        ..Command::default()
    }
}

pub fn sh(script: &str) -> Command {
    command("sh", &["-c", script])
}

pub fn python(script: &str) -> Command {
    command("python3", &["-c", script])
}

/// A listener on loopback that nobody inside may reach.
pub async fn listener() -> (Arc<tokio::net::TcpListener>, u16) {
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0))
        .await
        .expect("a port");
    let port = listener.local_addr().expect("an address").port();
    (Arc::new(listener), port)
}

/// Settings in which a layer lacks.
pub fn lacking(layer: hotcell::process::Layer) -> Option<Layers> {
    Some(Layers::lacking(layer, "the kernel said no"))
}
