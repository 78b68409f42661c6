//! Programs that take too much.

use crate::support::{Stage, sh, told};
use hotcell::process::{Exit, ProcessLimits};
use tokio::io::AsyncReadExt;

#[tokio::test]
async fn a_fork_bomb_meets_the_process_cap() {
    let Some(stage) = Stage::new() else {
        return;
    };
    let told = stage
        .python(
            "
import os, sys, time
made = 0
try:
  while made < 5000:
    if os.fork() == 0:
      time.sleep(600)
    made += 1
except OSError as error:
  print('refused', made)
",
        )
        .await;
    let made = told
        .stdout
        .strip_prefix("refused ")
        .and_then(|count| count.trim().parse::<u64>().ok());
    match made {
        // Root may have the numbers the kernel keeps for itself as well.
        Some(made) => assert!(made < 64 + 300, "{told:?}"),
        // Where the kernel cannot refuse them, they are counted and ended.
        None => assert!(
            told.ended.notes.join("").contains("more than 64"),
            "{told:?}"
        ),
    }
}

#[tokio::test]
async fn a_bomb_of_threads_meets_it_too() {
    let Some(stage) = Stage::new() else {
        return;
    };
    let told = stage
        .python(
            "
import threading, time
threading.stack_size(65536)
try:
  for made in range(5000):
    threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
except RuntimeError:
  print('refused', flush=True)
  import os; os._exit(3)
",
        )
        .await;
    assert!(
        told.stdout == "refused\n" || told.ended.notes.join("").contains("more than 64"),
        "{told:?}"
    );
}

#[tokio::test]
async fn files_memory_and_descriptors_are_limited() {
    let Some(mut stage) = Stage::new() else {
        return;
    };
    stage.settings.limits = ProcessLimits {
        processes: 64,
        file_bytes: 1 << 20,
        address_space_bytes: 1 << 30,
        open_files: 64,
    };
    let told = stage.sh("head -c 3000000 /dev/zero > big").await;
    assert!(!told.succeeded(), "{told:?}");
    let size = stage.path("ws/big").metadata().expect("the file").len();
    assert!(size <= 1 << 20, "{size}");
    let told = stage.python("b'x' * (2 << 30)").await;
    assert!(told.stderr.contains("MemoryError"), "{told:?}");
    let told = stage
        .python("held = [open('/dev/null') for _ in range(100)]")
        .await;
    assert!(told.stderr.contains("Too many open files"), "{told:?}");
    let told = stage.sh("ulimit -n 4096 || ulimit -c unlimited").await;
    assert!(!told.succeeded(), "a limit was raised: {told:?}");
}

#[tokio::test]
async fn a_flood_waits_for_its_reader_and_ends_with_the_child() {
    let Some(stage) = Stage::new() else {
        return;
    };
    let mut child = stage.spawn(sh("yes flood")).await.expect("it starts");
    let mut first = [0; 64 << 10];
    let stdout = child.stdout.as_mut().expect("standard output");
    stdout.read_exact(&mut first).await.expect("the beginning");
    assert!(first.starts_with(b"flood\nflood\n"));
    assert_eq!(child.try_ended(), None);
    let ended = child.kill().wait().await;
    assert_eq!(ended.exit, Exit::Signal(9));
}

#[tokio::test]
async fn too_many_processes_at_once_are_refused() {
    let Some(stage) = Stage::new() else {
        return;
    };
    let processes = stage.processes();
    let grant = stage.grant();
    let mut children = Vec::new();
    let refused = loop {
        match processes.spawn(sh("cat"), &grant).await {
            Ok(child) => children.push(child),
            Err(error) => break error,
        }
        assert!(children.len() <= 64);
    };
    assert!(
        refused.to_string().contains("64 processes run already"),
        "{refused}"
    );
    let first = children.swap_remove(0);
    first.kill().wait().await;
    let child = processes.spawn(sh("echo again"), &grant).await;
    assert_eq!(
        told(child.expect("there is room"), b"").await.stdout,
        "again\n"
    );
}
