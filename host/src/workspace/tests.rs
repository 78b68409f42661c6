//! The boundary by itself: over real files, with a neighbour that must stay as it is.

mod handles;
mod journal;
mod model;
mod quota;

use super::*;
use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

/// A workspace beside a directory that nothing may touch.
pub(super) struct Yard {
    directory: tempfile::TempDir,
    _socket: UnixListener,
}

impl Yard {
    fn new() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let root = directory.path();
        for below in [
            "ws/sub/deep",
            "ws/.git/hooks",
            "ws/vendor/sub/.git",
            "ws/.ssh",
            "outside/dir",
        ] {
            fs::create_dir_all(root.join(below)).expect("made");
        }
        for (file, content) in [
            ("ws/note.txt", "a note"),
            ("ws/sub/deep/low.txt", "low"),
            ("ws/.git/HEAD", "ref: refs/heads/main"),
            ("ws/.git/config", "[core]"),
            ("ws/.git/hooks/pre-commit", "true"),
            ("ws/.env", "TOKEN=1"),
            ("ws/.env.example", "TOKEN="),
            ("ws/.ssh/id_rsa", "key"),
            ("outside/secret.txt", "a secret"),
        ] {
            fs::write(root.join(file), content).expect("written");
        }
        let outside = root.join("outside");
        for (target, link) in [
            (outside.clone(), "out"),
            (PathBuf::from("../outside"), "out-relative"),
            (outside.join("new.txt"), "out-dangling"),
            (PathBuf::from("/proc/self"), "proc"),
            (PathBuf::from("loop"), "loop"),
            (PathBuf::from("sub/deep"), "in"),
            (PathBuf::from(".git/hooks"), "hooks"),
            (PathBuf::from(".git"), "git"),
            (PathBuf::from(".env"), "environment"),
            (PathBuf::from("note.txt/"), "not-a-directory"),
            (PathBuf::from("note.txt"), ".zshrc"),
            (PathBuf::from("sub"), ".hotcell"),
            (PathBuf::from("made-by-link.txt"), "in-dangling"),
            (
                root.canonicalize().expect("there").join("ws/note.txt"),
                "in-absolute",
            ),
        ] {
            symlink(target, root.join("ws").join(link)).expect("linked");
        }
        fs::hard_link(outside.join("secret.txt"), root.join("ws/hard.txt")).expect("linked");
        rustix::fs::mkfifoat(
            rustix::fs::CWD,
            root.join("ws/fifo"),
            rustix::fs::Mode::from(0o600),
        )
        .expect("made");
        let socket = UnixListener::bind(root.join("ws/socket")).expect("bound");
        Yard {
            directory,
            _socket: socket,
        }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.directory.path().join(path)
    }

    fn open(&self, access: Access) -> Directory {
        Workspace::open(&self.at("ws"), access, PathRules::default())
            .expect("it opens")
            .directory()
    }

    fn writable(&self) -> Directory {
        self.open(Access::ReadWrite)
    }
}

/// Everything about a tree that an operation could change.
pub(super) fn picture(place: &Path) -> Vec<String> {
    use std::os::unix::fs::MetadataExt;
    let mut found = Vec::new();
    let mut ahead = vec![place.to_owned()];
    while let Some(place) = ahead.pop() {
        let metadata = fs::symlink_metadata(&place).expect("there");
        let content = if metadata.is_file() {
            fs::read(&place).expect("readable")
        } else if metadata.is_symlink() {
            let target = fs::read_link(&place).expect("a link");
            target.into_os_string().into_encoded_bytes()
        } else {
            Vec::new()
        };
        found.push(format!(
            "{} {:o} {} {:?} {:?}",
            place.display(),
            metadata.mode(),
            metadata.nlink(),
            metadata.modified(),
            String::from_utf8_lossy(&content)
        ));
        if metadata.is_dir() {
            let entries = fs::read_dir(&place).expect("readable");
            ahead.extend(entries.map(|entry| entry.expect("readable").path()));
        }
    }
    found.sort();
    found
}

