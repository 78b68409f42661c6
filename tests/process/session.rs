//! Calls of one session with native programs: what they have in common, and what they see of each
//! other's work.

use crate::support::{SECRET, Stage, sh};
use hotcell::policy::{Mode, Policy};
use hotcell::process::PrivateDirectory;
use hotcell::protocol::{OutputStream, ToolCall, ToolErrorKind, ToolResult};
use hotcell::sandbox::{CallOutput, Sandbox, SandboxSettings};
use hotcell::tools::{BUILTINS, CallWatcher, Toolbox};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Does something when something is shown.
struct Watcher {
    awaited: &'static str,
    makes: PathBuf,
}

impl CallOutput for Watcher {
    fn output(&self, _: OutputStream, text: String) {
        if !self.awaited.is_empty() && text.contains(self.awaited) {
            std::fs::write(&self.makes, "").expect("a file");
        }
    }
}

impl CallWatcher for Watcher {
    fn compiling(&self, _: &str) {}
}

struct Session {
    stage: Stage,
    policy: Policy,
    toolbox: Toolbox,
    private: Arc<PrivateDirectory>,
}

impl Session {
    /// None where the machine cannot show a process.
    async fn new(shell: Option<&str>) -> Option<Session> {
        let mut stage = Stage::new()?;
        let private = Arc::new(PrivateDirectory::new().expect("a directory"));
        stage.settings.private = Some(Arc::clone(&private));
        stage.settings.shell = shell.map(str::to_owned);
        stage.settings.programs.extend(shell.map(str::to_owned));
        let sandbox = Sandbox::new(SandboxSettings {
            temporary: Some(private.temporary()),
            processes: Some(stage.processes()),
            cache: Some(Path::new(env!("CARGO_TARGET_TMPDIR")).join("compiled")),
            pooling: false,
            slots: 2,
            ..SandboxSettings::default()
        })
        .expect("the engine starts");
        let builtins: Vec<_> = BUILTINS
            .iter()
            .filter(|builtin| ["bash", "files"].contains(&builtin.name))
            .copied()
            .collect();
        let toolbox = Toolbox::load(&sandbox, &builtins, &[])
            .await
            .expect("the tools load");
        Some(Session {
            policy: stage.policy(),
            stage,
            toolbox,
            private,
        })
    }

    async fn call(&self, name: &str, arguments: Value, awaited: &'static str) -> ToolResult {
        let call = ToolCall {
            id: "1".to_owned(),
            name: name.to_owned(),
            arguments,
            malformed: None,
        };
        let watcher = Watcher {
            awaited,
            makes: self.stage.path("ws/go"),
        };
        self.toolbox
            .call(&self.policy, "session", &call, Arc::new(watcher))
            .await
    }

    async fn bash(&self, script: &str) -> String {
        self.bash_for(script, 60, "").await
    }

    async fn bash_for(&self, script: &str, secs: u64, awaited: &'static str) -> String {
        let arguments = json!({ "command": script, "timeout_secs": secs });
        let result = self.call("bash", arguments, awaited).await;
        assert_eq!(result.error, None, "{script}: {}", result.text());
        result.text()
    }
}

#[tokio::test]
async fn a_file_that_a_shell_or_a_program_changed_since_it_was_read_is_stale() {
    for shell in [None, Some("bash")] {
        let Some(session) = Session::new(shell).await else {
            return;
        };
        for change in [
            "echo more >> hello.txt",
            "sed -i s/hello/bye/ hello.txt",
            "python3 -c 'open(\"hello.txt\", \"a\").write(\"more\")'",
            "python3 -c 'import os; os.replace(\"other.txt\", \"hello.txt\")'",
        ] {
            session.stage.file("ws/hello.txt", "hello\n");
            session.stage.file("ws/other.txt", "hello, other\n");
            let read = session
                .call("read_file", json!({"path": "hello.txt"}), "")
                .await;
            assert_eq!(read.error, None, "{}", read.text());
            let answer = session.bash(change).await;
            assert!(answer.contains("[exit status 0"), "{change}: {answer}");
            let changed = std::fs::read(session.stage.path("ws/hello.txt")).expect("the file");
            let edit = json!({"path": "hello.txt", "old": "l", "new": "L", "replace_all": true});
            let edited = session.call("edit_file", edit, "").await;
            assert_eq!(
                edited.error,
                Some(ToolErrorKind::Conflict),
                "{change}: {}",
                edited.text()
            );
            let write = json!({"path": "hello.txt", "content": "mine\n"});
            let written = session.call("write_file", write, "").await;
            assert_eq!(
                written.error,
                Some(ToolErrorKind::Conflict),
                "{change}: {}",
                written.text()
            );
            let left = std::fs::read(session.stage.path("ws/hello.txt")).expect("the file");
            assert_eq!(left, changed, "{change}");
        }
    }
}

