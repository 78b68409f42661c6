//! The messages of a run.
//!
//! Owns [`History`] and the promises that make every request valid: roles alternate and begin with
//! the person, a call is answered exactly once and right after it was asked, call ids are unique,
//! and no block says nothing. The promises hold after every operation, so an interrupted run can
//! always go on. It must never know which vendor reads the messages, and it never holds the system
//! prompt.

mod estimate;
#[cfg(test)]
pub(crate) mod operations;
#[cfg(test)]
mod tests;

pub use estimate::{estimate_message, estimate_text};

use estimate::estimate_block;

use crate::protocol::{
    ContentBlock, Message, ResultContent, Role, ToolCall, ToolErrorKind, ToolResult,
};
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::sync::Arc;

/// What a result says where a tool said nothing: vendors reject empty results.
pub const NO_OUTPUT: &str = "(no output)";

/// What the model reads for a call that the run never got a result for.
pub const UNANSWERED: &str =
    "interrupted: the run ended before this call had a result; it may have done a part of its work";

/// What the person is made to say between two messages of the model, such as a thought and the
/// act that follows it. It is kept, so that later requests repeat what the model really saw and
/// vendors can cache it.
pub const BRIDGE: &str =
    "Go on from what you just said: call the tools it needs, or give the final answer.";

/// A list of messages that only grows, cheap to share.
///
/// Sharing it costs a pointer, and adding to it costs no more than what is added as long as no
/// other holder is left: a turn lets go of its request before it stores the answer. Otherwise the
/// list is copied once, which is slow and still right.
#[derive(Debug, Clone, Default)]
pub struct History {
    messages: Arc<Vec<Message>>,
    /// The calls of the last message that have no result yet, in call order.
    open: Vec<OpenCall>,
    /// Every call id in the list.
    ids: HashSet<String>,
    tokens: u64,
}

/// A call that waits for its result.
#[derive(Debug, Clone)]
struct OpenCall {
    id: String,
    /// The id before it was made unique: an older record may answer by it.
    asked_as: String,
    name: String,
}

impl History {
    /// A history without messages.
    pub fn new() -> Self {
        History::default()
    }

    /// A history of messages that come from elsewhere, such as an earlier run that was killed.
    /// Whatever breaks a promise is repaired: results without a call are dropped, calls without a
    /// result are answered with [`UNANSWERED`], blank blocks are left out.
    pub fn restore(messages: impl IntoIterator<Item = Message>) -> Self {
        let mut history = History::new();
        for message in messages {
            match message.role {
                Role::Assistant => {
                    history.push_answer(message.content);
                }
                Role::User => {
                    let (results, rest): (Vec<_>, Vec<_>) = message
                        .content
                        .into_iter()
                        .partition(|block| matches!(block, ContentBlock::ToolResult(_)));
                    history.push_results(results.into_iter().filter_map(|block| match block {
                        ContentBlock::ToolResult(result) => Some(result),
                        _ => None,
                    }));
                    history.push_user(rest);
                }
            }
        }
        history.close();
        history
    }

    /// Stores what the person says: texts and pictures. Calls that are still open are answered
    /// first. Answers whether anything was left to store.
    pub fn push_user(&mut self, content: Vec<ContentBlock>) -> bool {
        let content: Vec<_> = content
            .into_iter()
            .filter(|block| {
                matches!(block, ContentBlock::Image(_))
                    || (matches!(block, ContentBlock::Text { .. }) && !block.is_blank_text())
            })
            .collect();
        if content.is_empty() {
            return false;
        }
        self.close();
        self.append_user(content);
        true
    }

    /// Stores what the model says and answers its calls, in order, under ids that are unique in
    /// this history. Thinking that neither text nor a call follows is not stored: it means nothing
    /// to a later request, and vendors reject it.
    pub fn push_answer(&mut self, content: Vec<ContentBlock>) -> Vec<ToolCall> {
        let mut content: Vec<_> = content.into_iter().filter(says_something).collect();
        while matches!(content.last(), Some(ContentBlock::Thinking { .. })) {
            content.pop();
        }
        if content.is_empty() {
            return Vec::new();
        }
        self.close();
        if self.last_role() != Some(Role::User) {
            self.append_user(vec![ContentBlock::text(BRIDGE)]);
        }
        let mut calls = Vec::new();
        for block in &mut content {
            if let ContentBlock::ToolCall(call) = block {
                let id = self.unique_id(&call.id);
                let asked_as = std::mem::replace(&mut call.id, id.clone());
                if !call.arguments.is_object() {
                    let sent = std::mem::replace(&mut call.arguments, Value::Object(Map::new()));
                    call.malformed.get_or_insert_with(|| sent.to_string());
                }
                self.open.push(OpenCall {
                    id,
                    asked_as,
                    name: call.name.clone(),
                });
                calls.push(call.clone());
            }
        }
        self.append(Message::assistant(content));
        calls
    }

