//! Arguments as models really send them.

use crate::asked::Piece;
use crate::model_server::{Protocol, Reply};
use crate::stage::{LANES, Lane, Stage};
use serde_json::{Value, json};

/// The lanes on which arguments are sent as text, so that they can be no JSON.
fn text_lanes() -> impl Iterator<Item = Lane> {
    let is_text = |lane: &Lane| lane.streams || lane.protocol == Protocol::OpenAi;
    LANES.into_iter().filter(is_text)
}

/// opencode#34652, #10813
#[test]
fn what_comes_as_json_text_is_taken_for_what_it_means() {
    let edits = json!([{"old": "two", "new": "2"}]).to_string();
    let cases = [
        // An array as a string.
        (
            "edit_file",
            json!({"path": "f", "edits": edits}).to_string(),
            json!({"path": "f", "edits": [{"old": "two", "new": "2"}]}),
            "+2",
        ),
        // The whole object as a string.
        (
            "read_file",
            Value::String(json!({"path": "f"}).to_string()).to_string(),
            json!({"path": "f"}),
            "1\tone",
        ),
        // A number and a switch as strings.
        (
            "grep",
            json!({"pattern": "ONE", "ignore_case": "true", "limit": "5"}).to_string(),
            json!({"pattern": "ONE", "ignore_case": true, "limit": 5}),
            "f:1: one",
        ),
        // Nothing instead of nothing at all.
        (
            "read_file",
            json!({"path": "f", "offset": 1, "limit": null}).to_string(),
            json!({"path": "f", "offset": 1}),
            "1\tone",
        ),
    ];
    for lane in LANES {
        for (tool, sent, got, part) in &cases {
            let stage = Stage::new(lane).file("f", "one\ntwo\n");
            stage
                .server
                .reply(Reply::empty().and_raw_call("a", tool, sent))
                .reply(Reply::text("Done."));
            let told = stage.run("work");
            told.completed();
            assert_eq!(told.all("tool_start")[0]["arguments"], *got, "{sent}");
            let [_, request] = stage.asked_times();
            let [result] = request.returned_times();
            result.says(part);
        }
    }
}

#[test]
fn what_makes_no_sense_is_told_and_the_run_goes_on() {
    let cases = [
        (
            "read_file",
            r#"{"path": "#,
            "invalid_arguments",
            "not one JSON object",
        ),
        (
            "read_file",
            "[1, 2]",
            "invalid_arguments",
            "not one JSON object",
        ),
        // yoagent#162: no text means no arguments.
        ("read_file", "", "invalid_arguments", "`path`: missing"),
        (
            "read_file",
            r#"{"path": 7}"#,
            "invalid_arguments",
            "`path`: expected string",
        ),
        (
            "read_file",
            r#"{"path": "f", "colour": 1}"#,
            "invalid_arguments",
            "`colour`: no such argument",
        ),
        (
            "read_files",
            r#"{"path": "f"}"#,
            "unknown_tool",
            "did you mean `read_file`",
        ),
        (
            "functions.read file!",
            r#"{"path": "f"}"#,
            "unknown_tool",
            "`read_file`",
        ),
        (
            "launch_missiles",
            "{}",
            "unknown_tool",
            "the tools are `bash`",
        ),
    ];
    for lane in text_lanes() {
        let stage = Stage::new(lane).file("f", "one\n");
        let mut calls = Reply::empty();
        for (number, (tool, sent, ..)) in cases.iter().enumerate() {
            calls = calls.and_raw_call(&format!("call-{number}"), tool, sent);
        }
        stage
            .server
            .reply(calls)
            .reply(Reply::call("good", "read_file", &json!({"path": "f"})))
            .reply(Reply::text("Done."));
        let told = stage.run("work");
        told.completed();

        let [_, second, third] = stage.asked_times();
        let results = second.returned_times::<8>();
        for (number, (result, (tool, sent, kind, part))) in results.iter().zip(cases).enumerate() {
            assert_eq!(result.id, format!("call-{number}"), "{tool} {sent}");
            result.refuses(kind, part);
            assert_eq!(told.result(&result.id)["error"], kind);
        }
        // The model is shown its own calls, in a form that vendors take.
        let calls = second.conversation();
        let calls = calls
            .iter()
            .filter(|piece| matches!(piece, Piece::Call { .. }));
        assert_eq!(calls.count(), cases.len());
        let [good] = third.returned_times();
        good.says("1\tone");
    }
}

#[test]
fn ids_that_come_twice_or_not_at_all_lead_nobody_astray() {
    for lane in LANES {
        let stage = Stage::new(lane).file("f", "one\n").file("g", "two\n");
        let read = |path: &str| json!({"path": path});
        stage
            .server
            .reply(Reply::call("call_0", "read_file", &read("f")))
            .reply(Reply::call("call_0", "read_file", &read("g")))
            .reply(Reply::call("", "read_file", &read("f")))
            .reply(Reply::text("Done."));
        let told = stage.run("work");
        told.completed();
        assert_eq!(told.notices("request_repaired"), [""; 0]);
        let [_, second, third, fourth] = stage.asked_times();
        for (request, part) in [(second, "one"), (third, "two"), (fourth, "one")] {
            let [result] = request.returned_times();
            result.says(part);
        }
    }
}