#[tokio::test]
async fn the_calls_and_programs_of_a_session_have_one_tmp() {
    let Some(mut session) = Session::new(None).await else {
        return;
    };
    let outside = session.stage.path("outside/canary.txt");
    for (script, expected) in [
        (
            "echo from the shell > /tmp/a; python3 -c 'print(open(\"/tmp/a\").read(), end=\"\")'",
            "from the shell\n",
        ),
        (
            "python3 -c 'open(\"/tmp/b\", \"w\").write(\"from a program\\n\")'; cat /tmp/a /tmp/b",
            "from the shell\nfrom a program\n",
        ),
        (
            "mkdir /tmp/deep; cd /tmp/deep; echo x > x; python3 -c 'import os; print(os.getcwd(), os.listdir())'",
            "/tmp/deep ['x']\n",
        ),
        (
            "pwd; mv /tmp/b /workspace/b; cat /workspace/b",
            "/tmp/deep\nfrom a program\n",
        ),
        (
            "cd /workspace; python3 -c 'import os; print(os.path.exists(os.environ[\"HOME\"]))'; ls -d /run/home 2> /dev/null",
            "True\n",
        ),
    ] {
        let answer = session.bash(script).await;
        let printed = answer.split("[exit status").next();
        assert_eq!(printed, Some(expected), "{script}: {answer}");
    }
    // What leads out of it does not.
    let link = format!("ln -s {} /tmp/out; cat /tmp/out", outside.display());
    for script in [
        link.replace(
            "ln -s",
            "python3 -c 'import os, sys; os.symlink(sys.argv[1], sys.argv[2])'",
        ),
        link,
        format!("cat /tmp/../../..{}", outside.display()),
    ] {
        let answer = session.bash(&script).await;
        assert!(!answer.contains(SECRET), "{script}: {answer}");
    }
    // In plan mode nothing of it is there, and nothing stays.
    session.policy.mode = Mode::Plan;
    let answer = session
        .bash("cat /tmp/a; echo plan > /tmp/plan; cat /tmp/plan")
        .await;
    assert!(!answer.contains("from the shell"), "{answer}");
    assert!(answer.contains("plan\n"), "{answer}");
    let directory = session.private.temporary();
    assert!(directory.join("a").exists() && !directory.join("plan").exists());
    drop(session);
    assert!(!directory.exists());
}

#[tokio::test]
async fn a_program_that_only_looks_leaves_nothing_in_tmp() {
    let Some(mut stage) = Stage::new() else {
        return;
    };
    let private = Arc::new(PrivateDirectory::new().expect("a directory"));
    stage.settings.private = Some(Arc::clone(&private));
    std::fs::write(private.temporary().join("from-a-call"), "x").expect("a file");
    stage.mode = Mode::Plan;
    let told = stage
        .run(sh("ls /tmp/from-a-call; echo x > /tmp/x && cat /tmp/x"))
        .await;
    assert_eq!(told.stdout, "x\n", "{told:?}");
    assert!(!private.temporary().join("x").exists());
}

