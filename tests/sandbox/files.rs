//! Files: below the workspace, as far as the grant says, and nothing else.
//!
//! The operations are raw ones, so that no library of the guest stands before the sandbox. Every
//! workspace has the same things planted in it, some of them traps.

use crate::support::{self, LIMITS, call, grant_on, grant_with_skills, load, text};
use hotcell::protocol::Capability::{self, Skills, WorkspaceRead, WorkspaceWrite};
use hotcell::sandbox::Component;
use hotcell_test_artifacts::Guest;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A workspace with a neighbour that must stay as it is.
pub struct Yard {
    directory: TempDir,
    _socket: UnixListener,
}

impl Yard {
    pub fn new() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let root = directory.path();
        for below in ["ws/sub/deep", "ws-next", "skills/one", "outside"] {
            fs::create_dir_all(root.join(below)).expect("it is made");
        }
        for (file, content) in [
            ("ws/note.txt", "a note"),
            ("ws/sub/deep/low.txt", "low"),
            ("ws-next/secret.txt", "a secret"),
            ("outside/secret.txt", "a secret"),
            ("skills/one/SKILL.md", "a skill"),
        ] {
            fs::write(root.join(file), content).expect("it is written");
        }
        let outside = root.join("outside");
        for (target, link) in [
            (outside.clone(), "absolute"),
            (PathBuf::from("../outside"), "relative"),
            (outside.join("secret.txt"), "absolute-file"),
            (PathBuf::from("../outside/secret.txt"), "relative-file"),
            (outside.join("new.txt"), "dangling"),
            (PathBuf::from("relative"), "chained"),
            (PathBuf::from("sub/../../outside"), "winding"),
            (PathBuf::from("/proc/self"), "proc"),
            (PathBuf::from("/"), "root"),
            (PathBuf::from("loop"), "loop"),
            (PathBuf::from("sub/deep"), "inner"),
            (PathBuf::from("note.txt"), "inner-file"),
        ] {
            symlink(target, root.join("ws").join(link)).expect("it is linked");
        }
        let fifo = std::process::Command::new("mkfifo")
            .arg(root.join("ws/fifo"))
            .status()
            .expect("mkfifo starts");
        assert!(fifo.success());
        let socket = UnixListener::bind(root.join("ws/socket")).expect("it is bound");
        Yard {
            directory,
            _socket: socket,
        }
    }

    pub fn at(&self, path: &str) -> PathBuf {
        self.directory.path().join(path)
    }

    /// Everything outside the workspace, to compare.
    pub fn neighbourhood(&self) -> BTreeMap<PathBuf, (Option<Vec<u8>>, u32)> {
        let mut found = BTreeMap::new();
        for place in ["outside", "ws-next", "skills"] {
            remember(&self.at(place), &mut found);
        }
        found
    }

    /// Everything in the workspace, to compare.
    pub fn workspace(&self) -> BTreeMap<PathBuf, (Option<Vec<u8>>, u32)> {
        let mut found = BTreeMap::new();
        remember(&self.at("ws"), &mut found);
        found
    }
}

/// Content and mode of a file, the mode of anything else, and when a file was changed.
fn remember(place: &Path, found: &mut BTreeMap<PathBuf, (Option<Vec<u8>>, u32)>) {
    let metadata = fs::symlink_metadata(place).expect("it is there");
    let content = metadata
        .is_file()
        .then(|| fs::read(place).expect("it is readable"));
    let changed = metadata.is_file().then(|| {
        let changed = metadata.modified().expect("the file system keeps times");
        format!("{changed:?}").into_bytes()
    });
    let kept = content
        .zip(changed)
        .map(|(content, changed)| [content, changed].concat());
    found.insert(place.to_owned(), (kept, metadata.permissions().mode()));
    if metadata.is_dir() {
        for entry in fs::read_dir(place).expect("it is readable") {
            remember(&entry.expect("it is readable").path(), found);
        }
    }
}

/// The guest that does what it is told.
fn hands() -> Component {
    load(&support::sandbox(true), Guest::Files)
}

async fn answers<S: AsRef<str>>(
    hands: &Component,
    yard: &Yard,
    capabilities: &[Capability],
    operations: &[S],
) -> Vec<String> {
    let skills = yard.at("skills");
    let grant = grant_with_skills(&yard.at("ws"), Some(&skills), capabilities, LIMITS);
    let mut answers = Vec::new();
    for operation in operations {
        let outcome = call(hands, &grant, operation.as_ref()).await;
        answers.push(text(&outcome).to_owned());
    }
    answers
}

/// Every operation must be refused.
async fn refused<S: AsRef<str>>(yard: &Yard, capabilities: &[Capability], operations: &[S]) {
    let answers = answers(&hands(), yard, capabilities, operations).await;
    for (operation, answer) in operations.iter().zip(&answers) {
        let operation = operation.as_ref();
        assert!(answer.starts_with("refused"), "{operation}: {answer}");
    }
}

