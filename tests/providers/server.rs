//! The scripted server itself: it rejects what a vendor would.

use super::*;
use model_server::Reply;

/// Sends a body as it is and answers the status and the violations.
async fn post(server: &ModelServer, protocol: Protocol, body: &Value) -> (u16, Vec<String>) {
    let url = match protocol {
        Protocol::OpenAi => format!("{}/chat/completions", server.openai_url()),
        Protocol::Anthropic => format!("{}/v1/messages", server.anthropic_url()),
    };
    // The ring of certificates is not needed, but the client wants to be told so.
    let tls = rustls::ClientConfig::builder_with_provider(Arc::new(
        rustls::crypto::ring::default_provider(),
    ))
    .with_safe_default_protocol_versions()
    .expect("protocol versions")
    .with_root_certificates(rustls::RootCertStore::empty())
    .with_no_client_auth();
    let client = reqwest::Client::builder()
        .tls_backend_preconfigured(tls)
        .no_proxy()
        .user_agent("hotcell/test")
        .build()
        .expect("a client");
    let response = client
        .post(url)
        .header("anthropic-version", "2023-06-01")
        .json(body)
        .send()
        .await
        .expect("an answer");
    (response.status().as_u16(), server.take_violations())
}

fn openai(change: impl FnOnce(&mut Value)) -> Value {
    let call =
        json!({"id": "a", "type": "function", "function": {"name": "grep", "arguments": "{}"}});
    let mut body = json!({
        "model": "m", "max_tokens": 1, "stream": false,
        "messages": [
            {"role": "system", "content": "s"},
            {"role": "user", "content": "u"},
            {"role": "assistant", "content": null, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "a", "content": "r"},
        ],
        "tools": [{"type": "function", "function": {"name": "grep", "parameters": {"type": "object"}}}],
    });
    change(&mut body);
    body
}

fn anthropic(change: impl FnOnce(&mut Value)) -> Value {
    let mut body = json!({
        "model": "m", "max_tokens": 1, "stream": false,
        "system": [{"type": "text", "text": "s"}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "u"}]},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "", "signature": "x"},
                {"type": "tool_use", "id": "a", "name": "grep", "input": {}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text", "text": "r"}]},
                {"type": "text", "text": "u"},
            ]},
        ],
        "tools": [{"name": "grep", "input_schema": {"type": "object"}}],
    });
    change(&mut body);
    body
}

#[tokio::test]
async fn a_good_request_is_taken() {
    for (protocol, body) in [
        (Protocol::OpenAi, openai(|_| {})),
        (Protocol::Anthropic, anthropic(|_| {})),
    ] {
        let server = ModelServer::start();
        server.reply(Reply::text("ok"));
        assert_eq!(post(&server, protocol, &body).await, (200, vec![]));
    }
}

