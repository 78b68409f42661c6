//! How each protocol writes an answer, whole and as a stream of events.
//!
//! Must never know what is done to the bytes afterwards.

use serde_json::{Value, json};

/// What a model says, free of a protocol.
#[derive(Debug, Clone)]
pub struct Answer {
    pub blocks: Vec<Block>,
    pub reasoning_field: &'static str,
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub cached_tokens: u64,
    pub stop: Option<(&'static str, &'static str)>,
}

/// One part of it.
#[derive(Debug, Clone)]
pub enum Block {
    Thinking {
        text: String,
        signature: String,
    },
    Redacted(String),
    Text(String),
    Call {
        id: String,
        name: String,
        arguments: String,
    },
}

/// Events as text: the name, when there is one, and the data.
pub fn lines(events: &[(Option<&str>, String)], line_end: &str) -> String {
    let mut out = String::new();
    for (name, data) in events {
        if let Some(name) = name {
            out.push_str(&format!("event: {name}{line_end}"));
        }
        out.push_str(&format!("data: {data}{line_end}{line_end}"));
    }
    out
}

/// A text in two halves, so that every stream has something to put together.
fn halves(text: &str) -> [&str; 2] {
    let mut middle = text.len() / 2;
    while !text.is_char_boundary(middle) {
        middle -= 1;
    }
    let (head, tail) = text.split_at(middle);
    [head, tail]
}

impl Answer {
    fn calls(&self) -> bool {
        let mut blocks = self.blocks.iter();
        blocks.any(|block| matches!(block, Block::Call { .. }))
    }

    fn openai_stop(&self) -> &'static str {
        let natural = if self.calls() { "tool_calls" } else { "stop" };
        self.stop.map_or(natural, |(openai, _)| openai)
    }

    fn anthropic_stop(&self) -> &'static str {
        let natural = if self.calls() { "tool_use" } else { "end_turn" };
        self.stop.map_or(natural, |(_, anthropic)| anthropic)
    }

    fn openai_usage(&self) -> Value {
        json!({
            "prompt_tokens": self.input_tokens,
            "completion_tokens": self.output_tokens,
            "total_tokens": self.input_tokens + self.output_tokens,
            "prompt_tokens_details": {"cached_tokens": self.cached_tokens},
        })
    }

    /// Messages count what came from the cache apart from the rest.
    fn anthropic_usage(&self, output_tokens: u64) -> Value {
        json!({
            "input_tokens": self.input_tokens - self.cached_tokens,
            "cache_read_input_tokens": self.cached_tokens,
            "cache_creation_input_tokens": 0,
            "output_tokens": output_tokens,
        })
    }
}

pub fn openai_whole(answer: &Answer) -> String {
    let mut message = json!({"role": "assistant", "content": null, "refusal": null});
    let mut calls = Vec::new();
    for block in &answer.blocks {
        match block {
            Block::Thinking { text, .. } => message[answer.reasoning_field] = json!(text),
            Block::Redacted(_) => {}
            Block::Text(text) => {
                let before = message["content"].as_str().unwrap_or_default();
                message["content"] = json!(format!("{before}{text}"));
            }
            Block::Call {
                id,
                name,
                arguments,
            } => calls.push(json!({
                "id": id, "type": "function", "function": {"name": name, "arguments": arguments},
            })),
        }
    }
    if !calls.is_empty() {
        message["tool_calls"] = json!(calls);
    }
    json!({
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "test",
        "choices": [{"index": 0, "message": message, "finish_reason": answer.openai_stop()}],
        "usage": answer.openai_usage(),
    })
    .to_string()
}

