//! Files: those that change meanwhile, what stays as it was, and pictures.

use crate::asked::Piece;
use crate::model_server::{Protocol, Reply};
use crate::stage::{BOTH, LANES, Stage};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde_json::{Value, json};
use std::fs;

/// One pixel.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\0\0\0\rIDATx\x9cc\xf8\xcf\xc0\xf0\x1f\0\x05\0\x01\xff\x89\x99=\x1d\0\0\0\0IEND\xaeB`\x82";

fn read(path: &str) -> Value {
    json!({"path": path})
}

/// qwen-code#3839, cadis#1952
#[test]
fn a_file_that_changed_since_it_was_read_is_not_overwritten() {
    for lane in BOTH {
        for (tool, arguments) in [
            (
                "write_file",
                json!({"path": "f", "content": "the model's\n"}),
            ),
            (
                "edit_file",
                json!({"path": "f", "old": "first", "new": "the model's"}),
            ),
        ] {
            let stage = Stage::new(lane).file("f", "the first\n");
            let path = stage.path("f");
            // As long as before and within the same second: only the content tells.
            let somebody = move || fs::write(&path, "the frist\n").expect("a file");
            stage
                .server
                .reply(Reply::call("a", "read_file", &read("f")))
                .reply(Reply::call("b", tool, &arguments).meanwhile(somebody))
                .reply(Reply::call("c", "read_file", &read("f")))
                .reply(Reply::call(
                    "d",
                    "write_file",
                    &json!({"path": "f", "content": "both\n"}),
                ))
                .reply(Reply::text("Done."));
            let told = stage.run("change it");
            told.completed();
            assert_eq!(told.result("b")["error"], "conflict");
            let [_, _, third, fourth, fifth] = stage.asked_times();
            let [stale] = third.returned_times();
            stale.refuses("conflict", "has changed since");
            let [fresh] = fourth.returned_times();
            fresh.says("the frist");
            let [written] = fifth.returned_times();
            written.says("replaced `f`");
            assert_eq!(stage.read("f"), "both\n");
        }
    }
}

#[test]
fn a_file_that_was_never_read_is_not_overwritten() {
    for lane in BOTH {
        let stage = Stage::new(lane).file("f", "old\n");
        let write = json!({"path": "f", "content": "new\n"});
        stage
            .server
            .reply(Reply::call("a", "write_file", &write))
            .reply(Reply::text("Done."));
        stage.run("write it").completed();
        let [_, request] = stage.asked_times();
        let [result] = request.returned_times();
        result.refuses("conflict", "read it first");
        assert_eq!(stage.read("f"), "old\n");
    }
}

#[cfg(unix)]
#[test]
fn a_script_stays_executable() {
    use std::os::unix::fs::PermissionsExt as _;
    for lane in BOTH {
        let stage = Stage::new(lane).file("run.sh", "#!/bin/sh\necho 1\n");
        for mode in [0o755, 0o700, 0o644] {
            let path = stage.path("run.sh");
            fs::write(&path, "#!/bin/sh\necho 1\n").expect("a file");
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("a mode");
            let edit = json!({"path": "run.sh", "old": "1", "new": "2"});
            let write = json!({"path": "run.sh", "content": "#!/bin/sh\necho 3\n"});
            let mode_now = || fs::metadata(&path).expect("a file").permissions().mode() & 0o7777;
            stage
                .server
                .reply(Reply::call("a", "read_file", &read("run.sh")))
                .reply(Reply::call("b", "edit_file", &edit))
                .reply(Reply::text("Edited."));
            stage.run("count on").completed();
            assert_eq!(stage.read("run.sh"), "#!/bin/sh\necho 2\n");
            assert_eq!(mode_now(), mode, "edited");
            stage
                .server
                .reply(Reply::call("a", "read_file", &read("run.sh")))
                .reply(Reply::call("b", "write_file", &write))
                .reply(Reply::text("Written."));
            stage.run("count on").completed();
            assert_eq!(stage.read("run.sh"), "#!/bin/sh\necho 3\n");
            assert_eq!(mode_now(), mode, "written");
        }
        let left: Vec<_> = stage.tree().into_iter().map(|(path, _)| path).collect();
        assert_eq!(left, [stage.path("run.sh")], "something was left behind");
    }
}

/// claude-code#13456, gemini-cli#4056, claude-code#60174, opencode#45892
#[test]
fn what_an_edit_does_not_name_keeps_its_bytes() {
    let cases = [
        ("a\r\nb\r\nc\r\n", "b\nc", "B\nC", "a\r\nB\r\nC\r\n"),
        ("\u{feff}a\nb\n", "b", "c", "\u{feff}a\nc\n"),
        ("a\nb", "a", "x\ny", "x\ny\nb"),
        ("a\tb \r\nc\n", "c", "d", "a\tb \r\nd\n"),
        ("a\n", "a", "$&\\1$1`", "$&\\1$1`\n"),
    ];
    for lane in BOTH {
        for (before, old, new, after) in cases {
            let stage = Stage::new(lane).file("f", before);
            stage
                .server
                .reply(Reply::call("a", "read_file", &read("f")))
                .reply(Reply::call(
                    "b",
                    "edit_file",
                    &json!({"path": "f", "old": old, "new": new}),
                ))
                .reply(Reply::text("Done."));
            stage.run("edit").completed();
            assert_eq!(stage.read("f"), after, "{before:?}");
        }
    }
}

#[test]
fn a_picture_reaches_the_model_as_one() {
    for lane in LANES {
        let stage = Stage::new(lane).file("dot.png", PNG).file("f", "one\n");
        stage
            .server
            .reply(Reply::call("a", "read_file", &read("dot.png")).and_call(
                "b",
                "read_file",
                &read("f"),
            ))
            .reply(Reply::text("A dot."));
        let told = stage.run("what is it");
        assert_eq!(told.completed(), "A dot.");
        let [_, request] = stage.asked_times();
        let [a, b] = request.returned_times();
        a.says("image/png");
        b.says("1\tone");
        let data = BASE64_STANDARD.encode(PNG);
        let pictures: Vec<Piece> = request
            .conversation()
            .into_iter()
            .filter(|piece| matches!(piece, Piece::Image { .. }))
            .collect();
        let media_type = "image/png".to_owned();
        assert_eq!(
            pictures,
            [Piece::Image {
                media_type,
                data: data.clone()
            }]
        );
        // Where it is differs: Chat Completions take no pictures in results.
        let messages = request.body["messages"].as_array().expect("messages");
        let last = messages.last().expect("a message");
        match lane.protocol {
            Protocol::OpenAi => {
                assert_eq!(last["role"], "user");
                let url = format!("data:image/png;base64,{data}");
                assert_eq!(last["content"][1]["image_url"]["url"], url);
            }
            Protocol::Anthropic => {
                assert_eq!(last["content"][0]["tool_use_id"], "a");
                assert_eq!(last["content"][0]["content"][1]["source"]["data"], data);
            }
        }
        assert_eq!(told.result("a")["content"][1]["type"], "image");
    }
}
