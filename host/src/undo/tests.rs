//! Changes through the workspace, taken back: the tree is what it was, and after an undo of the
//! undo what it had become.

mod natives;
mod trees;

use super::*;
use crate::policy::PathRules;
use crate::workspace::{Access, Directory, NewTime, OpenOptions, Opened, Workspace};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::sync::Arc;

/// A workspace and a store.
struct Place {
    directory: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Place {
            directory: tempfile::tempdir().expect("a directory"),
        };
        let root = place.root();
        fs::create_dir_all(root.join("src/deep")).expect("directories");
        fs::write(root.join("a"), "one\ntwo\nthree\n").expect("a file");
        fs::write(root.join("run.sh"), "#!/bin/sh\n").expect("a file");
        fs::set_permissions(root.join("run.sh"), fs::Permissions::from_mode(0o755)).expect("mode");
        fs::write(root.join("src/b"), [0_u8, 255, 10]).expect("a file");
        fs::write(root.join("src/deep/c"), "").expect("a file");
        symlink("a", root.join("inside")).expect("a link");
        symlink("/etc/hostname", root.join("outside")).expect("a link");
        place
    }

    fn root(&self) -> PathBuf {
        let root = self.directory.path().canonicalize().expect("it is there");
        root.join("workspace")
    }

    fn store(&self) -> UndoStore {
        UndoStore::new(&self.directory.path().join("data"))
    }

    fn workspace(&self) -> Workspace {
        Workspace::open(&self.root(), Access::ReadWrite, PathRules::default()).expect("a workspace")
    }

    fn recorder(&self, run: &str) -> Recorder {
        Recorder::new(self.store(), run, &self.root(), self.workspace(), "a title")
    }

    /// One call of a run.
    fn call(&self, recorder: &Recorder, turn: u32, call: u32, act: impl FnOnce(&Directory)) {
        let journal = recorder.call(Step {
            turn,
            call,
            tool: "bash".to_owned(),
        });
        act(&self
            .workspace()
            .with_journal(Arc::clone(&journal) as _)
            .directory());
        assert_eq!(journal.finish(), Vec::<String>::new());
    }

    fn undo(&self, what: &str, run: &str, force: bool) -> Result<Restored, UndoError> {
        let asked = what.parse().expect("a selection");
        self.store()
            .restore(&self.root(), &self.workspace(), &asked, run, force)
    }

    fn diff(&self, what: &str) -> String {
        let asked = what.parse().expect("a selection");
        self.store()
            .preview(&self.root(), &self.workspace(), &asked)
            .expect("a preview")
            .diff(false)
    }

    /// Every path with what it is.
    fn tree(&self) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
        let mut found = BTreeMap::new();
        let mut open = vec![self.root()];
        while let Some(directory) = open.pop() {
            for entry in fs::read_dir(directory).expect("a directory") {
                let path = entry.expect("an entry").path();
                let metadata = fs::symlink_metadata(&path).expect("metadata");
                let content = if metadata.is_dir() {
                    open.push(path.clone());
                    Vec::new()
                } else if metadata.is_symlink() {
                    let target = fs::read_link(&path).expect("a link");
                    target.into_os_string().into_encoded_bytes()
                } else if metadata.is_file() {
                    fs::read(&path).expect("a file")
                } else {
                    // Reading a pipe waits for somebody to write.
                    Vec::new()
                };
                found.insert(path, (metadata.mode(), content));
            }
        }
        found
    }
}

fn write(directory: &Directory, path: &str, content: &str) -> bool {
    let options = OpenOptions {
        write: true,
        create: true,
        truncate: true,
        ..OpenOptions::default()
    };
    match directory.open(path, options) {
        Ok(Opened::File(file)) => file.write_at(content.as_bytes(), 0).is_ok(),
        _ => false,
    }
}

#[test]
fn times_come_back_with_the_content() {
    let place = Place::new();
    let modified = || {
        let metadata = fs::metadata(place.root().join("a")).expect("the file");
        metadata.modified().expect("a time")
    };
    let old = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    let file = fs::File::options().write(true).open(place.root().join("a"));
    file.and_then(|file| file.set_modified(old))
        .expect("a time");
    let recorder = place.recorder("first");
    place.call(&recorder, 1, 1, |directory| {
        assert!(write(directory, "a", "new\n"));
    });
    assert_ne!(modified(), old);
    place.undo("last", "second", false).expect("undone");
    assert_eq!(modified(), old);
}

