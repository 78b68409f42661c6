//! write_file.

use super::Session;
use hotcell_sdk::testing::json;
use hotcell_sdk::{Capability, ErrorKind};
use hotcell_tool_files::{EditFile, ReadFile, WriteFile};
use std::fs;

fn write(path: &str, content: &str) -> serde_json::Value {
    json!({ "path": path, "content": content })
}

#[test]
fn a_new_file_has_exactly_the_content() {
    let session = Session::new();
    for content in ["", "a", "a\r\nb\n", "\u{FEFF}x", "$& \\n ‘quoted’\0\n"] {
        let path = format!("deep/er/{}", content.len());
        let answer = session.text::<WriteFile>(write(&path, content));
        assert_eq!(
            answer,
            format!("created `{path}` ({} bytes)", content.len())
        );
        assert_eq!(session.bytes(&path), content.as_bytes());
    }
    assert_eq!(session.names(), ["deep"]);
}

#[test]
fn what_was_not_read_or_has_changed_is_not_overwritten() {
    let session = Session::with(&[("a", b"one")]);
    let (kind, message) = session.refusal::<WriteFile>(write("a", "two"));
    assert_eq!(kind, ErrorKind::Conflict);
    assert!(
        message.contains("was not read in this session; read it first"),
        "{message}"
    );

    session.read("a");
    // As long, and within the same second: only the content tells.
    session.put("a", "uno");
    let (kind, message) = session.refusal::<WriteFile>(write("a", "two"));
    assert_eq!(kind, ErrorKind::Conflict);
    assert!(message.contains("has changed since"), "{message}");
    assert_eq!(session.bytes("a"), b"uno");

    session.read("a");
    let answer = session.text::<WriteFile>(write("a", "three"));
    assert_eq!(answer, "replaced `a` (5 bytes, before 3)");
    // What the session wrote itself it need not read again.
    session.text::<WriteFile>(write("a", "four"));
    session.text::<WriteFile>(write("b", "five"));
    session.text::<WriteFile>(write("b", "six"));
    session.text::<EditFile>(json!({ "path": "b", "old": "six", "new": "seven" }));
    session.text::<WriteFile>(write("b", "eight"));
    assert_eq!(session.bytes("b"), b"eight");
    assert_eq!(session.names(), ["a", "b"]);
}

#[test]
fn without_session_state_only_new_files_are_written() {
    let mut session = Session::with(&[("a", b"one")]);
    session.host = session
        .host
        .granting([Capability::WorkspaceRead, Capability::WorkspaceWrite]);
    session.text::<WriteFile>(write("b", "new"));
    session.read("a");
    let (kind, message) = session.refusal::<WriteFile>(write("a", "two"));
    assert_eq!(kind, ErrorKind::Denied);
    assert!(message.contains("session-state"), "{message}");
    assert_eq!(session.bytes("a"), b"one");
}

#[test]
fn a_record_that_is_no_hash_proves_nothing() {
    let session = Session::with(&[("a", b"one")]);
    session.host.set_state("seen:a", "short");
    let (kind, _) = session.refusal::<WriteFile>(write("a", "two"));
    assert_eq!(kind, ErrorKind::Conflict);
}

#[test]
fn a_byte_order_mark_stays_and_changed_line_endings_are_told() {
    let large = format!("{}\r\n", "x".repeat(65_535)).repeat(3);
    type Case<'a> = (&'a str, &'a [u8], &'a str, &'a [u8], &'a str);
    let cases: &[Case<'_>] = &[
        (
            "bom",
            b"\xEF\xBB\xBFa\n",
            "b\n",
            b"\xEF\xBB\xBFb\n",
            "[the byte order mark of the file was kept]",
        ),
        (
            "own bom",
            b"\xEF\xBB\xBFa\n",
            "\u{FEFF}b\n",
            b"\xEF\xBB\xBFb\n",
            "",
        ),
        (
            "crlf",
            b"a\r\nb\r\n",
            "a\nb\n",
            b"a\nb\n",
            "[line endings were CRLF and are LF now]",
        ),
        (
            "lf",
            b"a\n",
            "a\r\nb\n",
            b"a\r\nb\n",
            "[line endings were LF and are mixed LF and CRLF now]",
        ),
        ("same", b"a\r\n", "b\r\n", b"b\r\n", ""),
        ("none", b"a", "b\n", b"b\n", ""),
        // The carriage return is the last byte of a read and the line feed the first of the next.
        ("large", large.as_bytes(), "a\r\n", b"a\r\n", ""),
    ];
    let session = Session::new();
    for (name, old, content, expected, note) in cases {
        session.put(name, old);
        session.read(name);
        let answer = session.text::<WriteFile>(write(name, content));
        assert_eq!(session.bytes(name), *expected, "{name}");
        let notes: Vec<&str> = answer.lines().skip(1).collect();
        assert_eq!(notes.join("\n"), *note, "{name}");
    }
}

#[cfg(unix)]
#[test]
fn the_mode_of_a_script_stays() {
    use std::os::unix::fs::PermissionsExt;
    let session = Session::with(&[("run.sh", b"#!/bin/sh\n")]);
    fs::set_permissions(session.path("run.sh"), fs::Permissions::from_mode(0o755)).expect("a mode");
    session.read("run.sh");
    session.text::<WriteFile>(write("run.sh", "#!/bin/sh\necho hi\n"));
    session.text::<EditFile>(json!({ "path": "run.sh", "old": "hi", "new": "ho" }));
    let mode = fs::metadata(session.path("run.sh"))
        .expect("metadata")
        .permissions()
        .mode();
    assert_eq!(mode & 0o7777, 0o755);
    assert_eq!(session.bytes("run.sh"), b"#!/bin/sh\necho ho\n");
    assert_eq!(session.names(), ["run.sh"]);
}

#[cfg(unix)]
#[test]
fn a_file_that_is_also_elsewhere_is_not_written_through() {
    let session = Session::new();
    let outside = session.directory.path().join("precious");
    fs::write(&outside, "old").expect("a file");
    fs::hard_link(&outside, session.path("a")).expect("a second name");
    session.read("a");
    for (kind, message) in [
        session.refusal::<WriteFile>(write("a", "new")),
        session.refusal::<EditFile>(json!({ "path": "a", "old": "old", "new": "new" })),
    ] {
        assert_eq!(kind, ErrorKind::Denied);
        assert!(message.contains("has 2 names (hard links)"), "{message}");
    }
    assert_eq!(fs::read(&outside).expect("a file"), b"old");
    assert_eq!(session.names(), ["a"]);
}

#[test]
fn a_parent_that_is_a_file_is_named() {
    let session = Session::with(&[("a", b"one")]);
    let (kind, message) = session.refusal::<WriteFile>(write("a/b/c", "two"));
    assert_eq!(kind, ErrorKind::InvalidArguments);
    assert!(
        message.contains("`a` is a file, not a directory"),
        "{message}"
    );
    let (_, message) = session.refusal::<ReadFile>(json!({ "path": "a/b/c" }));
    assert!(
        message.contains("`a` is a file, not a directory"),
        "{message}"
    );
}
