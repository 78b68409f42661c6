//! Writes requests of Chat Completions.
//!
//! Owns the JSON of a request, borrowed from the conversation: nothing of the history is copied
//! but into the bytes that are sent.

use super::super::Request;
use super::super::encode::{FIELD_SEAL, api_word};
use crate::protocol::{
    ContentBlock, ImageBlock, Message, ResultContent, Role, ToolCall, ToolDefinition, ToolResult,
};
use serde::Serialize;
use serde::ser::{SerializeSeq as _, Serializer};
use serde_json::Value;
use std::borrow::Cow;

/// The fields in which compatible servers send what a model thinks.
pub(super) const REASONING_FIELDS: [&str; 2] = ["reasoning_content", "reasoning"];

/// The body of a request.
#[derive(Serialize)]
pub(super) struct Body<'a> {
    model: &'a str,
    messages: Messages<'a>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    tools: Vec<Tool<'a>>,
    /// What OpenAI's thinking models insist on.
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    /// What compatible servers know.
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

impl<'a> Body<'a> {
    pub(super) fn new(
        request: &'a Request,
        messages: &'a [Cow<'a, Message>],
        is_vendor: bool,
    ) -> Self {
        let limit = Some(request.max_output_tokens);
        Body {
            model: &request.model,
            messages: Messages {
                system: &request.system,
                messages,
            },
            tools: request.tools.iter().map(Tool::new).collect(),
            max_completion_tokens: limit.filter(|_| is_vendor),
            max_tokens: limit.filter(|_| !is_vendor),
            stream: request.stream,
            stream_options: request.stream.then_some(StreamOptions {
                include_usage: true,
            }),
        }
    }
}

#[derive(Serialize)]
struct Tool<'a> {
    r#type: &'static str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a Value,
}

impl<'a> Tool<'a> {
    fn new(tool: &'a ToolDefinition) -> Self {
        Tool {
            r#type: "function",
            function: Function {
                name: &tool.name,
                description: &tool.description,
                parameters: &tool.input_schema,
            },
        }
    }
}

struct Messages<'a> {
    system: &'a str,
    messages: &'a [Cow<'a, Message>],
}

impl Serialize for Messages<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_seq(None)?;
        if !self.system.trim().is_empty() {
            out.serialize_element(&WireMessage::Plain {
                role: "system",
                content: self.system,
            })?;
        }
        for message in self.messages {
            match message.role {
                Role::User => user(message, &mut out)?,
                Role::Assistant => out.serialize_element(&assistant(message))?,
            }
        }
        out.end()
    }
}

/// One of our user messages becomes one tool message a result and, for the rest, a user message.
fn user<S: serde::ser::SerializeSeq>(message: &Message, out: &mut S) -> Result<(), S::Error> {
    let mut parts = Vec::new();
    for block in &message.content {
        match block {
            ContentBlock::ToolResult(result) => {
                out.serialize_element(&WireMessage::Tool {
                    role: "tool",
                    tool_call_id: &result.call_id,
                    content: &result_text(result),
                })?;
                pictures(result, &mut parts);
            }
            ContentBlock::Text { text } => parts.push(Part::text(Cow::Borrowed(text))),
            ContentBlock::Image(image) => parts.push(Part::image(image)),
            // No valid user message holds the others.
            ContentBlock::Thinking { .. } | ContentBlock::ToolCall(_) => {}
        }
    }
    match parts.as_slice() {
        [] => Ok(()),
        // Plain text goes as a string: some servers know no parts.
        [Part::Text { text, .. }] => out.serialize_element(&WireMessage::Plain {
            role: "user",
            content: text,
        }),
        parts => out.serialize_element(&WireMessage::Parts {
            role: "user",
            content: parts,
        }),
    }
}

/// The text of a result. The API has no mark for failures, so the text begins with one.
fn result_text(result: &ToolResult) -> String {
    let mut text = match result.error {
        Some(kind) => format!("[error: {}] ", kind.name()),
        None => String::new(),
    };
    let mut is_first = true;
    for part in &result.content {
        if !std::mem::take(&mut is_first) {
            text.push('\n');
        }
        match part {
            ResultContent::Text { text: words } => text.push_str(words),
            ResultContent::Image(_) => text.push_str("(an image; it follows the results)"),
        }
    }
    text
}

