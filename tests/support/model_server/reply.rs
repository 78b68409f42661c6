//! What the server answers.
//!
//! Owns the replies, free of a protocol, and what happens to them on the way: headers, pieces, cuts.

use super::Protocol;
use super::wire::{
    Answer, Block, anthropic_events, anthropic_whole, lines, openai_events, openai_whole,
};
use serde_json::Value;
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
