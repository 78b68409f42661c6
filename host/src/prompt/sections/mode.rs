//! What is different in plan mode, and in a turn that only thinks.

use super::one_line;
use crate::policy::Mode;
use crate::protocol::ToolDefinition;
use serde_json::Value;
use std::fmt::Write as _;

pub(in crate::prompt) const THINK: &str = "\
# Think first
Do not act yet: in this answer no tool can be called. Say in a few sentences what you know, what is still \
open, and which tools you will use next and why. Then you will be asked to act.";

pub(in crate::prompt) fn plan(mode: Mode) -> Option<String> {
    match mode {
        Mode::Act => None,
        Mode::Plan => Some(
            "# Plan mode\nThis run is for planning. Look as much as you need, change nothing, and answer with a plan: \
             the steps in order, the files each one touches, how to check it, and what the person has to decide."
                .to_owned(),
        ),
    }
}

/// The tools as sentences, for a request that carries none.
pub(in crate::prompt) fn tools_in_prose(tools: &[ToolDefinition]) -> Option<String> {
    if tools.is_empty() {
        return None;
    }
    let mut text = String::from("# Tools you will have");
    for tool in tools {
        let _ = write!(text, "\n- {}: {}", tool.name, one_line(&tool.description));
        if let Some(arguments) = arguments(&tool.input_schema) {
            let _ = write!(text, " Arguments: {arguments}.");
        }
    }
    Some(text)
}

fn arguments(schema: &Value) -> Option<String> {
    let properties = schema.get("properties")?.as_object()?;
    let required = |name: &str| {
        schema
            .get("required")
            .and_then(Value::as_array)
            .is_some_and(|names| names.iter().any(|item| item == name))
    };
    let list: Vec<String> = properties
        .keys()
        .map(|name| match required(name) {
            true => name.clone(),
            false => format!("{name} (optional)"),
        })
        .collect();
    (!list.is_empty()).then(|| list.join(", "))
}
