//! What Chat Completions reject.

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
    let limits = ["max_tokens", "max_completion_tokens"];
    let given = limits
        .iter()
        .filter(|limit| body[**limit].as_u64() > Some(0));
    if given.count() != 1 {
        faults.push("not exactly one limit of tokens".to_owned());
    }
    if body["stream"] == true && body["stream_options"]["include_usage"] != true {
        faults.push("a stream without its usage".to_owned());
    }
    if body["stream"] != true && !body["stream_options"].is_null() {
        faults.push("stream_options without a stream".to_owned());
    }
    let mut names = HashSet::new();
    for definition in items(&body["tools"]) {
        let function = &definition["function"];
        if definition["type"] != "function" || !names.insert(function["name"].to_string()) {
            faults.push(format!(
                "tool {} is no function or comes twice",
                function["name"]
            ));
        }
        tool(&function["name"], &function["parameters"], &mut faults);
    }
    if body["tools"].as_array().is_some_and(Vec::is_empty) {
        faults.push("an empty list of tools".to_owned());
    }
    messages(items(&body["messages"]), &mut faults);
    faults
}

fn messages(messages: &[Value], faults: &mut Vec<String>) {
    let first = messages.iter().find(|message| message["role"] != "system");
    if first.is_none_or(|message| message["role"] != "user") {
        faults.push("the conversation does not begin with the user".to_owned());
    }
    if messages
        .last()
        .is_none_or(|message| !matches!(message["role"].as_str(), Some("user" | "tool")))
    {
        faults.push("the conversation does not end with the user or a tool".to_owned());
    }
    let mut seen = HashSet::new();
    let mut open: Vec<&str> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let role = message["role"].as_str().unwrap_or_default();
        let mut fault = |what: &str| faults.push(format!("messages[{at}] ({role}): {what}"));
        if role != "tool" && !open.is_empty() {
            fault(&format!("calls without results before it: {open:?}"));
            open.clear();
        }
        match role {
            "system" if at == 0 => {
                if !is_said(&message["content"]) {
                    fault("blank");
                }
            }
            "user" => {
                let parts = items(&message["content"]);
                let all_good = !parts.is_empty() && parts.iter().all(is_part);
                if !is_said(&message["content"]) && !all_good {
                    fault("blank, or a part that is not allowed");
                }
            }
            "tool" => {
                let id = message["tool_call_id"].as_str().unwrap_or_default();
                match open.iter().position(|call| *call == id) {
                    Some(place) => {
                        open.remove(place);
                    }
                    None => fault(&format!("a result without its call: {id:?}")),
                }
                if !is_said(&message["content"]) {
                    fault("blank");
                }
            }
            "assistant" => {
                let calls = items(&message["tool_calls"]);
                if !message["tool_calls"].is_null() && calls.is_empty() {
                    fault("an empty list of calls");
                }
                let speaks = is_said(&message["content"]);
                if !speaks && (calls.is_empty() || !message["content"].is_null()) {
                    fault("blank");
                }
                for call in calls {
                    let id = call["id"].as_str().unwrap_or_default();
                    if id.is_empty() || !seen.insert(id) {
                        fault(&format!("the id {id:?} is blank or used twice"));
                    }
                    if call["type"] != "function" || !is_word(&call["function"]["name"]) {
                        fault("a call of no function, or of a name that is not allowed");
                    }
                    let arguments = call["function"]["arguments"].as_str().unwrap_or_default();
                    if !serde_json::from_str::<Value>(arguments).is_ok_and(|v| v.is_object()) {
                        fault(&format!("arguments that are no object: {arguments:?}"));
                    }
                    open.push(id);
                }
            }
            _ => fault("a role that is unknown, or out of place"),
        }
    }
    if !open.is_empty() {
        faults.push(format!("calls without results at the end: {open:?}"));
    }
}

fn is_part(part: &Value) -> bool {
    match part["type"].as_str() {
        Some("text") => is_said(&part["text"]),
        Some("image_url") => part["image_url"]["url"]
            .as_str()
            .and_then(|url| url.strip_prefix("data:")?.split_once(";base64,"))
            .is_some_and(|(media_type, data)| is_image(media_type, data)),
        _ => false,
    }
}
