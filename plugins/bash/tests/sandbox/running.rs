//! Time, memory, output, and what stays between calls.

use super::*;

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
            format!("bash: {name}: command not found (this call was given no native programs)\n")
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
        "echo begun; while :; do seq 1 1000 | while read -r n; do :; done; done",
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
