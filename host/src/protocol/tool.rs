//! Tools as the model and the host see them: definitions, results, what a call used.
//!
//! Owns the data that goes around a call. It must never know how a component is run.

use super::capability::Capabilities;
use super::message::ImageBlock;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;

/// SHA-256 in lower-case hex. Of a component's bytes it is the component's identity everywhere.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Digest(pub String);

impl Digest {
    /// The digest with these bytes.
    pub fn of_bytes(bytes: &[u8]) -> Self {
        Digest(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// The first twelve digits, for tables and messages.
    pub fn short(&self) -> &str {
        self.0.get(..12).unwrap_or(&self.0)
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A tool, as its component describes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolDefinition {
    /// Matches `[a-z][a-z0-9_]{0,63}`.
    pub name: String,
    /// For the model: what it does, when to use it, what it answers.
    pub description: String,
    /// JSON Schema (2020-12) of the arguments, with the `x-hotcell-path` marks still in it.
    pub input_schema: Value,
    /// Without all of these the tool is not offered.
    pub requires: Capabilities,
    /// Used when given.
    pub accepts: Capabilities,
}

impl ToolDefinition {
    /// Whether everything the tool requires only looks: such a tool is offered in plan mode.
    pub const fn is_read_only(&self) -> bool {
        self.requires.is_read_only()
    }
}

/// One part of a tool's answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ResultContent {
    /// Text for the model.
    Text {
        /// The text.
        text: String,
    },
    /// A picture for the model.
    Image(ImageBlock),
}

/// Why a call failed, so that the model knows what to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolErrorKind {
    /// No tool has this name.
    UnknownTool,
    /// The arguments do not satisfy the schema, or make no sense to the tool.
    InvalidArguments,
    /// What was named is not there.
    NotFound,
    /// A capability, a rule or the mode of the run stands in the way.
    Denied,
    /// The thing changed meanwhile, or matches more than once.
    Conflict,
    /// A limit of the call was reached.
    LimitExceeded,
    /// The run was interrupted before the call ended.
    Interrupted,
    /// The component trapped, or broke the contract.
    Crashed,
    /// Anything else.
    Failed,
}

impl ToolErrorKind {
    /// The word in events and observations, such as `not_found`.
    pub const fn name(self) -> &'static str {
        match self {
            ToolErrorKind::UnknownTool => "unknown_tool",
            ToolErrorKind::InvalidArguments => "invalid_arguments",
            ToolErrorKind::NotFound => "not_found",
            ToolErrorKind::Denied => "denied",
            ToolErrorKind::Conflict => "conflict",
            ToolErrorKind::LimitExceeded => "limit_exceeded",
            ToolErrorKind::Interrupted => "interrupted",
            ToolErrorKind::Crashed => "crashed",
            ToolErrorKind::Failed => "failed",
        }
    }
}

/// The answer to one tool call. A failure is data for the model, never an error of the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolResult {
    /// The id of the call this answers.
    pub call_id: String,
    /// The name the call used.
    pub name: String,
    /// What the model reads; never empty.
    pub content: Vec<ResultContent>,
    /// Set when the call failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ToolErrorKind>,
    /// What the call used.
    #[serde(default)]
    pub stats: CallStats,
}

impl ToolResult {
    /// Whether the call failed.
    pub const fn is_error(&self) -> bool {
        self.error.is_some()
    }

    /// A failure with one text for the model.
    pub fn failure(
        call_id: impl Into<String>,
        name: impl Into<String>,
        kind: ToolErrorKind,
        message: impl Into<String>,
    ) -> Self {
        ToolResult {
            call_id: call_id.into(),
            name: name.into(),
            content: vec![ResultContent::Text {
                text: message.into(),
            }],
            error: Some(kind),
            stats: CallStats::default(),
        }
    }

    /// All text of the result, joined.
    pub fn text(&self) -> String {
        self.content
            .iter()
            .filter_map(|part| match part {
                ResultContent::Text { text } => Some(text.as_str()),
                ResultContent::Image(_) => None,
            })
            .collect()
    }
}

/// What one call used, measured by the sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CallStats {
    /// Wall clock of the call in microseconds, waiting for locks and slots not counted.
    pub duration_us: u64,
    /// Fuel used.
    pub fuel: u64,
    /// Largest linear memory reached, in bytes.
    pub memory_bytes: u64,
    /// Calls into the host.
    pub host_calls: u64,
}
