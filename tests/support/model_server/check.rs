//! Rules that both protocols share.

use super::Protocol;
use axum::http::HeaderMap;
use serde_json::Value;

/// The headers of a request.
pub(super) fn headers(protocol: Protocol, headers: &HeaderMap, key: Option<&str>) -> Vec<String> {
    let get = |name: &str| {
        headers
            .get(name)
            .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
    };
    let mut faults = Vec::new();
    if !get("content-type").is_some_and(|kind| kind.starts_with("application/json")) {
        faults.push("the content type is not application/json".to_owned());
    }
    if !get("user-agent").is_some_and(|agent| agent.starts_with("hotcell/")) {
        faults.push("the user agent is not hotcell".to_owned());
    }
    let given = match protocol {
        Protocol::OpenAi => {
            get("authorization").and_then(|value| value.strip_prefix("Bearer ").map(str::to_owned))
        }
        Protocol::Anthropic => get("x-api-key"),
    };
    if key.is_some() && given.as_deref() != key {
        faults.push("the key is missing or not the right one".to_owned());
    }
    if protocol == Protocol::Anthropic && get("anthropic-version").as_deref() != Some("2023-06-01")
    {
        faults.push("anthropic-version is missing or unknown".to_owned());
    }
    faults
}

/// The definition of one tool: its name, and the schema of its arguments.
pub(super) fn tool(name: &Value, schema: &Value, faults: &mut Vec<String>) {
    if !is_word(name) {
        faults.push(format!(
            "tool name {name} is not 1 to 64 letters, digits, _ and -"
        ));
    }
    if schema["type"] != "object" {
        faults.push(format!("the schema of {name} is not one of an object"));
    }
    if holds_mark(schema) {
        faults.push(format!("the schema of {name} holds a mark of the host"));
    }
}

fn holds_mark(value: &Value) -> bool {
    match value {
        Value::Object(object) => object.iter().any(|(key, value)| {
            // A property may be called so; then its schema is an object.
            (key.starts_with("x-hotcell") && !value.is_object()) || holds_mark(value)
        }),
        Value::Array(items) => items.iter().any(holds_mark),
        _ => false,
    }
}

/// 1 to 64 letters, digits, `_` and `-`.
pub(super) fn is_word(value: &Value) -> bool {
    value.as_str().is_some_and(|word| {
        (1..=64).contains(&word.len())
            && word
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
    })
}

/// A text that says something.
pub(super) fn is_said(value: &Value) -> bool {
    value.as_str().is_some_and(|text| !text.trim().is_empty())
}

/// The items of a list; none when it is no list.
pub(super) fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Whether a text is an image that vendors take, as base64.
pub(super) fn is_image(media_type: &str, data: &str) -> bool {
    let known = ["image/png", "image/jpeg", "image/gif", "image/webp"];
    known.contains(&media_type) && !data.is_empty() && data.is_ascii()
}
