//! Answers: what comes of each form in which a server may send them.

use super::*;
use hotcell::protocol::Usage;
use hotcell::provider::StopReason;
use model_server::Reply;

/// An answer with everything in it.
fn rich() -> Reply {
    Reply::empty()
        .and_thinking("Where is the façade?", "c2lnbmF0dXJl")
        .and_text("Let me look — 漢字 too.")
        .and_call(
            "call_1",
            "read_file",
            &json!({"path": "src/é.rs", "limit": 3}),
        )
        .and_call("call_2", "grep", &json!({}))
        .usage(100, 40, 20)
}

fn rich_response(protocol: Protocol) -> Response {
    let seal = match protocol {
        Protocol::OpenAi => "field:reasoning_content",
        Protocol::Anthropic => "c2lnbmF0dXJl",
    };
    Response {
        content: vec![
            thinking("Where is the façade?", Some(seal), None),
            ContentBlock::text("Let me look — 漢字 too."),
            call(
                "call_1",
                "read_file",
                json!({"path": "src/é.rs", "limit": 3}),
            ),
            call("call_2", "grep", json!({})),
        ],
        usage: Usage {
            input_tokens: 100,
            output_tokens: 20,
            cache_read_tokens: 40,
            cache_write_tokens: 0,
        },
        stop: StopReason::ToolCalls,
    }
}

#[tokio::test]
async fn an_answer_is_the_same_however_it_is_sent() {
    for protocol in BOTH {
        let server = ModelServer::start();
        let provider = vendor(&server, protocol);
        let forms: Vec<(bool, Reply)> = vec![
            (true, rich()),
            (true, rich().pieces_of(1)),
            (true, rich().pieces_of(7).line_end("\r\n")),
            (true, rich().pieces_of(1).line_end("\r\n")),
            (true, rich().line_end("\r")),
            (true, rich().without_done()),
            (true, rich().pieces_of(3).line_end("\r").without_done()),
            (false, rich()),
            (false, rich().pieces_of(1)),
        ];
        for (stream, reply) in forms {
            let what = format!("{protocol:?}, stream {stream}, {reply:?}");
            server.reply(reply);
            let answer = ask(&*provider, Request { stream, ..hello() }).await;
            assert_eq!(answer.text, "Let me look — 漢字 too.", "{what}");
            assert_eq!(answer.thinking, "Where is the façade?", "{what}");
            assert_eq!(answer.news, Vec::<String>::new(), "{what}");
            assert_eq!(answer.response(), rich_response(protocol), "{what}");
            let asked = server.requests().pop().map(|request| request.protocol);
            assert_eq!(asked, Some(protocol));
        }
    }
}

#[tokio::test]
async fn the_reason_to_stop_is_told() {
    let answers = [
        (Reply::text("done"), StopReason::EndTurn),
        (
            Reply::text("cut o").stop("length", "max_tokens"),
            StopReason::MaxTokens,
        ),
        (
            Reply::text("no").stop("content_filter", "refusal"),
            StopReason::Refused,
        ),
        (
            Reply::text("hm").stop("new_reason", "pause_turn"),
            StopReason::Other,
        ),
        // Some servers mix them up; the calls decide.
        (
            Reply::call("a", "grep", &json!({})).stop("stop", "end_turn"),
            StopReason::ToolCalls,
        ),
        (
            Reply::text("done").stop("tool_calls", "tool_use"),
            StopReason::EndTurn,
        ),
    ];
    for protocol in BOTH {
        let server = ModelServer::start();
        let provider = vendor(&server, protocol);
        for (reply, stop) in &answers {
            for stream in [true, false] {
                server.reply(reply.clone());
                let response = ask(&*provider, Request { stream, ..hello() })
                    .await
                    .response();
                assert_eq!(response.stop, *stop, "{protocol:?} {reply:?}");
            }
        }
    }
}

