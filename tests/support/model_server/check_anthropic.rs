//! What the Messages API rejects.

use super::check::{is_image, is_said, is_word, items, tool};
use serde_json::Value;
use std::collections::HashSet;

/// The rules that a request breaks.
pub(super) fn request(body: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    if !body.is_object() {
        return vec!["the body is no JSON object".to_owned()];
    }
    if !is_said(&body["model"]) {
        faults.push("no model".to_owned());
    }
    if body["max_tokens"].as_u64() < Some(1) {
        faults.push("no max_tokens".to_owned());
    }
    if !body["system"].is_null() && !items(&body["system"]).iter().all(is_text) {
        faults.push("a system prompt that is blank or no text".to_owned());
    }
    let mut names = HashSet::new();
    for definition in items(&body["tools"]) {
        if !names.insert(definition["name"].to_string()) {
            faults.push(format!("the tool {} comes twice", definition["name"]));
        }
        tool(
            &definition["name"],
            &definition["input_schema"],
            &mut faults,
        );
    }
    let marks = count_marks(body);
    if marks > 4 {
        faults.push(format!(
            "{marks} marks for the cache, of which 4 are allowed"
        ));
    }
    messages(items(&body["messages"]), !names.is_empty(), &mut faults);
    faults
}

fn count_marks(value: &Value) -> usize {
    match value {
        Value::Object(object) => {
            usize::from(object.contains_key("cache_control"))
                + object.values().map(count_marks).sum::<usize>()
        }
        Value::Array(items) => items.iter().map(count_marks).sum(),
        _ => 0,
    }
}

fn messages(messages: &[Value], has_tools: bool, faults: &mut Vec<String>) {
    if messages
        .last()
        .is_none_or(|message| message["role"] != "user")
    {
        faults.push("the conversation does not end with the user".to_owned());
    }
    let mut seen = HashSet::new();
    let mut open: Vec<&str> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let expected = if at % 2 == 0 { "user" } else { "assistant" };
        let mut fault = |what: &str| faults.push(format!("messages[{at}]: {what}"));
        if message["role"] != expected {
            fault("roles do not alternate, beginning with the user");
        }
        let blocks = items(&message["content"]);
        if blocks.is_empty() {
            fault("empty");
        }
        let mut results_over = false;
        for block in blocks {
            let kind = block["type"].as_str().unwrap_or_default();
            results_over |= kind != "tool_result";
            match (expected, kind) {
                (_, "text") if is_text(block) => {}
                (_, "text") => fault("blank text"),
                ("user", "image") if is_picture(block) => {}
                ("user", "tool_result") => {
                    let id = block["tool_use_id"].as_str().unwrap_or_default();
                    match open.iter().position(|call| *call == id) {
                        Some(place) => {
                            open.remove(place);
                        }
                        None => fault(&format!("a result without its call: {id:?}")),
                    }
                    if results_over {
                        fault("a result behind something else");
                    }
                    let parts = items(&block["content"]);
                    let good = |part: &Value| is_text(part) || is_picture(part);
                    if parts.is_empty() || !parts.iter().all(good) {
                        fault("a result that says nothing, or what is not allowed");
                    }
                }
                ("assistant", "thinking") => {
                    if !block["thinking"].is_string() || !is_said(&block["signature"]) {
                        fault("thinking without text or signature");
                    }
                }
                ("assistant", "redacted_thinking") if is_said(&block["data"]) => {}
                ("assistant", "tool_use") => {
                    let id = block["id"].as_str().unwrap_or_default();
                    if !is_word(&block["id"]) || !seen.insert(id) {
                        fault(&format!("the id {id:?} is not allowed or used twice"));
                    }
                    if !is_word(&block["name"]) || !block["input"].is_object() {
                        fault("a call with a name or input that is not allowed");
                    }
                    if !has_tools {
                        fault("a call where no tools are defined");
                    }
                    open.push(id);
                }
                _ => fault(&format!("a block that is not allowed: {block}")),
            }
        }
        if expected == "user" && !open.is_empty() {
            fault(&format!("calls without results: {open:?}"));
            open.clear();
        }
        let last = blocks.last().map(|block| &block["type"]);
        if last.is_some_and(|kind| kind == "thinking" || kind == "redacted_thinking") {
            fault("ends in thinking");
        }
    }
}

fn is_text(block: &Value) -> bool {
    block["type"] == "text" && is_said(&block["text"])
}

fn is_picture(block: &Value) -> bool {
    let source = &block["source"];
    let text = |key: &str| source[key].as_str().unwrap_or_default();
    block["type"] == "image"
        && source["type"] == "base64"
        && is_image(text("media_type"), text("data"))
}
