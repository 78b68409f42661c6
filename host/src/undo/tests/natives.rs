//! Changes that nobody told, between two looks, taken back: whatever a program did.

use super::*;
use crate::process::{Look, NotSeen, Seen, SeenKind, Witness};
use std::ffi::OsStr;
use std::os::unix::fs::{FileTypeExt, symlink};
use std::time::Instant;

/// What a walk around a process sees, but for masked and protected paths.
fn look(root: &Path, witness: &dyn Witness) -> Result<Look, NotSeen> {
    let mut look = Look {
        began: Instant::now(),
        seen: std::collections::HashMap::new(),
        closed: Vec::new(),
    };
    let mut open = vec![root.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).expect("a directory") {
            let path = entry.expect("an entry").path();
            let metadata = fs::symlink_metadata(&path).expect("metadata");
            let kind = match metadata.file_type() {
                kind if kind.is_dir() => SeenKind::Directory,
                kind if kind.is_symlink() => SeenKind::Link,
                kind if kind.is_fifo() => SeenKind::Special,
                _ => SeenKind::File,
            };
            if kind == SeenKind::Directory {
                if witness.overlooks(path.file_name().unwrap_or(OsStr::new(""))) {
                    continue;
                }
                open.push(path.clone());
            }
            let nanoseconds = |number| u32::try_from(number).expect("below a second");
            let seen = Seen {
                kind,
                mode: metadata.mode() & 0o7777,
                size: metadata.size(),
                modified: (metadata.mtime(), nanoseconds(metadata.mtime_nsec())),
                changed: (metadata.ctime(), nanoseconds(metadata.ctime_nsec())),
                device: metadata.dev(),
                inode: metadata.ino(),
            };
            let below = path.strip_prefix(root).expect("it is below");
            look.seen.insert(below.to_owned(), seen);
        }
    }
    Ok(look)
}

fn step(call: u32) -> Step {
    Step {
        turn: 1,
        call,
        tool: "bash".to_owned(),
    }
}

impl Place {
    fn look(&self, witness: &dyn Witness) -> Result<Look, NotSeen> {
        look(&self.root(), witness)
    }

    /// A program that does `act`, in a call of its own. What a person is told.
    fn program(&self, run: &str, act: impl FnOnce(&Path)) -> Vec<String> {
        let journal = self.recorder(run).call(step(1));
        journal.before(self.look(&*journal)).expect("it is kept");
        act(&self.root());
        journal.after(self.look(&*journal));
        journal.finish()
    }
}

fn set_mode(path: PathBuf, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("a mode");
}

