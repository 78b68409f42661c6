//! Reads answers of the Messages API, streamed or whole.
//!
//! Owns the JSON of answers. A whole answer is read as the beginnings of its blocks, which hold
//! all of each then.

use super::super::accumulate::{CallDelta, Calls};
use super::super::exchange;
use super::super::failure::{Fault, VendorError};
use super::super::{Chunk, Response, StopReason};
use crate::protocol::{ContentBlock, Message, ToolCall, Usage};
use serde::Deserialize;
use serde_json::Value;

/// The answer so far.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    /// The blocks by the vendor's index, in the order in which they began.
    blocks: Vec<(u64, Block)>,
    calls: Calls,
    usage: WireUsage,
    stop: Option<StopReason>,
    ended: bool,
}

#[derive(Debug)]
enum Block {
    Text(String),
    Thinking {
        text: String,
        signature: String,
    },
    Redacted(String),
    Call {
        place: usize,
        /// Arguments that came with the beginning of the block; pieces that follow replace them.
        whole: Option<String>,
    },
    /// Of a kind this version has no word for.
    Unknown,
}

impl exchange::Decoder for Decoder {
    fn event(&mut self, data: &str, chunks: &mut Vec<Chunk>) -> Result<(), Fault> {
        if data.trim().is_empty() {
            return Ok(());
        }
        let event: Event = serde_json::from_str(data)
            .map_err(|error| Fault::Malformed(format!("{error} in {data}")))?;
        match event {
            Event::MessageStart { message } => self.count(message.usage),
            Event::ContentBlockStart {
                index,
                content_block,
            } => self.begin(index, content_block, chunks),
            Event::ContentBlockDelta { index, delta } => self.go_on(index, delta, chunks),
            Event::MessageDelta { delta, usage } => {
                self.count(usage);
                self.stop_for(delta.stop_reason);
            }
            Event::MessageStop => self.ended = true,
            Event::Message(message) => {
                self.count(message.usage);
                for (index, block) in (0..).zip(message.content) {
                    self.begin(index, block, chunks);
                }
                self.stop_for(message.stop_reason);
                self.ended = true;
            }
            Event::Error { error } => return Err(Fault::Vendor(error_in(&error))),
            Event::Unknown => {}
        }
        Ok(())
    }

    fn is_complete(&self) -> bool {
        self.stop.is_some()
    }

    fn is_ended(&self) -> bool {
        self.ended
    }

    fn finish(mut self, history: &[Message]) -> Result<Response, Fault> {
        let stop = self.stop.ok_or(Fault::Incomplete)?;
        for (index, block) in &mut self.blocks {
            if let Block::Call { whole, .. } = block
                && let Some(arguments) = whole.take()
            {
                self.calls.add(CallDelta {
                    index: Some(*index),
                    arguments: &arguments,
                    ..CallDelta::default()
                });
            }
        }
        let mut calls: Vec<Option<ToolCall>> =
            self.calls.finish(history).into_iter().map(Some).collect();
        let content = self
            .blocks
            .into_iter()
            .filter_map(|(_, block)| match block {
                Block::Text(text) => Some(ContentBlock::Text { text }),
                Block::Thinking { text, signature } => Some(ContentBlock::Thinking {
                    text,
                    signature: Some(signature).filter(|signature| !signature.is_empty()),
                    redacted: None,
                }),
                Block::Redacted(data) => Some(ContentBlock::Thinking {
                    text: String::new(),
                    signature: None,
                    redacted: Some(data),
                }),
                Block::Call { place, .. } => {
                    calls.get_mut(place)?.take().map(ContentBlock::ToolCall)
                }
                Block::Unknown => None,
            })
            .collect();
        Ok(Response::new(content, self.usage.into(), stop))
    }
}

impl Decoder {
    fn begin(&mut self, index: u64, block: WireBlock, chunks: &mut Vec<Chunk>) {
        let block = match block {
            WireBlock::Text { text } => {
                if !text.is_empty() {
                    chunks.push(Chunk::Text(text.clone()));
                }
                Block::Text(text)
            }
            WireBlock::Thinking {
                thinking,
                signature,
            } => {
                if !thinking.is_empty() {
                    chunks.push(Chunk::Thinking(thinking.clone()));
                }
                Block::Thinking {
                    text: thinking,
                    signature,
                }
            }
            WireBlock::RedactedThinking { data } => Block::Redacted(data),
            WireBlock::ToolUse { id, name, input } => Block::Call {
                place: self.calls.add(CallDelta {
                    index: Some(index),
                    id: Some(&id),
                    name: Some(&name),
                    arguments: "",
                }),
                whole: match input {
                    Value::Null => None,
                    // How a stream begins a call whose arguments follow.
                    Value::Object(input) if input.is_empty() => None,
                    // Not what the protocol says; what it means is for the accumulator to find.
                    Value::String(text) => Some(text),
                    input => Some(input.to_string()),
                },
            },
            WireBlock::Unknown => Block::Unknown,
        };
        self.blocks.push((index, block));
    }