const READ: OpenOptions = OpenOptions {
    read: true,
    write: false,
    create: false,
    exclusive: false,
    truncate: false,
    directory: false,
    follow: true,
};
const WRITE: OpenOptions = OpenOptions {
    read: false,
    write: true,
    ..READ
};
const CREATE: OpenOptions = OpenOptions {
    create: true,
    ..WRITE
};
const TRUNCATE: OpenOptions = OpenOptions {
    truncate: true,
    ..WRITE
};

fn content(directory: &Directory, path: &str) -> Result<String, FileError> {
    match directory.open(path, READ)? {
        Opened::File(file) => {
            let bytes = file.read_at(1 << 16, 0)?;
            Ok(String::from_utf8_lossy(&bytes).into_owned())
        }
        Opened::Directory(_) => Ok("a directory".to_owned()),
    }
}

fn names(directory: &Directory, path: &str) -> Vec<String> {
    let Ok(Opened::Directory(directory)) = directory.open(path, READ) else {
        panic!("{path} is a directory");
    };
    let mut listing = directory.list().expect("it lists");
    let mut names = Vec::new();
    while let Some(entry) = listing.next_entry().expect("it reads") {
        names.push(entry.name);
    }
    names.sort();
    names
}

/// The rule by which an operation was refused, without what it holds.
fn rule<T>(outcome: Result<T, FileError>) -> String {
    match outcome {
        Ok(_) => "allowed".to_owned(),
        Err(FileError::System(error)) => format!("{:?}", error.kind()),
        Err(FileError::Refused(refusal)) => {
            let rule = format!("{:?}", refusal.rule);
            rule.split([' ', '{']).next().unwrap_or_default().to_owned()
        }
    }
}

#[test]
fn paths_lead_where_they_should() {
    let yard = Yard::new();
    let directory = yard.open(Access::ReadOnly);
    for (path, expected) in [
        ("note.txt", "a note"),
        ("./sub/../note.txt", "a note"),
        ("sub/deep/../../note.txt", "a note"),
        ("in/low.txt", "low"),
        ("in/../deep/low.txt", "low"),
        ("in-absolute", "a note"),
        (".git/hooks/pre-commit", "true"),
        ("hooks/pre-commit", "true"),
        (".env.example", "TOKEN="),
        ("hard.txt", "a secret"),
        (".zshrc", "a note"),
        (".hotcell/deep/low.txt", "low"),
        (".", "a directory"),
        ("sub/..", "a directory"),
        ("in/", "a directory"),
    ] {
        let found = content(&directory, path);
        assert_eq!(found.as_deref().ok(), Some(expected), "{path}: {found:?}");
    }
}

#[test]
fn what_cannot_be_read_says_why() {
    let yard = Yard::new();
    let directory = yard.open(Access::ReadOnly);
    for (path, expected) in [
        ("out", "Leaves"),
        ("out/secret.txt", "Leaves"),
        ("out-relative/secret.txt", "Leaves"),
        ("out-dangling", "Leaves"),
        ("..", "Leaves"),
        ("../outside/secret.txt", "Leaves"),
        ("sub/../../outside/secret.txt", "Leaves"),
        ("in/../../../outside/secret.txt", "Leaves"),
        ("/etc/passwd", "Leaves"),
        ("proc/environ", "Leaves"),
        (".env", "Masked"),
        (".ENV", "Masked"),
        ("environment", "Masked"),
        (".ssh", "Masked"),
        (".ssh/id_rsa", "Masked"),
        ("sub/../.env", "Masked"),
        ("fifo", "Special"),
        ("socket", "Special"),
        ("loop", "FilesystemLoop"),
        ("absent", "NotFound"),
        ("absent/../note.txt", "NotFound"),
        ("note.txt/", "NotADirectory"),
        ("note.txt/x", "NotADirectory"),
        ("not-a-directory", "NotADirectory"),
        ("", "NotFound"),
        ("a\0b", "InvalidInput"),
    ] {
        assert_eq!(rule(directory.open(path, READ)), expected, "{path}");
    }
    let long = "x/".repeat(3_000);
    assert_eq!(rule(directory.open(&long, READ)), "InvalidFilename");
}

