//! Calls and results in few words.
//!
//! Everything here is foreign text and comes out escaped, on one line and cut to a length, so
//! that neither a long command nor a thousand spaces push the rest out of sight.

use super::escape;
use super::quantity::plural;
use crate::protocol::ResultContent;
use serde_json::Value;

/// Most characters of the arguments in a line.
const ARGUMENTS: usize = 100;
/// Most characters of a list or object in the arguments; a longer one is only counted.
const NESTED: usize = 40;
/// Most characters of a result in a line.
const RESULT: usize = 100;
/// Most characters of a failure in a line: it says what would be right.
const FAILURE: usize = 240;

/// The arguments of a call: the first text bare, the others as `name=value`.
pub(super) fn arguments(arguments: &Value) -> String {
    let Value::Object(members) = arguments else {
        return cut(&arguments.to_string(), ARGUMENTS);
    };
    let mut shown = String::new();
    for (index, (name, value)) in members.iter().enumerate() {
        if index > 0 {
            shown.push(' ');
        }
        match value {
            Value::String(text) if index == 0 => shown.push_str(text),
            Value::String(text) => shown.push_str(&format!("{name}={text:?}")),
            other => shown.push_str(&format!("{name}={}", nested(other))),
        }
        // Long enough to be cut: the rest may be megabytes.
        if shown.len() > 8 * ARGUMENTS {
            break;
        }
    }
    cut(&shown, ARGUMENTS)
}

/// A value that is no text: itself where it is short, else its size.
fn nested(value: &Value) -> String {
    let whole = value.to_string();
    match value {
        _ if whole.len() <= NESTED => whole,
        Value::Array(items) => format!("[{}]", plural(items.len() as u64, "item")),
        Value::Object(members) => format!("{{{}}}", plural(members.len() as u64, "member")),
        _ => whole,
    }
}

/// The first line of a result, how many follow, and the last where it is a note in brackets, as
/// the status of a command is; of a failure, more of it.
pub(super) fn result(content: &[ResultContent], is_error: bool) -> String {
    let most = if is_error { FAILURE } else { RESULT };
    let mut shown = String::new();
    let mut images = 0_usize;
    for part in content {
        match part {
            ResultContent::Text { text } if shown.is_empty() => {
                let mut lines = text.lines().filter(|line| !line.trim().is_empty());
                shown = cut(lines.next().unwrap_or_default(), most);
                let mut rest: Vec<&str> = lines.collect();
                let is_note = |line: &mut &str| line.starts_with('[') && line.ends_with(']');
                let note = rest.pop_if(is_note);
                if let more @ 1.. = rest.len() {
                    shown.push_str(&format!(" (+{})", plural(more as u64, "line")));
                }
                if let Some(note) = note {
                    shown.push_str(&format!(" {}", cut(note, most)));
                }
            }
            ResultContent::Text { .. } => {}
            ResultContent::Image(_) => images += 1,
        }
    }
    if images > 0 {
        if !shown.is_empty() {
            shown.push_str(", ");
        }
        shown.push_str(&plural(images as u64, "image"));
    }
    shown
}

/// `text` escaped, on one line, and cut after `most` characters. Tabs are layout and become
/// spaces.
pub(super) fn cut(text: &str, most: usize) -> String {
    let text = text.trim();
    let (text, mark) = match text.char_indices().nth(most) {
        None => (text, ""),
        Some((end, _)) => (text[..end].trim_end(), "…"),
    };
    let text = text.replace('\t', "  ");
    format!("{}{mark}", escape::line(&text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_table_of_arguments() {
        for (value, shown) in [
            (json!({}), ""),
            (json!({"path": "src/a.rs"}), "src/a.rs"),
            (
                json!({"path": "a b", "offset": 5, "glob": "*.rs"}),
                "a b offset=5 glob=\"*.rs\"",
            ),
            (json!({"todos": [1]}), "todos=[1]"),
            (json!({"command": "ls\nrm x\r"}), "ls\\nrm x"),
            (json!([1, 2]), "[1,2]"),
            (
                json!({"path": "a", "edits": [{"old": "x".repeat(30), "new": ""}]}),
                "a edits=[1 item]",
            ),
            (
                json!({"a": {"old": "x".repeat(30), "new": ""}}),
                "a={2 members}",
            ),
        ] {
            assert_eq!(arguments(&value), shown);
        }
        let long = arguments(&json!({"command": "x".repeat(5_000)}));
        assert_eq!(long.chars().count(), ARGUMENTS + 1);
    }

    #[test]
    fn a_result_is_its_first_line() {
        let text = |text: &str| {
            let content = [ResultContent::Text {
                text: text.to_owned(),
            }];
            result(&content, false)
        };
        assert_eq!(text(""), "");
        assert_eq!(text("1\tone"), "1  one");
        assert_eq!(text("\n  one\ntwo\n\n"), "one (+1 line)");
        assert_eq!(
            text("(no output)\n[exit status 1, 3 ms]"),
            "(no output) [exit status 1, 3 ms]"
        );
        assert_eq!(
            text("one\ntwo\n[exit status 0, 3 ms]"),
            "one (+1 line) [exit status 0, 3 ms]"
        );
        assert_eq!(text("[1]"), "[1]");
        assert_eq!(text("\u{1b}[2Kone\ntwo\nthree"), "\\u{1b}[2Kone (+2 lines)");
    }
}
