//! Holds a request against the demands of a script.
//!
//! Owns the wording of what is not met: the demand and what was there instead.

use super::super::Request;
use super::format::{Expect, ExpectResult};
use crate::protocol::{ContentBlock, Message, Role, ToolResult};
use std::borrow::Cow;

/// The most characters of what was there that a message shows.
const SHOWN: usize = 300;

/// The first demand that is not met, and what was there.
pub(super) fn unmet(
    expect: &Expect,
    request: &Request,
    messages: &[Cow<'_, Message>],
) -> Option<String> {
    let user = last_user_text(messages);
    texts("the last user text", &user, &expect.user_contains.0)
        .or_else(|| {
            let parts = &expect.system_contains.0;
            texts("the system prompt", &request.system, parts)
        })
        .or_else(|| tools(expect, request))
        .or_else(|| {
            let (count, wanted) = (messages.len(), expect.messages?);
            (count != wanted).then(|| format!("expected {wanted} messages, there are {count}"))
        })
        .or_else(|| {
            expect
                .results
                .iter()
                .find_map(|demand| result(demand, messages))
        })
}

fn last_user_text(messages: &[Cow<'_, Message>]) -> String {
    messages
        .iter()
        .rev()
        .filter(|message| message.role == Role::User)
        .map(|message| message.text())
        .find(|text| !text.is_empty())
        .unwrap_or_default()
}

fn texts(what: &str, text: &str, parts: &[String]) -> Option<String> {
    let missing = parts.iter().find(|part| !text.contains(part.as_str()))?;
    Some(format!(
        "expected {what} to contain {missing:?}, it is {}",
        shown(text)
    ))
}

fn tools(expect: &Expect, request: &Request) -> Option<String> {
    let names: Vec<&str> = request
        .tools
        .iter()
        .map(|tool| tool.name.as_str())
        .collect();
    let offered = || match names.as_slice() {
        [] => "no tool is offered".to_owned(),
        names => format!("offered are {}", names.join(", ")),
    };
    let is_offered = |name: &&String| names.contains(&name.as_str());
    if let Some(missing) = expect.tools.iter().find(|name| !is_offered(name)) {
        return Some(format!(
            "expected the tool {missing} to be offered, {}",
            offered()
        ));
    }
    if let Some(present) = expect.tools_absent.iter().find(is_offered) {
        return Some(format!(
            "expected the tool {present} not to be offered, {}",
            offered()
        ));
    }
    match expect.any_tools {
        Some(true) if names.is_empty() => Some(format!("expected tools, {}", offered())),
        Some(false) if !names.is_empty() => Some(format!("expected no tools, {}", offered())),
        _ => None,
    }
}

fn result(demand: &ExpectResult, messages: &[Cow<'_, Message>]) -> Option<String> {
    let call = &demand.call;
    let blocks = messages.iter().rev().flat_map(|message| &message.content);
    let found = blocks
        .filter_map(as_result)
        .find(|result| result.call_id == *call);
    let Some(result) = found else {
        let calls: Vec<&str> = messages
            .iter()
            .flat_map(|message| message.calls())
            .map(|call| call.id.as_str())
            .collect();
        return Some(format!(
            "expected a result of {call}, the calls are [{}]",
            calls.join(", ")
        ));
    };
    let text = result.text();
    let what = format!("the result of {call}");
    if let Some(unmet) = texts(&what, &text, &demand.contains.0) {
        return Some(unmet);
    }
    let mut lacks = demand.lacks.0.iter();
    if let Some(part) = lacks.find(|part| text.contains(part.as_str())) {
        return Some(format!(
            "expected {what} not to contain {part:?}, it is {}",
            shown(&text)
        ));
    }
    if demand
        .is_error
        .is_some_and(|wanted| wanted != result.is_error())
    {
        let (wanted, is) = match result.is_error() {
            true => ("no error", "one"),
            false => ("an error", "none"),
        };
        return Some(format!(
            "expected {what} to be {wanted}, it is {is}: {}",
            shown(&text)
        ));
    }
    if let Some(wanted) = demand.error
        && result.error != Some(wanted)
    {
        let is = result.error.map_or("no error", |kind| kind.name());
        let wanted = wanted.name();
        return Some(format!(
            "expected {what} to be {wanted}, it is {is}: {}",
            shown(&text)
        ));
    }
    None
}

const fn as_result(block: &ContentBlock) -> Option<&ToolResult> {
    match block {
        ContentBlock::ToolResult(result) => Some(result),
        _ => None,
    }
}

fn shown(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{:?}…", &text[..end]),
        None => format!("{text:?}"),
    }
}