#[test]
fn a_refusal_names_where_a_link_leads() {
    let yard = Yard::new();
    let Err(error) = yard.writable().open("out/new.txt", CREATE) else {
        panic!("it leaves the workspace");
    };
    let outside = yard.at("outside/new.txt");
    assert_eq!(
        error.to_string(),
        format!("out leaves the workspace ({})", outside.display())
    );
}

#[test]
fn masked_names_are_not_listed() {
    let yard = Yard::new();
    let found = names(&yard.open(Access::ReadOnly), ".");
    assert!(found.contains(&".git".to_owned()) && found.contains(&".env.example".to_owned()));
    for masked in [".env", ".ssh"] {
        assert!(!found.contains(&masked.to_owned()), "{found:?}");
    }
}

/// Changes by their name, as an engineer of a hostile tool would try them.
fn attempt(directory: &Directory, change: &str) -> Result<(), FileError> {
    let words: Vec<&str> = change.split(' ').collect();
    let set = |path| directory.set_times_of(path, true, NewTime::Now, NewTime::Now);
    match *words.as_slice() {
        ["write", path] => directory.open(path, WRITE).map(drop),
        ["create", path] => directory.open(path, CREATE).map(drop),
        ["truncate", path] => directory.open(path, TRUNCATE).map(drop),
        ["times", path] => set(path),
        ["mkdir", path] => directory.create_directory(path),
        ["rmdir", path] => directory.remove_directory(path),
        ["unlink", path] => directory.remove_file(path),
        ["rename", from, to] => directory.rename(from, directory, to),
        ["link", from, to] => directory.hard_link(from, directory, to),
        ["symlink", target, path] => directory.symbolic_link(target, path),
        ref other => panic!("what is {other:?}?"),
    }
}

#[test]
fn what_may_not_change_says_why_and_stays() {
    let yard = Yard::new();
    let before = picture(&yard.at(""));
    let directory = yard.writable();
    for (change, expected) in [
        ("write out/secret.txt", "Leaves"),
        ("create out/new.txt", "Leaves"),
        ("create out-dangling", "Leaves"),
        ("mkdir out-relative/made", "Leaves"),
        ("rename note.txt out/taken", "Leaves"),
        ("rename out/secret.txt taken", "Leaves"),
        ("link out/secret.txt taken", "Leaves"),
        ("symlink /etc/passwd planted", "Leaves"),
        ("symlink ../outside planted", "Leaves"),
        ("symlink ../../outside sub/planted", "Leaves"),
        ("write hard.txt", "HardLink"),
        ("truncate hard.txt", "HardLink"),
        ("times hard.txt", "HardLink"),
        ("write fifo", "Special"),
        ("rename socket moved", "Special"),
        ("link fifo linked", "Special"),
        // Protected, at any depth, in any writing, there or not.
        ("write .git/hooks/pre-commit", "Protected"),
        ("truncate .git/config", "Protected"),
        ("times .git/config", "Protected"),
        ("create .git/hooks/post-commit", "Protected"),
        ("create .GIT/hooks/post-commit", "NotFound"),
        ("create hooks/post-commit", "Protected"),
        ("create git/hooks/post-commit", "Protected"),
        ("unlink git/hooks/pre-commit", "Protected"),
        ("rmdir .git/hooks", "Protected"),
        ("mkdir vendor/sub/.git/hooks", "Protected"),
        ("rename note.txt vendor/sub/.git/config", "Protected"),
        ("link note.txt vendor/sub/.git/config", "Protected"),
        ("link .git/config plain", "Protected"),
        ("symlink note.txt vendor/sub/.git/config", "Protected"),
        ("create .bashrc", "Protected"),
        ("create sub/.Bashrc", "Protected"),
        ("mkdir sub/.hotcell", "Protected"),
        ("create hotcell.toml", "Protected"),
        ("write .zshrc", "Protected"),
        ("truncate .zshrc", "Protected"),
        ("times .zshrc", "Protected"),
        ("unlink .zshrc", "Protected"),
        ("create .hotcell/new.txt", "Protected"),
        ("mkdir .hotcell/made", "Protected"),
        ("rmdir .hotcell/deep", "Protected"),
        ("unlink .hotcell/deep/low.txt", "Protected"),
        ("rename note.txt .hotcell/taken", "Protected"),
        ("link .zshrc plain", "Protected"),
        // Around it: by another name for what is above.
        ("rename .git x", "Keeps"),
        ("rename sub vendor/.git", "Keeps"),
        ("rename sub .GIT", "Keeps"),
        ("create sub/.git", "Keeps"),
        ("symlink sub sub/.git", "Keeps"),
        ("symlink sub .vscode", "Keeps"),
        // Masked: what is there is not, and nothing is made.
        ("write .env", "Masked"),
        ("unlink .env", "Masked"),
        ("rename .env x", "Masked"),
        ("link .env x", "Masked"),
        ("create .env.local", "MaskedNew"),
        ("rename note.txt .env", "MaskedNew"),
        ("mkdir sub/.aws", "MaskedNew"),
        ("symlink note.txt key.pem", "MaskedNew"),
        ("link note.txt id_rsa", "MaskedNew"),
        ("rmdir .", "ResourceBusy"),
        ("rename . x", "ResourceBusy"),
        ("unlink note.txt/", "NotADirectory"),
        ("unlink in/", "NotADirectory"),
        ("create new.txt/", "IsADirectory"),
    ] {
        assert_eq!(rule(attempt(&directory, change)), expected, "{change}");
    }
    assert_eq!(picture(&yard.at("")), before);
}

