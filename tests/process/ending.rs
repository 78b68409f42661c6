//! Programs that will not end. All of them do, with everything they started.

use crate::support::{Stage, python, sh, told};
use hotcell::process::{Child, Exit};
use tokio::io::AsyncReadExt;

/// Waits until the program has said a line, so that what it started runs.
async fn ready(child: &mut Child) {
    let mut line = [0; 6];
    let stdout = child.stdout.as_mut().expect("standard output");
    stdout.read_exact(&mut line).await.expect("a line");
    assert_eq!(&line, b"ready\n");
}

/// Programs that say `ready` and stay, with a mark in their arguments.
fn stubborn(mark: &str) -> Vec<(&'static str, hotcell::process::Command)> {
    let arguments = |script: &str| {
        let mut command = sh(script);
        command.arguments.extend(["sh".to_owned(), mark.to_owned()]);
        command
    };
    let mut ignoring = python(
        "import signal, sys, time\nfor s in range(1, 65):\n  try: signal.signal(s, signal.SIG_IGN)\n  except OSError: pass\nprint('ready', flush=True)\ntime.sleep(600)",
    );
    ignoring.arguments.push(mark.to_owned());
    vec![
        (
            "a session of its own",
            arguments("setsid sh -c 'echo ready; sleep 600' sh $1; sleep 600"),
        ),
        (
            "a daemon",
            arguments("(setsid sh -c '(echo ready; exec sleep 600) &' sh $1 &) ; sleep 600"),
        ),
        ("deaf to every signal", ignoring),
        ("stopped", arguments("echo ready; kill -STOP $$")),
        (
            "a crowd",
            arguments(
                "for i in 1 2 3 4 5 6 7 8; do sh -c 'sleep 600' sh $1 & done; echo ready; wait",
            ),
        ),
    ]
}

#[tokio::test]
async fn killing_ends_everything() {
    let Some(stage) = Stage::new() else {
        return;
    };
    for (index, (name, command)) in stubborn("mark-of-killing").into_iter().enumerate() {
        let mut child = stage.spawn(command).await.expect("it starts");
        ready(&mut child).await;
        assert!(stage.is_running("mark-of-killing"), "{name}");
        let ended = child.kill().wait().await;
        assert_eq!(ended.exit, Exit::Signal(9), "{name}");
        assert!(!stage.is_running("mark-of-killing"), "{index} {name}");
    }
}

#[tokio::test]
async fn dropping_ends_everything() {
    let Some(stage) = Stage::new() else {
        return;
    };
    for (name, command) in stubborn("mark-of-dropping") {
        let mut child = stage.spawn(command).await.expect("it starts");
        ready(&mut child).await;
        let mut ending = child.ending();
        drop(child);
        ending.wait().await;
        assert!(!stage.is_running("mark-of-dropping"), "{name}");
    }
}

#[tokio::test]
async fn what_a_program_leaves_behind_ends_with_it() {
    let Some(stage) = Stage::new() else {
        return;
    };
    let mut command = sh(
        "setsid sh -c 'trap \"\" TERM HUP; sleep 600' sh $1 </dev/null >/dev/null 2>&1 & echo done",
    );
    command
        .arguments
        .extend(["sh".to_owned(), "mark-of-leaving".to_owned()]);
    let told = stage.run(command).await;
    assert_eq!(told.stdout, "done\n");
    assert_eq!(told.ended.exit, Exit::Code(0));
    assert!(!stage.is_running("mark-of-leaving"));
}

#[tokio::test]
async fn a_background_child_that_holds_the_pipe_does_not_hold_the_end() {
    let Some(stage) = Stage::new() else {
        return;
    };
    let child = stage
        .spawn(sh(
            "(while :; do echo x; sleep 1; done) & echo done; exit 3",
        ))
        .await
        .expect("it starts");
    let told = told(child, b"").await;
    assert!(told.stdout.contains("done\n"), "{told:?}");
    assert_eq!(told.ended.exit, Exit::Code(3));
}

#[tokio::test]
async fn without_a_sandbox_everything_ends_as_well() {
    let Some(mut stage) = Stage::new() else {
        return;
    };
    stage.settings.without_sandbox = true;
    for (name, command) in stubborn("mark-of-unsafe") {
        let mut child = stage.spawn(command).await.expect("it starts");
        ready(&mut child).await;
        child.kill().wait().await;
        assert!(!stage.is_running("mark-of-unsafe"), "{name}");
    }
}

#[test]
fn a_host_that_dies_takes_its_processes_along() {
    let Some(stage) = Stage::new() else {
        return;
    };
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let mut command = sh("echo ready; sleep 600");
    command
        .arguments
        .extend(["sh".to_owned(), "mark-of-dying".to_owned()]);
    let child = runtime.block_on(async {
        let mut child = stage.spawn(command).await.expect("it starts");
        ready(&mut child).await;
        child
    });
    assert!(stage.is_running("mark-of-dying"));
    // Nobody is left who could follow the process: as when the host ends in the middle.
    runtime.shutdown_background();
    let gone = (0..10_000).any(|_| {
        std::thread::yield_now();
        !stage.is_running("mark-of-dying")
    });
    drop(child);
    assert!(gone);
}
