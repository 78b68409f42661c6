//! What a command must not reach and must not do: files outside, a read-only workspace, time,
//! memory, and what stays between calls.

use hotcell_sdk::testing::{MockHost, json};
use hotcell_sdk::{Capability, ErrorKind};
use hotcell_tool_bash::Bash;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::{Duration, Instant};

/// A workspace `ws` with a file, beside `outside` and `ws-evil` which nothing may reach.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        let place = tempfile::tempdir().expect("a temporary directory");
        for directory in ["ws/sub", "outside", "ws-evil"] {
            fs::create_dir_all(place.path().join(directory)).expect("a directory");
        }
        fs::write(place.path().join("ws/kept.txt"), "kept\n").expect("a file");
        fs::write(place.path().join("outside/secret"), "SECRET\n").expect("a file");
        fs::write(place.path().join("ws-evil/f"), "SECRET\n").expect("a file");
        Place(place)
    }

    fn workspace(&self) -> std::path::PathBuf {
        self.0.path().join("ws")
    }

    fn host(&self) -> MockHost {
        MockHost::new(self.workspace())
    }

    /// Every file outside of the workspace, with what is in it.
    fn outside(&self) -> Vec<(String, Vec<u8>)> {
        let mut files = Vec::new();
        for directory in ["outside", "ws-evil"] {
            for entry in fs::read_dir(self.0.path().join(directory)).expect("a directory") {
                let path = entry.expect("an entry").path();
                files.push((path.display().to_string(), fs::read(path).expect("a file")));
            }
        }
        files.sort();
        files
    }
}

fn run(host: &MockHost, command: &str) -> String {
    run_for(host, command, 20)
}

fn run_for(host: &MockHost, command: &str, secs: u64) -> String {
    host.call::<Bash>(json!({ "command": command, "timeout_secs": secs }))
        .expect("a command that fails is an answer")
        .to_text()
}

/// The answer without its last line, which holds the time.
fn printed(answer: &str) -> &str {
    answer.trim_end_matches(|c| c != '\n')
}

fn has_status(answer: &str, status: i32) -> bool {
    answer
        .lines()
        .last()
        .is_some_and(|l| l.starts_with(&format!("[exit status {status}, ")))
}

#[test]
fn nothing_outside_the_workspace_is_read() {
    let place = Place::new();
    let outside = place.0.path().join("outside");
    let workspace = place.workspace();
    symlink(&outside, workspace.join("absolute")).expect("a link");
    symlink("../outside", workspace.join("relative")).expect("a link");
    symlink("../outside/secret", workspace.join("file")).expect("a link");
    symlink("relative/secret", workspace.join("chain")).expect("a link");
    symlink("/proc/self/environ", workspace.join("environ")).expect("a link");
    let host = place.host();
    let secret = outside.join("secret");
    let commands = [
        format!("cat {}", secret.display()),
        "cat absolute/secret".into(),
        "cat relative/secret".into(),
        "cat file".into(),
        "cat chain".into(),
        "cat ../outside/secret".into(),
        "cat ../ws-evil/f".into(),
        "cat ../../../../../../../..".to_owned() + &secret.display().to_string(),
        "cd ../outside && cat secret".into(),
        "cd relative && cat secret".into(),
        "cat < file".into(),
        "v=$(<relative/secret); echo \"$v\"; test -n \"$v\"".into(),
        "grep -r SECRET absolute relative file".into(),
        "cp relative/secret stolen && cat stolen".into(),
        "ln -s ../outside more && cat more/secret".into(),
        format!("ln -s {} more && cat more/secret", outside.display()),
        "tar cf - relative/secret | tar xfO -".into(),
        "source file".into(),
        "cat environ".into(),
        "cat /proc/self/environ".into(),
        "cat /proc/1/cmdline /proc/self/fd/0".into(),
        "cat /etc/shadow".into(),
        "cat /dev/tty".into(),
        "find / -name secret | grep .".into(),
    ];
    let environment: Vec<String> = ["PATH", "CARGO_MANIFEST_DIR"]
        .iter()
        .filter_map(|name| option_env_at_run(name))
        .collect();
    for command in &commands {
        let answer = run(&host, command);
        assert!(!answer.contains("SECRET"), "{command}: {answer}");
        assert!(
            environment.iter().all(|value| !answer.contains(value)),
            "{command}: {answer}"
        );
    }
}