#[tokio::test]
async fn arguments_that_are_no_object_are_kept_as_malformed() {
    for protocol in BOTH {
        let server = ModelServer::start();
        let provider = vendor(&server, protocol);
        server.reply(
            Reply::empty()
                .and_raw_call("a", "grep", "")
                .and_raw_call("b", "grep", r#"{"path": "sr"#)
                .stop("length", "max_tokens"),
        );
        let response = ask(&*provider, hello()).await.response();
        let calls: Vec<(&Value, Option<&str>)> = response
            .content
            .iter()
            .filter_map(|block| match block {
                ContentBlock::ToolCall(call) => Some((&call.arguments, call.malformed.as_deref())),
                _ => None,
            })
            .collect();
        let none = json!({});
        assert_eq!(
            calls,
            [(&none, None), (&none, Some(r#"{"path": "sr"#))],
            "{protocol:?}"
        );
        assert_eq!(response.stop, StopReason::MaxTokens);
    }
}

#[tokio::test]
async fn an_answer_that_says_nothing_is_empty() {
    for protocol in BOTH {
        let server = ModelServer::start();
        let provider = vendor(&server, protocol);
        for reply in [
            Reply::empty(),
            Reply::text("\n \n"),
            // What leads to nothing could not be sent back.
            Reply::empty().and_thinking("hm", "c2VhbA=="),
        ] {
            server.reply(reply);
            let response = ask(&*provider, hello()).await.response();
            assert_eq!(response.content, [], "{protocol:?}");
        }
    }
}

/// Raw events of compatible servers that keep to the letter of no specification.
#[tokio::test]
async fn streams_of_compatible_servers_are_read() {
    let two_calls = [
        call("1", "read_file", json!({"path": "a"})),
        call("2", "grep", json!({"path": "b"})),
    ];
    let say = |text: &str| vec![ContentBlock::text(text)];
    let cases: Vec<(&str, &[&str], Vec<ContentBlock>)> = vec![
        (
            "all calls have index 0",
            &[
                r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"1","function":{"name":"read_file","arguments":"{\"path\":\"a\"}"}}]}}]}"#,
                r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"2","function":{"name":"grep","arguments":"{\"path\":\"b\"}"}}]}}]}"#,
                r#"{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}"#,
            ],
            two_calls.to_vec(),
        ),
        (
            "no call has an index, and the arguments are JSON",
            &[
                r#"{"choices":[{"delta":{"tool_calls":[{"id":"1","function":{"name":"read_file","arguments":{"path":"a"}}},{"id":"2","function":{"name":"grep","arguments":{"path":"b"}}}]},"finish_reason":"stop"}]}"#,
            ],
            two_calls.to_vec(),
        ),
        (
            "a blank piece first, more later",
            &[
                r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"1","function":{"name":"read_file","arguments":""}}]}}]}"#,
                r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"pa"}}]}}]}"#,
                r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"","function":{"name":null,"arguments":"th\":\"a\"}"}}]}}]}"#,
                r#"{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}"#,
            ],
            two_calls[..1].to_vec(),
        ),
        (
            "content in parts, null everywhere, the usage in each chunk",
            &[
                r#"{"choices":[{"delta":{"role":"assistant","content":null,"tool_calls":null},"finish_reason":null}],"usage":null}"#,
                r#"{"choices":[{"delta":{"content":[{"type":"text","text":"o"},{"type":"other"}]},"finish_reason":""}],"usage":{"prompt_tokens":1}}"#,
                r#"{"choices":[{"delta":{"content":"k"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}"#,
            ],
            say("ok"),
        ),
        (
            "the thinking in both fields",
            &[
                r#"{"choices":[{"delta":{"reasoning":"hm","reasoning_content":"hm"}}]}"#,
                r#"{"choices":[{"delta":{"content":"ok"},"finish_reason":"stop"}]}"#,
            ],
            vec![
                thinking("hm", Some("field:reasoning_content"), None),
                ContentBlock::text("ok"),
            ],
        ),
        (
            "a refusal",
            &[
                r#"{"choices":[{"delta":{"refusal":"I will not"}}]}"#,
                r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#,
            ],
            say("I will not"),
        ),
    ];
    let server = ModelServer::start();
    let provider = vendor(&server, Protocol::OpenAi);
    for (what, events, content) in cases {
        // Comments, no space, no end mark: all at once.
        let stream: String = events
            .iter()
            .map(|event| format!(": keep alive\r\ndata:{event}\r\n\r\n"))
            .collect();
        server.reply(Reply::raw(200, "text/event-stream", stream).pieces_of(5));
        let response = ask(&*provider, hello()).await.response();
        assert_eq!(response.content, content, "{what}");
    }
}

#[tokio::test]
async fn calls_without_usable_ids_get_ids_that_the_conversation_does_not_have() {
    let event = r#"{"choices":[{"delta":{"tool_calls":[{"function":{"name":"grep","arguments":"{}"}},{"id":"used","function":{"name":"read_file","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}"#;
    let server = ModelServer::start();
    let provider = vendor(&server, Protocol::OpenAi);
    server.reply(Reply::raw(
        200,
        "text/event-stream",
        format!("data: {event}\n\n"),
    ));
    let history = vec![
        Message::user("go"),
        Message::assistant(vec![call("used", "grep", json!({}))]),
        Message::results([text_result("used", "grep", "x")]),
    ];
    let response = ask(&*provider, request(history)).await.response();
    let ids: Vec<&str> = response
        .content
        .iter()
        .filter_map(|block| match block {
            ContentBlock::ToolCall(call) => Some(call.id.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(ids.len(), 2);
    assert!(
        ids.iter().all(|id| !id.is_empty() && *id != "used"),
        "{ids:?}"
    );
    assert_ne!(ids[0], ids[1]);
}

#[tokio::test]
async fn events_and_blocks_of_no_known_kind_are_read_past() {
    let events = [
        r#"{"type":"message_start","message":{"usage":{"input_tokens":3}}}"#,
        r#"{"type":"tomorrow","index":0}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use","id":"x","name":"web","input":{}}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{}"}}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"o"}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"citations_delta","citation":{}}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"k"}}"#,
        r#"{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"a","name":"grep","input":{"path":"whole"}}}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":4}}"#,
        r#"{"type":"message_stop"}"#,
    ];
    let stream: String = events
        .iter()
        .map(|event| format!("data: {event}\n\n"))
        .collect();
    let server = ModelServer::start();
    let provider = vendor(&server, Protocol::Anthropic);
    server.reply(Reply::raw(200, "text/event-stream", stream));
    let response = ask(&*provider, hello()).await.response();
    assert_eq!(
        response.content,
        [
            ContentBlock::text("ok"),
            call("a", "grep", json!({"path": "whole"}))
        ]
    );
    assert_eq!(
        (response.usage.input_tokens, response.usage.output_tokens),
        (3, 4)
    );
}

#[tokio::test]
async fn counts_that_no_request_can_have_are_not_believed() {
    let most = u64::MAX;
    let body = json!({
        "type": "message", "content": [{"type": "text", "text": "ok"}], "stop_reason": "end_turn",
        "usage": {"input_tokens": most, "cache_read_input_tokens": most, "output_tokens": most},
    });
    let server = ModelServer::start();
    let provider = vendor(&server, Protocol::Anthropic);
    server.reply(Reply::status(200, &body));
    let usage = ask(&*provider, hello()).await.response().usage;
    let mut sum = usage;
    for _ in 0..1_000 {
        sum += usage;
    }
    assert!(sum.input_tokens > usage.input_tokens);
}
