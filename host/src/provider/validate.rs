//! Makes a conversation one that vendors accept, before every send.
//!
//! Owns the rules that both protocols share: who speaks when, what a block may hold, and that
//! every call has exactly one result right after it. It exists because one bad block makes a
//! vendor reject every request of a session from then on. It works on the request alone and never
//! touches the history it came from; what is valid is borrowed, not copied. It must never know
//! how a vendor spells a message.

use crate::protocol::{
    ContentBlock, ImageBlock, Message, ResultContent, Role, ToolErrorKind, ToolResult,
};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet, VecDeque};

/// The image types that all vendors take.
const IMAGE_TYPES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];
/// Stands for what came before a conversation that begins with the model.
const EARLIER: &str = "(the earlier part of this conversation is not shown)";
/// Asks the model to go on where the conversation ends with the model.
const CONTINUE: &str = "Continue.";
/// The answer to a call whose result is lost.
const NO_RESULT: &str =
    "no result of this call was kept; it may have been interrupted before it ended";
/// The marker for a result that says nothing.
const NO_OUTPUT: &str = "(no output)";

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

/// One message by itself: borrowed when nothing is wrong with it, `None` when nothing is left.
fn clean<'a>(message: &'a Message, faults: &mut Faults) -> Option<Cow<'a, Message>> {
    let ends_in_thinking = matches!(message.content.last(), Some(ContentBlock::Thinking { .. }));
    let as_it_is = !message.content.is_empty()
        && !ends_in_thinking
        && message
            .content
            .iter()
            .all(|block| fault_of(message.role, block).is_none());
    if as_it_is {
        return Some(Cow::Borrowed(message));
    }
    let mut content: Vec<ContentBlock> = message
        .content
        .iter()
        .filter_map(|block| match fault_of(message.role, block) {
            None => Some(block.clone()),
            Some(fault) => {
                faults.add(fault);
                repaired(block, fault)
            }
        })
        .collect();
    // A vendor takes thinking only in front of what came of it.
    while matches!(content.last(), Some(ContentBlock::Thinking { .. })) {
        faults.add(Fault::BareThinking);
        content.pop();
    }
    if content.is_empty() {
        faults.add(Fault::EmptyMessage);
        return None;
    }
    Some(Cow::Owned(Message {
        role: message.role,
        content,
    }))
}

fn fault_of(role: Role, block: &ContentBlock) -> Option<Fault> {
    match (role, block) {
        (_, ContentBlock::Text { .. }) => block.is_blank_text().then_some(Fault::BlankText),
        (
            Role::Assistant,
            ContentBlock::Thinking {
                text,
                signature,
                redacted,
            },
        ) => (text.trim().is_empty() && signature.is_none() && redacted.is_none())
            .then_some(Fault::BareThinking),
        (Role::Assistant, ContentBlock::ToolCall(call)) => {
            (!call.arguments.is_object()).then_some(Fault::BadArguments)
        }
        (Role::User, ContentBlock::Image(image)) => (!is_known(image)).then_some(Fault::BadImage),
        (Role::User, ContentBlock::ToolResult(result)) => fault_of_result(result),
        _ => Some(Fault::WrongRole),
    }
}

fn fault_of_result(result: &ToolResult) -> Option<Fault> {
    let bad_image = result
        .content
        .iter()
        .any(|part| matches!(part, ResultContent::Image(image) if !is_known(image)));
    if bad_image {
        return Some(Fault::BadImage);
    }
    (result.content.is_empty() || result.content.iter().any(is_blank))
        .then_some(Fault::SilentResult)
}

fn is_known(image: &ImageBlock) -> bool {
    IMAGE_TYPES.contains(&image.media_type.as_str()) && !image.data.is_empty()
}

fn is_blank(part: &ResultContent) -> bool {
    matches!(part, ResultContent::Text { text } if text.trim().is_empty())
}

fn repaired(block: &ContentBlock, fault: Fault) -> Option<ContentBlock> {
    match (block, fault) {
        (ContentBlock::ToolCall(call), Fault::BadArguments) => {
            let mut call = call.clone();
            call.arguments = Value::Object(Map::new());
            Some(ContentBlock::ToolCall(call))
        }
        (ContentBlock::Image(image), Fault::BadImage) => {
            Some(ContentBlock::text(instead_of(image)))
        }
        (ContentBlock::ToolResult(result), Fault::BadImage | Fault::SilentResult) => {
            let mut result = result.clone();
            for part in &mut result.content {
                if let ResultContent::Image(image) = part
                    && !is_known(image)
                {
                    let text = instead_of(image);
                    *part = ResultContent::Text { text };
                }
            }
            result.content.retain(|part| !is_blank(part));
            if result.content.is_empty() {
                let text = NO_OUTPUT.to_owned();
                result.content.push(ResultContent::Text { text });
            }
            Some(ContentBlock::ToolResult(result))
        }
        _ => None,
    }
}

fn instead_of(image: &ImageBlock) -> String {
    format!("(an image of type {:?} was left out)", image.media_type)
}