/// Paths that lead out of the workspace, all to something that is there.
const WAYS_OUT: &[&str] = &[
    "../outside",
    "../ws-next",
    "sub/../../outside",
    "sub/deep/../../../outside",
    "./.././outside",
    "..",
    "/",
    "/tmp",
    "/workspace",
    "/proc/self",
    "absolute",
    "relative",
    "chained",
    "winding",
    "root",
    "proc",
    "inner/../../../outside",
];

/// Operations on a directory that is outside, or on a file in it. `%` is the way out.
const ESCAPES: &[&str] = &[
    "list /workspace %",
    "read /workspace %/secret.txt",
    "read-in /workspace % secret.txt",
    "read-in /workspace sub ../%/secret.txt",
    "stat /workspace %",
    "stat /workspace %/secret.txt",
    "mkdir-in /workspace % made",
    "mkdir-in /workspace sub ../%/made",
    "write /workspace %/secret.txt",
    "append /workspace %/secret.txt",
    "create /workspace %/new.txt",
    "create-new /workspace %/new.txt",
    "truncate /workspace %/secret.txt",
    "resize /workspace %/secret.txt",
    "touch /workspace %/secret.txt",
    "mkdir /workspace %/made",
    "rmdir /workspace %/one",
    "unlink /workspace %/secret.txt",
    "rename /workspace note.txt %/taken.txt",
    "rename /workspace %/secret.txt stolen.txt",
    "link /workspace note.txt %/linked.txt",
    "link /workspace %/secret.txt stolen.txt",
    "symlink /workspace note.txt %/planted",
    "readlink /workspace %/secret.txt",
];

#[tokio::test]
pub async fn no_operation_leaves_the_workspace() {
    let yard = Yard::new();
    let before = yard.neighbourhood();
    let operations: Vec<String> = ESCAPES
        .iter()
        .flat_map(|escape| WAYS_OUT.iter().map(|way| escape.replace('%', way)))
        .collect();
    refused(&yard, &[WorkspaceRead, WorkspaceWrite], &operations).await;
    assert_eq!(yard.neighbourhood(), before);
}

/// Single files that lead out, or that are no files.
const TRAPS: &[&str] = &[
    "absolute-file",
    "relative-file",
    "dangling",
    "loop",
    "fifo",
    "socket",
    "proc/environ",
    "root/etc/passwd",
];

#[tokio::test]
async fn links_out_and_what_is_no_file_are_refused_at_once() {
    let yard = Yard::new();
    let before = yard.neighbourhood();
    let ways = [
        "read",
        "write",
        "append",
        "create",
        "truncate",
        "resize",
        "write-by-reader",
        "touch-open",
    ];
    let operations: Vec<String> = ways
        .iter()
        .flat_map(|way| {
            TRAPS
                .iter()
                .map(move |path| format!("{way} /workspace {path}"))
        })
        .collect();
    refused(&yard, &[WorkspaceRead, WorkspaceWrite], &operations).await;
    assert_eq!(yard.neighbourhood(), before);
}

/// What changes something, and what it answers where it may.
const CHANGES: &[&str] = &[
    "write /workspace note.txt",
    "write /workspace inner/low.txt",
    "write /workspace inner-file",
    "append /workspace note.txt",
    "create /workspace new.txt",
    "create-by-reader /workspace new.txt",
    "create-new /workspace newer.txt",
    "truncate /workspace note.txt",
    "truncate-by-reader /workspace note.txt",
    "resize /workspace note.txt",
    "touch /workspace note.txt",
    "mkdir /workspace made",
    "symlink /workspace note.txt planted",
    "link /workspace note.txt linked.txt",
    "rename /workspace note.txt renamed.txt",
    "unlink /workspace sub/deep/low.txt",
    "rmdir /workspace sub/deep",
    "mkdir-in /workspace sub made",
];

/// What a handle that was opened to read must not do, whatever the grant.
const BY_READER: &[&str] = &[
    "write-by-reader /workspace note.txt",
    "stream-by-reader /workspace note.txt",
    "resize-by-reader /workspace note.txt",
];

#[tokio::test]
async fn a_read_only_grant_changes_nothing() {
    let yard = Yard::new();
    let before = yard.workspace();
    let touch: &[&str] = &["touch-open /workspace note.txt"];
    let operations = [CHANGES, BY_READER, touch].concat();
    refused(&yard, &[WorkspaceRead], &operations).await;
    assert_eq!(yard.workspace(), before);
}

#[tokio::test]
async fn a_grant_to_write_allows_each_change_that_reading_does_not() {
    let hands = hands();
    for change in CHANGES {
        // A yard each, because every change needs things as they were.
        let yard = Yard::new();
        let before = yard.workspace();
        let mut operations = vec![*change];
        if change.starts_with("rmdir") {
            operations.insert(0, "unlink /workspace sub/deep/low.txt");
        }
        let answers = answers(&hands, &yard, &[WorkspaceRead, WorkspaceWrite], &operations).await;
        assert!(
            answers.iter().all(|answer| answer == "ok "),
            "{change}: {answers:?}"
        );
        assert_ne!(yard.workspace(), before, "{change}");
    }
}

