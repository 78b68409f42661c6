//! Tests of the provider `script`.

use super::*;
use crate::protocol::{ResultContent, ToolDefinition, ToolErrorKind, ToolResult};
use futures::FutureExt as _;
use serde_json::json;

fn tool(name: &str) -> ToolDefinition {
    ToolDefinition {
        name: name.to_owned(),
        description: String::new(),
        input_schema: json!({"type": "object"}),
        requires: Default::default(),
        accepts: Default::default(),
    }
}

fn request(messages: Vec<Message>) -> Request {
    Request {
        model: "any".into(),
        system: "You work in a workspace.".into(),
        messages: Arc::new(messages),
        tools: vec![tool("read_file"), tool("bash")].into(),
        max_output_tokens: 100,
        stream: true,
    }
}

fn after_a_call(result: ToolResult) -> Vec<Message> {
    vec![
        Message::user("fix the bug"),
        Message::assistant(vec![ContentBlock::ToolCall(crate::protocol::ToolCall {
            id: "call_1_1".into(),
            name: "read_file".into(),
            arguments: json!({}),
            malformed: None,
        })]),
        Message::results([result]),
    ]
}

fn good(text: &str) -> ToolResult {
    ToolResult {
        content: vec![ResultContent::Text { text: text.into() }],
        error: None,
        ..ToolResult::failure("call_1_1", "read_file", ToolErrorKind::Failed, "")
    }
}

/// All chunks of one answer; a script never waits but to hang.
fn play(provider: &ScriptProvider, request: Request) -> Vec<Result<Chunk, ProviderError>> {
    provider
        .send(request)
        .collect()
        .now_or_never()
        .expect("a script does not wait")
}

fn script(text: &str) -> ScriptProvider {
    ScriptProvider::from_text("test.yaml", text).expect("a script")
}

#[test]
fn a_turn_is_thinking_text_and_calls_in_pieces_and_then_the_whole() {
    let provider = script(
        r#"
turns:
  - thinking: hm, hm
    text: Look at it
    calls:
      - name: read_file
        arguments: {path: src/lib.rs, limit: 10}
      - {name: bash, id: mine, raw_arguments: "{oops"}
    usage: {input_tokens: 12, output_tokens: 3}
"#,
    );
    let chunks = play(&provider, request(vec![Message::user("hi")]));
    let (last, pieces) = chunks.split_last().expect("chunks");
    let usage = Usage {
        input_tokens: 12,
        output_tokens: 3,
        ..Usage::default()
    };
    let expected = [
        Chunk::Thinking("hm, ".into()),
        Chunk::Thinking("hm".into()),
        Chunk::Text("Look ".into()),
        Chunk::Text("at ".into()),
        Chunk::Text("it".into()),
        Chunk::Usage(usage),
    ]
    .map(Ok);
    assert_eq!(pieces, expected);
    let Ok(Chunk::Completed(response)) = last else {
        panic!("{last:?}");
    };
    assert_eq!(response.stop, StopReason::ToolCalls);
    let calls: Vec<_> = response
        .content
        .iter()
        .filter_map(|block| match block {
            ContentBlock::ToolCall(call) => Some((
                call.id.as_str(),
                call.name.as_str(),
                call.arguments.to_string(),
                call.malformed.as_deref(),
            )),
            _ => None,
        })
        .collect();
    assert_eq!(
        calls,
        [
            (
                "call_1_1",
                "read_file",
                r#"{"path":"src/lib.rs","limit":10}"#.to_owned(),
                None
            ),
            ("mine", "bash", "{}".to_owned(), Some("{oops")),
        ]
    );
    assert_eq!(provider.remaining(), 0);
}

