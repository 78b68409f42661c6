//! edit_file.

use super::Session;
use hotcell_sdk::testing::json;
use hotcell_sdk::{Capability, ErrorKind};
use hotcell_tool_files::{EditFile, WriteFile};

#[test]
fn edits_change_what_they_name_and_nothing_else() {
    let cases: &[(&str, &[u8], serde_json::Value, &[u8])] = &[
        (
            "literal",
            b"price: 1\n",
            json!({ "old": "1", "new": "$& $1 $` \\1 \\n" }),
            b"price: $& $1 $` \\1 \\n\n",
        ),
        (
            "crlf",
            b"a\r\nb\r\nc\r\n",
            json!({ "old": "a\nb\n", "new": "a\nx\ny\n" }),
            b"a\r\nx\r\ny\r\nc\r\n",
        ),
        (
            "bom",
            b"\xEF\xBB\xBFa\n",
            json!({ "old": "a", "new": "b" }),
            b"\xEF\xBB\xBFb\n",
        ),
        (
            "no newline",
            b"a\nb",
            json!({ "old": "b", "new": "c" }),
            b"a\nc",
        ),
        (
            "quotes",
            "say “hi” \"hi\"\n".as_bytes(),
            json!({ "old": "\"hi\"", "new": "'hi'" }),
            "say “hi” 'hi'\n".as_bytes(),
        ),
        (
            "nul",
            b"a\0b\n",
            json!({ "old": "b", "new": "c" }),
            b"a\0c\n",
        ),
        (
            "all",
            b"x\nx\n",
            json!({ "old": "x", "new": "y", "replace_all": true }),
            b"y\ny\n",
        ),
        (
            "list",
            b"a\nb\n",
            json!({ "edits": [{ "old": "a", "new": "c" }, { "old": "c\nb", "new": "d" }] }),
            b"d\n",
        ),
        (
            "deletion",
            b"a\nb\n",
            json!({ "old": "a\n", "new": "" }),
            b"b\n",
        ),
    ];
    let session = Session::new();
    for (name, before, arguments, after) in cases {
        session.put(name, before);
        let mut arguments = arguments.clone();
        arguments["path"] = (*name).into();
        session.text::<EditFile>(arguments);
        assert_eq!(session.bytes(name), *after, "{name}");
    }
}

#[test]
fn a_refused_edit_leaves_the_file_as_it_is() {
    use ErrorKind::{Conflict, Failed, InvalidArguments, NotFound};
    let cases: &[(&str, &[u8], serde_json::Value, ErrorKind, &str)] = &[
        (
            "twice",
            b"a\nb\na\n",
            json!({ "old": "a", "new": "c" }),
            Conflict,
            "matches 2 places in `twice`, at lines 1, 3",
        ),
        (
            "alike",
            b"if (a) \n  b\nif (a)\t\n  b\n",
            json!({ "old": "if (a)\n  b", "new": "c" }),
            Conflict,
            "matches 2 places in `alike`, blanks at the ends of lines aside, at lines 1, 3",
        ),
        (
            "middle",
            b"begin\n  one\nend\n",
            json!({ "old": "begin\n  two\nend\n", "new": "" }),
            NotFound,
            "line 2 differs from `old`",
        ),
        (
            "curly",
            "say “hi”\n".as_bytes(),
            json!({ "old": "say \"hi\"", "new": "x" }),
            NotFound,
            "only in the form of quotes",
        ),
        (
            "second fails",
            b"a\n",
            json!({ "edits": [{ "old": "a", "new": "b" }, { "old": "zzz", "new": "c" }] }),
            NotFound,
            "edit 2 of 2: `old` is not in `second fails`, nor anything like it; read_file shows what is there\nnone of the edits was made",
        ),
        (
            "latin1",
            b"a\ncaf\xE9\n",
            json!({ "old": "a", "new": "b" }),
            Failed,
            "not valid UTF-8 (first at line 2)",
        ),
        (
            "utf16",
            b"\xFF\xFEa\0",
            json!({ "old": "a", "new": "b" }),
            Failed,
            "is UTF-16LE, and edit_file only edits UTF-8",
        ),
        (
            "image",
            b"GIF89a\x01\0",
            json!({ "old": "G", "new": "b" }),
            Failed,
            "is image/gif",
        ),
        (
            "both",
            b"a",
            json!({ "old": "a", "new": "b", "edits": [{ "old": "a", "new": "c" }] }),
            InvalidArguments,
            "not both",
        ),
        (
            "half",
            b"a",
            json!({ "old": "a" }),
            InvalidArguments,
            "both `old` and `new`",
        ),
        (
            "stray",
            b"a",
            json!({ "replace_all": true }),
            InvalidArguments,
            "both `old` and `new`",
        ),
        ("none", b"a", json!({}), InvalidArguments, "no edit given"),
        (
            "empty list",
            b"a",
            json!({ "edits": [] }),
            InvalidArguments,
            "no edit given",
        ),
        (
            "nothing old",
            b"a",
            json!({ "old": "", "new": "b" }),
            InvalidArguments,
            "`old` is empty",
        ),
        (
            "no change",
            b"a\r\nb",
            json!({ "old": "a\r\nb", "new": "a\nb" }),
            InvalidArguments,
            "leave `no change` as it is",
        ),
    ];
    let session = Session::new();
    for (name, content, arguments, kind, words) in cases {
        session.put(name, content);
        let mut arguments = arguments.clone();
        arguments["path"] = (*name).into();
        let (found, message) = session.refusal::<EditFile>(arguments);
        assert_eq!(found, *kind, "{name}: {message}");
        assert!(message.contains(words), "{name}: {message}");
        assert_eq!(session.bytes(name), *content, "{name}");
    }
    assert_eq!(session.names().len(), cases.len());
}

