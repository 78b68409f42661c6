//! One session, for people and for programs.
//!
//! Owns its three forms: text for a terminal, Markdown to be read elsewhere, and the JSON that both
//! `show` and `export` print. All three number messages as `--fork ID@MESSAGE` takes them.

use super::date;
use crate::protocol::{ContentBlock, ResultContent, Role, ToolResult};
use crate::render::{Paint, Palette, escape};
use crate::store::{KeptMessage, SessionInfo, Store, StoreError};
use serde::Serialize;
use serde_json::Value;

/// Lines of a result that are shown without `--full`.
const LINES: usize = 12;

/// A session with what it holds.
#[derive(Debug, Serialize)]
pub(super) struct Shown {
    session: SessionInfo,
    /// The ids by which `undo` and `diff` know its runs.
    runs: Vec<String>,
    todos: Option<Value>,
    messages: Vec<KeptMessage>,
    /// The numbers of messages that cannot be read.
    pub(super) lost: Vec<u64>,
}

impl Shown {
    pub(super) fn read(store: &Store, session: SessionInfo) -> Result<Shown, StoreError> {
        let kept = store.read(&session)?;
        Ok(Shown {
            runs: store.runs(&session)?,
            todos: store.todos(&session)?,
            messages: kept.messages,
            lost: kept.lost,
            session,
        })
    }

    /// As text; `full` does not cut results.
    pub(super) fn text(&self, full: bool, palette: Palette) -> String {
        let session = &self.session;
        let mut text = format!(
            "{}  {}\n",
            palette.paint(Paint::Strong, &session.id),
            escape::line(&session.title)
        );
        for (name, value) in self.facts() {
            let line = format!("{name}: {}", escape::line(&value));
            text.push_str(&format!("{}\n", palette.paint(Paint::Faint, line)));
        }
        for (mark, item) in self.items() {
            text.push_str(&format!("[{mark}] {}\n", escape::line(item)));
        }
        for message in &self.messages {
            let who = format!("── {} {}", message.number, who(message));
            text.push_str(&format!(
                "\n{}\n",
                palette.paint(Paint::Strong, escape::line(&who))
            ));
            for block in &message.content {
                let shown = plain(block, full);
                if !shown.is_empty() {
                    text.push_str(&format!("{}\n", escape::text(&shown)));
                }
            }
        }
        text
    }

    /// As Markdown, whole.
    pub(super) fn markdown(&self) -> String {
        let mut text = format!("# {}\n\n", escape::line(&self.session.title));
        let id = ("session", self.session.id.clone());
        for (name, value) in std::iter::once(id).chain(self.facts()) {
            text.push_str(&format!("- {name}: {}\n", escape::line(&value)));
        }
        for (mark, item) in self.items() {
            text.push_str(&format!("- [{mark}] {}\n", escape::line(item)));
        }
        for message in &self.messages {
            let who = who(message);
            text.push_str(&format!(
                "\n## {}. {}\n",
                message.number,
                escape::line(&who)
            ));
            for block in &message.content {
                text.push_str(&format!("\n{}\n", escape::text(&marked_up(block))));
            }
        }
        text
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        let session = &self.session;
        let usage = &session.usage;
        let mut facts = vec![
            ("workspace", session.workspace.clone()),
            ("model", session.model.clone()),
            ("begun", date(session.created)),
            ("changed", date(session.updated)),
            (
                "used",
                format!(
                    "{} tokens in, {} out, {} fuel",
                    usage.input_tokens, usage.output_tokens, session.fuel
                ),
            ),
        ];
        if let Some(source) = &session.forked_from {
            facts.push(("copy of", source.clone()));
        }
        if !session.tags.is_empty() {
            facts.push(("tags", session.tags.join(", ")));
        }
        facts
    }

    /// The to-do list: a mark and a text each. What a tool wrote there in another form is skipped.
    fn items(&self) -> impl Iterator<Item = (char, &str)> {
        let items = self.todos.as_ref().and_then(Value::as_array);
        items.into_iter().flatten().filter_map(|item| {
            let mark = match item.get("status")?.as_str()? {
                "completed" => 'x',
                "in_progress" => '>',
                "cancelled" => '-',
                _ => ' ',
            };
            Some((mark, item.get("content")?.as_str()?))
        })
    }
}

fn who(message: &KeptMessage) -> String {
    match (message.role, message.content.first()) {
        (Role::Assistant, _) => "model".to_owned(),
        (Role::User, Some(ContentBlock::ToolResult(result))) => match result.error {
            None => format!("result of {}", result.name),
            Some(kind) => format!("result of {}: {}", result.name, kind.name()),
        },
        (Role::User, _) => "person".to_owned(),
    }
}