    /// Stores what the model thought as a message of its own, and lets the person ask for the act
    /// by [`BRIDGE`]. A blank thought is not stored.
    pub fn push_thought(&mut self, thought: ContentBlock) {
        let before = self.messages.len();
        self.push_answer(vec![thought]);
        if self.messages.len() > before {
            self.append_user(vec![ContentBlock::text(BRIDGE)]);
        }
    }

    /// Stores the results of the open calls as one message, in call order whatever the order they
    /// come in. A result that answers no open call is dropped; a call that none of them answers
    /// gets [`UNANSWERED`]. Without open calls nothing happens.
    pub fn push_results(&mut self, results: impl IntoIterator<Item = ToolResult>) {
        let open = std::mem::take(&mut self.open);
        if open.is_empty() {
            return;
        }
        let mut answers: Vec<Option<ToolResult>> = vec![None; open.len()];
        for result in results {
            let free = |key: fn(&OpenCall) -> &str| {
                open.iter()
                    .zip(&answers)
                    .position(|(call, answer)| answer.is_none() && key(call) == result.call_id)
            };
            if let Some(index) = free(|call| &call.id).or_else(|| free(|call| &call.asked_as)) {
                answers[index] = Some(result);
            }
        }
        let message =
            Message::results(
                open.into_iter()
                    .zip(answers)
                    .map(|(call, answer)| match answer {
                        Some(mut result) => {
                            result.call_id = call.id;
                            result.content = speaking(result.content);
                            result
                        }
                        None => ToolResult::failure(
                            call.id,
                            call.name,
                            ToolErrorKind::Interrupted,
                            UNANSWERED,
                        ),
                    }),
            );
        self.append(message);
    }

    /// Answers every open call with [`UNANSWERED`].
    pub fn close(&mut self) {
        self.push_results([]);
    }

    /// The stored messages, oldest first.
    pub fn messages(&self) -> &Arc<Vec<Message>> {
        &self.messages
    }

    /// A copy of the messages in which `reminder` is the last the person says. Nothing is stored.
    /// Copies every message, so it is for what happens rarely.
    pub fn with_reminder(&self, reminder: &str) -> Arc<Vec<Message>> {
        let mut copy = self.clone();
        copy.push_user(vec![ContentBlock::text(reminder)]);
        copy.messages
    }

    /// How many tokens the messages are likely to be, by [`estimate_message`].
    pub const fn tokens(&self) -> u64 {
        self.tokens
    }

    fn last_role(&self) -> Option<Role> {
        self.messages.last().map(|message| message.role)
    }

    fn append(&mut self, message: Message) {
        self.tokens += estimate_message(&message);
        Arc::make_mut(&mut self.messages).push(message);
    }

    /// Adds a message of the person, to the last one if that is the person's too.
    fn append_user(&mut self, content: Vec<ContentBlock>) {
        match Arc::make_mut(&mut self.messages).last_mut() {
            Some(last) if last.role == Role::User => {
                self.tokens += content.iter().map(estimate_block).sum::<u64>();
                last.content.extend(content);
            }
            _ => self.append(Message {
                role: Role::User,
                content,
            }),
        }
    }

    /// `id` itself if it is free; some vendors number the calls of each answer from zero.
    fn unique_id(&mut self, id: &str) -> String {
        let stem = if id.trim().is_empty() { "call" } else { id };
        let mut unique = stem.to_owned();
        let mut number = 2_u64;
        while !self.ids.insert(unique.clone()) {
            unique = format!("{stem}_{number}");
            number += 1;
        }
        unique
    }
}

/// Whether a block of an answer is worth storing. Signed or redacted thinking may have no text.
fn says_something(block: &ContentBlock) -> bool {
    match block {
        ContentBlock::Text { .. } => !block.is_blank_text(),
        ContentBlock::Thinking {
            text,
            signature,
            redacted,
        } => !text.trim().is_empty() || signature.is_some() || redacted.is_some(),
        ContentBlock::ToolCall(_) => true,
        ContentBlock::ToolResult(_) | ContentBlock::Image(_) => false,
    }
}

/// The parts of a result that say something, and [`NO_OUTPUT`] if none does.
pub fn speaking(content: Vec<ResultContent>) -> Vec<ResultContent> {
    let mut content = content;
    content.retain(|part| match part {
        ResultContent::Text { text } => !text.trim().is_empty(),
        ResultContent::Image(_) => true,
    });
    if content.is_empty() {
        content.push(ResultContent::Text {
            text: NO_OUTPUT.to_owned(),
        });
    }
    content
}
