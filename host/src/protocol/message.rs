//! Messages of a conversation, as kept in history and handed to providers.
//!
//! Owns roles, content blocks, tool calls and usage, free of any vendor's wire format. It must
//! never know how a vendor spells them: that stays in the provider's own file.

use super::tool::ToolResult;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Who speaks. The system prompt is not a message: it is rebuilt for each run and never stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The person, or the host on the person's behalf (tool results).
    User,
    /// The model.
    Assistant,
}

/// One message. Tool results travel in user messages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said, in order.
    pub content: Vec<ContentBlock>,
}

impl Message {
    /// A user message of one text block.
    pub fn user(text: impl Into<String>) -> Self {
        Message {
            role: Role::User,
            content: vec![ContentBlock::text(text)],
        }
    }

    /// An assistant message of the given blocks.
    pub fn assistant(content: Vec<ContentBlock>) -> Self {
        Message {
            role: Role::Assistant,
            content,
        }
    }

    /// The user message that answers the calls of a turn.
    pub fn results(results: impl IntoIterator<Item = ToolResult>) -> Self {
        Message {
            role: Role::User,
            content: results.into_iter().map(ContentBlock::ToolResult).collect(),
        }
    }

    /// The tool calls in this message, in order.
    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.content.iter().filter_map(|block| match block {
            ContentBlock::ToolCall(call) => Some(call),
            _ => None,
        })
    }

    /// All text blocks, joined.
    pub fn text(&self) -> String {
        self.content
            .iter()
            .filter_map(|block| match block {
                ContentBlock::Text { text } => Some(text.as_str()),
                _ => None,
            })
            .collect()
    }
}

/// One part of a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ContentBlock {
    /// Plain text. Never blank in history: vendors reject blank text blocks.
    Text {
        /// The text.
        text: String,
    },
    /// What the model thought before it spoke or acted.
    Thinking {
        /// The readable part; may be empty when the vendor only returns a signature.
        text: String,
        /// The vendor's seal over the block. It must be replayed byte for byte.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signature: Option<String>,
        /// Thinking that the vendor keeps unreadable; replayed byte for byte.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        redacted: Option<String>,
    },
    /// The model asks for a tool.
    ToolCall(ToolCall),
    /// The answer to a call.
    ToolResult(ToolResult),
    /// A picture from the user.
    Image(ImageBlock),
}

impl ContentBlock {
    /// A text block.
    pub fn text(text: impl Into<String>) -> Self {
        ContentBlock::Text { text: text.into() }
    }

    /// Whether this is a text block that says nothing.
    pub fn is_blank_text(&self) -> bool {
        matches!(self, ContentBlock::Text { text } if text.trim().is_empty())
    }
}

/// A picture, base64-encoded as vendors take it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageBlock {
    /// `image/png`, `image/jpeg`, `image/gif` or `image/webp`.
    pub media_type: String,
    /// Standard base64 with padding.
    pub data: String,
}

/// The model asks for one tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The vendor's id of the call; the result must carry the same. Unique in a session.
    pub id: String,
    /// The tool's name, as the model wrote it.
    pub name: String,
    /// The arguments; an object, unless the model erred.
    pub arguments: Value,
    /// The text the model sent as arguments where it was not JSON; `arguments` is `{}` then and
    /// the call is answered with an error that shows this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub malformed: Option<String>,
}

/// Tokens of one request, or a sum of them, as the vendor counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens sent, those read from the vendor's cache included.
    pub input_tokens: u64,
    /// Tokens generated, thinking included.
    pub output_tokens: u64,
    /// Of the input, how many came from the vendor's cache.
    #[serde(default)]
    pub cache_read_tokens: u64,
    /// Of the input, how many were written to the vendor's cache.
    #[serde(default)]
    pub cache_write_tokens: u64,
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Usage) {
        self.input_tokens += other.input_tokens;
        self.output_tokens += other.output_tokens;
        self.cache_read_tokens += other.cache_read_tokens;
        self.cache_write_tokens += other.cache_write_tokens;
    }
}
