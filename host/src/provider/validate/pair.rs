//! The rules between messages: every call has exactly one result, right behind it.
//!
//! Owns the pairing of calls and results and the ids by which they find each other.

use super::{Fault, Faults};
use crate::protocol::{ContentBlock, Message, Role, ToolErrorKind, ToolResult};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet, VecDeque};

/// The answer to a call whose result is lost.
pub(super) const NO_RESULT: &str =
    "no result of this call was kept; it may have been interrupted before it ended";

/// Puts exactly one result right behind each call and drops the rest.
pub(super) fn pair<'a>(
    messages: &[Cow<'a, Message>],
    faults: &mut Faults,
) -> Vec<Cow<'a, Message>> {
    let mut out = Vec::with_capacity(messages.len() + 2);
    let mut ids = Ids::default();
    let mut rest = messages;
    while let Some((message, behind)) = rest.split_first() {
        rest = behind;
        if message.role == Role::User {
            // Results that follow calls were taken together with them, below.
            push_without_results(message.clone(), &mut out, faults);
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
        push_without_results(message.clone(), out, &mut Faults::default());
    }
}

fn push_without_results<'a>(
    message: Cow<'a, Message>,
    out: &mut Vec<Cow<'a, Message>>,
    faults: &mut Faults,
) {
    let results = message
        .content
        .iter()
        .filter(|block| is_result(block))
        .count();
    if results == 0 {
        out.push(message);
        return;
    }
    for _ in 0..results {
        faults.add(Fault::OrphanResult);
    }
    if results < message.content.len() {
        let mut message = message.into_owned();
        message.content.retain(|block| !is_result(block));
        out.push(Cow::Owned(message));
    }
}
