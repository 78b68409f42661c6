//! read_file.

use super::Session;
use hotcell_sdk::testing::json;
use hotcell_sdk::{Capability, Content, ErrorKind};
use hotcell_tool_files::{ReadFile, WriteFile};

const PIXEL: &[u8] =
    b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;";

#[test]
fn a_file_is_shown_as_it_is_stored() {
    let utf16: Vec<u8> = "\u{FEFF}hé\r\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let utf16be: Vec<u8> = "\u{FEFF}hé"
        .encode_utf16()
        .flat_map(u16::to_be_bytes)
        .collect();
    let cases: &[(&str, &[u8], &str)] = &[
        ("plain", b"a\n\tb\n", "     1\ta\n     2\t\tb\n"),
        ("empty", b"", "[`empty` is empty]\n"),
        ("x.jpg", b"<!doctype html>\n", "     1\t<!doctype html>\n"),
        (
            "no_newline",
            b"a",
            "     1\ta\n[no newline at the end of the file]\n",
        ),
        (
            "crlf",
            b"a\r\nb\r\n",
            "     1\ta\n     2\tb\n[line endings: CRLF; edit_file keeps them]\n",
        ),
        (
            "mixed",
            b"a\r\nb\n",
            "     1\ta\n     2\tb\n[line endings: mixed LF and CRLF; edit_file keeps them]\n",
        ),
        (
            "bom",
            b"\xEF\xBB\xBFa\n",
            "     1\ta\n[the file starts with a byte order mark, which edit_file and write_file keep]\n",
        ),
        (
            "latin1",
            b"caf\xE9 au lait\n",
            "     1\tcaf\u{FFFD} au lait\n[the file is not valid UTF-8: bad bytes are shown as \u{FFFD}; edit_file refuses it]\n",
        ),
        (
            "utf16",
            &utf16,
            "     1\thé\n[the file is UTF-16LE, shown as UTF-8; edit_file refuses it]\n[line endings: CRLF; edit_file keeps them]\n",
        ),
        (
            "utf16be",
            &utf16be,
            "     1\thé\n[the file is UTF-16BE, shown as UTF-8; edit_file refuses it]\n[no newline at the end of the file]\n",
        ),
    ];
    let session = Session::new();
    for (name, content, expected) in cases {
        session.put(name, content);
        assert_eq!(session.read(name), *expected, "{name}");
    }
}

#[test]
fn what_is_no_text_is_refused_with_its_type_and_size() {
    let session = Session::with(&[
        ("tool", b"\x7FELF\x02\x01\x01\0\0\0"),
        ("notes.txt", b"PK\x03\x04\0\0\0\0"),
        ("photo.png", b"\x89PNG\r\n\x1a\n"),
    ]);
    for (path, words) in [
        ("tool", "not text but ELF executable, 10 bytes"),
        (
            "notes.txt",
            "not text but ZIP archive (or a format based on it), 8 bytes",
        ),
        (
            "photo.png",
            "starts like image/png but is damaged or cut off (8 bytes)",
        ),
    ] {
        let (kind, message) = session.refusal::<ReadFile>(json!({ "path": path }));
        assert_eq!(kind, ErrorKind::Failed);
        assert!(message.contains(words), "{message}");
    }
}

#[test]
fn an_image_is_answered_as_an_image_whatever_its_name() {
    let session = Session::with(&[("data.bin", PIXEL)]);
    let answer = session
        .answer::<ReadFile>(json!({ "path": "data.bin" }))
        .expect("an image");
    assert_eq!(
        answer.to_text(),
        "[`data.bin`: image/gif, 1 x 1 pixels, 35 bytes]"
    );
    let image = Content::Image {
        media_type: "image/gif".into(),
        data: PIXEL.to_vec(),
    };
    assert_eq!(answer.parts().last(), Some(&image));

    let mut large = PIXEL.to_vec();
    large.resize(4 << 20, 0);
    session.put("large.gif", large);
    let (_, message) = session.refusal::<ReadFile>(json!({ "path": "large.gif" }));
    assert!(
        message.contains("4194304 bytes; models take up to 3932160"),
        "{message}"
    );
}