#[tokio::test]
async fn every_malformed_request_is_rejected() {
    type Change = fn(&mut Value);
    let openai_faults: &[(&str, Change)] = &[
        ("no model", |b| b["model"] = json!("")),
        ("limit of tokens", |b| b["max_tokens"] = json!(0)),
        ("limit of tokens", |b| b["max_completion_tokens"] = json!(1)),
        ("a stream without its usage", |b| b["stream"] = json!(true)),
        ("does not begin with the user", |b| {
            b["messages"].as_array_mut().expect("a list").remove(1);
        }),
        ("calls without results at the end", |b| {
            b["messages"].as_array_mut().expect("a list").pop();
        }),
        ("a result without its call", |b| {
            b["messages"][3]["tool_call_id"] = json!("b")
        }),
        ("calls without results before it", |b| {
            b["messages"][3] = json!({"role": "user", "content": "u"})
        }),
        ("messages[1] (user): blank", |b| {
            b["messages"][1]["content"] = json!(" ")
        }),
        ("messages[3] (tool): blank", |b| {
            b["messages"][3]["content"] = json!("")
        }),
        ("messages[2] (assistant): blank", |b| {
            b["messages"][2]["content"] = json!("")
        }),
        ("arguments that are no object", |b| {
            b["messages"][2]["tool_calls"][0]["function"]["arguments"] = json!("{oops");
        }),
        ("arguments that are no object", |b| {
            b["messages"][2]["tool_calls"][0]["function"]["arguments"] = json!("[]");
        }),
        ("a name that is not allowed", |b| {
            b["messages"][2]["tool_calls"][0]["function"]["name"] = json!("a b");
        }),
        ("is blank or used twice", |b| {
            b["messages"][2]["tool_calls"][0]["id"] = json!("")
        }),
        ("a role that is unknown, or out of place", |b| {
            b["messages"][1]["role"] = json!("system")
        }),
        ("holds a mark of the host", |b| {
            b["tools"][0]["function"]["parameters"]["x-hotcell-path"] = json!("read");
        }),
        ("is not one of an object", |b| {
            b["tools"][0]["function"]["parameters"] = json!(null)
        }),
        ("an empty list of tools", |b| b["tools"] = json!([])),
    ];
    let anthropic_faults: &[(&str, Change)] = &[
        ("no max_tokens", |b| b["max_tokens"] = json!(null)),
        ("a system prompt that is blank", |b| {
            b["system"][0]["text"] = json!(" ")
        }),
        ("roles do not alternate", |b| {
            b["messages"][1]["role"] = json!("user")
        }),
        ("does not end with the user", |b| {
            b["messages"].as_array_mut().expect("a list").pop();
        }),
        ("messages[0]: empty", |b| {
            b["messages"][0]["content"] = json!([])
        }),
        ("messages[0]: blank text", |b| {
            b["messages"][0]["content"][0]["text"] = json!("")
        }),
        ("a result without its call", |b| {
            b["messages"][2]["content"][0]["tool_use_id"] = json!("b")
        }),
        ("calls without results", |b| {
            b["messages"][2]["content"]
                .as_array_mut()
                .expect("a list")
                .remove(0);
        }),
        ("a result behind something else", |b| {
            b["messages"][2]["content"]
                .as_array_mut()
                .expect("a list")
                .reverse();
        }),
        ("a result that says nothing", |b| {
            b["messages"][2]["content"][0]["content"] = json!([])
        }),
        ("without text or signature", |b| {
            b["messages"][1]["content"][0]["signature"] = json!("")
        }),
        ("ends in thinking", |b| {
            b["messages"][1]["content"]
                .as_array_mut()
                .expect("a list")
                .reverse();
        }),
        ("a name or input that is not allowed", |b| {
            b["messages"][1]["content"][1]["input"] = json!("{}")
        }),
        ("is not allowed or used twice", |b| {
            b["messages"][1]["content"][1]["id"] = json!("a.b")
        }),
        ("no tools are defined", |b| b["tools"] = json!([])),
        ("marks for the cache", |b| {
            b["tools"][0]["marks"] = json!([1, 2, 3, 4, 5].map(|_| json!({"cache_control": {}})));
        }),
        ("holds a mark of the host", |b| {
            b["tools"][0]["input_schema"]["properties"] = json!({"p": {"x-hotcell-path": "read"}});
        }),
    ];
    let server = ModelServer::start();
    for (protocol, faults) in [
        (Protocol::OpenAi, openai_faults),
        (Protocol::Anthropic, anthropic_faults),
    ] {
        for (fault, change) in faults {
            let body = match protocol {
                Protocol::OpenAi => openai(change),
                Protocol::Anthropic => anthropic(change),
            };
            let (status, violations) = post(&server, protocol, &body).await;
            assert_eq!(status, 400, "{fault}");
            assert!(
                violations.iter().any(|line| line.contains(fault)),
                "{fault}: {violations:?}"
            );
        }
    }
}

#[tokio::test]
async fn a_request_without_the_key_is_rejected() {
    let server = ModelServer::start();
    server.demand_key(KEY);
    for (protocol, body) in [
        (Protocol::OpenAi, openai(|_| {})),
        (Protocol::Anthropic, anthropic(|_| {})),
    ] {
        let (status, violations) = post(&server, protocol, &body).await;
        assert_eq!((status, violations.len()), (400, 1), "{violations:?}");
    }
}

#[tokio::test]
#[should_panic(expected = "requests broke rules")]
async fn a_violation_fails_the_test() {
    let server = ModelServer::start();
    post_and_forget(&server).await;
}

async fn post_and_forget(server: &ModelServer) {
    let provider = provider::connect(&ProviderConfig {
        api_key: None,
        ..config(Protocol::OpenAi, Some(server.openai_url()))
    })
    .expect("a provider");
    // There is no reply for it.
    ask(&*provider, hello()).await.error();
}

#[test]
#[should_panic(expected = "replies were never asked for")]
fn a_reply_that_nobody_asks_for_fails_the_test() {
    ModelServer::start().reply(Reply::text("unheard"));
}