/// What the test itself has in its environment and no command may see.
#[expect(
    clippy::disallowed_methods,
    reason = "the test looks for its own environment in answers"
)]
fn option_env_at_run(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

#[test]
fn nothing_outside_the_workspace_is_changed() {
    let place = Place::new();
    let workspace = place.workspace();
    let outside = place.0.path().join("outside");
    symlink(&outside, workspace.join("outbox")).expect("a link");
    symlink("../outside", workspace.join("near")).expect("a link");
    symlink("../outside/secret", workspace.join("file")).expect("a link");
    let before = place.outside();
    let host = place.host();
    let path = outside.display();
    for command in [
        "echo x > outbox/x".to_owned(),
        "echo x > near/x".into(),
        "echo x >> file".into(),
        "echo x > file; cat file".into(),
        "cp kept.txt outbox/".into(),
        "mv kept.txt near/secret".into(),
        "rm -f near/secret file/".into(),
        "rm -rf outbox/* near/".into(),
        "sed -i s/SECRET/x/ file near/secret".into(),
        "mkdir outbox/d near/d".into(),
        "touch near/new outbox/secret".into(),
        "tee near/new < kept.txt".into(),
        format!("echo x > {path}/x"),
        "echo x > ../outside/x".into(),
        "cd .. && touch outside/x".into(),
        "truncate -s 0 near/secret".into(),
        "ln kept.txt near/hard".into(),
        "dd if=/dev/zero of=near/secret count=1".into(),
        "chmod 777 near/secret".into(),
        "install kept.txt near/secret".into(),
        "rm -rf /workspace/../outside ../outside".into(),
    ] {
        let answer = run(&host, &command);
        assert_eq!(place.outside(), before, "{command}: {answer}");
    }
}

#[test]
fn a_write_to_no_place_is_refused_and_not_lost() {
    let host_place = Place::new();
    let host = host_place.host();
    for command in [
        "echo x > /etc/new",
        "echo x > /new",
        "mkdir /opt/x",
        "touch /usr/bin/ls2",
        "rm -rf /workspace",
        "mv /workspace /tmp/w",
    ] {
        let answer = run(&host, command);
        assert!(!has_status(&answer, 0), "{command}: {answer}");
        assert!(printed(&answer).contains(':'), "{command}: {answer}");
    }
    assert!(host_place.workspace().join("kept.txt").exists());
}

#[test]
fn a_read_only_workspace_answers_as_a_read_only_file_system() {
    let place = Place::new();
    fs::write(place.workspace().join("run.sh"), "#!/bin/sh\necho ran\n").expect("a file");
    let host = place
        .host()
        .granting([Capability::WorkspaceRead, Capability::SessionState]);
    for command in [
        "cat > f <<< x",
        "echo x > f",
        "echo x >> kept.txt",
        "echo x > kept.txt",
        "tee f < kept.txt > /dev/null",
        "sed -i s/k/x/ kept.txt",
        "cp kept.txt copy.txt",
        "mv kept.txt moved.txt",
        "rm kept.txt",
        "rm -rf sub",
        "rmdir sub",
        "mkdir new",
        "mkdir -p new/deep",
        "touch new",
        "ln -s kept.txt link",
        "truncate -s 0 kept.txt",
        "dd if=kept.txt of=new 2>&1",
        "chmod 600 kept.txt",
        "sort -o kept.txt kept.txt",
        "exec > log || exit",
    ] {
        let answer = run(&host, command);
        assert!(
            answer.contains("Read-only file system"),
            "{command}: {answer}"
        );
        assert!(!has_status(&answer, 0), "{command}: {answer}");
    }
    let names: Vec<_> = fs::read_dir(place.workspace())
        .expect("the workspace")
        .map(|entry| entry.expect("an entry").file_name())
        .collect();
    assert_eq!(names.len(), 3, "{names:?}");
    assert_eq!(
        fs::read_to_string(place.workspace().join("kept.txt"))
            .ok()
            .as_deref(),
        Some("kept\n")
    );

    // Reading, running and working in /tmp go on.
    let answer = run(
        &host,
        "cat kept.txt; ./run.sh; echo t > /tmp/t && cat /tmp/t; cd sub",
    );
    assert_eq!(printed(&answer), "kept\nran\nt\n");
    assert!(answer.ends_with(", now in /workspace/sub]"), "{answer}");
}

#[test]
fn skills_can_be_read_where_they_are_given() {
    let place = Place::new();
    let skills = place.0.path().join("skills");
    fs::create_dir_all(skills.join("pdf")).expect("a directory");
    fs::write(skills.join("pdf/SKILL.md"), "how to\n").expect("a file");
    let host = place.host().with_skills(&skills);
    let answer = run(
        &host,
        "cat /skills/pdf/SKILL.md; ls /; echo x > /skills/new",
    );
    assert!(answer.starts_with("how to\n"), "{answer}");
    assert!(answer.contains("Read-only file system"), "{answer}");
    let without = host.granting([Capability::WorkspaceRead]);
    assert!(!run(&without, "cat /skills/pdf/SKILL.md").contains("how to"));
}

#[test]
fn a_pipe_or_socket_is_refused_before_it_is_opened() {
    let place = Place::new();
    let _socket =
        std::os::unix::net::UnixListener::bind(place.workspace().join("socket")).expect("a socket");
    let fifo = place.workspace().join("fifo");
    assert!(
        std::process::Command::new("mkfifo")
            .arg(&fifo)
            .status()
            .is_ok_and(|s| s.success()),
        "mkfifo"
    );
    let host = place.host();
    for command in [
        "cat fifo",
        "cat socket",
        "cat < fifo",
        "echo x > fifo",
        "echo x >> fifo",
        "grep x fifo",
        "source fifo",
        "./fifo",
        "cp fifo copy",
        "head -1 fifo",
        "sed -i s/a/b/ fifo",
        "wc fifo",
    ] {
        let answer = run_for(&host, command, 5);
        assert!(!answer.contains("timed out"), "{command}: {answer}");
        assert!(!has_status(&answer, 0), "{command}: {answer}");
    }
    assert!(has_status(
        &run(&host, "ls -l; [ -f fifo ] && exit 9; exit 0"),
        0
    ));
}

#[test]
fn the_working_directory_stays_and_nothing_else_does() {
    let place = Place::new();
    let host = place.host();
    run(
        &host,
        "cd sub; x=1; export Y=2; f() { :; }; echo t > /tmp/t; alias l=ls",
    );
    assert_eq!(
        host.state("cwd").as_deref(),
        Some(b"/workspace/sub".as_slice())
    );
    let answer = run(
        &host,
        "pwd; echo \"[$x$Y]\"; type f l 2>/dev/null; ls /tmp; echo \"$OLDPWD\"",
    );
    assert!(answer.starts_with("/workspace/sub\n[]\n"), "{answer}");
    assert!(!answer.contains("function"), "{answer}");

    // The command takes its own directory away.
    run(&host, "rm -r ../sub");
    let answer = run(&host, "pwd");
    assert_eq!(
        printed(&answer),
        "[the working directory /workspace/sub is gone: this ran in /workspace]\n/workspace\n"
    );
    assert_eq!(printed(&run(&host, "pwd")), "/workspace\n");

    // Cut short, a command leaves the directory as it was.
    assert!(run_for(&host, "mkdir d; cd d; sleep 30", 1).contains("timed out"));
    assert_eq!(printed(&run(&host, "pwd")), "/workspace\n");

    // A stored value that is no directory does not lock the model out.
    host.set_state("cwd", b"\xff\xfe".to_vec());
    assert_eq!(printed(&run(&host, "pwd")), "/workspace\n");
    host.set_state("cwd", "/workspace/kept.txt");
    assert!(run(&host, "pwd").contains("is gone"));
}

#[test]
fn a_command_that_is_not_there_says_what_it_would_need() {
    let place = Place::new();
    let host = place.host();
    for command in [
        "cargo build",
        "git status",
        "python3 -c 1",
        "make",
        "curl x",
        "sudo ls",
        "vim f",
    ] {
        let answer = run(&host, command);
        let name = command.split(' ').next().expect("a name");
        assert_eq!(
            printed(&answer),
            format!(
                "bash: {name}: command not found (native programs need the `process` capability, \
                 which this version does not offer to bash)\n"
            )
        );
        assert!(has_status(&answer, 127), "{answer}");
    }
    let answer = run(
        &host,
        "command -v git || echo none; type cargo; node x || echo \"got $?\"",
    );
    assert!(answer.contains("none\n"), "{answer}");
    assert!(answer.contains("got 127\n"), "{answer}");
}

#[test]
fn a_script_for_another_interpreter_is_not_run_as_bash() {
    let place = Place::new();
    fs::write(
        place.workspace().join("p.py"),
        "#!/usr/bin/env python3\necho ran\n",
    )
    .expect("a file");
    let host = place.host();
    for command in [
        "./p.py",
        "chmod +x p.py; ./p.py",
        "PATH=.:$PATH p.py",
        "cp p.py /tmp/p.py; chmod 755 /tmp/p.py; /tmp/p.py",
    ] {
        let answer = run(&host, command);
        assert!(!answer.contains("ran\n"), "{command}: {answer}");
        assert!(!has_status(&answer, 0), "{command}: {answer}");
    }
    let answer = run(
        &host,
        "printf '#!/bin/sh\\necho ran\\n' > /tmp/s; chmod +x /tmp/s; /tmp/s",
    );
    assert_eq!(printed(&answer), "ran\n");
}

#[test]
fn commands_that_would_wait_for_a_person_end_at_once() {
    let place = Place::new();
    let host = place.host();
    for command in [
        "cat",
        "read x; echo \"$?\"",
        "vi kept.txt",
        "less kept.txt",
        "more kept.txt",
        "man ls",
        "sudo -v",
        "git rebase -i",
        "select x in a b; do echo $x; done",
        "grep x",
        "sort",
        "bash",
        "top",
        "ssh host",
        "read -p 'sure? ' x",
        "wc -l",
        "tee f",
        "xargs echo",
    ] {
        let answer = run_for(&host, command, 10);
        assert!(!answer.contains("timed out"), "{command}: {answer}");
    }
}

/// What never ends by itself. Each must be answered at its time, with what it printed.
#[test]
fn time_ends_what_does_not_end_by_itself() {
    let place = Place::new();
    let host = place.host();
    for command in [
        "echo begun; while :; do :; done",
        "echo begun; sleep 1000",
        "echo begun; sleep inf & wait",
        "echo begun; while true; do echo x; done",
        "echo begun; for ((;;)); do x=$((x + 1)); done",
        "echo begun; until false; do sleep 0.01; done",
        "echo begun; awk 'BEGIN { while (1) x++ }'",
        "echo begun; while :; do echo x; done | grep y",
        "echo begun; f() { while :; do x=$(echo y); done; }; f",
        "echo begun; tail -f kept.txt; while :; do :; done",
        "echo begun; seq 1 1000000000 | while read -r n; do :; done",
        "echo begun; trap '' TERM INT; while :; do :; done",
        "echo begun; (while :; do :; done); echo never",
        "echo begun; bash -c 'while :; do :; done'",
    ] {
        let start = Instant::now();
        let answer = run_for(&host, command, 1);
        assert!(
            start.elapsed() < Duration::from_secs(10),
            "{command}: {:?}",
            start.elapsed()
        );
        assert!(
            answer.starts_with("begun\n"),
            "{command}: {}",
            tail(&answer)
        );
        assert!(
            answer.ends_with("[timed out: ended after 1.0 s, without an exit status; timeout_secs can be up to 600]"),
            "{command}: {}", tail(&answer)
        );
        assert!(!answer.contains("never"), "{command}");
    }
}

fn tail(text: &str) -> &str {
    let mut at = text.len().saturating_sub(300);
    while !text.is_char_boundary(at) {
        at += 1;
    }
    &text[at..]
}

#[test]
fn what_runs_in_the_background_ends_with_the_command() {
    let place = Place::new();
    let host = place.host();
    for command in [
        "(while :; do echo x; done) & echo done",
        "sleep 1000 & echo done",
        "{ sleep 500; echo late > late.txt; } & echo done; exit",
        "(sleep 300; echo late) & trap 'echo done' EXIT; exit 0",
        "nohup sleep 100 > /dev/null 2>&1 & echo done",
    ] {
        let answer = run_for(&host, command, 15);
        assert!(answer.starts_with("done\n"), "{command}: {}", tail(&answer));
        assert!(
            answer.ends_with("; what still ran in the background was ended]"),
            "{command}: {}",
            tail(&answer)
        );
        assert!(!answer.contains("late"), "{command}: {answer}");
    }
    // What is done, or waited for, is whole.
    for (command, output) in [
        ("echo a & wait; echo b", "a\nb\n"),
        ("(sleep 0.01; echo a) & sleep 0.05; echo b; wait", "b\na\n"),
        ("(sleep 0.05; echo a) & wait; echo b", "a\nb\n"),
        (
            "for i in 1 2; do (sleep 0.0$i; echo $i) & done; wait; echo '&'",
            "1\n2\n&\n",
        ),
        ("(sleep 0.01; echo a) & false", "a\n"),
    ] {
        let answer = run(&host, command);
        assert_eq!(printed(&answer), output, "{command}");
        assert!(!answer.contains("was ended"), "{command}: {answer}");
    }
    assert!(has_status(&run(&host, "sleep 0.01 & (exit 5)"), 5));
}

#[test]
fn a_flood_is_cut_in_the_middle_and_the_status_kept() {
    let place = Place::new();
    let host = place.host();
    for flood in [
        "for i in $(seq 30); do seq $i 100000; done",
        "for i in $(seq 100); do cat kept.txt big; done",
        "i=0; while [ $i -lt 30000 ]; do i=$((i + 1)); echo \"line $i of a loop\"; done",
        "for i in $(seq 100); do cat big; done >&2",
    ] {
        let command = format!("yes | head -5000 > big; echo first; {flood}; echo last; exit 3");
        let answer = run_for(&host, &command, 60);
        assert!(answer.starts_with("first\n"), "{flood}");
        assert!(
            answer.contains("\nlast\n[exit status 3, "),
            "{flood}: {}",
            tail(&answer)
        );
        assert!(answer.contains(" bytes cut here; redirect to a file to keep all of it"));
        assert!(answer.len() < 32_000, "{}", answer.len());
    }
}

#[test]
fn an_answer_always_has_output_and_a_status() {
    let place = Place::new();
    let host = place.host();
    for (command, output, status) in [
        ("exit 1", "(no output)\n", 1),
        ("true", "(no output)\n", 0),
        ("", "(no output)\n", 0),
        ("# only a comment", "(no output)\n", 0),
        ("printf x", "x\n", 0),
        ("printf '\\033[31mred\\033[0m \\xff\\n'", "red \n", 0),
        ("exit 300", "(no output)\n", 44),
        ("kill -9 $$", "(no output)\n", 137),
    ] {
        let answer = run(&host, command);
        assert_eq!(printed(&answer), output, "{command}");
        assert!(has_status(&answer, status), "{command}: {answer}");
    }
    let answer = run(&host, "chmod +x kept.txt && test -x kept.txt");
    assert!(
        answer.starts_with("(no output)\n[file modes do not reach the disk"),
        "{answer}"
    );
    let answer = run(&host, "echo fine\nif then\necho never");
    assert_eq!(
        printed(&answer),
        "fine\nbash: line 2: syntax error near unexpected token `then'\nbash: line 2: `if then'\n"
    );
    assert!(has_status(&answer, 2), "{answer}");
    let answer = run(&host, "echo 'unclosed");
    assert!(
        answer.contains("bash: ") && has_status(&answer, 2),
        "{answer}"
    );
}

#[test]
fn limits_of_the_shell_end_it_with_their_name() {
    let place = Place::new();
    let host = place.host();
    for command in [
        ":(){ :|:& };: ; false",
        "f() { f; }; f",
        "x=a; while :; do x=$x$x; done",
        "eval \"$(printf '(%.0s' $(seq 500))\"",
        "echo {1..100000000}",
    ] {
        let answer = run_for(&host, command, 5);
        let last = answer.lines().last().expect("a line");
        assert!(last.starts_with('['), "{command}: {}", tail(&answer));
        assert!(!has_status(&answer, 0), "{command}: {}", tail(&answer));
    }
}

#[test]
fn arguments_are_checked() {
    let place = Place::new();
    let host = place.host();
    for arguments in [
        json!({}),
        json!({ "command": "ls", "background": true }),
        json!({ "command": "ls", "timeout_secs": -1 }),
        json!({ "command": ["ls"] }),
    ] {
        let error = host.call::<Bash>(arguments.clone()).expect_err("refused");
        assert_eq!(error.kind(), ErrorKind::InvalidArguments, "{arguments}");
    }
}

#[test]
fn a_change_lands_on_the_disk() {
    let place = Place::new();
    let host = place.host();
    let workspace = place.workspace();
    let read = |path: &str| fs::read_to_string(workspace.join(path)).ok();
    run(
        &host,
        "echo a > a; mkdir -p d/e; printf b >> d/e/b; mv a d/; ln -s d/a l; cp d/a c; rm kept.txt",
    );
    assert_eq!(read("d/a").as_deref(), Some("a\n"));
    assert_eq!(read("d/e/b").as_deref(), Some("b"));
    assert_eq!(read("c").as_deref(), Some("a\n"));
    assert_eq!(
        fs::read_link(workspace.join("l")).ok().as_deref(),
        Some(Path::new("d/a"))
    );
    assert_eq!(read("kept.txt"), None);
    run(
        &host,
        "echo through > l; touch -d 2020-01-02T03:04:05Z c; rm -r d/e",
    );
    assert_eq!(read("d/a").as_deref(), Some("through\n"));
    assert!(!workspace.join("d/e").exists());
    let modified = fs::metadata(workspace.join("c"))
        .and_then(|m| m.modified())
        .expect("a time");
    assert_eq!(
        modified,
        std::time::UNIX_EPOCH + Duration::from_secs(1_577_934_245)
    );
}

#[test]
fn the_definition_is_the_reviewed_one() {
    hotcell_sdk::testing::assert_definitions_match(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("definitions.json"),
        &[hotcell_sdk::definition::<Bash>()],
    );
}
