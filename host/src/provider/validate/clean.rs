//! The rules that one message can break by itself.
//!
//! Owns what each role may say and what a block must hold.

use super::{Fault, Faults};
use crate::protocol::{ContentBlock, ImageBlock, Message, ResultContent, Role, ToolResult};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// The image types that all vendors take.
pub(super) const IMAGE_TYPES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];
/// The marker for a result that says nothing.
pub(super) const NO_OUTPUT: &str = "(no output)";

/// One message by itself: borrowed when nothing is wrong with it, `None` when nothing is left.
pub(super) fn clean<'a>(message: &'a Message, faults: &mut Faults) -> Option<Cow<'a, Message>> {
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

pub(super) fn is_blank(part: &ResultContent) -> bool {
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
