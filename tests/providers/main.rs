//! The providers against a scripted server, over real HTTP.
//!
//! One conformance suite: what holds for one protocol is asked of both.

#[path = "../support/model_server/mod.rs"]
mod model_server;

mod answers;
mod failures;
mod requests;
mod server;
mod setup;

use futures::StreamExt as _;
use hotcell::config::{ProviderConfig, ProxyConfig, Secret};
use hotcell::protocol::{
    ContentBlock, ImageBlock, Message, ResultContent, ToolCall, ToolDefinition, ToolErrorKind,
    ToolResult,
};
use hotcell::provider::{
    self, Budget, Chunk, Provider, ProviderError, Request, Response, RetrySettings,
};
use model_server::{ModelServer, Protocol};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

const BOTH: [Protocol; 2] = [Protocol::OpenAi, Protocol::Anthropic];
const KEY: &str = "sk-test-0123456789abcdef";

fn config(protocol: Protocol, base_url: Option<String>) -> ProviderConfig {
    ProviderConfig {
        name: match protocol {
            Protocol::OpenAi => "openai",
            Protocol::Anthropic => "anthropic",
        }
        .to_owned(),
        model: "test-model".to_owned(),
        base_url,
        api_key: Some(Secret::new(KEY)),
        script: None,
        max_output_tokens: 1_000,
        stream: true,
        proxy: ProxyConfig::default(),
    }
}

/// The default numbers of tries, without their waits.
fn impatient() -> RetrySettings {
    let at_once = |budget: Budget| Budget {
        base: Duration::ZERO,
        cap: Duration::ZERO,
        ..budget
    };
    let defaults = RetrySettings::default();
    RetrySettings {
        network: at_once(defaults.network),
        server: at_once(defaults.server),
        rate: at_once(defaults.rate),
        ..defaults
    }
}

fn vendor(server: &ModelServer, protocol: Protocol) -> Arc<dyn Provider> {
    server.demand_key(KEY);
    let config = config(protocol, Some(server.url(protocol)));
    provider::connect_with(&config, impatient()).expect("a good configuration")
}

fn tool(name: &str) -> ToolDefinition {
    ToolDefinition {
        name: name.to_owned(),
        description: format!("Does {name}."),
        input_schema: json!({"type": "object", "properties": {"path": {"type": "string"}}}),
        requires: Default::default(),
        accepts: Default::default(),
    }
}

fn request(messages: Vec<Message>) -> Request {
    Request {
        model: "test-model".to_owned(),
        system: "You are careful.".to_owned(),
        messages: Arc::new(messages),
        tools: vec![tool("grep"), tool("read_file")].into(),
        max_output_tokens: 1_000,
        stream: true,
    }
}

fn hello() -> Request {
    request(vec![Message::user("hello")])
}

fn call(id: &str, name: &str, arguments: Value) -> ContentBlock {
    ContentBlock::ToolCall(ToolCall {
        id: id.to_owned(),
        name: name.to_owned(),
        arguments,
        malformed: None,
    })
}

fn text_result(id: &str, name: &str, text: &str) -> ToolResult {
    ToolResult {
        content: vec![ResultContent::Text {
            text: text.to_owned(),
        }],
        error: None,
        ..ToolResult::failure(id, name, ToolErrorKind::Failed, "")
    }
}

fn thinking(text: &str, signature: Option<&str>, redacted: Option<&str>) -> ContentBlock {
    ContentBlock::Thinking {
        text: text.to_owned(),
        signature: signature.map(str::to_owned),
        redacted: redacted.map(str::to_owned),
    }
}

fn png() -> ImageBlock {
    ImageBlock {
        media_type: "image/png".to_owned(),
        data: "iVBORw0KGgo=".to_owned(),
    }
}

/// All that a request brought.
#[derive(Debug, Default)]
struct Answer {
    text: String,
    thinking: String,
    /// Repairs and retries, in order.
    news: Vec<String>,
    end: Option<Result<Response, ProviderError>>,
}

impl Answer {
    fn response(self) -> Response {
        self.end.expect("an end").expect("an answer")
    }

    fn error(self) -> ProviderError {
        match self.end.expect("an end") {
            Err(error) => error,
            Ok(response) => panic!("an answer: {response:?}"),
        }
    }
}

/// Sends a request and reads the answer to its end, holding it to the grammar of chunks.
async fn ask(provider: &dyn Provider, request: Request) -> Answer {
    let mut stream = provider.send(request);
    let mut answer = Answer::default();
    let mut usage = None;
    while let Some(chunk) = stream.next().await {
        assert!(answer.end.is_none(), "{chunk:?} follows the end");
        match chunk {
            Ok(Chunk::Text(text)) => {
                assert!(!text.is_empty());
                answer.text.push_str(&text);
            }
            Ok(Chunk::Thinking(text)) => {
                assert!(!text.is_empty());
                answer.thinking.push_str(&text);
            }
            Ok(Chunk::Usage(counts)) => assert_eq!(usage.replace(counts), None, "usage twice"),
            Ok(Chunk::Repaired(line)) => answer.news.push(format!("repaired: {line}")),
            Ok(Chunk::Retrying { attempt, why, .. }) => {
                assert_eq!(answer.text, "", "a retry behind text");
                assert_eq!(answer.thinking, "", "a retry behind thinking");
                answer.news.push(format!("try {attempt}: {why}"));
            }
            Ok(Chunk::Completed(response)) => {
                assert_eq!(usage, Some(response.usage));
                answer.end = Some(Ok(response));
            }
            Ok(other) => panic!("an unknown chunk: {other:?}"),
            Err(error) => answer.end = Some(Err(error)),
        }
    }
    answer
}
