//! Programs that may run: streams, directories, environment, and why others do not start.

use crate::support::{Stage, command, lacking, sh, told};
use hotcell::policy::Mode;
use hotcell::process::{Command, Exit, Layer, Layers, SpawnError};
use hotcell::protocol::{Capabilities, Capability};

#[tokio::test]
async fn a_machine_gives_every_layer_or_starts_nothing_and_names_it() {
    let stage = Stage::anywhere();
    let layers = Layers::probe(&stage.settings.launcher).await;
    let started = stage.spawn(sh("exit 0")).await.map(drop);
    match (layers.first_lacking(), started) {
        (None, Ok(())) => {}
        (Some((layer, _)), Err(error)) => {
            assert!(error.to_string().contains(layer.name()), "{error}");
        }
        (lacking, started) => panic!("{lacking:?}: {started:?}"),
    }
}

#[tokio::test]
async fn a_program_gets_its_streams_and_tells_how_it_ended() {
    let Some(stage) = Stage::new() else {
        return;
    };
    let told = stage
        .run_with(sh("cat; echo problem >&2; exit 7"), b"through a pipe\n")
        .await;
    assert_eq!(told.stdout, "through a pipe\n");
    assert_eq!(told.stderr, "problem\n");
    assert_eq!(told.ended.exit, Exit::Code(7));
    assert_eq!(told.ended.notes, [""; 0]);

    let told = stage.sh("kill -TERM $$").await;
    assert_eq!(told.ended.exit, Exit::Signal(15));
}

#[tokio::test]
async fn the_workspace_is_at_its_mount_and_at_its_own_path() {
    let Some(stage) = Stage::new() else {
        return;
    };
    stage.file("ws/sub/here.txt", "here");
    let own = stage.workspace();
    let script = format!(
        "pwd; cat here.txt; cat {}/hello.txt; echo made > made.txt",
        own.display()
    );
    let told = stage
        .run(Command {
            directory: "/workspace/sub".to_owned(),
            ..sh(&script)
        })
        .await;
    assert_eq!(told.stdout, "/workspace/sub\nherehello\n", "{told:?}");
    let made = std::fs::read_to_string(own.join("sub/made.txt")).expect("the file");
    assert_eq!(made, "made\n");
}

#[tokio::test]
async fn the_environment_is_built_from_a_list() {
    let Some(mut stage) = Stage::new() else {
        return;
    };
    stage.settings.environment = vec![("PASSED".to_owned(), "on".to_owned())];
    let told = stage
        .run(Command {
            environment: vec![("ADDED".to_owned(), "by the call".to_owned())],
            ..sh("env; touch $HOME/x $TMPDIR/y && echo writable")
        })
        .await;
    for line in [
        "PASSED=on",
        "ADDED=by the call",
        "HOME=/run/home",
        "TERM=dumb",
        "PATH=/usr/local/bin:/usr/bin:/bin",
        "GIT_TERMINAL_PROMPT=0",
        "writable",
    ] {
        assert!(
            told.stdout.lines().any(|one| one == line),
            "{line}: {told:?}"
        );
    }
    // Cargo tells every test where the manifest is.
    assert!(!told.stdout.contains("CARGO_MANIFEST_DIR"), "{told:?}");
}

#[tokio::test]
async fn the_private_directory_is_shared_by_the_processes_of_a_session() {
    let Some(stage) = Stage::new() else {
        return;
    };
    let processes = stage.processes();
    let grant = stage.grant();
    let first = processes.spawn(sh("echo kept > /tmp/file"), &grant).await;
    assert_eq!(
        told(first.expect("starts"), b"").await.ended.exit,
        Exit::Code(0)
    );
    let second = processes.spawn(sh("cat /tmp/file"), &grant).await;
    assert_eq!(told(second.expect("starts"), b"").await.stdout, "kept\n");
    let private = processes.temporary_directory().to_owned();
    assert!(private.join("file").is_file());
    drop(processes);
    assert!(!private.exists());
}

