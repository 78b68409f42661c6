//! What a run changed, shown and taken back, by whichever tool it was changed.

use super::Bench;
use std::fs;
use std::os::unix::fs::PermissionsExt;

/// A run whose every turn changes something by another tool.
const CHANGES: &str = "
    {calls: [{name: read_file, arguments: {path: kept.txt}},
             {name: write_file, arguments: {path: new.txt, content: \"new\\n\"}}]},
    {calls: [{name: edit_file, arguments: {path: kept.txt, old: one, new: ONE}}]},
    {calls: [{name: bash, arguments: {command: \"rm gone.txt; mv dir moved; echo x >> moved/in.txt; ln -s kept.txt link; sed -i s/echo/printf/ run.sh\"}}]},
    {text: Done.}";

/// Every path of the workspace with its mode and what is in it.
fn tree(bench: &Bench) -> Vec<(String, u32, String)> {
    let mut found = Vec::new();
    let mut open = vec![bench.work()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).expect("a directory") {
            let path = entry.expect("an entry").path();
            let metadata = fs::symlink_metadata(&path).expect("metadata");
            let content = if metadata.is_dir() {
                open.push(path.clone());
                String::new()
            } else if metadata.is_symlink() {
                fs::read_link(&path).expect("a link").display().to_string()
            } else {
                fs::read_to_string(&path).expect("text")
            };
            let mode = metadata.permissions().mode();
            found.push((path.display().to_string(), mode, content));
        }
    }
    found.sort();
    found
}

fn changed() -> (Bench, Vec<(String, u32, String)>) {
    let bench = Bench::new();
    let work = bench.work();
    fs::create_dir(work.join("dir")).expect("a directory");
    for (path, content) in [
        ("kept.txt", "one\ntwo\n"),
        ("gone.txt", "gone\n"),
        ("dir/in.txt", "in\n"),
        ("run.sh", "echo hello\n"),
    ] {
        fs::write(work.join(path), content).expect("a file");
    }
    let executable = fs::Permissions::from_mode(0o755);
    fs::set_permissions(work.join("run.sh"), executable).expect("a mode");
    let before = tree(&bench);
    let ended = bench.scripted(CHANGES, &[]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_ne!(tree(&bench), before, "{ended:?}");
    (bench, before)
}

#[test]
fn a_run_is_shown_and_taken_back_and_so_is_that() {
    let (bench, before) = changed();
    let after = tree(&bench);

    let shown = bench.run(&["diff"]);
    assert_eq!(shown.code, Some(0), "{shown:?}");
    for part in [
        "rename dir => moved\n",
        "--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+new\n",
        "--- a/kept.txt\n+++ b/kept.txt\n@@ -1,2 +1,2 @@\n-one\n+ONE\n two\n",
        "--- a/gone.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n",
        "-echo hello\n+printf hello\n",
    ] {
        assert!(shown.out.contains(part), "{part}: {}", shown.out);
    }

    let tried = bench.run(&["undo", "--dry-run"]);
    assert_eq!(tried.code, Some(0), "{tried:?}");
    assert!(tried.out.contains("-ONE\n+one\n"), "{}", tried.out);
    assert_eq!(tree(&bench), after);

    let undone = bench.run(&["undo"]);
    assert_eq!(undone.code, Some(0), "{undone:?}");
    assert_eq!(tree(&bench), before);
    let id = undone
        .err
        .split('`')
        .find_map(|part| part.strip_prefix("hotcell undo "))
        .unwrap_or_else(|| panic!("it does not say how to take it back: {}", undone.err));
    let redone = bench.run(&["undo", id]);
    assert_eq!(redone.code, Some(0), "{redone:?}");
    assert_eq!(tree(&bench), after);
}

#[test]
fn a_turn_or_a_call_is_taken_back_alone() {
    let (bench, _) = changed();
    let read = |path: &str| fs::read_to_string(bench.work().join(path)).ok();
    let listed = bench.run(&["undo", "--list"]);
    for part in [
        ":1:2  write_file\n",
        ":2:1  edit_file\n",
        ":3:1  bash\n",
        "a prompt",
    ] {
        assert!(listed.out.contains(part), "{part}: {}", listed.out);
    }
    let undone = bench.run(&["undo", "last:2"]);
    assert_eq!(undone.code, Some(0), "{undone:?}");
    assert_eq!(read("kept.txt").as_deref(), Some("one\ntwo\n"));
    assert_eq!(read("new.txt").as_deref(), Some("new\n"));
    for (what, message) in [
        ("last:9", "changed nothing in `9`"),
        ("nobody", "no run of this workspace is `nobody`"),
        ("a:b", "RUN:TURN:CALL"),
    ] {
        let refused = bench.run(&["undo", what]);
        assert_eq!(refused.code, Some(2), "{what}: {refused:?}");
        assert!(refused.err.contains(message), "{what}: {}", refused.err);
    }
}

#[test]
fn what_a_person_changed_since_is_not_overwritten() {
    let (bench, before) = changed();
    fs::write(bench.work().join("kept.txt"), "mine\n").expect("a file");
    let mine = tree(&bench);
    let refused = bench.run(&["undo"]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(
        refused.err.contains("kept.txt: was left as"),
        "{}",
        refused.err
    );
    assert!(refused.err.contains("--force"), "{}", refused.err);
    assert_eq!(tree(&bench), mine);
    let forced = bench.run(&["undo", "--force"]);
    assert_eq!(forced.code, Some(0), "{forced:?}");
    assert_eq!(tree(&bench), before);
    // What was overwritten is not lost.
    let back = bench.run(&["undo"]);
    assert_eq!(back.code, Some(0), "{back:?}");
    assert_eq!(tree(&bench), mine);
}

#[test]
fn where_nothing_was_changed_there_is_nothing_to_undo() {
    let bench = Bench::new();
    let ended = bench.scripted("{text: Hello.}", &[]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    for command in ["undo", "diff"] {
        let refused = bench.run(&[command]);
        assert_eq!(refused.code, Some(2), "{refused:?}");
        assert!(
            refused.err.contains("no run has changed anything"),
            "{}",
            refused.err
        );
    }
    let listed = bench.run(&["undo", "--list"]);
    assert_eq!((listed.code, listed.out.as_str()), (Some(0), ""));
}

#[cfg(target_os = "linux")]
#[test]
fn what_a_native_program_changed_is_shown_and_taken_back() {
    if super::native::lacks(&["python3"], &["/usr/bin"]) {
        return;
    }
    let bench = Bench::new()
        .variable("PATH", "/usr/bin:/bin")
        .file("work/kept.txt", "one\ntwo\n");
    let before = tree(&bench);
    let script = "
        {calls: [{name: bash, arguments: {command: \"python3 -c 'open(\\\"kept.txt\\\", \\\"w\\\").write(\\\"ONE\\\\n\\\"); open(\\\"new.txt\\\", \\\"w\\\")'\"}}]},
        {text: Done.}";
    let ended = bench.scripted(script, &[]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let after = tree(&bench);
    assert_ne!(after, before, "{ended:?}");
    let shown = bench.run(&["diff"]);
    assert!(shown.out.contains("-one\n-two\n+ONE\n"), "{shown:?}");
    assert!(shown.out.contains("+++ b/new.txt"), "{shown:?}");
    let undone = bench.run(&["undo"]);
    assert_eq!(undone.code, Some(0), "{undone:?}");
    assert_eq!(tree(&bench), before);
    let redone = bench.run(&["undo"]);
    assert_eq!(redone.code, Some(0), "{redone:?}");
    assert_eq!(tree(&bench), after);
}
