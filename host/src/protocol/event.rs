//! The one stream that leaves the engine.
//!
//! Owns the events and their wire form: `--json` prints one a line, tagged by `type`. The grammar
//! of a run is any order of the non-terminal events and then exactly one of `done`, `error`,
//! `interrupted`; every `tool_start` has its `tool_result`. It must never know who consumes them.

use super::cost::Cost;
use super::message::Usage;
use super::tool::{CallStats, ResultContent, ToolErrorKind};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Something that happened in a run. New variants are not a breaking change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Event {
    /// The session that the run belongs to; before everything else, where sessions are kept.
    SessionOpened {
        /// By which it is gone on with.
        session_id: String,
        /// By which `undo` and `diff` know the run.
        run_id: String,
        /// How many messages it had before this run.
        messages: u64,
    },
    /// A turn begins: one request to the model, then the tool calls it asks for.
    TurnStarted {
        /// From 1.
        turn: u32,
    },
    /// A piece of the model's answer.
    ActionDelta {
        /// The piece.
        text: String,
    },
    /// A piece of the model's thinking.
    ThinkingDelta {
        /// The piece.
        text: String,
    },
    /// Tokens of the current request.
    TokenUpdate {
        /// The counts.
        usage: Usage,
        /// True before the request, where the counts are our estimate; false with the vendor's.
        estimated: bool,
    },
    /// A call begins; a `tool_result` with the same id follows.
    ToolStart {
        /// The id of the call.
        call_id: String,
        /// The tool.
        name: String,
        /// The arguments as the tool gets them.
        arguments: Value,
    },
    /// A line that a running tool shows to the person who watches.
    ToolOutput {
        /// The id of the call.
        call_id: String,
        /// Where it comes from.
        stream: OutputStream,
        /// The text, which may hold several lines.
        text: String,
    },
    /// A call has ended.
    ToolResult {
        /// The id of the call.
        call_id: String,
        /// The tool.
        name: String,
        /// Whether it failed.
        is_error: bool,
        /// Why it failed.
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<ToolErrorKind>,
        /// What the model reads.
        content: Vec<ResultContent>,
        /// What it used.
        stats: CallStats,
    },
    /// The run waits for a person.
    ApprovalRequired {
        /// Names the question; the answer carries it.
        approval_id: String,
        /// The call that waits.
        call_id: String,
        /// What is asked.
        question: String,
    },
    /// The history was shortened.
    Compaction {
        /// Estimated tokens before.
        tokens_before: u64,
        /// Estimated tokens after.
        tokens_after: u64,
    },
    /// Something the person should know; the run goes on.
    Notice {
        /// How much it matters.
        level: NoticeLevel,
        /// A stable word for programs, such as `request_repaired`.
        code: String,
        /// One line for people.
        message: String,
    },
    /// A turn has ended.
    TurnDone {
        /// From 1.
        turn: u32,
        /// Tokens of this turn.
        usage: Usage,
    },
    /// Terminal: the run ended by itself or by a limit of the run.
    Done {
        /// Why it ended.
        reason: DoneReason,
        /// Turns taken.
        turns: u32,
        /// Tokens of the whole run.
        usage: Usage,
        /// What the tokens cost, where the user gave the price of the model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost: Option<Cost>,
        /// The model's last text.
        text: String,
    },
    /// Terminal: a fault ended the run.
    Error {
        /// What kind of fault.
        kind: RunErrorKind,
        /// One line for people.
        message: String,
    },
    /// Terminal: a person ended the run.
    Interrupted {
        /// Turns begun.
        turns: u32,
        /// Tokens of the whole run.
        usage: Usage,
    },
}

impl Event {
    /// Whether no event follows this one.
    pub const fn is_terminal(&self) -> bool {
        matches!(
            self,
            Event::Done { .. } | Event::Error { .. } | Event::Interrupted { .. }
        )
    }
}

/// Where a line of a running tool comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutputStream {
    /// The guest's standard output.
    Stdout,
    /// The `progress` import.
    Progress,
}

/// How much a notice matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoticeLevel {
    /// Worth a line.
    Info,
    /// Something was changed, cut or refused.
    Warning,
}

/// Why a run is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DoneReason {
    /// The model answered without asking for a tool.
    Completed,
    /// The model answered nothing, even after a reminder.
    Empty,
    /// The answer reached its limit of tokens and is cut.
    Cut,
    /// The model, or its vendor, refused to go on.
    Refused,
    /// The turn limit was reached; the history is kept, as with every limit of a run.
    MaxTurns,
    /// The time of the run is over.
    MaxTime,
    /// The tokens of the run are used up.
    MaxTokens,
    /// The fuel of the run is used up.
    MaxFuel,
    /// The run cost what it may.
    MaxCost,
    /// One call was made again and again, with nothing changed in between.
    Repetition,
}

/// What kind of fault ended a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RunErrorKind {
    /// The provider refused or could not be reached, after all retries.
    Provider,
    /// The request would not be valid and could not be repaired.
    InvalidRequest,
    /// A fault in hotcell itself.
    Internal,
}
