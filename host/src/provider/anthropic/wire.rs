//! Writes requests of the Messages API.
//!
//! Owns the JSON of a request, borrowed from the conversation, and where the marks for the
//! vendor's prompt cache go: behind the tools, behind the system prompt, and behind the last
//! message, so that the next turn finds all of this one cached.

use super::super::Request;
use super::super::encode::{FIELD_SEAL, api_word};
use crate::protocol::{ContentBlock, ImageBlock, Message, ResultContent, Role, ToolDefinition};
use serde::ser::{SerializeSeq as _, Serializer};
use serde::{Serialize, ser};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::HashSet;

/// The body of a request.
#[derive(Serialize)]
pub(super) struct Body<'a> {
    model: &'a str,
    max_tokens: u32,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<ToolChoice>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<[Text<'a>; 1]>,
    messages: Messages<'a>,
    stream: bool,
}

impl<'a> Body<'a> {
    pub(super) fn new(request: &'a Request, messages: &'a [Cow<'a, Message>]) -> Self {
        let mut tools: Vec<Tool<'a>> = request.tools.iter().map(Tool::new).collect();
        let mut tool_choice = None;
        if tools.is_empty() {
            tools = called_before(messages);
            tool_choice = (!tools.is_empty()).then_some(ToolChoice { r#type: "none" });
        }
        if let Some(last) = tools.last_mut() {
            last.cache_control = Some(CacheControl::MARK);
        }
        Body {
            model: &request.model,
            max_tokens: request.max_output_tokens,
            tools,
            tool_choice,
            system: (!request.system.trim().is_empty()).then_some([Text {
                r#type: "text",
                text: &request.system,
                cache_control: Some(CacheControl::MARK),
            }]),
            messages: Messages(messages),
            stream: request.stream,
        }
    }
}

/// The API rejects a conversation with calls in it unless tools are defined. Where none are
/// offered, those that were called are named without a schema, and calling is switched off.
fn called_before<'a>(messages: &'a [Cow<'a, Message>]) -> Vec<Tool<'a>> {
    let mut seen = HashSet::new();
    messages
        .iter()
        .flat_map(|message| message.calls())
        .map(|call| api_word(&call.name))
        .filter(|name| seen.insert(name.clone()))
        .map(|name| Tool {
            name,
            description: "Called earlier; it cannot be called now.",
            input_schema: Schema::Any { r#type: "object" },
            cache_control: None,
        })
        .collect()
}

#[derive(Serialize)]
struct ToolChoice {
    r#type: &'static str,
}

#[derive(Serialize, Clone, Copy)]
struct CacheControl {
    r#type: &'static str,
}

impl CacheControl {
    const MARK: CacheControl = CacheControl {
        r#type: "ephemeral",
    };
}

#[derive(Serialize)]
struct Tool<'a> {
    name: Cow<'a, str>,
    description: &'a str,
    input_schema: Schema<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheControl>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Schema<'a> {
    Tool(&'a Value),
    Any { r#type: &'static str },
}

impl<'a> Tool<'a> {
    fn new(tool: &'a ToolDefinition) -> Self {
        Tool {
            name: Cow::Borrowed(&tool.name),
            description: &tool.description,
            input_schema: Schema::Tool(&tool.input_schema),
            cache_control: None,
        }
    }
}

#[derive(Serialize)]
struct Text<'a> {
    r#type: &'static str,
    text: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheControl>,
}

struct Messages<'a>(&'a [Cow<'a, Message>]);

impl Serialize for Messages<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_seq(None)?;
        let mut rest = self.0;
        while let Some(first) = rest.first() {
            // The API wants the roles to alternate, so messages of one role become one.
            let same = rest.iter().take_while(|message| message.role == first.role);
            let (run, behind) = rest.split_at(same.count());
            rest = behind;
            out.serialize_element(&WireMessage {
                role: match first.role {
                    Role::User => "user",
                    Role::Assistant => "assistant",
                },
                content: Content {
                    run,
                    is_last: rest.is_empty(),
                },
            })?;
        }
        out.end()
    }
}

#[derive(Serialize)]
struct WireMessage<'a> {
    role: &'static str,
    content: Content<'a>,
}

struct Content<'a> {
    run: &'a [Cow<'a, Message>],
    is_last: bool,
}

impl Serialize for Content<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_seq(None)?;
        let mut blocks = self
            .run
            .iter()
            .flat_map(|message| &message.content)
            .filter_map(Block::new)
            .peekable();
        while let Some(block) = blocks.next() {
            let is_last = self.is_last && blocks.peek().is_none();
            out.serialize_element(&Marked {
                block,
                cache_control: is_last.then_some(CacheControl::MARK),
            })?;
        }
        out.end()
    }
}

#[derive(Serialize)]
struct Marked<'a> {
    #[serde(flatten)]
    block: Block<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheControl>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block<'a> {
    Text {
        text: &'a str,
    },
    Image {
        source: Source<'a>,
    },
    Thinking {
        thinking: &'a str,
        signature: &'a str,
    },
    RedactedThinking {
        data: &'a str,
    },
    ToolUse {
        id: Cow<'a, str>,
        name: Cow<'a, str>,
        input: &'a Value,
    },
    ToolResult {
        tool_use_id: Cow<'a, str>,
        #[serde(serialize_with = "result_parts")]
        content: &'a [ResultContent],
        #[serde(skip_serializing_if = "is_false")]
        is_error: bool,
    },
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands fields by reference"
)]
const fn is_false(flag: &bool) -> bool {
    !*flag
}

impl<'a> Block<'a> {
    /// The block as the API takes it; `None` for another vendor's thinking, which has no seal of
    /// this one and would be rejected.
    fn new(block: &'a ContentBlock) -> Option<Self> {
        Some(match block {
            ContentBlock::Text { text } => Block::Text { text },
            ContentBlock::Image(image) => Block::Image {
                source: Source::new(image),
            },
            ContentBlock::Thinking {
                redacted: Some(data),
                ..
            } => Block::RedactedThinking { data },
            ContentBlock::Thinking {
                text,
                signature: Some(signature),
                ..
            } if !signature.starts_with(FIELD_SEAL) => Block::Thinking {
                thinking: text,
                signature,
            },
            ContentBlock::Thinking { .. } => return None,
            ContentBlock::ToolCall(call) => Block::ToolUse {
                id: api_word(&call.id),
                name: api_word(&call.name),
                input: &call.arguments,
            },
            ContentBlock::ToolResult(result) => Block::ToolResult {
                tool_use_id: api_word(&result.call_id),
                content: &result.content,
                is_error: result.is_error(),
            },
        })
    }
}

#[derive(Serialize)]
struct Source<'a> {
    r#type: &'static str,
    media_type: &'a str,
    data: &'a str,
}

impl<'a> Source<'a> {
    fn new(image: &'a ImageBlock) -> Self {
        Source {
            r#type: "base64",
            media_type: &image.media_type,
            data: &image.data,
        }
    }
}

fn result_parts<S: Serializer>(parts: &&[ResultContent], serializer: S) -> Result<S::Ok, S::Error> {
    let mut out = serializer.serialize_seq(Some(parts.len()))?;
    for part in *parts {
        let block = match part {
            ResultContent::Text { text } => Block::Text { text },
            ResultContent::Image(image) => Block::Image {
                source: Source::new(image),
            },
        };
        ser::SerializeSeq::serialize_element(&mut out, &block)?;
    }
    out.end()
}