/// What a program does, by name.
type Act = (&'static str, fn(&Path));

/// A file that exists before and is larger than what is kept.
const LARGE: &str = "large.bin";

const ACTS: &[Act] = &[
    ("nothing", |_| {}),
    ("writes", |root| {
        fs::write(root.join("a"), "new\n").expect("written")
    }),
    ("writes as much", |root| {
        fs::write(root.join("a"), "eno\ntwo\nthree\n").expect("written");
    }),
    ("writes and sets the time back", |root| {
        let path = root.join("a");
        let modified = fs::metadata(&path)
            .and_then(|found| found.modified())
            .expect("a time");
        fs::write(&path, "eno\ntwo\nthree\n").expect("written");
        let file = fs::File::options().write(true).open(&path).expect("open");
        file.set_modified(modified).expect("a time");
    }),
    ("empties", |root| {
        fs::write(root.join("a"), "").expect("written")
    }),
    ("makes", |root| {
        fs::create_dir_all(root.join("new/deep/er")).expect("directories");
        fs::write(root.join("new/deep/file"), "x").expect("written");
        symlink("../..", root.join("new/deep/link")).expect("a link");
    }),
    ("removes", |root| {
        fs::remove_file(root.join("a")).expect("removed");
        fs::remove_file(root.join("outside")).expect("removed");
        fs::remove_dir_all(root.join("src")).expect("removed");
    }),
    ("renames a file over another", |root| {
        fs::rename(root.join("run.sh"), root.join("a")).expect("renamed");
    }),
    ("renames a directory", |root| {
        fs::rename(root.join("src"), root.join("other")).expect("renamed");
        fs::write(root.join("other/b"), "changed").expect("written");
    }),
    ("moves a directory into itself", |root| {
        fs::rename(root.join("src"), root.join("other")).expect("renamed");
        fs::create_dir(root.join("src")).expect("made");
        fs::rename(root.join("other"), root.join("src/src")).expect("renamed");
    }),
    ("changes modes", |root| {
        set_mode(root.join("run.sh"), 0o4711);
        set_mode(root.join("a"), 0o400);
        set_mode(root.join("src"), 0o1777);
        set_mode(root.join("src/deep"), 0o500);
    }),
    (
        "opens a closed directory, fills it and leaves it open",
        |root| {
            set_mode(root.join("closed"), 0o755);
            fs::write(root.join("closed/in"), "changed").expect("written");
            fs::remove_file(root.join("closed/gone")).expect("removed");
            fs::write(root.join("closed/new"), "x").expect("written");
        },
    ),
    ("removes a closed directory", |root| {
        set_mode(root.join("closed"), 0o755);
        fs::remove_dir_all(root.join("closed")).expect("removed");
    }),
    ("changes links", |root| {
        fs::remove_file(root.join("inside")).expect("removed");
        symlink("run.sh", root.join("inside")).expect("a link");
        fs::remove_file(root.join("outside")).expect("removed");
        fs::write(root.join("outside"), "a file now").expect("written");
    }),
    ("puts a directory where a file was", |root| {
        fs::remove_file(root.join("a")).expect("removed");
        fs::create_dir_all(root.join("a/b/c")).expect("made");
        fs::write(root.join("a/b/d"), "x").expect("written");
    }),
    ("puts a file where a directory was", |root| {
        fs::remove_dir_all(root.join("src")).expect("removed");
        fs::write(root.join("src"), "x").expect("written");
    }),
    ("links hard, and writes through it", |root| {
        fs::hard_link(root.join("a"), root.join("b")).expect("linked");
        fs::write(root.join("b"), "both").expect("written");
    }),
    ("writes to what has two names", |root| {
        fs::write(root.join("twin"), "both").expect("written");
    }),
    ("makes a pipe", |root| {
        let path = root.join("pipe");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &path,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR,
            0,
        )
        .expect("a pipe");
    }),
    ("renames what is too large to be kept", |root| {
        fs::rename(root.join(LARGE), root.join("src/elsewhere.bin")).expect("renamed");
        set_mode(root.join("src/elsewhere.bin"), 0o600);
    }),
    ("touches", |root| {
        let file = fs::File::options()
            .write(true)
            .open(root.join("a"))
            .expect("open");
        let then = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
        file.set_modified(then).expect("a time");
    }),
    ("works in a directory that is overlooked", |root| {
        fs::create_dir_all(root.join("target/debug")).expect("made");
        fs::write(root.join("src/b"), "built").expect("written");
    }),
];

fn place() -> Place {
    let place = Place::new();
    let root = place.root();
    fs::create_dir(root.join("closed")).expect("made");
    for path in ["closed/in", "closed/gone", "twin"] {
        fs::write(root.join(path), path).expect("written");
    }
    fs::hard_link(root.join("twin"), root.join("zwilling")).expect("linked");
    set_mode(root.join("closed"), 0o555);
    let large = fs::File::create(root.join(LARGE)).expect("a file");
    large.set_len(MOST_NATIVE_FILE_BYTES + 1).expect("a length");
    place
}

/// Without what nobody follows.
fn followed(place: &Place) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let mut tree = place.tree();
    tree.retain(|path, _| !path.starts_with(place.root().join("target")));
    tree
}

#[test]
fn whatever_a_program_does_is_taken_back_and_so_is_that() {
    for (name, act) in ACTS {
        let place = place();
        let before = followed(&place);
        let notes = place.program("first", act);
        let after = followed(&place);
        assert!(
            notes
                .iter()
                .all(|note| note.contains("too large to be kept")),
            "{name}: {notes:?}"
        );
        if *name == "nothing" {
            assert_eq!(before, after);
            assert!(place.undo("last", "second", false).is_err());
            continue;
        }
        let undone = place.undo("last", "second", false).expect(name);
        assert_eq!(undone.lost, [], "{name}");
        assert_eq!(followed(&place), before, "{name}");
        // A special file is taken away, and not made again; nor is a hard link.
        if ["makes a pipe", "links hard, and writes through it"].contains(name) {
            continue;
        }
        let redone = place.undo("second", "third", false).expect(name);
        assert_eq!(redone.lost, [], "{name}");
        assert_eq!(followed(&place), after, "{name}");
    }
}

