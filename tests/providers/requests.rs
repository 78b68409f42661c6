//! Requests: how a conversation is written in each protocol.

use super::*;
use model_server::Reply;

/// A conversation with everything in it, twice broken.
fn conversation() -> Vec<Message> {
    vec![
        Message {
            role: hotcell::protocol::Role::User,
            content: vec![
                ContentBlock::text("look at this"),
                ContentBlock::Image(png()),
            ],
        },
        Message::assistant(vec![
            thinking("theirs", Some("c2VhbA=="), None),
            thinking("", None, Some("b3BhcXVl")),
            thinking("ours", Some("field:reasoning"), None),
            ContentBlock::text("I will."),
            ContentBlock::text("Now."),
            call("call_1", "read_file", json!({"path": "a \"b\""})),
            call("functions.grep:1", "no such tool!", json!({})),
            call("call_3", "grep", json!({})),
        ]),
        Message {
            role: hotcell::protocol::Role::User,
            content: vec![
                ContentBlock::ToolResult(ToolResult {
                    content: vec![
                        ResultContent::Text {
                            text: "a picture".into(),
                        },
                        ResultContent::Image(png()),
                    ],
                    ..text_result("call_1", "read_file", "")
                }),
                ContentBlock::ToolResult(ToolResult::failure(
                    "functions.grep:1",
                    "no such tool!",
                    ToolErrorKind::UnknownTool,
                    "there is no such tool",
                )),
                ContentBlock::text("and hurry"),
                ContentBlock::text("  "),
            ],
        },
        Message::user("please"),
    ]
}

const REPAIRS: [&str; 2] = [
    "repaired: left out blank text",
    "repaired: answered a call whose result is missing",
];
const LOST: &str = "no result of this call was kept; it may have been interrupted before it ended";

#[tokio::test]
async fn a_conversation_is_written_as_chat_completions_have_it() {
    let server = ModelServer::start();
    let provider = vendor(&server, Protocol::OpenAi);
    server.reply(Reply::text("ok"));
    let answer = ask(&*provider, request(conversation())).await;
    assert_eq!(answer.news, REPAIRS);
    answer.response();

    let image =
        json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}});
    let tool = |name: &str| {
        json!({"type": "function", "function": {
            "name": name,
            "description": format!("Does {name}."),
            "parameters": {"type": "object", "properties": {"path": {"type": "string"}}},
        }})
    };
    let expected = json!({
        "model": "test-model",
        "messages": [
            {"role": "system", "content": "You are careful."},
            {"role": "user", "content": [{"type": "text", "text": "look at this"}, image]},
            {
                "role": "assistant",
                "content": "I will.\n\nNow.",
                "reasoning": "ours",
                "tool_calls": [
                    {"id": "call_1", "type": "function", "function": {
                        "name": "read_file", "arguments": "{\"path\":\"a \\\"b\\\"\"}",
                    }},
                    {"id": "functions.grep:1", "type": "function", "function": {
                        "name": "no_20_such_20_tool_21_", "arguments": "{}",
                    }},
                    {"id": "call_3", "type": "function", "function": {
                        "name": "grep", "arguments": "{}",
                    }},
                ],
            },
            {"role": "tool", "tool_call_id": "call_1",
             "content": "a picture\n(an image; it follows the results)"},
            {"role": "tool", "tool_call_id": "functions.grep:1",
             "content": "[error: unknown_tool] there is no such tool"},
            {"role": "tool", "tool_call_id": "call_3",
             "content": format!("[error: interrupted] {LOST}")},
            {"role": "user", "content": [
                {"type": "text", "text": "Image from read_file, call call_1:"}, image,
            ]},
            {"role": "user", "content": "and hurry"},
            {"role": "user", "content": "please"},
        ],
        "tools": [tool("grep"), tool("read_file")],
        "max_tokens": 1_000,
        "stream": true,
        "stream_options": {"include_usage": true},
    });
    assert_eq!(server.requests()[0].body, expected);
}

