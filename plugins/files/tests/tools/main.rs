//! The tools as a session uses them: one after another on real files, with the state of one
//! session behind them. What only the sandbox can refuse is tested with the component, in the host.

mod edit;
mod read;
mod write;

use hotcell_sdk::testing::{MockHost, assert_definitions_match, json};
use hotcell_sdk::{Answer, ErrorKind, Tool, ToolError, definition};
use hotcell_tool_files::{EditFile, ReadFile, WriteFile};
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

/// A workspace and a session on it.
struct Session {
    directory: TempDir,
    host: MockHost,
}

impl Session {
    fn new() -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let workspace = directory.path().join("ws");
        fs::create_dir(&workspace).expect("a workspace");
        let host = MockHost::new(workspace);
        Session { directory, host }
    }

    fn with(files: &[(&str, &[u8])]) -> Self {
        let session = Session::new();
        for (name, content) in files {
            session.put(name, content);
        }
        session
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join("ws").join(name)
    }

    fn put(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a directory")).expect("directories");
        fs::write(path, content).expect("a file");
    }

    fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).expect("the file is there")
    }

    /// Every name in the workspace, hidden ones too: no temporary file may stay.
    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.path("."))
            .expect("the workspace")
            .map(|entry| {
                entry
                    .expect("an entry")
                    .file_name()
                    .to_string_lossy()
                    .into_owned()
            })
            .collect();
        names.sort();
        names
    }

    fn answer<T: Tool>(&self, arguments: serde_json::Value) -> Result<Answer, ToolError> {
        self.host.call::<T>(arguments)
    }

    fn text<T: Tool>(&self, arguments: serde_json::Value) -> String {
        let shown = arguments.to_string();
        match self.answer::<T>(arguments) {
            Ok(answer) => answer.to_text(),
            Err(error) => panic!("{} {shown}: {error}", T::NAME),
        }
    }

    fn refusal<T: Tool>(&self, arguments: serde_json::Value) -> (ErrorKind, String) {
        let shown = arguments.to_string();
        match self.answer::<T>(arguments) {
            Ok(answer) => panic!("{} {shown}: {}", T::NAME, answer.to_text()),
            Err(error) => (error.kind(), error.message().to_owned()),
        }
    }

    fn read(&self, path: &str) -> String {
        self.text::<ReadFile>(json!({ "path": path }))
    }

    /// What each of the tools says to a path, with arguments that would do elsewhere.
    fn refusals(&self, path: &str) -> [(ErrorKind, String); 3] {
        [
            self.refusal::<ReadFile>(json!({ "path": path })),
            self.refusal::<WriteFile>(json!({ "path": path, "content": "new" })),
            self.refusal::<EditFile>(json!({ "path": path, "old": "old", "new": "new" })),
        ]
    }
}

#[test]
fn the_definitions_are_those_in_the_file() {
    assert_definitions_match(
        concat!(env!("CARGO_MANIFEST_DIR"), "/definitions.json"),
        &[
            definition::<ReadFile>(),
            definition::<WriteFile>(),
            definition::<EditFile>(),
        ],
    );
}

#[test]
fn every_way_out_of_the_workspace_is_refused_by_every_tool() {
    let session = Session::new();
    let evil = session.directory.path().join("ws-evil");
    fs::create_dir(&evil).expect("a neighbour");
    fs::write(evil.join("f"), "old").expect("its file");
    let absolute = evil.join("f").display().to_string();
    #[cfg(unix)]
    {
        use std::os::unix::fs::symlink;
        session.put("sub/old", "old");
        let links = [
            (evil.clone(), "outbox"),
            (evil.join("f"), "direct"),
            ("../ws-evil".into(), "relative"),
            ("../../ws-evil".into(), "sub/deep"),
            ("sub/deep".into(), "chain"),
            ("..".into(), "up"),
            ("/proc/self".into(), "proc"),
        ];
        for (target, name) in links {
            symlink(target, session.path(name)).expect("a link");
        }
        let through_links = [
            ("outbox/f", "ws-evil"),
            ("direct", "ws-evil/f"),
            ("relative/f", "`../ws-evil`"),
            ("sub/deep/f", "`../../ws-evil`"),
            ("chain/f", "`../../ws-evil`"),
            ("up/ws/sub/old", "`..`"),
            ("proc/environ", "`/proc/self`"),
        ];
        for (path, target) in through_links {
            for (kind, message) in session.refusals(path) {
                assert_eq!(kind, ErrorKind::Denied, "{path}: {message}");
                assert!(message.contains(target), "{path}: {message}");
            }
        }
    }
    for path in [
        "../ws-evil/f",
        "sub/../../ws-evil/f",
        &absolute,
        "/proc/self/environ",
        "/dev/tty",
    ] {
        for (kind, message) in session.refusals(path) {
            assert_eq!(kind, ErrorKind::Denied, "{path}: {message}");
            assert!(message.contains(path), "{path}: {message}");
        }
    }
    assert_eq!(fs::read(evil.join("f")).expect("its file"), b"old");
    let names = fs::read_dir(&evil).expect("a neighbour").count();
    assert_eq!(names, 1, "nothing was put beside it");
}