const CHANGES: &[&str] = &[
    "write note.txt",
    "create new.txt",
    "create in-dangling",
    "truncate note.txt",
    "times note.txt",
    "times .",
    "mkdir made",
    "mkdir sub/.git",
    "rmdir empty",
    "unlink sub/deep/low.txt",
    "unlink out",
    "unlink hard.txt",
    "unlink fifo",
    "rename note.txt renamed.txt",
    "rename out renamed-link",
    "rename vendor moved",
    "rename hard.txt moved.txt",
    "link note.txt linked.txt",
    "symlink note.txt planted",
    "symlink ../note.txt sub/planted",
    "create .env.example",
    "create .git/refs",
];

#[test]
fn a_read_only_workspace_refuses_every_change_by_that_rule() {
    let yard = Yard::new();
    fs::create_dir(yard.at("ws/empty")).expect("made");
    let before = picture(&yard.at(""));
    let directory = yard.open(Access::ReadOnly);
    for change in CHANGES {
        assert_eq!(rule(attempt(&directory, change)), "ReadOnly", "{change}");
    }
    let Ok(Opened::File(file)) = directory.open("note.txt", READ) else {
        panic!("it opens");
    };
    assert_eq!(rule(file.set_times(NewTime::Now, NewTime::Now)), "ReadOnly");
    assert_eq!(picture(&yard.at("")), before);
}

#[test]
fn a_writable_workspace_allows_the_same_changes() {
    for change in CHANGES {
        let yard = Yard::new();
        fs::create_dir(yard.at("ws/empty")).expect("made");
        let outside = picture(&yard.at("outside"));
        let outcome = attempt(&yard.writable(), change);
        assert!(outcome.is_ok(), "{change}: {outcome:?}");
        // A name less is no change of the file, but its count is in the picture.
        if !change.contains("hard.txt") {
            assert_eq!(picture(&yard.at("outside")), outside, "{change}");
        }
    }
}

#[test]
fn a_file_with_a_second_name_is_not_written() {
    let yard = Yard::new();
    let directory = yard.writable();
    attempt(&directory, "link note.txt linked.txt").expect("allowed");
    assert_eq!(rule(attempt(&directory, "write note.txt")), "HardLink");
    attempt(&directory, "unlink linked.txt").expect("allowed");
    attempt(&directory, "write note.txt").expect("it has one name again");
}
