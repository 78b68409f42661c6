//! Thinking: that of the model, which vendors want back as it was, and the stage before acting.

use crate::asked::Piece;
use crate::model_server::{Protocol, Reply};
use crate::stage::{LANES, Stage};
use serde_json::json;

/// pi#3636
#[test]
fn thinking_is_shown_and_comes_back_byte_for_byte() {
    let thought = "First  I look,\n\tthen “act” – é😀. ";
    let seal = "EqQBCkYIBBgCKkA+/abc==";
    let look = json!({"pattern": "*"});
    for lane in LANES {
        let stage = Stage::new(lane);
        stage
            .server
            .reply(
                Reply::empty()
                    .and_thinking(thought, seal)
                    .and_redacted("c2VhbGVk+/==")
                    .and_text("I look.")
                    .and_call("a", "glob", &look),
            )
            .reply(
                Reply::empty()
                    .and_thinking("Enough.", "c2VhbA==")
                    .and_text("Nothing there."),
            );
        let told = stage.run("look");
        assert_eq!(told.completed(), "Nothing there.");
        assert_eq!(told.text("thinking_delta"), format!("{thought}Enough."));
        assert_eq!(told.text("action_delta"), "I look.Nothing there.");

        let [_, request] = stage.asked_times();
        match lane.protocol {
            Protocol::OpenAi => {
                let message = request.body["messages"].as_array().expect("messages");
                let message = &message[message.len() - 2];
                assert_eq!(message["reasoning_content"], thought);
                assert_eq!(message["content"], "I look.");
            }
            Protocol::Anthropic => {
                let content = &request.body["messages"][1]["content"];
                let expected = json!([
                    {"type": "thinking", "thinking": thought, "signature": seal},
                    {"type": "redacted_thinking", "data": "c2VhbGVk+/=="},
                    {"type": "text", "text": "I look."},
                    {"type": "tool_use", "id": "a", "name": "glob", "input": look},
                ]);
                assert_eq!(content, &expected);
            }
        }
    }
}

#[test]
fn reasoning_comes_in_the_field_of_the_server_and_goes_back_in_it() {
    for lane in LANES
        .into_iter()
        .filter(|lane| lane.protocol == Protocol::OpenAi)
    {
        for field in ["reasoning", "reasoning_content"] {
            let stage = Stage::new(lane);
            stage
                .server
                .reply(
                    Reply::call("a", "glob", &json!({"pattern": "*"}))
                        .and_thinking("Hm.", "")
                        .reasoning_field(field),
                )
                .reply(Reply::text("Done."));
            let told = stage.run("look");
            told.completed();
            assert_eq!(told.text("thinking_delta"), "Hm.");
            let [_, request] = stage.asked_times();
            let message = &request.body["messages"][2];
            assert_eq!(message[field], "Hm.", "{message}");
        }
    }
}

#[test]
fn the_first_stage_thinks_without_tools_and_the_second_acts_on_it() {
    for lane in LANES {
        for (when, thinks_again) in [("first", false), ("always", true)] {
            let stage = Stage::new(lane)
                .file("f", "one\n")
                .flags([format!("--think={when}")]);
            stage
                .server
                .reply(Reply::text("I know nothing yet: read `f` first."))
                .reply(Reply::call("a", "read_file", &json!({"path": "f"})));
            if thinks_again {
                stage.server.reply(Reply::text("Now I know."));
            }
            stage.server.reply(Reply::text("One."));
            let told = stage.run("what is in f");
            assert_eq!(told.completed(), "One.");
            assert_eq!(told.last()["turns"], 2);
            assert_eq!(told.text("action_delta"), "One.");
            let thoughts = told.text("thinking_delta");
            assert_eq!(thoughts.contains("Now I know."), thinks_again, "{thoughts}");

            let asked = stage.asked();
            let thinks: Vec<bool> = asked
                .iter()
                .map(|request| request.tools().is_empty())
                .collect();
            let expected: &[bool] = if thinks_again {
                &[true, false, true, false]
            } else {
                &[true, false, false]
            };
            assert_eq!(thinks, expected);
            assert!(asked[0].body["tools"].is_null(), "{:#?}", asked[0]);
            for (request, thinks) in asked.iter().zip(thinks) {
                let system = request.system();
                assert_eq!(system.contains("# Think first"), thinks, "{system}");
                assert_eq!(system.contains("\n- read_file: "), thinks, "{system}");
            }
            // The thought is kept as the model's own words, and the person asks for the act.
            let conversation = asked[1].conversation();
            let [
                Piece::User(prompt),
                Piece::Model(thought),
                Piece::User(bridge),
            ] = conversation.as_slice()
            else {
                panic!("{conversation:#?}");
            };
            assert_eq!(prompt, "what is in f");
            assert_eq!(thought, "I know nothing yet: read `f` first.");
            assert!(bridge.contains("Go on"), "{bridge}");
            let later = asked[2].conversation();
            assert_eq!(later[..conversation.len()], conversation);
        }
    }
}

#[test]
fn a_call_in_the_first_stage_is_not_run() {
    for lane in LANES {
        let stage = Stage::new(lane).flags(["--think=first"]);
        let write = json!({"path": "f", "content": "x"});
        stage
            .server
            .reply(Reply::text("I would write.").and_call("a", "write_file", &write))
            .reply(Reply::text("I did not."));
        let told = stage.run("go");
        assert_eq!(told.completed(), "I did not.");
        assert_eq!(told.ids("tool_start"), [""; 0]);
        assert!(!stage.path("f").exists());
    }
}