#[tokio::test]
async fn a_conversation_is_written_as_messages_have_it() {
    let server = ModelServer::start();
    let provider = vendor(&server, Protocol::Anthropic);
    server.reply(Reply::text("ok"));
    let answer = ask(&*provider, request(conversation())).await;
    assert_eq!(answer.news, REPAIRS);
    answer.response();

    let image = json!({"type": "image", "source": {
        "type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo=",
    }});
    let mark = json!({"type": "ephemeral"});
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}});
    let expected = json!({
        "model": "test-model",
        "max_tokens": 1_000,
        "tools": [
            {"name": "grep", "description": "Does grep.", "input_schema": schema},
            {"name": "read_file", "description": "Does read_file.", "input_schema": schema,
             "cache_control": mark},
        ],
        "system": [{"type": "text", "text": "You are careful.", "cache_control": mark}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "look at this"}, image]},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "theirs", "signature": "c2VhbA=="},
                {"type": "redacted_thinking", "data": "b3BhcXVl"},
                {"type": "text", "text": "I will."},
                {"type": "text", "text": "Now."},
                {"type": "tool_use", "id": "call_1", "name": "read_file",
                 "input": {"path": "a \"b\""}},
                {"type": "tool_use", "id": "functions_2e_grep_3a_1",
                 "name": "no_20_such_20_tool_21_", "input": {}},
                {"type": "tool_use", "id": "call_3", "name": "grep", "input": {}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "call_1",
                 "content": [{"type": "text", "text": "a picture"}, image]},
                {"type": "tool_result", "tool_use_id": "functions_2e_grep_3a_1", "is_error": true,
                 "content": [{"type": "text", "text": "there is no such tool"}]},
                {"type": "tool_result", "tool_use_id": "call_3", "is_error": true,
                 "content": [{"type": "text", "text": LOST}]},
                {"type": "text", "text": "and hurry"},
                {"type": "text", "text": "please", "cache_control": mark},
            ]},
        ],
        "stream": true,
    });
    assert_eq!(server.requests()[0].body, expected);
}

#[tokio::test]
async fn thinking_is_replayed_byte_for_byte_where_it_came_from_and_nowhere_else() {
    let text = "  Spaces, \"quotes\", é and \u{2028}: all of it.\n";
    let reply = |field| {
        Reply::empty()
            .and_thinking(text, "c2VhbC8rPT0=")
            .and_redacted("b3BhcXVlLys9")
            .and_call("call_1", "grep", &json!({}))
            .reasoning_field(field)
    };
    let servers = [ModelServer::start(), ModelServer::start()];
    for (from, field) in [
        (Protocol::Anthropic, ""),
        (Protocol::OpenAi, "reasoning_content"),
        (Protocol::OpenAi, "reasoning"),
    ] {
        servers[0].reply(reply(field));
        let content = ask(&*vendor(&servers[0], from), hello())
            .await
            .response()
            .content;
        let history = vec![
            Message::user("hello"),
            Message::assistant(content),
            Message::results([text_result("call_1", "grep", "found")]),
        ];
        for to in BOTH {
            servers[1].reply(Reply::text("ok"));
            ask(&*vendor(&servers[1], to), request(history.clone()))
                .await
                .response();
            let sent = servers[1].requests().pop().expect("a request").body;
            let what = format!("{from:?} {field} to {to:?}: {sent}");
            match to {
                Protocol::Anthropic => {
                    let blocks = sent["messages"][1]["content"].as_array().expect(&what);
                    let sealed = [
                        json!({"type": "thinking", "thinking": text, "signature": "c2VhbC8rPT0="}),
                        json!({"type": "redacted_thinking", "data": "b3BhcXVlLys9"}),
                    ];
                    let expected: &[Value] = if from == to { &sealed } else { &[] };
                    assert_eq!(blocks[..blocks.len() - 1], *expected, "{what}");
                }
                Protocol::OpenAi => {
                    for name in ["reasoning_content", "reasoning"] {
                        let found = sent["messages"][2][name].as_str();
                        assert_eq!(found, (name == field).then_some(text), "{what}");
                    }
                }
            }
        }
    }
}

#[tokio::test]
async fn a_request_without_tools_or_system_prompt_has_neither() {
    for protocol in BOTH {
        let server = ModelServer::start();
        let provider = vendor(&server, protocol);
        server.reply(Reply::text("ok"));
        let bare = Request {
            system: "\n".to_owned(),
            tools: Arc::new([]),
            stream: false,
            ..hello()
        };
        ask(&*provider, bare).await.response();
        let body = &server.requests()[0].body;
        for key in ["tools", "system", "tool_choice", "stream_options"] {
            assert_eq!(body[key], Value::Null, "{protocol:?} {key}");
        }
        assert_eq!(body["stream"], false);
        assert_eq!(body["messages"].as_array().map(Vec::len), Some(1));
    }
}

