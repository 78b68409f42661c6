//! What the server answers.
//!
//! Owns the replies, free of a protocol, and how each protocol writes them.

use super::Protocol;
use serde_json::{Value, json};
use std::fmt;
use std::sync::Arc;

/// One reply of the queue. It is written in the protocol of the request that gets it, streamed or
/// whole as that request asks.
#[derive(Debug, Clone)]
pub struct Reply {
    kind: Kind,
    headers: Vec<(String, String)>,
    piece: usize,
    line_end: &'static str,
    done: bool,
    cut: Option<usize>,
    hangs: bool,
    meanwhile: Option<Meanwhile>,
}

#[derive(Clone)]
struct Meanwhile(Arc<dyn Fn() + Send + Sync>);

impl fmt::Debug for Meanwhile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Meanwhile")
    }
}

#[derive(Debug, Clone)]
enum Kind {
    Answer(Answer),
    Raw {
        status: u16,
        content_type: String,
        body: Vec<u8>,
    },
}

#[derive(Debug, Clone)]
struct Answer {
    blocks: Vec<Block>,
    reasoning_field: &'static str,
    input_tokens: u64,
    output_tokens: u64,
    cached_tokens: u64,
    stop: Option<(&'static str, &'static str)>,
}

#[derive(Debug, Clone)]
enum Block {
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

/// A reply in the form in which it goes over the wire.
pub(super) struct Rendered {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) pieces: Vec<Vec<u8>>,
    pub(super) breaks: bool,
    pub(super) hangs: bool,
}

impl Reply {
    fn of(kind: Kind) -> Self {
        Reply {
            kind,
            headers: Vec::new(),
            piece: usize::MAX,
            line_end: "\n",
            done: true,
            cut: None,
            hangs: false,
            meanwhile: None,
        }
    }

    /// An answer that says nothing yet; the methods below add to it.
    pub fn empty() -> Self {
        Reply::of(Kind::Answer(Answer {
            blocks: Vec::new(),
            reasoning_field: "reasoning_content",
            input_tokens: 10,
            output_tokens: 5,
            cached_tokens: 0,
            stop: None,
        }))
    }

    /// An answer of one text.
    pub fn text(text: &str) -> Self {
        Reply::empty().and_text(text)
    }

    /// An answer of one call.
    pub fn call(id: &str, name: &str, arguments: &Value) -> Self {
        Reply::empty().and_call(id, name, arguments)
    }

    /// A status with a body of JSON.
    pub fn status(status: u16, body: &Value) -> Self {
        Reply::raw(status, "application/json", body.to_string())
    }

    /// Exactly these bytes.
    pub fn raw(status: u16, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        Reply::of(Kind::Raw {
            status,
            content_type: content_type.to_owned(),
            body: body.into(),
        })
    }

    fn answer(&mut self) -> &mut Answer {
        match &mut self.kind {
            Kind::Answer(answer) => answer,
            Kind::Raw { .. } => panic!("a raw reply has no parts"),
        }
    }

    fn and(mut self, block: Block) -> Self {
        self.answer().blocks.push(block);
        self
    }

    /// Adds text.
    pub fn and_text(self, text: &str) -> Self {
        self.and(Block::Text(text.to_owned()))
    }

    /// Adds a call.
    pub fn and_call(self, id: &str, name: &str, arguments: &Value) -> Self {
        self.and_raw_call(id, name, &arguments.to_string())
    }

    /// Adds a call whose arguments are this text.
    pub fn and_raw_call(self, id: &str, name: &str, arguments: &str) -> Self {
        self.and(Block::Call {
            id: id.to_owned(),
            name: name.to_owned(),
            arguments: arguments.to_owned(),
        })
    }

    /// Adds thinking; Chat Completions have no use for the signature.
    pub fn and_thinking(self, text: &str, signature: &str) -> Self {
        self.and(Block::Thinking {
            text: text.to_owned(),
            signature: signature.to_owned(),
        })
    }

    /// Adds thinking that the vendor keeps to itself; Chat Completions have none.
    pub fn and_redacted(self, data: &str) -> Self {
        self.and(Block::Redacted(data.to_owned()))
    }