pub fn openai_events(
    answer: &Answer,
    done: bool,
    endless: bool,
) -> Vec<(Option<&'static str>, String)> {
    let chunk = |delta: Value, stop: Option<&str>| {
        let chunk = json!({
            "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "test",
            "choices": [{"index": 0, "delta": delta, "finish_reason": stop}],
        });
        (None, chunk.to_string())
    };
    let mut events = vec![chunk(json!({"role": "assistant", "content": ""}), None)];
    let mut index = 0;
    for block in &answer.blocks {
        match block {
            Block::Thinking { text, .. } => events.extend(
                halves(text).map(|half| chunk(json!({answer.reasoning_field: half}), None)),
            ),
            Block::Redacted(_) => {}
            Block::Text(text) => {
                events.extend(halves(text).map(|half| chunk(json!({"content": half}), None)));
            }
            Block::Call {
                id,
                name,
                arguments,
            } => {
                let begin = json!({"tool_calls": [{
                    "index": index, "id": id, "type": "function",
                    "function": {"name": name, "arguments": ""},
                }]});
                events.push(chunk(begin, None));
                events.extend(halves(arguments).map(|half| {
                    let more = json!({"index": index, "function": {"arguments": half}});
                    chunk(json!({"tool_calls": [more]}), None)
                }));
                index += 1;
            }
        }
    }
    if endless {
        return events;
    }
    events.push(chunk(json!({}), Some(answer.openai_stop())));
    let usage = json!({
        "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "test",
        "choices": [], "usage": answer.openai_usage(),
    });
    events.push((None, usage.to_string()));
    if done {
        events.push((None, "[DONE]".to_owned()));
    }
    events
}

fn anthropic_block(block: &Block) -> Value {
    match block {
        Block::Thinking { text, signature } => {
            json!({"type": "thinking", "thinking": text, "signature": signature})
        }
        Block::Redacted(data) => json!({"type": "redacted_thinking", "data": data}),
        Block::Text(text) => json!({"type": "text", "text": text}),
        Block::Call {
            id,
            name,
            arguments,
        } => {
            let input: Value = serde_json::from_str(arguments).unwrap_or_else(|_| json!({}));
            json!({"type": "tool_use", "id": id, "name": name, "input": input})
        }
    }
}

pub fn anthropic_whole(answer: &Answer) -> String {
    let content: Vec<Value> = answer.blocks.iter().map(anthropic_block).collect();
    json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "test",
        "content": content,
        "stop_reason": answer.anthropic_stop(), "stop_sequence": null,
        "usage": answer.anthropic_usage(answer.output_tokens),
    })
    .to_string()
}

pub fn anthropic_events(
    answer: &Answer,
    done: bool,
    endless: bool,
) -> Vec<(Option<&'static str>, String)> {
    let event = |name: &'static str, mut data: Value| {
        data["type"] = json!(name);
        (Some(name), data.to_string())
    };
    let start = json!({"message": {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "test", "content": [],
        "stop_reason": null, "usage": answer.anthropic_usage(1),
    }});
    let mut events = vec![event("message_start", start), event("ping", json!({}))];
    for (index, block) in answer.blocks.iter().enumerate() {
        let mut begin = anthropic_block(block);
        let delta = |delta: Value| {
            event(
                "content_block_delta",
                json!({"index": index, "delta": delta}),
            )
        };
        let deltas = match block {
            Block::Thinking { text, signature } => {
                begin["thinking"] = json!("");
                begin["signature"] = json!("");
                let texts = halves(text)
                    .map(|half| delta(json!({"type": "thinking_delta", "thinking": half})));
                let seals = halves(signature)
                    .map(|half| delta(json!({"type": "signature_delta", "signature": half})));
                texts.into_iter().chain(seals).collect()
            }
            Block::Redacted(_) => Vec::new(),
            Block::Text(text) => {
                begin["text"] = json!("");
                halves(text)
                    .map(|half| delta(json!({"type": "text_delta", "text": half})))
                    .to_vec()
            }
            Block::Call { arguments, .. } => {
                begin["input"] = json!({});
                let [head, tail] = halves(arguments);
                ["", head, tail]
                    .map(|part| delta(json!({"type": "input_json_delta", "partial_json": part})))
                    .to_vec()
            }
        };
        events.push(event(
            "content_block_start",
            json!({"index": index, "content_block": begin}),
        ));
        events.extend(deltas);
        events.push(event("content_block_stop", json!({"index": index})));
    }
    if endless {
        return events;
    }
    events.push(event(
        "message_delta",
        json!({
            "delta": {"stop_reason": answer.anthropic_stop(), "stop_sequence": null},
            "usage": {"output_tokens": answer.output_tokens},
        }),
    ));
    if done {
        events.push(event("message_stop", json!({})));
    }
    events
}