#[tokio::test]
async fn tools_that_were_called_are_named_where_none_are_offered() {
    let history = vec![
        Message::user("go"),
        Message::assistant(vec![
            call("a", "grep", json!({})),
            call("b", "read file", json!({})),
            call("c", "grep", json!({})),
        ]),
        Message::results(["a", "b", "c"].map(|id| text_result(id, "grep", "x"))),
    ];
    let server = ModelServer::start();
    let provider = vendor(&server, Protocol::Anthropic);
    server.reply(Reply::text("ok"));
    let thinking_only = Request {
        tools: Arc::new([]),
        ..request(history)
    };
    ask(&*provider, thinking_only).await.response();
    let body = &server.requests()[0].body;
    assert_eq!(body["tool_choice"], json!({"type": "none"}));
    let tools = body["tools"].as_array().expect("tools");
    let names: Vec<&Value> = tools.iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["grep", "read_20_file"]);
}

#[tokio::test]
async fn a_conversation_of_nothing_is_never_sent() {
    for protocol in BOTH {
        let server = ModelServer::start();
        let provider = vendor(&server, protocol);
        let error = ask(&*provider, request(vec![Message::user(" ")]))
            .await
            .error();
        assert!(
            matches!(error, ProviderError::InvalidRequest { .. }),
            "{error}"
        );
        assert_eq!(server.requests().len(), 0);
    }
}

/// Whatever breaks a history, the server takes what is sent of it.
#[test]
fn any_history_becomes_a_request_that_both_servers_take() {
    use proptest::prelude::*;
    use proptest::test_runner::{Config, TestRunner};

    let id = || prop::sample::select(vec!["a", "b.c:0", "", "d"]);
    let words = || prop::sample::select(vec!["", " \n", "words", "é\u{0}\u{1b}"]);
    let name = || prop::sample::select(vec!["grep", "two words", "", "x-hotcell/é"]);
    let block = prop_oneof![
        words().prop_map(ContentBlock::text),
        (
            id(),
            name(),
            prop::sample::select(vec![json!({"a": [1]}), json!(7), json!(null)])
        )
            .prop_map(|(id, name, arguments)| call(id, name, arguments)),
        (id(), words())
            .prop_map(|(id, text)| ContentBlock::ToolResult(text_result(id, "grep", text))),
        id().prop_map(|id| ContentBlock::ToolResult(ToolResult {
            content: vec![ResultContent::Image(png())],
            ..text_result(id, "grep", "")
        })),
        (
            words(),
            prop::option::of(prop::sample::select(vec!["c2VhbA==", "field:reasoning"]))
        )
            .prop_map(|(text, seal)| thinking(text, seal, None)),
        Just(ContentBlock::Image(png())),
    ];
    let role = prop::sample::select(vec![
        hotcell::protocol::Role::User,
        hotcell::protocol::Role::Assistant,
    ]);
    let message = (role, prop::collection::vec(block, 0..4))
        .prop_map(|(role, content)| Message { role, content });
    let histories = prop::collection::vec(message, 1..8);

    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let server = ModelServer::start();
    let providers = BOTH.map(|protocol| vendor(&server, protocol));
    let config = Config {
        cases: 100,
        failure_persistence: None,
        ..Config::default()
    };
    let outcome = TestRunner::new(config).run(&histories, |history| {
        for provider in &providers {
            for tools in [Arc::from([tool("grep")]), Arc::from([])] {
                server.reply(Reply::text("ok"));
                let request = Request {
                    tools,
                    stream: false,
                    ..request(history.clone())
                };
                let end = runtime.block_on(ask(&**provider, request)).end;
                let violations = server.take_violations();
                prop_assert!(violations.is_empty(), "{violations:#?}");
                if matches!(end, Some(Err(ProviderError::InvalidRequest { .. }))) {
                    server.forget_replies();
                } else {
                    prop_assert!(matches!(end, Some(Ok(_))), "{end:?}");
                }
            }
        }
        Ok(())
    });
    server.forget_replies();
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
}
