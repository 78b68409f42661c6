//! Programs as commands of the `bash` tool: its component in the sandbox, real programs in theirs.

use crate::support::Stage;
use hotcell::policy::Mode;
use hotcell::protocol::{OutputStream, ToolCall};
use hotcell::sandbox::{CallOutput, Sandbox, SandboxSettings};
use hotcell::tools::{BUILTINS, CallWatcher, Toolbox};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Sees nothing.
struct Nobody;

impl CallOutput for Nobody {
    fn output(&self, _: OutputStream, _: String) {}
}

impl CallWatcher for Nobody {
    fn compiling(&self, _: &str) {}
}

struct Shell {
    stage: Stage,
    toolbox: Toolbox,
}

impl Shell {
    /// None where the machine cannot show a process.
    async fn new() -> Option<Shell> {
        let stage = Stage::new()?;
        let sandbox = Sandbox::new(SandboxSettings {
            processes: Some(stage.processes()),
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
        Some(Shell { stage, toolbox })
    }

    async fn run(&self, script: &str) -> String {
        self.run_for(script, 60).await
    }

    async fn run_for(&self, script: &str, secs: u64) -> String {
        let call = ToolCall {
            id: "1".to_owned(),
            name: "bash".to_owned(),
            arguments: serde_json::json!({ "command": script, "timeout_secs": secs }),
            malformed: None,
        };
        let policy = self.stage.policy();
        let result = self
            .toolbox
            .call(&policy, "session", &call, Arc::new(Nobody))
            .await;
        assert_eq!(result.error, None, "{script}: {}", result.text());
        result.text()
    }
}

/// What was printed, and the status, before what the host adds.
fn parts(answer: &str) -> (&str, Option<i32>) {
    let Some((printed, rest)) = answer.rsplit_once("[exit status ") else {
        return (answer, None);
    };
    let status = rest
        .split(',')
        .next()
        .and_then(|status| status.parse().ok());
    (printed, status)
}

#[tokio::test]
async fn programs_answer_in_the_shell_as_in_bash() {
    let Some(shell) = Shell::new().await else {
        return;
    };
    let init = std::process::Command::new("git")
        .args(["init", "-q", "-b", "main", "."])
        .current_dir(shell.stage.workspace())
        .status()
        .expect("git is installed");
    assert!(init.success());
    let mut wrong = String::new();
    for (script, expected, status) in [
        (
            "git add hello.txt && git -c user.name=a -c user.email=b@c commit -qm first && \
             git log --format=%s | cat; git rev-list --count HEAD",
            "first\n1\n",
            0,
        ),
        (
            "type git; command -v python3",
            "git is /usr/bin/git\n/usr/bin/python3\n",
            0,
        ),
        ("echo \"on $(git branch --show-current)\"", "on main\n", 0),
        (
            "echo more >> hello.txt; git diff --numstat; git diff --quiet || echo changed",
            "1\t0\thello.txt\nchanged\n",
            0,
        ),
        (
            "git ls-files | while read -r f; do git log --format=%s -- \"$f\"; done",
            "first\n",
            0,
        ),
        (
            "git ls-files -z | xargs -0 git check-attr -a; git ls-files | xargs wc -l",
            "2 hello.txt\n",
            0,
        ),
        (
            "find . -name '*.txt' -exec python3 -c 'import sys; print(sys.argv[1:])' {} +",
            "['./hello.txt']\n",
            0,
        ),
        ("python3 -c 'print(6 * 7)'", "42\n", 0),
        (
            "python3 - a b <<'E'\nimport sys\nprint(sys.argv)\nE",
            "['-', 'a', 'b']\n",
            0,
        ),
        (
            "echo word | python3 -c 'print(input().upper())' | sed s/W/w/",
            "wORD\n",
            0,
        ),
        (
            "mkdir -p sub; cd sub; python3 -c 'import os; print(os.getcwd())'; A=1 python3 -c 'import os; print(os.environ[\"A\"])'",
            "/workspace/sub\n1\n",
            0,
        ),
        (
            "cd /workspace; python3 -c 'open(\"made\", \"w\").write(\"x\")'; cat made; rm made",
            "x",
            0,
        ),
        ("python3 -c 'import sys; sys.exit(7)'", "", 7),
        (
            "python3 -c 'import sys; print(\"out\"); print(\"err\", file=sys.stderr)' 2> e; cat e; rm e",
            "out\nerr\n",
            0,
        ),
        (
            "python3 -c 'import os; os.kill(os.getpid(), 9)'; echo $?",
            "bash: python3: Killed\n137\n",
            0,
        ),
        (
            "python3 -c 'import os; os.abort()' 2> /dev/null; echo $?",
            "134\n",
            0,
        ),
        (
            "absent-program; echo $?",
            "bash: absent-program: command not found (native programs here: git python3)\n127\n",
            0,
        ),
        (
            "GIT_PAGER=cat git branch --show-current; LD_PRELOAD=x git status; echo $?",
            "main\nbash: git: the variable LD_PRELOAD changes which code a program runs, so a call cannot set it\n126\n",
            0,
        ),
    ] {
        let answer = shell.run(script).await;
        let (printed, ended) = parts(&answer);
        if (printed.replace("(no output)\n", "").trim_end(), ended)
            != (expected.trim_end(), Some(status))
        {
            wrong.push_str(&format!(
                "--- {script}\nexpected {status}:\n{expected}answered:\n{answer}\n"
            ));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[tokio::test]
async fn more_than_every_buffer_goes_through_without_a_standstill() {
    let Some(shell) = Shell::new().await else {
        return;
    };
    let begun = Instant::now();
    for (script, expected) in [
        // Nothing is read before all was written, and the other way round.
        (
            "seq 100000 > n; python3 -c 'print(\"x\" * 1000000); import sys; print(len(sys.stdin.read()))' < n | tail -1",
            "588895\n",
        ),
        (
            "python3 -c 'import sys; sys.stdout.write(\"x\" * 300000); sys.stderr.write(\"y\" * 300000)' 2> e | wc -c; wc -c < e",
            "300000\n300000\n",
        ),
        (
            "python3 -c 'for n in range(100000): print(n)' | python3 -c 'import sys; [print(int(l) + 1) for l in sys.stdin]' | tail -1",
            "100000\n",
        ),
        (
            "python3 -c 'while True: print(\"y\")' | head -1; echo ${PIPESTATUS[0]}",
            "y\n141\n",
        ),
        (
            "python3 -c 'while True: print(1)' | python3 -c 'print(input())'; echo ${PIPESTATUS[*]}",
            "1\n141 0\n",
        ),
        (
            "python3 -c 'print(\"x\" * 2000000)' > f; wc -c < f; x=$(cat f); echo ${#x}",
            "2000001\n2000000\n",
        ),
        // What reads its input finds the end of it.
        ("python3 -c 'print(repr(open(0).read()))'", "''\n"),
    ] {
        let answer = shell.run(script).await;
        assert_eq!(parts(&answer).0, expected, "{script}: {answer}");
    }
    // Far from a number that a slow machine reaches, and from the one that ends a call.
    assert!(
        begun.elapsed() < Duration::from_secs(100),
        "{:?}",
        begun.elapsed()
    );
}

#[tokio::test]
async fn a_program_ends_with_the_time_of_the_command_that_started_it() {
    let Some(shell) = Shell::new().await else {
        return;
    };
    let endless = "python3 -uc 'import time; print(\"begun\"); time.sleep(1000)'";
    for (number, (script, begins, ends)) in [
        (
            format!("{endless} MARK"),
            "begun\n",
            "[timed out: ended after 3.0 s",
        ),
        (
            format!("x=1; {endless} MARK | cat"),
            "begun\n",
            "[timed out: ended after 3.0 s",
        ),
        (
            format!("timeout 1 {endless} MARK > f; echo $?"),
            "124\n",
            "[exit status 0",
        ),
        (
            format!("{endless} MARK > f & echo on"),
            "on\n",
            "background was ended]",
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let mark = format!("hotcell-shell-{}-{number}", std::process::id());
        let answer = shell.run_for(&script.replace("MARK", &mark), 3).await;
        assert!(answer.starts_with(begins), "{script}: {answer}");
        assert!(answer.contains(ends), "{script}: {answer}");
        assert!(!shell.stage.is_running(&mark), "{script}: {answer}");
    }
}

#[tokio::test]
async fn plan_mode_offers_no_program_that_may_write() {
    let Some(mut shell) = Shell::new().await else {
        return;
    };
    shell.stage.mode = Mode::Plan;
    let answer = shell
        .run("command -v git; git status; echo $?; cat hello.txt")
        .await;
    assert_eq!(
        parts(&answer).0,
        "bash: git: command not found (this call was given no native programs)\n127\nhello\n"
    );
}