/// Tool messages carry text only, so the pictures of results follow in a user message.
fn pictures<'a>(result: &'a ToolResult, parts: &mut Vec<Part<'a>>) {
    let images = result.content.iter().filter_map(|part| match part {
        ResultContent::Image(image) => Some(image),
        ResultContent::Text { .. } => None,
    });
    for image in images {
        let caption = format!("Image from {}, call {}:", result.name, result.call_id);
        parts.push(Part::text(Cow::Owned(caption)));
        parts.push(Part::image(image));
    }
}

fn assistant(message: &Message) -> WireMessage<'_> {
    let mut texts = Vec::new();
    let mut reasoning = [const { String::new() }; REASONING_FIELDS.len()];
    for block in &message.content {
        match block {
            ContentBlock::Text { text } => texts.push(text.as_str()),
            ContentBlock::Thinking {
                text,
                signature: Some(seal),
                ..
            } => {
                let field = seal.strip_prefix(FIELD_SEAL);
                let place = REASONING_FIELDS
                    .iter()
                    .position(|name| Some(*name) == field);
                // Thinking of another vendor means nothing here.
                if let Some(place) = place {
                    reasoning[place].push_str(text);
                }
            }
            _ => {}
        }
    }
    let [reasoning_content, reasoning] = reasoning;
    WireMessage::Assistant {
        role: "assistant",
        content: match texts.as_slice() {
            [] => None,
            [text] => Some(Cow::Borrowed(*text)),
            texts => Some(Cow::Owned(texts.join("\n\n"))),
        },
        reasoning_content,
        reasoning,
        tool_calls: message.calls().map(Call::new).collect(),
    }
}

#[derive(Serialize)]
#[serde(untagged)]
enum WireMessage<'a> {
    Plain {
        role: &'static str,
        content: &'a str,
    },
    Parts {
        role: &'static str,
        content: &'a [Part<'a>],
    },
    Tool {
        role: &'static str,
        tool_call_id: &'a str,
        content: &'a str,
    },
    Assistant {
        role: &'static str,
        content: Option<Cow<'a, str>>,
        #[serde(skip_serializing_if = "String::is_empty")]
        reasoning_content: String,
        #[serde(skip_serializing_if = "String::is_empty")]
        reasoning: String,
        #[serde(skip_serializing_if = "<[_]>::is_empty")]
        tool_calls: Vec<Call<'a>>,
    },
}

#[derive(Serialize)]
#[serde(untagged)]
enum Part<'a> {
    Text {
        r#type: &'static str,
        text: Cow<'a, str>,
    },
    Image {
        r#type: &'static str,
        image_url: ImageUrl<'a>,
    },
}

impl<'a> Part<'a> {
    fn text(text: Cow<'a, str>) -> Self {
        Part::Text {
            r#type: "text",
            text,
        }
    }

    fn image(image: &'a ImageBlock) -> Self {
        Part::Image {
            r#type: "image_url",
            image_url: ImageUrl { url: image },
        }
    }
}

#[derive(Serialize)]
struct ImageUrl<'a> {
    #[serde(serialize_with = "data_url")]
    url: &'a ImageBlock,
}

fn data_url<S: Serializer>(image: &&ImageBlock, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!(
        "data:{};base64,{}",
        image.media_type, image.data
    ))
}

#[derive(Serialize)]
struct Call<'a> {
    id: &'a str,
    r#type: &'static str,
    function: CallFunction<'a>,
}

#[derive(Serialize)]
struct CallFunction<'a> {
    name: Cow<'a, str>,
    /// The API takes the arguments as a string of JSON.
    #[serde(serialize_with = "json_text")]
    arguments: &'a Value,
}

impl<'a> Call<'a> {
    fn new(call: &'a ToolCall) -> Self {
        Call {
            id: &call.id,
            r#type: "function",
            function: CallFunction {
                name: api_word(&call.name),
                arguments: &call.arguments,
            },
        }
    }
}

fn json_text<S: Serializer>(value: &&Value, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}
