//! What a session is made of, piece by piece.
//!
//! Owns the pieces in which a conversation is kept as it happens: finer than messages, because the
//! calls of a turn end one by one. It must never know where they are kept.

use super::message::{ContentBlock, Role, Usage};
use super::tool::ToolResult;

/// One piece of a session, in the order in which it happened.
#[derive(Debug, Clone, PartialEq)]
pub enum SessionEntry {
    /// What the person says, or the host on the person's behalf.
    User(Vec<ContentBlock>),
    /// What the model says. It may be nothing, and have cost tokens.
    Answer {
        /// The answer, with the ids its calls have in this session.
        content: Vec<ContentBlock>,
        /// The tokens of the request that it answers.
        usage: Usage,
    },
    /// The result of one call.
    Result(ToolResult),
}

impl SessionEntry {
    /// Who speaks: tool results travel with what the user says.
    pub const fn role(&self) -> Role {
        match self {
            SessionEntry::Answer { .. } => Role::Assistant,
            SessionEntry::User(_) | SessionEntry::Result(_) => Role::User,
        }
    }
}
