//! The key goes to the vendor and nowhere else.

use crate::model_server::{Protocol, Reply};
use crate::stage::{KEY, LANES, Stage};
use serde_json::{Value, json};

/// What a vendor or a proxy that repeats the request says.
fn echo() -> Value {
    let message = format!("Incorrect API key provided: {KEY}. Header: Bearer {KEY}");
    json!({"type": "error", "error": {"type": "authentication_error", "message": message}})
}

#[test]
fn the_key_is_never_shown_even_when_the_server_repeats_it() {
    for lane in LANES {
        for (status, for_people) in [(400, false), (401, true), (401, false), (404, true)] {
            let mut stage = Stage::new(lane).variable("HOTCELL_LOG", "trace");
            if for_people {
                stage = stage.for_people().flags(["--verbose"]);
            }
            stage.server.reply(Reply::status(status, &echo()));
            let ended = stage.end("hello");
            assert_eq!(ended.code, Some(1), "{}", ended.err);
            let shown = format!("{}{}", ended.out, ended.err);
            assert!(shown.contains("[key]"), "{shown}");
            assert!(!shown.contains(KEY), "{shown}");
        }
        // In between it is told and tried again.
        let stage = Stage::new(lane).variable("HOTCELL_LOG", "trace");
        stage
            .server
            .reply(Reply::status(429, &echo()).header("retry-after", "0"))
            .reply(Reply::raw(
                502,
                "text/html",
                format!("<p>x-api-key: {KEY}</p>"),
            ))
            .reply(Reply::text("Hello."));
        let ended = stage.end("hello");
        assert_eq!(ended.code, Some(0), "{}", ended.err);
        let shown = format!("{}{}", ended.out, ended.err);
        assert_eq!(ended.out.matches("request_retried").count(), 2, "{shown}");
        assert!(
            ended.err.contains("trying again"),
            "there is no log: {shown}"
        );
        assert!(!shown.contains(KEY), "{shown}");
    }
}

#[test]
fn no_tool_sees_the_key_and_no_event_holds_it() {
    for lane in LANES {
        let stage = Stage::new(lane).variable("HOTCELL_LOG", "trace");
        let look = "env; set; export -p; cat /proc/self/environ /proc/*/environ";
        stage
            .server
            .reply(
                Reply::call("a", "bash", &json!({"command": look}))
                    .and_call("b", "read_file", &json!({"path": "/proc/self/environ"}))
                    .and_call("c", "grep", &json!({"pattern": "sk-", "path": "/proc"})),
            )
            .reply(Reply::text("Nothing there."));
        let ended = stage.end("find the key");
        assert_eq!(ended.code, Some(0), "{}", ended.err);
        let [_, request] = stage.asked_times();
        let [a, b, c] = request.returned_times();
        a.says("PWD=");
        assert!(b.failed && c.failed, "{b:?} {c:?}");
        for text in [&ended.out, &ended.err, &request.body.to_string()] {
            assert!(!text.contains(KEY), "{text}");
        }
    }
}

#[test]
fn the_key_goes_into_the_header_of_its_protocol_alone() {
    for lane in LANES {
        let stage = Stage::new(lane);
        stage.server.reply(Reply::text("Hello."));
        stage.run("hello").completed();
        let requests = stage.server.requests();
        let [request] = requests.as_slice() else {
            panic!("{requests:?}");
        };
        let with_key: Vec<&str> = request
            .headers
            .iter()
            .filter(|(_, value)| value.contains(KEY))
            .map(|(name, _)| name.as_str())
            .collect();
        let header = match lane.protocol {
            Protocol::OpenAi => "authorization",
            Protocol::Anthropic => "x-api-key",
        };
        assert_eq!(with_key, [header]);
        assert!(!request.body.to_string().contains(KEY));
    }
}
