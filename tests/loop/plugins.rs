//! Components that somebody else wrote, good and hostile, beside the built-in tools.

use crate::model_server::Reply;
use crate::stage::{BOTH, LANES, Stage};
use hotcell_test_artifacts::{Guest, WORD_COUNT};
use serde_json::json;

#[test]
fn a_plugin_is_offered_and_works_like_a_built_in_tool() {
    for lane in LANES {
        for flags in [&[][..], &["--plan"]] {
            let stage = Stage::new(lane)
                .flags(["--plugin", Guest::Echo.path()])
                .flags(flags);
            stage
                .server
                .reply(
                    Reply::call(
                        "a",
                        "guest",
                        &json!({"word": "hello", "x-hotcell-path": "é"}),
                    )
                    .and_raw_call("b", "guest", ""),
                )
                .reply(Reply::text("Done."));
            stage.run("echo").completed();
            let [first, second] = stage.asked_times();
            let tools = first.tools();
            assert_eq!(tools.get("guest"), Some(&&json!({"type": "object"})));
            assert!(tools.contains_key("read_file"));
            let names: Vec<_> = tools.keys().collect();
            assert!(
                names.is_sorted(),
                "the order must not change from run to run: {names:?}"
            );
            // The paths of tools are marked for the host only.
            assert!(!first.body["tools"].to_string().contains("x-hotcell"));
            let [a, b] = second.returned_times();
            assert_eq!(a.text, r#"{"word":"hello","x-hotcell-path":"é"}"#);
            assert_eq!(b.text, "{}");
        }
    }
}

/// `sdk/examples/word-count`, as its README has it built.
#[test]
fn the_sample_of_the_sdk_measures_a_file_of_the_workspace() {
    for lane in BOTH {
        let stage = Stage::new(lane)
            .file("a.txt", "to be or\nnot to be\n")
            .flags(["--plan", "--plugin", WORD_COUNT]);
        let ask = |path: &str| json!({"path": path, "word": "be"});
        stage
            .server
            .reply(
                Reply::call("a", "word_count", &ask("a.txt"))
                    .and_call("b", "word_count", &ask("b.txt"))
                    .and_call("c", "word_count", &ask("../a.txt"))
                    .and_call("d", "word_count", &json!({"path": 1})),
            )
            .reply(Reply::text("Six words."));
        stage.run("how many words?").completed();
        let [first, second] = stage.asked_times();
        let schema = first.tools()["word_count"];
        assert_eq!(schema["required"], json!(["path"]));
        let [counted, missing, outside, wrong] = second.returned_times();
        assert_eq!(counted.text, "lines: 2\nwords: 6\nbytes: 19\n`be`: 2\n");
        missing.refuses("not_found", "b.txt");
        outside.refuses("denied", "../a.txt");
        wrong.refuses("invalid_arguments", "path");
    }
}

#[test]
fn a_hostile_plugin_is_ended_and_the_run_goes_on() {
    type Case = (Guest, &'static [&'static str], &'static str, &'static str);
    let cases: [Case; 6] = [
        (Guest::Spin, &["--fuel", "200M"], "limit_exceeded", "200"),
        (
            Guest::MemoryBomb,
            &["--memory-bytes", "64MiB"],
            "limit_exceeded",
            "64",
        ),
        (
            Guest::Sleep,
            &["--deadline-ms", "3s"],
            "limit_exceeded",
            "3",
        ),
        (
            Guest::FloodStdout,
            &["--output-bytes", "64KiB"],
            "limit_exceeded",
            "65536",
        ),
        (Guest::Panic, &[], "crashed", "the guest's own words"),
        (Guest::Recurse, &[], "crashed", "stack overflow"),
    ];
    for lane in BOTH {
        for (guest, limits, kind, part) in cases {
            let stage = Stage::new(lane)
                .file("f", "one\n")
                .flags(["--plugin", guest.path()])
                .flags(limits);
            let read = json!({"path": "f"});
            stage
                .server
                .reply(Reply::call("bad", "guest", &json!({})).and_call("good", "read_file", &read))
                .reply(Reply::call("again", "read_file", &read))
                .reply(Reply::text("It does not work."));
            let told = stage.run("use it");
            told.completed();
            assert_eq!(told.result("bad")["error"], kind, "{guest:?}");
            let [_, second, third] = stage.asked_times();
            let [bad, good] = second.returned_times();
            bad.refuses(kind, part);
            good.says("1\tone");
            let [again] = third.returned_times();
            again.says("1\tone");
        }
    }
}

#[test]
fn what_a_plugin_prints_and_reports_is_shown_while_it_runs() {
    for lane in BOTH {
        let stage = Stage::new(lane).flags(["--plugin", Guest::Speak.path()]);
        stage
            .server
            .reply(Reply::call("a", "guest", &json!({})))
            .reply(Reply::text("Done."));
        let told = stage.run("speak");
        told.completed();
        let on = |stream: &str| -> String {
            let events = told.all("tool_output").into_iter();
            let events = events.filter(|event| event["stream"] == stream);
            events.filter_map(|event| event["text"].as_str()).collect()
        };
        assert_eq!(on("stdout"), "printed: é€😀\nprinted last\n");
        assert!(on("progress").contains("reported"), "{told:#?}");
        // The model reads the answer alone.
        let [_, request] = stage.asked_times();
        let [result] = request.returned_times();
        assert_eq!(result.text, "spoke");
    }
}