/// Puts exactly one result right behind each call and drops the rest.
fn pair<'a>(messages: &[Cow<'a, Message>], faults: &mut Faults) -> Vec<Cow<'a, Message>> {
    let mut out = Vec::with_capacity(messages.len() + 2);
    let mut ids = Ids::default();
    let mut rest = messages;
    while let Some((message, behind)) = rest.split_first() {
        rest = behind;
        if message.role == Role::User {
            // Results that follow calls were taken together with them, below.
            push_without_results(message, &mut out, faults);
            continue;
        }
        let turn = ids.take(message);
        let renamed = turn.iter().any(|id| id.renamed.is_some());
        out.push(if renamed {
            Cow::Owned(rename(message, &turn, faults))
        } else {
            message.clone()
        });
        if turn.is_empty() {
            continue;
        }
        let answers = rest.iter().take_while(|m| m.role == Role::User).count();
        let (run, behind) = rest.split_at(answers);
        rest = behind;
        if !renamed && is_paired(&turn, run) {
            out.extend(run.iter().cloned());
        } else {
            repair_run(&turn, run, &mut out, faults);
        }
    }
    out
}

/// One call's id in the conversation and, when that cannot stand, in the request.
struct CallId<'m> {
    name: &'m str,
    id: &'m str,
    renamed: Option<String>,
}

/// The ids of all calls so far.
#[derive(Default)]
struct Ids<'m> {
    taken: HashSet<Cow<'m, str>>,
    /// How often an id came again, so that finding a free one does not search.
    repeats: HashMap<&'m str, u32>,
}

impl<'m> Ids<'m> {
    fn take(&mut self, message: &'m Message) -> Vec<CallId<'m>> {
        message
            .calls()
            .map(|call| {
                let id = call.id.as_str();
                let fits = !id.trim().is_empty() && self.taken.insert(Cow::Borrowed(id));
                CallId {
                    name: &call.name,
                    id,
                    renamed: (!fits).then(|| self.rename(id)),
                }
            })
            .collect()
    }

    fn rename(&mut self, id: &'m str) -> String {
        let repeats = self.repeats.entry(id).or_insert(1);
        let stem = if id.trim().is_empty() { "call" } else { id };
        loop {
            *repeats += 1;
            let candidate = format!("{stem}_{repeats}");
            if self.taken.insert(Cow::Owned(candidate.clone())) {
                return candidate;
            }
        }
    }
}

fn rename(message: &Message, turn: &[CallId<'_>], faults: &mut Faults) -> Message {
    let mut message = message.clone();
    let mut ids = turn.iter();
    for block in &mut message.content {
        if let ContentBlock::ToolCall(call) = block
            && let Some(new) = ids.next().and_then(|id| id.renamed.as_ref())
        {
            faults.add(Fault::RepeatedId);
            call.id.clone_from(new);
        }
    }
    message
}

/// Whether the user messages behind the calls begin with exactly their results.
fn is_paired(turn: &[CallId<'_>], run: &[Cow<'_, Message>]) -> bool {
    let mut open: HashSet<&str> = turn.iter().map(|call| call.id).collect();
    let mut blocks = run.iter().flat_map(|message| &message.content);
    let results_first = blocks.by_ref().take(turn.len()).all(
        |block| matches!(block, ContentBlock::ToolResult(result) if open.remove(result.call_id.as_str())),
    );
    results_first && open.is_empty() && !blocks.any(is_result)
}

const fn is_result(block: &ContentBlock) -> bool {
    matches!(block, ContentBlock::ToolResult(_))
}

fn repair_run<'a>(
    turn: &[CallId<'_>],
    run: &[Cow<'a, Message>],
    out: &mut Vec<Cow<'a, Message>>,
    faults: &mut Faults,
) {
    let mut found: HashMap<&str, VecDeque<&ToolResult>> = HashMap::new();
    let mut late = false;
    let mut other_seen = false;
    for block in run.iter().flat_map(|message| &message.content) {
        if let ContentBlock::ToolResult(result) = block {
            late |= other_seen;
            found.entry(&result.call_id).or_default().push_back(result);
        } else {
            other_seen = true;
        }
    }
    if late {
        faults.add(Fault::LateResult);
    }
    let results: Vec<ToolResult> = turn
        .iter()
        .map(|call| {
            let id = call.renamed.as_deref().unwrap_or(call.id);
            match found.get_mut(call.id).and_then(VecDeque::pop_front) {
                Some(result) => ToolResult {
                    call_id: id.to_owned(),
                    ..result.clone()
                },
                None => {
                    faults.add(Fault::MissingResult);
                    ToolResult::failure(id, call.name, ToolErrorKind::Interrupted, NO_RESULT)
                }
            }
        })
        .collect();
    for _ in found.values().flatten() {
        faults.add(Fault::OrphanResult);
    }
    out.push(Cow::Owned(Message::results(results)));
    // What had a call was taken above and what had none was counted.
    for message in run {
        push_without_results(message, out, &mut Faults::default());
    }
}

fn push_without_results<'a>(
    message: &Cow<'a, Message>,
    out: &mut Vec<Cow<'a, Message>>,
    faults: &mut Faults,
) {
    let results = message
        .content
        .iter()
        .filter(|block| is_result(block))
        .count();
    if results == 0 {
        out.push(message.clone());
        return;
    }
    for _ in 0..results {
        faults.add(Fault::OrphanResult);
    }
    if results < message.content.len() {
        let mut message = message.clone().into_owned();
        message.content.retain(|block| !is_result(block));
        out.push(Cow::Owned(message));
    }
}

#[cfg(test)]
#[path = "validate_tests.rs"]
mod tests;