#[tokio::test]
async fn a_table_of_commands_that_do_not_start() {
    let Some(stage) = Stage::new() else {
        return;
    };
    stage.executable("ws/evil", "#!/bin/sh\necho evil > /workspace/ran\n");
    let in_directory = |directory: &str| Command {
        directory: directory.to_owned(),
        ..sh("true")
    };
    let with = |name: &str| Command {
        environment: vec![(name.to_owned(), "/workspace/evil.so".to_owned())],
        ..sh("true")
    };
    let cases = [
        (command("./evil", &[]), "`./evil` is a path"),
        (command("/workspace/evil", &[]), "is a path"),
        (command("evil", &[]), "`evil` is not among the programs"),
        (command("perl", &[]), "`perl` is not among the programs"),
        (
            command("absent-program", &[]),
            "`absent-program` is not installed",
        ),
        (in_directory("/etc"), "not below /workspace"),
        (in_directory("/workspace/.."), "not below /workspace"),
        (in_directory("/workspace/none"), "cannot start"),
        (with("LD_PRELOAD"), "LD_PRELOAD changes which code"),
        (
            with("GIT_CONFIG_COUNT"),
            "GIT_CONFIG_COUNT changes which code",
        ),
        (command("sh", &["-c", "a\0b"]), "holds a NUL"),
    ];
    for (command, expected) in cases {
        let shown = format!("{command:?}");
        let Err(error) = stage.spawn(command).await else {
            panic!("{shown} started");
        };
        assert!(error.to_string().contains(expected), "{shown}: {error}");
    }
    assert!(!stage.path("ws/ran").exists());
}

#[tokio::test]
async fn a_program_of_the_workspace_is_never_taken_for_a_listed_one() {
    let Some(mut stage) = Stage::new() else {
        return;
    };
    let evil = stage.executable("ws/bin/git", "#!/bin/sh\necho evil\n");
    let directory = evil.parent().expect("a parent").to_owned();
    stage.settings.search_path.insert(0, directory);
    let told = stage.run(command("git", &["--version"])).await;
    assert!(told.stdout.starts_with("git version"), "{told:?}");
}

#[tokio::test]
async fn without_the_capability_nothing_starts_and_it_is_named() {
    let Some(mut stage) = Stage::new() else {
        return;
    };
    stage.allowed = Capabilities::READ_ONLY;
    let Err(SpawnError::Denied(why)) = stage.spawn(sh("true")).await else {
        panic!("it started");
    };
    assert!(why.contains("`process` capability"), "{why}");
    assert!(stage.processes().available(&stage.grant()).is_empty());

    stage.allowed = Capabilities::from_iter([Capability::Process, Capability::WorkspaceRead]);
    let mut available = stage.processes().available(&stage.grant());
    available.sort();
    assert_eq!(available, ["git", "python3", "sh"]);
}

#[tokio::test]
async fn in_plan_mode_a_listed_program_reads_and_changes_nothing() {
    let Some(mut stage) = Stage::new() else {
        return;
    };
    stage.file("ws/keep.txt", "keep");
    stage.mode = Mode::Plan;
    let before = crate::support::digests(&stage.workspace());
    let told = stage
        .sh("cat hello.txt; echo x > new; echo x >> keep.txt; rm -f keep.txt; mkdir d; chmod 777 keep.txt; mv keep.txt k; ln -s a b; touch -d 2001-01-01 hello.txt; : > keep.txt; true")
        .await;
    assert_eq!(told.stdout, "hello\n", "{told:?}");
    assert_eq!(crate::support::digests(&stage.workspace()), before);
    let Err(error) = stage.spawn(command("git", &["status"])).await else {
        panic!("git is not on the read-only list");
    };
    assert!(
        error
            .to_string()
            .contains("`git` is not among the programs"),
        "{error}"
    );
}

#[tokio::test]
async fn where_a_layer_lacks_nothing_starts_and_the_layer_is_named() {
    for layer in Layer::ALL {
        let Some(mut stage) = Stage::new() else {
            return;
        };
        stage.settings.layers = lacking(layer);
        let Err(SpawnError::Denied(why)) = stage.spawn(sh("echo x > /workspace/ran")).await else {
            panic!("it started without {layer}");
        };
        assert!(why.contains(&format!("`{layer}`")), "{why}");
        assert!(why.contains("--unsafe-no-process-sandbox"), "{why}");
        assert!(!stage.path("ws/ran").exists());
    }
}

#[tokio::test]
async fn only_who_asks_for_it_runs_without_a_sandbox() {
    let Some(mut stage) = Stage::new() else {
        return;
    };
    stage.settings.layers = lacking(Layer::Landlock);
    stage.settings.without_sandbox = true;
    let canary = stage.path("outside/canary.txt");
    let told = stage.sh(&format!("pwd; cat {}", canary.display())).await;
    let shown = format!(
        "{}\n{}",
        stage.workspace().display(),
        crate::support::SECRET
    );
    assert_eq!(told.stdout, shown, "{told:?}");
}
