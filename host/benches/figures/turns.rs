//! What the engine adds to a turn, by how long the history is; and what the vendor's protocol adds,
//! which wants the whole history again in every request.

use crate::model::{Model, turns};
use crate::support::{policy, runtime, toolbox, workspace};
use crate::table::{Goal, Table};
use crate::throughput::median;
use axum::Router;
use axum::body::Bytes;
use axum::extract::DefaultBodyLimit;
use axum::routing::post;
use hotcell::config::{ProviderConfig, ProxyConfig};
use hotcell::protocol::{ContentBlock, Message, ToolCall};
use hotcell::provider;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Turns of one run. Each calls a tool that is not there, so that no sandbox is measured.
const TURNS: usize = 50;
/// Runs for each length, in turn.
const ROUNDS: usize = 5;
const LENGTHS: [usize; 3] = [0, 1_000, 10_000];
/// Bytes of a message of the history: a short answer, a few lines of a file.
const MESSAGE: usize = 500;

pub fn measure(table: &Table) {
    let workspace = workspace();
    let policy = policy(workspace.path());
    let mut engine = LENGTHS.map(|_| Vec::new());
    let mut wire = LENGTHS.map(|_| Vec::new());
    runtime(2).block_on(async {
        let toolbox = Arc::new(toolbox(&[], &workspace.path().join("cache")).await);
        for _ in 0..ROUNDS {
            for (at, length) in LENGTHS.into_iter().enumerate() {
                let model = Model::calling(nothing(), TURNS);
                let taken = turns(model, &toolbox, &policy, history(length)).await;
                engine[at].extend(taken);
                let openai = provider::connect(&server(TURNS).await).expect("a provider");
                let taken = turns(openai, &toolbox, &policy, history(length)).await;
                wire[at].extend(taken);
            }
        }
    });
    let millis = |samples: Vec<std::time::Duration>| {
        median(
            samples
                .iter()
                .map(|turn| turn.as_secs_f64() * 1e3)
                .collect(),
        )
    };
    for (length, samples) in LENGTHS.into_iter().zip(engine) {
        let figure = format!("engine, a turn after {length} messages");
        table.judge(&figure, millis(samples), "ms", Goal::AtMost(10.0));
    }
    for (length, samples) in LENGTHS.into_iter().zip(wire) {
        let figure = format!("the same over HTTP on loopback, {length} messages encoded and sent");
        table.tell(&figure, millis(samples), "ms");
    }
}

fn nothing() -> ToolCall {
    ToolCall {
        id: String::new(),
        name: "nothing".to_owned(),
        arguments: json!({}),
        malformed: None,
    }
}

/// So many messages, by turns of the person and the model.
fn history(length: usize) -> Vec<Message> {
    (0..length)
        .map(|number| {
            let text = format!("{number:04} ").repeat(MESSAGE / 5);
            match number % 2 {
                0 => Message::user(text),
                _ => Message::assistant(vec![ContentBlock::text(text)]),
            }
        })
        .collect()
}

/// A server that answers as [`Model`] does, in the words of Chat Completions.
async fn server(turns: usize) -> ProviderConfig {
    let asked = Arc::new(AtomicUsize::new(0));
    let answer = move |_: Bytes| {
        let number = asked.fetch_add(1, Ordering::Relaxed);
        async move { axum::Json(completion(number, turns)) }
    };
    let router = Router::new()
        .route("/chat/completions", post(answer))
        .layer(DefaultBodyLimit::disable());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move { axum::serve(listener, router).await });
    ProviderConfig {
        name: "openai".to_owned(),
        model: "model".to_owned(),
        base_url: Some(format!("http://{address}")),
        api_key: None,
        script: None,
        max_output_tokens: 1_000,
        stream: false,
        proxy: ProxyConfig::default(),
    }
}

fn completion(number: usize, turns: usize) -> Value {
    let (message, reason) = if number < turns {
        let function = json!({ "name": "nothing", "arguments": "{}" });
        let id = format!("call-{number}");
        let call = json!({ "id": id, "type": "function", "function": function });
        (
            json!({ "role": "assistant", "tool_calls": [call] }),
            "tool_calls",
        )
    } else {
        (json!({ "role": "assistant", "content": "goodbye" }), "stop")
    };
    json!({ "choices": [{ "index": 0, "message": message, "finish_reason": reason }] })
}