#[test]
fn times_come_back() {
    let place = place();
    let modified = |path: &str| {
        let metadata = fs::metadata(place.root().join(path)).expect("the file");
        metadata.modified().expect("a time")
    };
    let before = (modified("a"), modified("src/b"));
    place.program("first", |root| {
        let file = fs::File::options().write(true).open(root.join("a"));
        let then = std::time::UNIX_EPOCH + std::time::Duration::from_secs(7);
        file.and_then(|file| file.set_modified(then))
            .expect("a time");
        fs::write(root.join("src/b"), "x").expect("written");
    });
    assert_ne!((modified("a"), modified("src/b")), before);
    place.undo("last", "second", false).expect("undone");
    assert_eq!((modified("a"), modified("src/b")), before);
}

#[test]
fn what_is_not_kept_is_said_and_the_rest_comes_back() {
    let place = place();
    let mut before = place.tree();
    let notes = place.program("first", |root| {
        fs::write(root.join(LARGE), "small").expect("written");
        fs::write(root.join("a"), "new\n").expect("written");
    });
    assert_eq!(notes.len(), 2, "{notes:?}");
    assert!(
        notes[0].contains("1 files of the workspace") && notes[0].contains(LARGE),
        "{notes:?}"
    );
    assert!(
        notes[1].starts_with("a native program changed large.bin"),
        "{notes:?}"
    );
    let undone = place.undo("last", "second", false).expect("undone");
    assert_eq!(undone.paths, [Path::new("a")]);
    assert_eq!(undone.lost.len(), 1, "{undone:?}");
    let mut now = place.tree();
    let large = place.root().join(LARGE);
    before.remove(&large);
    now.remove(&large);
    assert_eq!(now, before);
}

#[test]
fn a_component_and_a_program_of_one_call_are_taken_back_together() {
    let place = place();
    let before = place.tree();
    let journal = place.recorder("first").call(step(1));
    let told = place.workspace().with_journal(Arc::clone(&journal) as _);
    let directory = told.directory();
    assert!(write(&directory, "a", "by the component\n"));
    assert!(write(&directory, "made", "by the component\n"));
    journal.before(place.look(&*journal)).expect("it is kept");
    let root = place.root();
    // Both at once, on the same paths and on others.
    fs::write(root.join("a"), "by the program\n").expect("written");
    directory
        .rename("run.sh", &directory, "ran.sh")
        .expect("renamed");
    fs::write(root.join("ran.sh"), "by the program\n").expect("written");
    directory
        .rename("src", &directory, "moved")
        .expect("renamed");
    fs::remove_file(root.join("moved/b")).expect("removed");
    fs::remove_file(root.join("made")).expect("removed");
    directory.remove_file("inside").expect("removed");
    fs::create_dir(root.join("inside")).expect("made");
    fs::write(root.join("inside/x"), "x").expect("written");
    assert!(write(&directory, "new", "by the component\n"));
    fs::remove_file(root.join("new")).expect("removed");
    assert!(directory.rename("none", &directory, "some").is_err());
    journal.before(place.look(&*journal)).expect("it is kept");
    fs::write(root.join("ran.sh"), "once more\n").expect("written");
    journal.after(place.look(&*journal));
    assert!(write(&directory, "a", "by the component again\n"));
    journal.after(place.look(&*journal));
    assert!(write(&directory, "last", "by the component\n"));
    assert!(
        journal
            .finish()
            .iter()
            .all(|note| note.contains("too large"))
    );
    let undone = place.undo("last", "second", false).expect("undone");
    assert_eq!(undone.lost, []);
    assert_eq!(place.tree(), before);
}

#[test]
fn programs_of_two_calls_at_once_are_said_to_be_one() {
    let place = place();
    let before = place.tree();
    let recorder = place.recorder("first");
    let (one, other) = (recorder.call(step(1)), recorder.call(step(2)));
    let root = place.root();
    one.before(place.look(&*one)).expect("it is kept");
    fs::write(root.join("a"), "by the first, alone\n").expect("written");
    other.before(place.look(&*other)).expect("it is kept");
    fs::write(root.join("a"), "by somebody\n").expect("written");
    fs::write(root.join("b"), "by somebody\n").expect("written");
    one.after(place.look(&*one));
    fs::write(root.join("c"), "by the second, alone\n").expect("written");
    other.after(place.look(&*other));
    let notes = one.finish();
    assert!(
        notes
            .iter()
            .any(|note| note.contains("programs of other calls (1:2)")),
        "{notes:?}"
    );
    assert_eq!(other.finish(), Vec::<String>::new());
    place.undo("last:1:2", "second", false).expect("undone");
    assert!(!root.join("c").exists() && root.join("b").exists());
    place.undo("first:1:1", "third", false).expect("undone");
    assert_eq!(place.tree(), before);
}