#[test]
fn a_place_past_the_end_is_named_with_what_is_there() {
    let session = Session::with(&[("a", b"one\ntwo\n"), ("empty", b"")]);
    for (arguments, words) in [
        (
            json!({ "path": "a", "offset": 3 }),
            "`a` has 2 lines; offset 3 is past its end",
        ),
        (
            json!({ "path": "empty", "offset": 2 }),
            "`empty` has 0 lines; offset 2 is past its end",
        ),
        (
            json!({ "path": "a", "offset": 2, "column": 4 }),
            "line 2 of `a` has 3 characters; column 4 is past its end",
        ),
        (json!({ "path": "a", "offset": 0 }), "count from 1"),
        (json!({ "path": "a", "limit": 0 }), "count from 1"),
        (json!({ "path": "a", "column": 0 }), "count from 1"),
    ] {
        let (kind, message) = session.refusal::<ReadFile>(arguments);
        assert_eq!(kind, ErrorKind::InvalidArguments);
        assert!(message.contains(words), "{message}");
    }
}

#[test]
fn a_long_file_is_cut_at_the_limits_and_read_on_to_its_last_line() {
    let session = Session::new();
    let text: String = (1..=5_000)
        .map(|n| format!("line {n} {}\n", "é".repeat(n % 90)))
        .collect();
    session.put("long", &text);
    let mut arguments = json!({ "path": "long" });
    let mut lines = Vec::new();
    let mut calls = 0;
    loop {
        let shown = session.text::<ReadFile>(arguments);
        assert!(shown.len() < 51 * 1024, "{}", shown.len());
        calls += 1;
        lines.extend(
            shown
                .lines()
                .filter_map(|line| Some(line.split_once('\t')?.1.to_owned())),
        );
        let note = shown.lines().last().expect("a note");
        match note.split_once("continue with read_file ") {
            Some((_, call)) => {
                arguments = serde_json::from_str(call.trim_end_matches(']')).expect("a call");
            }
            None => break assert_eq!(note, "[lines 4808-5000 of 5000, the end of the file]"),
        }
    }
    assert_eq!(calls, 11);
    assert!(lines.iter().eq(text.lines()));
}

#[test]
fn one_line_of_32_megabytes_makes_progress() {
    let session = Session::new();
    session.put("min.js", "ab".repeat(16 << 20));
    let mut arguments = json!({ "path": "min.js" });
    let mut columns = vec![];
    for _ in 0..3 {
        let shown = session.text::<ReadFile>(arguments);
        let words = if columns.is_empty() {
            "the rest with read_file "
        } else {
            "continue with read_file "
        };
        let (_, call) = shown.split_once(words).expect("a call that goes on");
        let (call, _) = call.split_once(']').expect("the end of the note");
        arguments = serde_json::from_str(call).expect("a call");
        columns.push(arguments["column"].as_u64().expect("a column"));
    }
    assert_eq!(columns, [2_001, 53_201, 104_401]);
    let last = session.text::<ReadFile>(json!({ "path": "min.js", "column": (32 << 20) - 1 }));
    assert!(
        last.starts_with("     1\tab\n[lines 1-1 of 1, the end of the file]\n"),
        "{last}"
    );
}

#[test]
fn reading_a_part_counts_as_reading_the_file() {
    let session = Session::with(&[("a", b"one\ntwo\nthree\n")]);
    session.text::<ReadFile>(json!({ "path": "./a", "offset": 2, "limit": 1 }));
    session.text::<WriteFile>(json!({ "path": "/workspace/a", "content": "new\n" }));
    assert_eq!(session.bytes("a"), b"new\n");
}

#[test]
fn without_session_state_files_are_read_all_the_same() {
    let mut session = Session::with(&[("a", b"one\n")]);
    session.host = session.host.granting([Capability::WorkspaceRead]);
    assert_eq!(session.read("a"), "     1\tone\n");
    assert_eq!(session.host.state("seen:a"), None);
}