    /// The field in which Chat Completions send thinking.
    pub fn reasoning_field(mut self, field: &'static str) -> Self {
        self.answer().reasoning_field = field;
        self
    }

    /// Token counts; `cached` is a part of `input`.
    pub fn usage(mut self, input: u64, cached: u64, output: u64) -> Self {
        let answer = self.answer();
        (
            answer.input_tokens,
            answer.cached_tokens,
            answer.output_tokens,
        ) = (input, cached, output);
        self
    }

    /// Why the model stops, in the words of Chat Completions and of Messages.
    pub fn stop(mut self, openai: &'static str, anthropic: &'static str) -> Self {
        self.answer().stop = Some((openai, anthropic));
        self
    }

    /// Adds a header.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sends the body in pieces of so many bytes.
    pub fn pieces_of(mut self, bytes: usize) -> Self {
        self.piece = bytes;
        self
    }

    /// The line end of a stream: LF, CRLF or CR.
    pub fn line_end(mut self, line_end: &'static str) -> Self {
        self.line_end = line_end;
        self
    }

    /// Leaves out the end mark of a stream: `[DONE]`, or `message_stop`.
    pub fn without_done(mut self) -> Self {
        self.done = false;
        self
    }

    /// Breaks the connection after so many bytes of the body.
    pub fn cut_after(mut self, bytes: usize) -> Self {
        self.cut = Some(bytes);
        self
    }

    /// Never ends, behind all of its text and calls.
    pub fn hanging(mut self) -> Self {
        self.hangs = true;
        self
    }

    /// Does this when the request has come, before anything of the reply goes out: what happens in
    /// the world while a model thinks.
    pub fn meanwhile(mut self, act: impl Fn() + Send + Sync + 'static) -> Self {
        self.meanwhile = Some(Meanwhile(Arc::new(act)));
        self
    }

    /// Lets happen what [`Reply::meanwhile`] says.
    pub(super) fn pass_time(&self) {
        if let Some(Meanwhile(act)) = &self.meanwhile {
            act();
        }
    }

    pub(super) fn render(self, protocol: Protocol, stream: bool) -> Rendered {
        let hangs = self.hangs;
        let (status, content_type, mut body) = match self.kind {
            Kind::Raw {
                status,
                content_type,
                body,
            } => (status, content_type, body),
            Kind::Answer(answer) => {
                let (content_type, body) = match (protocol, stream) {
                    (Protocol::OpenAi, false) => ("application/json", openai_whole(&answer)),
                    (Protocol::Anthropic, false) => ("application/json", anthropic_whole(&answer)),
                    (Protocol::OpenAi, true) => {
                        // A hanging reply never gets to its end.
                        let events = openai_events(&answer, self.done && !hangs, hangs);
                        ("text/event-stream", lines(&events, self.line_end))
                    }
                    (Protocol::Anthropic, true) => {
                        let events = anthropic_events(&answer, self.done && !hangs, hangs);
                        (
                            "text/event-stream; charset=utf-8",
                            lines(&events, self.line_end),
                        )
                    }
                };
                (200, content_type.to_owned(), body.into_bytes())
            }
        };
        let mut headers = self.headers;
        headers.push(("content-type".to_owned(), content_type));
        if let Some(bytes) = self.cut {
            body.truncate(bytes);
        }
        Rendered {
            status,
            headers,
            pieces: body.chunks(self.piece.max(1)).map(<[u8]>::to_vec).collect(),
            breaks: self.cut.is_some(),
            hangs,
        }
    }
}

/// Events as text: the name, when there is one, and the data.
fn lines(events: &[(Option<&str>, String)], line_end: &str) -> String {
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

fn openai_whole(answer: &Answer) -> String {
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

fn openai_events(
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

fn anthropic_whole(answer: &Answer) -> String {
    let content: Vec<Value> = answer.blocks.iter().map(anthropic_block).collect();
    json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "test",
        "content": content,
        "stop_reason": answer.anthropic_stop(), "stop_sequence": null,
        "usage": answer.anthropic_usage(answer.output_tokens),
    })
    .to_string()
}

fn anthropic_events(
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
