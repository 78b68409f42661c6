//! What every request carries, and what is told of its cost.

use crate::model_server::{Protocol, Reply};
use crate::stage::{BOTH, LANES, Stage};
use serde_json::{Value, json};

fn look(id: &str) -> Reply {
    Reply::call(id, "glob", &json!({"pattern": "*"}))
}

#[test]
fn tokens_are_told_by_request_turn_and_run() {
    for lane in LANES {
        let stage = Stage::new(lane);
        stage
            .server
            .reply(look("a").usage(120, 100, 7))
            .reply(Reply::text("Done.").usage(150, 0, 9));
        let told = stage.run("look");
        told.completed();
        let usage = |input: u64, output: u64, cached: u64| {
            json!({
                "input_tokens": input, "output_tokens": output,
                "cache_read_tokens": cached, "cache_write_tokens": 0,
            })
        };
        let both = [usage(120, 7, 100), usage(150, 9, 0)];
        let updates = |estimated: bool| -> Vec<&Value> {
            let updates = told.all("token_update").into_iter();
            let updates = updates.filter(|update| update["estimated"] == estimated);
            updates.map(|update| &update["usage"]).collect()
        };
        assert_eq!(updates(false), both.iter().collect::<Vec<_>>());
        let turns: Vec<&Value> = told
            .all("turn_done")
            .iter()
            .map(|turn| &turn["usage"])
            .collect();
        assert_eq!(turns, both.iter().collect::<Vec<_>>());
        assert_eq!(told.last()["usage"], usage(270, 16, 100));
        // Before each request there is a guess, which grows with the conversation.
        let guesses: Vec<u64> = updates(true)
            .iter()
            .filter_map(|usage| usage["input_tokens"].as_u64())
            .collect();
        assert!(
            matches!(guesses[..], [one, two] if 0 < one && one < two),
            "{guesses:?}"
        );
    }
}

#[test]
fn messages_mark_what_the_vendor_should_cache() {
    for lane in LANES
        .into_iter()
        .filter(|lane| lane.protocol == Protocol::Anthropic)
    {
        let stage = Stage::new(lane);
        stage.server.reply(look("a")).reply(Reply::text("Done."));
        stage.run("look").completed();
        let mark = json!({"type": "ephemeral"});
        for request in stage.asked_times::<2>() {
            let body = &request.body;
            assert_eq!(body["system"][0]["cache_control"], mark);
            let tools = body["tools"].as_array().expect("tools");
            let marked: Vec<bool> = tools
                .iter()
                .map(|tool| tool["cache_control"] == mark)
                .collect();
            assert_eq!(
                marked.iter().position(|marked| *marked),
                Some(tools.len() - 1)
            );
            let last = body["messages"]
                .as_array()
                .and_then(|messages| messages.last());
            let blocks = last.expect("a message")["content"].as_array();
            let block = blocks.and_then(|blocks| blocks.last()).expect("a block");
            assert_eq!(block["cache_control"], mark);
        }
    }
}

#[test]
fn the_model_the_limit_and_the_stream_are_as_asked() {
    for lane in LANES {
        let stage = Stage::new(lane).flags(["--max-output-tokens", "321"]);
        stage.server.reply(Reply::text("Hello."));
        stage.run("hello").completed();
        let [request] = stage.asked_times();
        let body = &request.body;
        assert_eq!(
            (&body["model"], &body["stream"]),
            (&"test-model".into(), &lane.streams.into())
        );
        assert_eq!(body["max_tokens"], 321);
    }
}

#[test]
fn an_answer_is_read_however_it_is_cut_into_packets() {
    for lane in LANES {
        for (bytes, line_end) in [(1, "\n"), (7, "\r\n"), (3, "\r")] {
            let stage = Stage::new(lane).file("é", "ü\n");
            stage
                .server
                .reply(
                    Reply::text("Ich lese “é”. ")
                        .and_call("a", "read_file", &json!({"path": "é"}))
                        .pieces_of(bytes)
                        .line_end(line_end),
                )
                .reply(
                    Reply::text("😀")
                        .pieces_of(bytes)
                        .without_done()
                        .line_end(line_end),
                );
            let told = stage.run("lies é");
            assert_eq!(told.completed(), "😀");
            assert_eq!(told.text("action_delta"), "Ich lese “é”. 😀");
            let [_, request] = stage.asked_times();
            let [result] = request.returned_times();
            result.says("1\tü");
        }
    }
}

#[test]
fn the_answer_alone_goes_to_a_file() {
    for lane in BOTH {
        let stage = Stage::new(lane).for_people();
        stage
            .server
            .reply(look("a").and_text("I look."))
            .reply(Reply::text("Nothing there."));
        let ended = stage.end("look");
        assert_eq!(ended.code, Some(0), "{}", ended.err);
        assert_eq!(ended.out, "Nothing there.\n");
        assert!(ended.err.contains("glob"), "{}", ended.err);
    }
}