    fn go_on(&mut self, index: u64, delta: WireDelta, chunks: &mut Vec<Chunk>) {
        // Blocks come one after the other, so the one that goes on is the last as a rule.
        let mut blocks = self.blocks.iter_mut().rev();
        let Some((_, block)) = blocks.find(|(begun, _)| *begun == index) else {
            return;
        };
        match (block, delta) {
            (Block::Text(text), WireDelta::TextDelta { text: more }) => {
                text.push_str(&more);
                if !more.is_empty() {
                    chunks.push(Chunk::Text(more));
                }
            }
            (Block::Thinking { text, .. }, WireDelta::ThinkingDelta { thinking: more }) => {
                text.push_str(&more);
                if !more.is_empty() {
                    chunks.push(Chunk::Thinking(more));
                }
            }
            (Block::Thinking { signature, .. }, WireDelta::SignatureDelta { signature: more }) => {
                signature.push_str(&more)
            }
            (Block::Call { whole, .. }, WireDelta::InputJsonDelta { partial_json })
                if !partial_json.is_empty() =>
            {
                *whole = None;
                self.calls.add(CallDelta {
                    index: Some(index),
                    arguments: &partial_json,
                    ..CallDelta::default()
                });
            }
            _ => {}
        }
    }

    fn count(&mut self, usage: Option<WireUsage>) {
        // The counts at the end replace those at the beginning; not all are repeated.
        if let Some(usage) = usage {
            let ours = &mut self.usage;
            ours.input_tokens = usage.input_tokens.or(ours.input_tokens);
            ours.output_tokens = usage.output_tokens.or(ours.output_tokens);
            ours.cache_read_input_tokens = usage
                .cache_read_input_tokens
                .or(ours.cache_read_input_tokens);
            ours.cache_creation_input_tokens = usage
                .cache_creation_input_tokens
                .or(ours.cache_creation_input_tokens);
        }
    }

    fn stop_for(&mut self, reason: Option<String>) {
        let Some(reason) = reason else { return };
        self.stop = Some(match reason.as_str() {
            "end_turn" | "stop_sequence" => StopReason::EndTurn,
            "tool_use" => StopReason::ToolCalls,
            "max_tokens" | "model_context_window_exceeded" => StopReason::MaxTokens,
            "refusal" => StopReason::Refused,
            _ => StopReason::Other,
        });
    }
}

/// An error inside a stream, with the status it would have had in front of one.
fn error_in(error: &Value) -> VendorError {
    let status = match error.get("type").and_then(Value::as_str) {
        Some("invalid_request_error") => 400,
        Some("authentication_error") => 401,
        Some("billing_error") => 402,
        Some("permission_error") => 403,
        Some("not_found_error") => 404,
        Some("request_too_large") => 413,
        Some("rate_limit_error") => 429,
        Some("timeout_error") => 504,
        Some("overloaded_error") => 529,
        _ => 500,
    };
    VendorError::read(status, error)
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Event {
    MessageStart {
        message: MessageHead,
    },
    ContentBlockStart {
        index: u64,
        content_block: WireBlock,
    },
    ContentBlockDelta {
        index: u64,
        delta: WireDelta,
    },
    MessageDelta {
        delta: MessageEnd,
        usage: Option<WireUsage>,
    },
    MessageStop,
    /// A whole answer.
    Message(WholeMessage),
    Error {
        error: Value,
    },
    /// `ping`, `content_block_stop`, and what may come to be.
    #[serde(other)]
    Unknown,
}

#[derive(Deserialize)]
struct MessageHead {
    usage: Option<WireUsage>,
}

#[derive(Deserialize)]
struct MessageEnd {
    stop_reason: Option<String>,
}

#[derive(Deserialize)]
struct WholeMessage {
    content: Vec<WireBlock>,
    stop_reason: Option<String>,
    usage: Option<WireUsage>,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum WireBlock {
    Text {
        #[serde(default)]
        text: String,
    },
    Thinking {
        #[serde(default)]
        thinking: String,
        #[serde(default)]
        signature: String,
    },
    RedactedThinking {
        data: String,
    },
    ToolUse {
        #[serde(default)]
        id: String,
        #[serde(default)]
        name: String,
        #[serde(default)]
        input: Value,
    },
    #[serde(other)]
    Unknown,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum WireDelta {
    TextDelta {
        text: String,
    },
    ThinkingDelta {
        thinking: String,
    },
    SignatureDelta {
        signature: String,
    },
    InputJsonDelta {
        partial_json: String,
    },
    #[serde(other)]
    Unknown,
}

#[derive(Debug, Default, Clone, Copy, Deserialize)]
struct WireUsage {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
}

impl From<WireUsage> for Usage {
    fn from(usage: WireUsage) -> Self {
        let read = usage.cache_read_input_tokens.unwrap_or_default();
        let written = usage.cache_creation_input_tokens.unwrap_or_default();
        Usage {
            // The vendor counts what the cache had, or got, apart from the rest.
            input_tokens: usage
                .input_tokens
                .unwrap_or_default()
                .saturating_add(read)
                .saturating_add(written),
            output_tokens: usage.output_tokens.unwrap_or_default(),
            cache_read_tokens: read,
            cache_write_tokens: written,
        }
    }
}