/// Waits, between two lines, for a file that whoever sees the first one makes.
const PATIENT: &str = "python3 -uc 'import os, time
print(\"begun\")
while not os.path.exists(\"/workspace/go\"): time.sleep(0.01)
print(\"seen\")'";

#[tokio::test]
async fn what_a_program_says_is_shown_while_it_runs() {
    for shell in [None, Some("bash")] {
        let Some(session) = Session::new(shell).await else {
            return;
        };
        for script in [
            PATIENT.to_owned(),
            format!("{PATIENT} | cat"),
            format!(
                "x=1; {PATIENT} 2>&1 | python3 -uc 'import sys\nfor l in sys.stdin: print(l, end=\"\")'"
            ),
        ] {
            let _ = std::fs::remove_file(session.stage.path("ws/go"));
            let answer = session.bash_for(&script, 60, "begun").await;
            assert!(
                answer.starts_with("begun\nseen\n[exit status 0"),
                "{script}: {answer}"
            );
        }
        for script in [
            "python3 -c 'while True: print(\"y\")' 2> /dev/null | head -1",
            "yes | head -1",
        ] {
            let answer = session.bash(script).await;
            assert!(
                answer.starts_with("y\n[exit status 0"),
                "{script}: {answer}"
            );
        }
    }
}

#[tokio::test]
async fn the_systems_bash_runs_a_command_line_under_the_same_rules() {
    let Some(mut session) = Session::new(Some("bash")).await else {
        return;
    };
    session.stage.file("ws/.env", "KEY=very-secret\n");
    session.stage.file("ws/.git/config", "[core]\n");
    let version = std::process::Command::new("bash")
        .args(["-c", "echo $BASH_VERSION"])
        .output()
        .expect("bash is installed");
    let version = String::from_utf8(version.stdout).expect("text");
    for (script, printed, closing) in [
        ("echo $BASH_VERSION", version.as_str(), "[exit status 0"),
        (
            "printf '%s|' \"$@\"; echo $# $0",
            "|0 bash\n",
            "[exit status 0",
        ),
        (
            "mkdir -p 'sub dir'; cd 'sub dir'; f() { return 3; }; f",
            "(no output)\n",
            "now in /workspace/sub dir",
        ),
        (
            "pwd; cd /tmp; echo kept > kept; exit 4",
            "/workspace/sub dir\n",
            "[exit status 4",
        ),
        (
            "pwd; cat kept; cd /usr/bin; kill -9 $$",
            "/tmp\nkept\n",
            "[exit status 137",
        ),
        (
            "pwd; cd /workspace; echo out; echo err >&2",
            "/tmp\nout\nerr\n",
            "[exit status 0",
        ),
        ("read x; echo \"read $x\"", "read \n", "[exit status 0"),
        ("cat .env", "", "[exit status"),
        ("if", "", "[exit status"),
    ] {
        let answer = session.bash(script).await;
        assert!(
            answer.starts_with(printed) && answer.contains(closing) && !answer.contains('\0'),
            "{script}: {answer}"
        );
        assert!(!answer.contains("very-secret"), "{script}: {answer}");
    }
    let answer = session.bash("cd /workspace; echo x >> .git/config; mkdir -p new/.git/hooks; echo x > new/.git/hooks/pre-commit").await;
    assert!(answer.contains("Read-only file system"), "{answer}");
    assert!(answer.contains("`new/.git/hooks` is protected"), "{answer}");
    let mark = format!("hotcell-native-{}", std::process::id());
    let script = format!("echo begun; python3 -c 'import time; time.sleep(1000)' {mark}");
    let answer = session.bash_for(&script, 2, "").await;
    assert!(answer.starts_with("begun\n[timed out"), "{answer}");
    assert!(!session.stage.is_running(&mark));
    let script = format!("python3 -c 'import time; time.sleep(1000)' {mark} & echo on");
    let answer = session.bash(&script).await;
    assert!(answer.starts_with("on\n[exit status 0"), "{answer}");
    assert!(!session.stage.is_running(&mark));
    // In plan mode it is the component's, unless the user listed bash as one that looks.
    session.policy.mode = Mode::Plan;
    let answer = session
        .bash("command -v python3 || echo none; echo x > f")
        .await;
    assert!(
        answer.starts_with("none\n") && answer.contains("Read-only file system"),
        "{answer}"
    );
    session.policy.processes.read_only_programs = vec!["bash".to_owned()];
    let answer = session
        .bash("command -v python3; echo x > f; touch hello.txt")
        .await;
    assert!(answer.starts_with("/usr/bin/python3\n"), "{answer}");
    assert_eq!(
        answer.matches("Read-only file system").count(),
        2,
        "{answer}"
    );
    assert!(!session.stage.path("ws/f").exists());
}