#[test]
fn turns_and_calls_are_taken_back_apart() {
    for (what, a, new, src) in [
        ("first:2:1", "one\n", false, "deep"),
        ("first:2", "one\n", false, "shallow"),
        ("first", "one\ntwo\nthree\n", false, "shallow"),
        ("fir", "one\ntwo\nthree\n", false, "shallow"),
        ("last", "one\ntwo\nthree\n", false, "shallow"),
    ] {
        let place = Place::new();
        let recorder = place.recorder("first");
        place.call(&recorder, 1, 1, |directory| {
            assert!(write(directory, "a", "one\n"));
        });
        place.call(&recorder, 2, 1, |directory| {
            assert!(write(directory, "new", "x\n"));
        });
        place.call(&recorder, 2, 2, |directory| {
            directory
                .rename("src/deep", directory, "deep")
                .expect("renamed");
        });
        place.undo(what, "second", false).expect("undone");
        let read = fs::read_to_string(place.root().join("a")).expect("the file");
        assert_eq!(read, a, "{what}");
        assert_eq!(place.root().join("new").exists(), new, "{what}");
        assert_eq!(place.root().join("deep").exists(), src == "deep", "{what}");
    }
}

#[test]
fn what_was_changed_since_is_not_touched_unless_forced() {
    type Change = fn(&Path);
    let cases: [(&str, Change, &str); 6] = [
        (
            "content",
            |root| fs::write(root.join("a"), "mine\n").expect("written"),
            "and is a file of 5 bytes",
        ),
        (
            "mode",
            |root| {
                fs::set_permissions(root.join("a"), fs::Permissions::from_mode(0o600))
                    .expect("mode");
            },
            "mode 600",
        ),
        (
            "gone",
            |root| fs::remove_file(root.join("a")).expect("removed"),
            "not there",
        ),
        (
            "a link",
            |root| {
                fs::remove_file(root.join("a")).expect("removed");
                symlink("/etc/hostname", root.join("a")).expect("a link");
            },
            "a link to /etc/hostname",
        ),
        (
            "a directory",
            |root| {
                fs::remove_file(root.join("a")).expect("removed");
                fs::create_dir(root.join("a")).expect("made");
            },
            "a directory",
        ),
        (
            "the parent is a link",
            |root| {
                fs::rename(root.join("src"), root.join("moved")).expect("moved");
                symlink("moved", root.join("src")).expect("a link");
            },
            "and is not there now",
        ),
    ];
    for (name, change, words) in cases {
        let place = Place::new();
        let recorder = place.recorder("first");
        place.call(&recorder, 1, 1, |directory| {
            assert!(write(directory, "a", "theirs\n"));
            assert!(write(directory, "src/b", "theirs\n"));
        });
        change(&place.root());
        let before = place.tree();
        let Err(UndoError::Conflicts { conflicts, paths }) = place.undo("last", "second", false)
        else {
            panic!("{name}: no conflict");
        };
        assert_eq!((conflicts.len(), paths), (1, 2), "{name}: {conflicts:?}");
        assert!(conflicts[0].why.contains(words), "{name}: {conflicts:?}");
        assert_eq!(place.tree(), before, "{name}");
        // Forced, it does what can be done, and what was there can be had again.
        let forced = place.undo("last", "third", true).expect("forced");
        if forced.lost.is_empty() {
            let read = fs::read_to_string(place.root().join("a")).expect("the file");
            assert_eq!(read, "one\ntwo\nthree\n", "{name}");
        }
        place.undo("third", "fourth", false).expect("undone");
        assert_eq!(place.tree(), before, "{name}");
    }
}

#[test]
fn a_call_that_was_killed_asks_for_force() {
    let place = Place::new();
    let recorder = place.recorder("first");
    let journal = recorder.call(Step {
        turn: 1,
        call: 1,
        tool: "bash".to_owned(),
    });
    let directory = place.workspace().with_journal(journal as _).directory();
    assert!(write(&directory, "a", "half"));
    let Err(UndoError::Conflicts { conflicts, .. }) = place.undo("last", "second", false) else {
        panic!("no conflict");
    };
    assert!(conflicts[0].why.contains("cut short"), "{conflicts:?}");
    place.undo("last", "second", true).expect("forced");
    let read = fs::read_to_string(place.root().join("a")).expect("the file");
    assert_eq!(read, "one\ntwo\nthree\n");
}