#[test]
fn a_stale_file_is_refused_and_an_unread_one_is_not() {
    let edit = |old: &str| json!({ "path": "a", "old": old, "new": "two" });
    let session = Session::with(&[("a", b"one\n")]);
    session.text::<EditFile>(edit("one"));
    // Its own edit is no surprise to the session.
    session.text::<EditFile>(json!({ "path": "a", "old": "two", "new": "one" }));
    session.read("a");
    session.put("a", "one!");
    let (kind, message) = session.refusal::<EditFile>(edit("one"));
    assert_eq!(kind, ErrorKind::Conflict);
    assert!(message.contains("read it again"), "{message}");
    assert_eq!(session.bytes("a"), b"one!");
    session.read("a");
    session.text::<EditFile>(edit("one"));
    assert_eq!(session.bytes("a"), b"two!");
}

#[test]
fn two_edits_of_one_turn_both_land() {
    let session = Session::with(&[("a", b"one\ntwo\n")]);
    session.read("a");
    session.text::<EditFile>(json!({ "path": "a", "old": "one", "new": "1" }));
    session.text::<EditFile>(json!({ "path": "./a", "old": "two", "new": "2" }));
    assert_eq!(session.bytes("a"), b"1\n2\n");
}

#[test]
fn without_session_state_exact_text_is_proof_enough() {
    let mut session = Session::with(&[("a", b"one\n")]);
    session.host = session
        .host
        .granting([Capability::WorkspaceRead, Capability::WorkspaceWrite]);
    session.text::<EditFile>(json!({ "path": "a", "old": "one", "new": "two" }));
    assert_eq!(session.bytes("a"), b"two\n");
}

#[test]
fn the_answer_shows_the_change() {
    let session = Session::with(&[("src/a.py", b"def f():\n    if x:\n        y()\n")]);
    let answer = session.text::<EditFile>(json!({
        "path": "src/a.py",
        "old": "if x:\n    y()\n",
        "new": "if x:\n    z()\n",
    }));
    let expected = "edited `src/a.py` in 1 place\n\
        [the file is indented by 4 spaces more than `old`, and so is what was put in from `new`]\n\
        --- a/src/a.py\n+++ b/src/a.py\n@@ -1,3 +1,3 @@\n def f():\n     if x:\n-        y()\n+        z()\n";
    assert_eq!(answer, expected);
}

#[test]
fn a_file_too_large_to_edit_is_named_with_the_limit() {
    let session = Session::new();
    session.text::<WriteFile>(json!({ "path": "big", "content": "a" }));
    let file = std::fs::File::options()
        .write(true)
        .open(session.path("big"))
        .expect("the file");
    file.set_len(20 << 20).expect("a sparse file");
    let (kind, message) =
        session.refusal::<EditFile>(json!({ "path": "big", "old": "a", "new": "b" }));
    assert_eq!(kind, ErrorKind::Failed);
    assert!(
        message.contains("20971520 bytes; edit_file takes up to 16777216"),
        "{message}"
    );
}