#[cfg(unix)]
#[test]
fn what_is_no_regular_file_is_refused_before_it_is_opened() {
    let session = Session::with(&[("dir/a", b"")]);
    let fifo = session.path("fifo");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status();
    assert!(made.expect("mkfifo runs").success());
    let _socket = std::os::unix::net::UnixListener::bind(session.path("socket")).expect("a socket");
    for (path, kind, words) in [
        ("fifo", ErrorKind::Failed, "not a regular file"),
        ("socket", ErrorKind::Failed, "not a regular file"),
        (
            "dir",
            ErrorKind::InvalidArguments,
            "`dir` is a directory; list it with glob (`dir/*`)",
        ),
        ("dir/", ErrorKind::InvalidArguments, "is a directory"),
        (".", ErrorKind::InvalidArguments, "is a directory"),
        ("dir/a/", ErrorKind::InvalidArguments, "slash at the end"),
        (
            "dir/a/b",
            ErrorKind::InvalidArguments,
            "`dir/a` is a file, not a directory",
        ),
    ] {
        for (found, message) in session.refusals(path) {
            assert_eq!(found, kind, "{path}: {message}");
            assert!(message.contains(words), "{path}: {message}");
        }
    }
    assert_eq!(session.names(), ["dir", "fifo", "socket"]);
}

#[cfg(unix)]
#[test]
fn links_inside_the_workspace_lead_to_their_file_and_stay_links() {
    use std::os::unix::fs::symlink;
    let session = Session::with(&[("real/a.txt", b"old\n")]);
    symlink("real", session.path("alias")).expect("a link");
    symlink("../real/./a.txt", session.path("real/again")).expect("a link");
    symlink("alias/again", session.path("last")).expect("a link");
    assert_eq!(session.read("last"), "     1\told\n");
    let answer =
        session.text::<EditFile>(json!({ "path": "alias/a.txt", "old": "old", "new": "edited" }));
    assert!(
        answer.starts_with("edited `real/a.txt` in 1 place\n"),
        "{answer}"
    );
    let answer = session.text::<WriteFile>(json!({ "path": "real/again", "content": "written\n" }));
    assert!(answer.starts_with("replaced `real/a.txt`"), "{answer}");
    assert_eq!(session.bytes("real/a.txt"), b"written\n");
    for link in ["alias", "real/again", "last"] {
        let metadata = fs::symlink_metadata(session.path(link)).expect("metadata");
        assert!(metadata.is_symlink(), "{link}");
    }
    symlink("b", session.path("a")).expect("a link");
    symlink("a", session.path("b")).expect("a link");
    for (kind, message) in session.refusals("a/x") {
        assert_eq!(kind, ErrorKind::Failed, "{message}");
        assert!(message.contains("circle"), "{message}");
    }
    symlink("made/by/write", session.path("dangling")).expect("a link");
    session.text::<WriteFile>(json!({ "path": "dangling", "content": "x" }));
    assert_eq!(session.bytes("made/by/write"), b"x");
}

#[test]
fn a_missing_file_is_answered_with_names_that_are_there() {
    let session = Session::with(&[("src/main.rs", b""), ("src/lib.rs", b"")]);
    let cases = [
        (
            "src/mian.rs",
            "`src/mian.rs` does not exist; similar: `src/main.rs`",
        ),
        (
            "scr/main.rs",
            "`scr/main.rs` does not exist: there is no directory `scr`; similar: `src`",
        ),
        (
            "src/zzzzzzzzz",
            "`src/zzzzzzzzz` does not exist; glob finds files by name",
        ),
    ];
    for (path, expected) in cases {
        let read = session.refusal::<ReadFile>(json!({ "path": path }));
        let edit = session.refusal::<EditFile>(json!({ "path": path, "old": "a", "new": "b" }));
        assert_eq!(read, (ErrorKind::NotFound, expected.to_owned()));
        assert_eq!(edit, read);
    }
}