#[test]
fn a_script_may_be_json_and_set_its_own_pieces() {
    let provider = script(r#"{"turns": [{"text": "añb", "chunk": 2, "stop": "max_tokens"}]}"#);
    let chunks = play(&provider, request(vec![Message::user("hi")]));
    assert_eq!(chunks[0], Ok(Chunk::Text("añ".into())));
    assert_eq!(chunks[1], Ok(Chunk::Text("b".into())));
    assert!(
        matches!(chunks.last(), Some(Ok(Chunk::Completed(r))) if r.stop == StopReason::MaxTokens)
    );
}

#[test]
fn an_answer_that_is_not_streamed_comes_in_one_piece() {
    let mut request = request(vec![Message::user("hi")]);
    request.stream = false;
    let chunks = play(&script("turns: [{text: one two three}]"), request);
    assert_eq!(chunks[0], Ok(Chunk::Text("one two three".into())));
    assert_eq!(chunks.len(), 3);
}

#[test]
fn demands_that_are_met_are_silent_and_others_say_what_was_there() {
    let failed = ToolResult::failure("call_1_1", "read_file", ToolErrorKind::NotFound, "no such");
    for (expect, result, unmet) in [
        ("{}", good("x"), None),
        (
            "{user_contains: the bug, system_contains: [You, workspace], tools: [bash], \
             tools_absent: [write_file], any_tools: true, messages: 3, \
             results: [{call: call_1_1, contains: [a, b], lacks: c, is_error: false}]}",
            good("a b"),
            None,
        ),
        (
            "{results: [{call: call_1_1, error: not_found, is_error: true}]}",
            failed.clone(),
            None,
        ),
        (
            "{user_contains: [fix, the cat]}",
            good("x"),
            Some(r#"expected the last user text to contain "the cat", it is "fix the bug""#),
        ),
        (
            "{system_contains: plan}",
            good("x"),
            Some(
                r#"expected the system prompt to contain "plan", it is "You work in a workspace.""#,
            ),
        ),
        (
            "{tools: [bash, write_file]}",
            good("x"),
            Some("expected the tool write_file to be offered, offered are read_file, bash"),
        ),
        (
            "{tools_absent: [bash]}",
            good("x"),
            Some("expected the tool bash not to be offered, offered are read_file, bash"),
        ),
        (
            "{any_tools: false}",
            good("x"),
            Some("expected no tools, offered are read_file, bash"),
        ),
        (
            "{messages: 2}",
            good("x"),
            Some("expected 2 messages, there are 3"),
        ),
        (
            "{results: [{call: call_9_9}]}",
            good("x"),
            Some("expected a result of call_9_9, the calls are [call_1_1]"),
        ),
        (
            "{results: [{call: call_1_1, contains: y}]}",
            good("x"),
            Some(r#"expected the result of call_1_1 to contain "y", it is "x""#),
        ),
        (
            "{results: [{call: call_1_1, lacks: x}]}",
            good("x"),
            Some(r#"expected the result of call_1_1 not to contain "x", it is "x""#),
        ),
        (
            "{results: [{call: call_1_1, is_error: true}]}",
            good("x"),
            Some(r#"expected the result of call_1_1 to be an error, it is none: "x""#),
        ),
        (
            "{results: [{call: call_1_1, is_error: false}]}",
            failed.clone(),
            Some(r#"expected the result of call_1_1 to be no error, it is one: "no such""#),
        ),
        (
            "{results: [{call: call_1_1, error: denied}]}",
            failed.clone(),
            Some(r#"expected the result of call_1_1 to be denied, it is not_found: "no such""#),
        ),
    ] {
        let provider = script(&format!("turns: [{{expect: {expect}, text: fine}}]"));
        let chunks = play(&provider, request(after_a_call(result)));
        match unmet {
            None => assert_eq!(chunks[0], Ok(Chunk::Text("fine".into())), "{expect}"),
            Some(reason) => {
                let error = ProviderError::Script {
                    script: "test.yaml".into(),
                    turn: 1,
                    reason: reason.into(),
                };
                assert_eq!(chunks, [Err(error)], "{expect}");
            }
        }
    }
}

#[test]
fn a_request_past_the_last_turn_is_an_error() {
    let provider = script("turns: [{text: only}]");
    play(&provider, request(vec![Message::user("hi")]));
    let chunks = play(&provider, request(vec![Message::user("hi")]));
    let Some(Err(error)) = chunks.first() else {
        panic!("{chunks:?}");
    };
    assert_eq!(
        error.to_string(),
        "script test.yaml, turn 2: the script has only 1 turns"
    );
}

#[test]
fn a_turn_can_fail_behind_its_text_or_never_end() {
    let provider = script(
        "turns: [{text: so, error: {kind: server, status: 503, message: down}}, {text: so, hang: true}]",
    );
    let chunks = play(&provider, request(vec![Message::user("hi")]));
    assert_eq!(chunks[0], Ok(Chunk::Text("so".into())));
    assert!(
        matches!(&chunks[1], Err(ProviderError::Server { status: 503, message, .. }) if message == "down")
    );

    let mut stream = provider.send(request(vec![Message::user("hi")]));
    assert_eq!(
        stream.next().now_or_never(),
        Some(Some(Ok(Chunk::Text("so".into()))))
    );
    assert_eq!(stream.next().now_or_never(), None, "it waits for ever");
}

#[test]
fn a_request_is_repaired_as_for_a_vendor() {
    let provider = script("turns: [{expect: {messages: 1}, text: ok}]");
    let messages = vec![Message::user("hi"), Message::user(" ")];
    let chunks = play(&provider, request(messages));
    assert_eq!(chunks[0], Ok(Chunk::Repaired("left out blank text".into())));
    assert_eq!(
        chunks[1],
        Ok(Chunk::Repaired("left out an empty message".into()))
    );
    assert_eq!(chunks[2], Ok(Chunk::Text("ok".into())));
}

#[test]
fn what_is_no_script_is_refused_with_its_place() {
    for (text, reason) in [
        ("turns: []", "it has no turns"),
        ("turns: [{txt: hello}]", "txt"),
        ("turns: [{expect: {user_contain: x}}]", "user_contain"),
        ("turns: [{calls: [{name: x, argument: {}}]}]", "argument"),
        ("turns: [{calls: [{name: x, arguments: [1]}]}]", "line 1"),
        (
            "turns: [{error: {kind: connect, wait_seconds: 1}}]",
            "wait_seconds",
        ),
        ("turns: [{error: {kind: tired}}]", "tired"),
        (
            "turns: [{expect: {user_contains: 42}}]",
            "expected a text or a list of texts",
        ),
        ("turn: []", "turn"),
        ("turns: [", "line 1"),
        (
            "turns: [{text: a}, {calls: [{name: ' '}]}]",
            "turn 2: a call has no name",
        ),
        (
            "turns: [{hang: true, calls: [{name: x}]}]",
            "turn 1: calls, usage and stop",
        ),
        (
            "turns: [{hang: true, error: {kind: broken}}]",
            "turn 1: it cannot both",
        ),
        (
            "turns: [{calls: [{name: x, arguments: {}, raw_arguments: x}]}]",
            "turn 1: a call has either",
        ),
        ("turns: [{chunk: 0}]", "line 1"),
    ] {
        let error = ScriptProvider::from_text("t.yaml", text)
            .expect_err(text)
            .to_string();
        assert!(
            error.starts_with("cannot use the script t.yaml: "),
            "{error}"
        );
        assert!(error.contains(reason), "{text}: {error}");
        assert!(!error.contains('\n'), "{error}");
    }
}

#[test]
fn the_scripts_in_the_documentation_can_be_played() {
    let document = include_str!("../../../../docs/script.md");
    let scripts: Vec<&str> = document
        .split("```yaml\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next())
        .collect();
    assert!(scripts.len() >= 2, "the document shows scripts");
    for script in scripts {
        if let Err(error) = ScriptProvider::from_text("docs/script.md", script) {
            panic!("{error}\n{script}");
        }
    }
}
