//! Makes a conversation one that vendors accept, before every send.
//!
//! Owns the rules that both protocols share: who speaks when, what a block may hold, and that
//! every call has exactly one result right after it. It exists because one bad block makes a
//! vendor reject every request of a session from then on. It works on the request alone and never
//! touches the history it came from; what is valid is borrowed, not copied. It must never know
//! how a vendor spells a message.

mod clean;
mod pair;

use self::clean::clean;
use self::pair::pair;
use crate::protocol::{Message, Role};
use std::borrow::Cow;

/// Stands for what came before a conversation that begins with the model.
const EARLIER: &str = "(the earlier part of this conversation is not shown)";
/// Asks the model to go on where the conversation ends with the model.
const CONTINUE: &str = "Continue.";
/// A conversation that keeps the rules.
#[derive(Debug)]
pub(super) struct Valid<'a> {
    /// The messages to send.
    pub(super) messages: Vec<Cow<'a, Message>>,
    /// What had to be repaired, one line for people each; empty when nothing had to.
    pub(super) repairs: Vec<String>,
}

/// Checks and repairs a conversation, in time linear in its length.
///
/// # Errors
/// When nothing is left to send.
pub(super) fn validate(messages: &[Message]) -> Result<Valid<'_>, String> {
    let mut faults = Faults::default();
    let clean: Vec<Cow<'_, Message>> = messages
        .iter()
        .filter_map(|message| clean(message, &mut faults))
        .collect();
    let mut paired = pair(&clean, &mut faults);
    if paired.is_empty() {
        return Err("the conversation holds no message to answer".to_owned());
    }
    if paired
        .first()
        .is_some_and(|first| first.role == Role::Assistant)
    {
        faults.add(Fault::StartsWithModel);
        paired.insert(0, Cow::Owned(Message::user(EARLIER)));
    }
    if paired
        .last()
        .is_some_and(|last| last.role == Role::Assistant)
    {
        faults.add(Fault::EndsWithModel);
        paired.push(Cow::Owned(Message::user(CONTINUE)));
    }
    Ok(Valid {
        messages: paired,
        repairs: faults.lines(),
    })
}

/// What can be wrong, in the order in which it is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    BlankText,
    WrongRole,
    BareThinking,
    EmptyMessage,
    BadImage,
    BadArguments,
    SilentResult,
    RepeatedId,
    OrphanResult,
    MissingResult,
    LateResult,
    StartsWithModel,
    EndsWithModel,
}

impl Fault {
    const ALL: [(Fault, &'static str); 13] = [
        (Fault::BlankText, "left out blank text"),
        (
            Fault::WrongRole,
            "left out a block that its role cannot say",
        ),
        (
            Fault::BareThinking,
            "left out thinking that leads to nothing",
        ),
        (Fault::EmptyMessage, "left out an empty message"),
        (
            Fault::BadImage,
            "left out an image of a type that models do not take",
        ),
        (
            Fault::BadArguments,
            "emptied arguments that are not an object",
        ),
        (Fault::SilentResult, "marked a result that says nothing"),
        (
            Fault::RepeatedId,
            "renamed a call whose id is blank or used twice",
        ),
        (Fault::OrphanResult, "left out a result without its call"),
        (
            Fault::MissingResult,
            "answered a call whose result is missing",
        ),
        (Fault::LateResult, "moved results right behind their calls"),
        (
            Fault::StartsWithModel,
            "began the conversation with a user message",
        ),
        (
            Fault::EndsWithModel,
            "ended the conversation with a user message",
        ),
    ];
}

#[derive(Debug, Default)]
struct Faults([u32; Fault::ALL.len()]);

impl Faults {
    fn add(&mut self, fault: Fault) {
        self.0[fault as usize] += 1;
    }

    fn lines(&self) -> Vec<String> {
        Fault::ALL
            .iter()
            .map(|(fault, words)| (self.0[*fault as usize], words))
            .filter(|(count, _)| *count > 0)
            .map(|(count, words)| match count {
                1 => (*words).to_owned(),
                _ => format!("{words} ({count} times)"),
            })
            .collect()
    }
}

#[cfg(test)]
mod tests;