#[tokio::test]
async fn a_handle_to_read_stays_one_under_a_grant_to_write() {
    let yard = Yard::new();
    let before = yard.workspace();
    refused(&yard, &[WorkspaceRead, WorkspaceWrite], BY_READER).await;
    assert_eq!(yard.workspace(), before);
}

#[tokio::test]
async fn skills_are_read_only_and_a_mount_is_no_way_into_another() {
    let yard = Yard::new();
    let before = yard.neighbourhood();
    let table = [
        ("read /skills one/SKILL.md", "ok a skill"),
        ("list /skills one", "ok SKILL.md"),
        ("write /skills one/SKILL.md", "refused"),
        ("create /skills new.md", "refused"),
        ("truncate /skills one/SKILL.md", "refused"),
        ("touch /skills one/SKILL.md", "refused"),
        ("unlink /skills one/SKILL.md", "refused"),
        ("mkdir /skills made", "refused"),
        (
            "between /skills /workspace rename one/SKILL.md taken.md",
            "refused",
        ),
        (
            "between /skills /workspace link one/SKILL.md taken.md",
            "refused",
        ),
        (
            "between /workspace /skills rename note.txt planted.md",
            "refused",
        ),
        (
            "between /workspace /skills link note.txt planted.md",
            "refused",
        ),
        ("read /skills ../ws/note.txt", "refused"),
    ];
    let operations = table.map(|(operation, _)| operation);
    let answers = answers(
        &hands(),
        &yard,
        &[WorkspaceRead, WorkspaceWrite, Skills],
        &operations,
    )
    .await;
    for ((operation, expected), answer) in table.iter().zip(&answers) {
        assert!(answer.starts_with(expected), "{operation}: {answer}");
    }
    assert_eq!(yard.neighbourhood(), before);
    assert!(yard.at("ws/note.txt").exists() && !yard.at("ws/taken.md").exists());
}

#[tokio::test]
async fn what_is_below_the_workspace_is_reached_also_by_links_and_dots() {
    let yard = Yard::new();
    let table = [
        ("read /workspace note.txt", "ok a note"),
        ("read /workspace ./sub/../note.txt", "ok a note"),
        ("read /workspace inner/low.txt", "ok low"),
        ("read /workspace inner-file", "ok a note"),
        ("read-in /workspace sub deep/low.txt", "ok low"),
        ("list /workspace sub/deep", "ok low.txt"),
        ("readlink /workspace inner-file", "ok note.txt"),
        ("read /workspace absent", "refused no-entry"),
    ];
    let operations = table.map(|(operation, _)| operation);
    let answers = answers(&hands(), &yard, &[WorkspaceRead], &operations).await;
    for ((operation, expected), answer) in table.iter().zip(&answers) {
        assert_eq!(answer, expected, "{operation}");
    }
}

#[tokio::test]
pub async fn the_standard_library_does_not_leave_the_workspace() {
    let yard = Yard::new();
    let sandbox = support::sandbox(true);
    let component = load(&sandbox, Guest::Walk);
    let grant = grant_on(&yard.at("ws"), &[WorkspaceRead], LIMITS);
    let host_path = yard.at("outside/secret.txt");
    for (path, readable) in [
        ("/workspace/note.txt", true),
        ("/workspace/../workspace/note.txt", false),
        ("/workspace/../outside/secret.txt", false),
        ("../outside/secret.txt", false),
        ("/etc/passwd", false),
        ("/proc/self/environ", false),
        ("/dev/tty", false),
        ("/workspace/proc/environ", false),
        ("/workspace/fifo", false),
        ("/skills/one/SKILL.md", false),
        (host_path.to_str().expect("the path is text"), false),
    ] {
        let outcome = call(&component, &grant, path).await;
        let answer = text(&outcome);
        let expected = if readable { "ok a note" } else { "refused" };
        assert!(answer.starts_with(expected), "{path}: {answer}");
    }
}

#[tokio::test]
async fn a_workspace_that_is_gone_fails_the_call_and_no_other() {
    let yard = Yard::new();
    let sandbox = support::sandbox(true);
    let component = load(&sandbox, Guest::Files);
    let gone = grant_on(&yard.at("gone"), &[WorkspaceRead], LIMITS);
    let outcome = call(&component, &gone, "read /workspace note.txt").await;
    let (_, message) = support::failure(&outcome);
    assert!(message.contains("cannot start"), "{message}");
    let there = grant_on(&yard.at("ws"), &[WorkspaceRead], LIMITS);
    let outcome = call(&component, &there, "read /workspace note.txt").await;
    assert_eq!(text(&outcome), "ok a note");
}
