//! Reads answers of Chat Completions, streamed or whole.
//!
//! Owns the JSON of answers, as OpenAI and compatible servers send it. A whole answer is read as
//! one chunk of a stream: its `message` has the form of a `delta`.

use super::super::accumulate::{CallDelta, Calls};
use super::super::encode::FIELD_SEAL;
use super::super::exchange;
use super::super::failure::{Fault, VendorError};
use super::super::{Chunk, Response, StopReason};
use super::wire::REASONING_FIELDS;
use crate::protocol::{ContentBlock, Message, Usage};
use serde::Deserialize;
use serde_json::Value;

/// The answer so far.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    thinking: String,
    /// The field of the thinking, by its place in [`REASONING_FIELDS`].
    thinking_field: Option<usize>,
    text: String,
    calls: Calls,
    usage: Usage,
    stop: Option<StopReason>,
    refused: bool,
    ended: bool,
}

impl exchange::Decoder for Decoder {
    fn event(&mut self, data: &str, chunks: &mut Vec<Chunk>) -> Result<(), Fault> {
        let data = data.trim();
        if data.is_empty() {
            return Ok(());
        }
        if data == "[DONE]" {
            self.ended = true;
            return Ok(());
        }
        let part: Part = serde_json::from_str(data)
            .map_err(|error| Fault::Malformed(format!("{error} in {data}")))?;
        if let Some(error) = part.error.filter(|error| !error.is_null()) {
            return Err(Fault::Vendor(error_in(&error)));
        }
        if let Some(usage) = part.usage {
            self.usage = usage.into();
        }
        // Only one choice was asked for.
        let Some(choice) = part.choices.unwrap_or_default().into_iter().next() else {
            return Ok(());
        };
        if let Some(delta) = choice.delta.or(choice.message) {
            self.add(delta, chunks);
        }
        if let Some(reason) = choice.finish_reason.filter(|reason| !reason.is_empty()) {
            self.stop = Some(match reason.as_str() {
                "stop" => StopReason::EndTurn,
                "tool_calls" | "function_call" => StopReason::ToolCalls,
                "length" => StopReason::MaxTokens,
                "content_filter" => StopReason::Refused,
                _ => StopReason::Other,
            });
        }
        Ok(())
    }

    fn is_complete(&self) -> bool {
        self.stop.is_some()
    }

    fn is_ended(&self) -> bool {
        self.ended
    }

    fn finish(self, history: &[Message]) -> Result<Response, Fault> {
        // Without a reason the answer may be cut anywhere, and a cut call must not run.
        let stop = self.stop.ok_or(Fault::Incomplete)?;
        let stop = match stop {
            StopReason::EndTurn if self.refused => StopReason::Refused,
            stop => stop,
        };
        let mut content = Vec::new();
        if !self.thinking.is_empty() {
            content.push(ContentBlock::Thinking {
                text: self.thinking,
                signature: self
                    .thinking_field
                    .map(|field| format!("{FIELD_SEAL}{}", REASONING_FIELDS[field])),
                redacted: None,
            });
        }
        content.push(ContentBlock::Text { text: self.text });
        let calls = self.calls.finish(history);
        content.extend(calls.into_iter().map(ContentBlock::ToolCall));
        Ok(Response::new(content, self.usage, stop))
    }
}

impl Decoder {
    fn add(&mut self, delta: Delta, chunks: &mut Vec<Chunk>) {
        let fields = [delta.reasoning_content, delta.reasoning];
        // Some servers send the same thinking in both fields; the first one that speaks counts.
        let spoken = fields.into_iter().enumerate().find_map(|(field, text)| {
            let text = text.filter(|text| !text.is_empty())?;
            Some((field, text))
        });
        if let Some((field, text)) = spoken
            && *self.thinking_field.get_or_insert(field) == field
        {
            self.thinking.push_str(&text);
            chunks.push(Chunk::Thinking(text));
        }
        if let Some(refusal) = delta.refusal.filter(|refusal| !refusal.is_empty()) {
            self.refused = true;
            self.say(refusal, chunks);
        }
        self.say(
            delta.content.map(Content::into_text).unwrap_or_default(),
            chunks,
        );
        for call in delta.tool_calls.unwrap_or_default() {
            let function = call.function.unwrap_or_default();
            self.calls.add(CallDelta {
                index: call.index.and_then(|index| u64::try_from(index).ok()),
                id: call.id.as_deref(),
                name: function.name.as_deref(),
                arguments: &function.arguments.map(arguments_text).unwrap_or_default(),
            });
        }
    }

    fn say(&mut self, text: String, chunks: &mut Vec<Chunk>) {
        if !text.is_empty() {
            self.text.push_str(&text);
            chunks.push(Chunk::Text(text));
        }
    }
}

/// Some servers send the arguments as JSON and not as a string of it.
fn arguments_text(arguments: Value) -> String {
    match arguments {
        Value::String(text) => text,
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// An error inside an answer. Its status is in the body, if anywhere: the head said 200.
fn error_in(error: &Value) -> VendorError {
    let number = |key: &str| match error.get(key)? {
        Value::Number(number) => number.as_u64(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    };
    let word = |key: &str| error.get(key).and_then(Value::as_str).unwrap_or_default();
    let status = number("code")
        .or_else(|| number("status"))
        .and_then(|status| u16::try_from(status).ok())
        .filter(|status| (400..600).contains(status))
        .unwrap_or_else(|| match (word("type"), word("code")) {
            ("rate_limit_exceeded" | "rate_limit_error" | "insufficient_quota", _)
            | (_, "rate_limit_exceeded" | "insufficient_quota") => 429,
            ("invalid_request_error", _) => 400,
            _ => 500,
        });
    VendorError::read(status, error)
}

#[derive(Deserialize)]
struct Part {
    choices: Option<Vec<Choice>>,
    usage: Option<WireUsage>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Choice {
    delta: Option<Delta>,
    message: Option<Delta>,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Delta {
    content: Option<Content>,
    refusal: Option<String>,
    reasoning_content: Option<String>,
    reasoning: Option<String>,
    tool_calls: Option<Vec<WireCall>>,
}

/// A string, or a list of parts as some servers send it.
#[derive(Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Parts(Vec<ContentPart>),
}

#[derive(Deserialize)]
struct ContentPart {
    text: Option<String>,
}

impl Content {
    fn into_text(self) -> String {
        match self {
            Content::Text(text) => text,
            Content::Parts(parts) => parts.into_iter().filter_map(|part| part.text).collect(),
        }
    }
}

#[derive(Deserialize)]
struct WireCall {
    index: Option<i64>,
    id: Option<String>,
    function: Option<WireFunction>,
}

#[derive(Deserialize, Default)]
struct WireFunction {
    name: Option<String>,
    arguments: Option<Value>,
}

#[derive(Deserialize)]
struct WireUsage {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    prompt_tokens_details: Option<PromptDetails>,
    /// DeepSeek's word for what comes from its cache.
    prompt_cache_hit_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct PromptDetails {
    cached_tokens: Option<u64>,
}

impl From<WireUsage> for Usage {
    fn from(usage: WireUsage) -> Self {
        let cached = usage
            .prompt_tokens_details
            .and_then(|details| details.cached_tokens)
            .or(usage.prompt_cache_hit_tokens);
        Usage {
            input_tokens: usage.prompt_tokens.unwrap_or_default(),
            output_tokens: usage.completion_tokens.unwrap_or_default(),
            cache_read_tokens: cached.unwrap_or_default(),
            cache_write_tokens: 0,
        }
    }
}