fn plain(block: &ContentBlock, full: bool) -> String {
    match block {
        ContentBlock::Text { text } => text.trim_end().to_owned(),
        ContentBlock::Thinking { text, .. } if text.trim().is_empty() => String::new(),
        ContentBlock::Thinking { text, .. } => format!("thinking: {}", text.trim_end()),
        ContentBlock::ToolCall(call) => format!("▸ {} {}", call.name, call.arguments),
        ContentBlock::ToolResult(result) => cut(&said(result), full),
        ContentBlock::Image(image) => format!("(a picture, {})", image.media_type),
    }
}

fn marked_up(block: &ContentBlock) -> String {
    match block {
        ContentBlock::ToolCall(call) => {
            let arguments = serde_json::to_string_pretty(&call.arguments).unwrap_or_default();
            format!("Calls `{}`:\n\n{}", call.name, fenced("json", &arguments))
        }
        ContentBlock::ToolResult(result) => fenced("", &said(result)),
        ContentBlock::Thinking { text, .. } => {
            let lines: Vec<String> = text.lines().map(|line| format!("> {line}")).collect();
            lines.join("\n")
        }
        block => plain(block, true),
    }
}

fn said(result: &ToolResult) -> String {
    let parts: Vec<String> = result
        .content
        .iter()
        .map(|part| match part {
            ResultContent::Text { text } => text.trim_end().to_owned(),
            ResultContent::Image(image) => format!("(a picture, {})", image.media_type),
        })
        .collect();
    parts.join("\n")
}

fn cut(text: &str, full: bool) -> String {
    let lines: Vec<&str> = text.lines().collect();
    if full || lines.len() <= LINES + 1 {
        return lines.join("\n");
    }
    let more = lines.len() - LINES;
    format!("{}\n… {more} more lines", lines[..LINES].join("\n"))
}

/// A block that nothing in it can end.
fn fenced(language: &str, text: &str) -> String {
    let longest = text
        .split(|c| c != '`')
        .map(str::len)
        .max()
        .unwrap_or_default();
    let fence = "`".repeat((longest + 1).max(3));
    format!("{fence}{language}\n{text}\n{fence}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{SessionEntry, ToolCall, ToolErrorKind, Usage};
    use crate::store::NewRun;
    use std::path::Path;

    fn shown() -> Shown {
        let store = Store::in_memory().expect("a store");
        let run = NewRun {
            run: "run-1",
            workspace: Path::new("/w"),
            model: "m",
            prompt: "look\r at it\nplease",
        };
        let session = store.begin(&run).expect("a session");
        let call = ToolCall {
            id: "1".to_owned(),
            name: "grep".to_owned(),
            arguments: serde_json::json!({"pattern": "\u{1b}[2K"}),
            malformed: None,
        };
        let long: String = (1..=20).map(|line| format!("line {line} ```\n")).collect();
        for entry in [
            SessionEntry::User(vec![ContentBlock::text("look\r at it\nplease")]),
            SessionEntry::Answer {
                content: vec![
                    ContentBlock::Thinking {
                        text: "hm".to_owned(),
                        signature: None,
                        redacted: None,
                    },
                    ContentBlock::text("I look."),
                    ContentBlock::ToolCall(call),
                ],
                usage: Usage {
                    input_tokens: 10,
                    output_tokens: 2,
                    ..Usage::default()
                },
            },
            SessionEntry::Result(ToolResult::failure(
                "1",
                "grep",
                ToolErrorKind::NotFound,
                long,
            )),
        ] {
            session.append(&entry).expect("it is kept");
        }
        let todos = br#"[{"content": "look", "status": "completed"}, {"content": "fix", "status": "pending"}]"#;
        store
            .swap_state(session.id(), "todo", "todos", todos, 0, 1_000)
            .expect("it is kept");
        let mut info = store.find(session.id()).expect("it is there");
        let source = Some("ba9876543210".to_owned());
        (info.created, info.updated, info.forked_from) = (0, 60, source);
        let mut shown = Shown::read(&store, info).expect("it reads");
        shown.session.id = "0123456789ab".to_owned();
        for message in &mut shown.messages {
            message.said = 30;
        }
        shown
    }

    #[test]
    fn a_session_in_its_three_forms() {
        let shown = shown();
        insta::assert_snapshot!("text", shown.text(false, Palette::Plain));
        insta::assert_snapshot!("markdown", shown.markdown());
        insta::assert_json_snapshot!("json", shown);
        assert!(shown.text(true, Palette::Plain).contains("line 20"));
    }

    #[test]
    fn nothing_in_a_text_ends_its_block() {
        assert_eq!(fenced("", "a"), "```\na\n```");
        assert_eq!(fenced("", "````"), "`````\n````\n`````");
    }
}