#[test]
fn what_a_person_changes_between_two_programs_is_theirs() {
    let place = place();
    let journal = place.recorder("first").call(step(1));
    journal.before(place.look(&*journal)).expect("it is kept");
    journal.after(place.look(&*journal));
    fs::write(place.root().join("a"), "mine\n").expect("written");
    journal.before(place.look(&*journal)).expect("it is kept");
    fs::write(place.root().join("src/b"), "its\n").expect("written");
    journal.after(place.look(&*journal));
    journal.finish();
    let undone = place.undo("last", "second", false).expect("undone");
    assert_eq!(undone.paths, [Path::new("src/b")]);
    assert_eq!(fs::read(place.root().join("a")).expect("read"), b"mine\n");
}

#[test]
fn the_next_run_reads_nothing_that_looks_the_same() {
    let place = place();
    // Old enough to be known by its looks.
    let settled = || {
        let newest = place.tree().into_keys().map(|path| {
            let metadata = fs::symlink_metadata(path).expect("metadata");
            std::time::Duration::new(
                metadata.ctime().unsigned_abs(),
                metadata.ctime_nsec() as u32,
            )
        });
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        now.expect("after 1970")
            > newest.max().expect("a file") + std::time::Duration::from_millis(150)
    };
    while !settled() {
        std::thread::yield_now();
    }
    place.program("first", |_| {});
    let index = || {
        let indices = fs::read_dir(place.store().indices()).expect("an index");
        let path = indices.map(|entry| entry.expect("an entry").path()).next();
        fs::read(path.expect("one")).expect("read")
    };
    assert!(!index().is_empty());
    // A file that can be looked at and not be read would be said, if anybody tried.
    let content = fs::read(place.root().join("a")).expect("read");
    let digest = objects::digest(&mut fs::File::open(place.root().join("a")).expect("open"));
    let (digest, _) = digest.expect("a digest");
    let before = place.tree();
    let written = index();
    place.program("second", |root| {
        fs::write(root.join("a"), "new\n").expect("written")
    });
    assert_ne!(content, b"new\n");
    assert!(
        String::from_utf8(written)
            .expect("text")
            .contains(&digest.0)
    );
    place.undo("last", "third", false).expect("undone");
    assert_eq!(place.tree(), before);
    // What the index says of content that the store has lost is not believed.
    fs::remove_dir_all(place.directory.path().join("data/undo/objects")).expect("removed");
    place.program("fourth", |root| {
        fs::write(root.join("src/b"), "new\n").expect("written")
    });
    let undone = place.undo("fourth", "fifth", false).expect("undone");
    assert_eq!(undone.lost, []);
    assert_eq!(place.tree(), before);
}

#[test]
fn a_directory_that_became_unreadable_hides_nothing() {
    let place = place();
    let before = place.tree();
    let journal = place.recorder("first").call(step(1));
    journal.before(place.look(&*journal)).expect("it is kept");
    set_mode(place.root().join("src"), 0);
    // As a user would see it, who is not root.
    let mut look = place.look(&*journal).expect("a look");
    look.seen
        .retain(|path, _| path == Path::new("src") || !path.starts_with("src"));
    look.closed.push(PathBuf::from("src"));
    journal.after(Ok(look));
    journal.finish();
    let undone = place.undo("last", "second", false).expect("undone");
    assert_eq!(undone.paths, [Path::new("src")]);
    assert_eq!(place.tree(), before);
}

#[test]
fn a_workspace_that_cannot_be_seen_is_said_once() {
    let place = place();
    let journal = place.recorder("first").call(step(1));
    for _ in 0..2 {
        journal.before(Err(NotSeen::TooMany)).expect("it goes on");
        fs::write(place.root().join("a"), "new\n").expect("written");
        journal.after(Err(NotSeen::TooMany));
    }
    let notes = journal.finish();
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(notes[0].contains("is not kept"), "{notes:?}");
}
