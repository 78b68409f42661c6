//! The demo, as a newcomer's first command: no key, no settings, no network.

use super::Bench;
use super::streams::events;
use hotcell::protocol::{DoneReason, Event};
use std::collections::BTreeSet;
use std::path::Path;

#[test]
fn the_demo_fixes_its_bug_with_every_kind_of_tool() {
    let bench = Bench::new()
        .file("home/.config/hotcell/hotcell.toml", "not even TOML")
        .variable("HOTCELL_MAX_TURNS", "1");
    let ended = bench.run(&["demo", "--json", "--keep"]);
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    let kept = ended
        .err
        .lines()
        .find_map(|line| line.strip_prefix("demo: kept "))
        .unwrap_or_else(|| panic!("it does not say where: {}", ended.err));
    let money = std::fs::read_to_string(Path::new(kept).join("src/money.sh"));
    std::fs::remove_dir_all(kept).expect("it was kept");
    assert!(
        money
            .expect("the file")
            .contains("echo $(( $1 * $2 / 100 ))")
    );

    let events = events(&ended.out);
    let last = events.last();
    assert!(
        matches!(
            last,
            Some(Event::Done {
                reason: DoneReason::Completed,
                ..
            })
        ),
        "{last:?}"
    );
    let used: BTreeSet<&str> = events
        .iter()
        .filter_map(|event| match event {
            Event::ToolResult {
                name,
                is_error: false,
                ..
            } => Some(name.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(
        used,
        BTreeSet::from([
            "bash",
            "edit_file",
            "glob",
            "grep",
            "read_file",
            "todo_write"
        ])
    );
}

#[test]
fn the_demo_leaves_nothing_behind() {
    let bench = Bench::new();
    let temporary = bench.work();
    let bench = bench.variable("TMPDIR", &temporary.display().to_string());
    let ended = bench.run(&["demo"]);
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert!(ended.out.starts_with("Fixed:"), "{}", ended.out);
    let left = std::fs::read_dir(&temporary)
        .expect("the directory")
        .count();
    assert_eq!(left, 0);
}

#[cfg(unix)]
#[test]
fn a_demo_that_is_stopped_leaves_nothing_behind() {
    let temporary = tempfile::tempdir().expect("a directory");
    let bench = Bench::new();
    let mut command = bench.command(&["demo", "--json"]);
    command.env("TMPDIR", temporary.path());
    let mut running = bench.spawn(command);
    running.read_until("tool_start");
    let left = || {
        std::fs::read_dir(temporary.path())
            .expect("it is there")
            .count()
    };
    assert_ne!(left(), 0);
    running.signal("TERM");
    let ended = running.end();
    assert_eq!(ended.code, Some(143), "{}", ended.err);
    assert_eq!(left(), 0);
}