#[test]
fn a_diff_shows_what_a_run_changed() {
    let place = Place::new();
    let recorder = place.recorder("first");
    place.call(&recorder, 1, 1, |directory| {
        assert!(write(directory, "a", "one\n2\nthree\n"));
        assert!(write(directory, "new", "x\n"));
        assert!(write(directory, "src/b", "text\n"));
        directory.remove_file("run.sh").expect("removed");
        directory
            .rename("src/deep/c", directory, "c")
            .expect("renamed");
    });
    assert_eq!(
        place.diff("last"),
        "rename src/deep/c => c\n\
         --- a/a\n+++ b/a\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n\
         --- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+x\n\
         src/b: a binary file of 3 bytes => a text of 5 bytes\n\
         --- a/run.sh\n+++ /dev/null\n@@ -1 +0,0 @@\n-#!/bin/sh\n"
    );
}

#[test]
fn runs_of_another_workspace_are_not_found() {
    let (place, other) = (Place::new(), Place::new());
    let recorder = place.recorder("first");
    place.call(&recorder, 1, 1, |directory| {
        assert!(write(directory, "a", "x"));
    });
    let store = place.store();
    let asked = Selection::default();
    let refused = store.restore(&other.root(), &other.workspace(), &asked, "x", true);
    assert!(matches!(
        refused,
        Err(UndoError::Selection(SelectionError::Nothing))
    ));
    for (what, message) in [
        ("second", "no run of this workspace is `second`"),
        ("first:7", "changed nothing in `7`; it did in 1:1"),
        ("first:1:2", "changed nothing in `1:2`; it did in 1:1"),
    ] {
        let error = place
            .undo(what, "x", true)
            .expect_err("refused")
            .to_string();
        assert!(error.contains(message), "{what}: {error}");
    }
    for form in ["", ":1", "a:b", "a:1:2:3", "a:-1"] {
        assert!(form.parse::<Selection>().is_err(), "{form}");
    }
}

/// A log is read as far as it can be, and content that is not what its name says is not used.
#[test]
fn damage_is_told_and_nothing_false_is_restored() {
    let place = Place::new();
    let recorder = place.recorder("first");
    place.call(&recorder, 1, 1, |directory| {
        assert!(write(directory, "a", "x"));
    });
    let data = place.directory.path().join("data/undo");
    let log = data.join("runs/first.jsonl");
    let whole = fs::read_to_string(&log).expect("the log");
    fs::write(&log, format!("{whole}{{\"line\":\"chan")).expect("written");
    assert_eq!(place.store().runs_of(&place.root()).expect("runs").len(), 1);
    for half in fs::read_dir(data.join("objects")).expect("objects") {
        for object in fs::read_dir(half.expect("an entry").path()).expect("objects") {
            fs::write(object.expect("an entry").path(), "forged").expect("written");
        }
    }
    let restored = place
        .undo("last", "second", false)
        .expect("as far as it goes");
    assert!(restored.lost[0].1.contains("damaged"), "{restored:?}");
    let read = fs::read_to_string(place.root().join("a")).expect("the file");
    assert_eq!(read, "x");
}

#[test]
fn the_oldest_runs_make_room() {
    let place = Place::new();
    for (number, run) in ["first", "second", "third"].into_iter().enumerate() {
        let recorder = place.recorder(run);
        let content = format!("{number}").repeat(1_000);
        place.call(&recorder, 1, 1, |directory| {
            assert!(write(directory, "a", &content));
        });
    }
    let store = place.store();
    // What is young stays: the line of another process may not be written yet.
    for half in fs::read_dir(place.directory.path().join("data/undo/objects")).expect("objects") {
        for object in fs::read_dir(half.expect("an entry").path()).expect("objects") {
            let file = fs::File::options()
                .write(true)
                .open(object.expect("an entry").path())
                .expect("an object");
            file.set_modified(std::time::UNIX_EPOCH).expect("a time");
        }
    }
    store.make_room(1_500).expect("room");
    let runs = store.runs_of(&place.root()).expect("runs");
    let runs: Vec<&str> = runs.iter().map(|run| run.run.as_str()).collect();
    assert!(
        !runs.contains(&"first") && runs.contains(&"third"),
        "{runs:?}"
    );
    let is_private = |path: &Path| fs::metadata(path).expect("it").mode() & 0o077 == 0;
    assert!(is_private(&place.directory.path().join("data/undo/runs")));
    assert!(is_private(
        &place.directory.path().join("data/undo/objects")
    ));
    assert!(is_private(
        &place.directory.path().join("data/undo/runs/third.jsonl")
    ));
    place.undo("third", "fourth", false).expect("undone");
}
