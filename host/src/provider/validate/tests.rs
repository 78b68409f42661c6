//! Tests of the validator, against a second and slower statement of its rules.

use super::clean::{IMAGE_TYPES, NO_OUTPUT, is_blank};
use super::pair::NO_RESULT;
use super::*;
use crate::protocol::{
    ContentBlock, ImageBlock, ResultContent, ToolCall, ToolErrorKind, ToolResult,
};
use proptest::prelude::*;
use serde_json::json;
use std::collections::HashSet;

fn text(text: &str) -> ContentBlock {
    ContentBlock::text(text)
}

fn call(id: &str) -> ContentBlock {
    ContentBlock::ToolCall(ToolCall {
        id: id.to_owned(),
        name: "read_file".to_owned(),
        arguments: json!({"path": id}),
        malformed: None,
    })
}

fn result(id: &str) -> ContentBlock {
    ContentBlock::ToolResult(ToolResult {
        call_id: id.to_owned(),
        name: "read_file".to_owned(),
        content: vec![ResultContent::Text {
            text: format!("contents of {id}"),
        }],
        error: None,
        stats: Default::default(),
    })
}

fn thinking(words: &str, signature: Option<&str>) -> ContentBlock {
    ContentBlock::Thinking {
        text: words.to_owned(),
        signature: signature.map(str::to_owned),
        redacted: None,
    }
}

fn image(media_type: &str, data: &str) -> ImageBlock {
    ImageBlock {
        media_type: media_type.to_owned(),
        data: data.to_owned(),
    }
}

fn user(content: impl Into<Vec<ContentBlock>>) -> Message {
    Message {
        role: Role::User,
        content: content.into(),
    }
}

fn model(content: impl Into<Vec<ContentBlock>>) -> Message {
    Message::assistant(content.into())
}

/// The rules again, said plainly; a fault is a line.
fn faults(messages: &[Message]) -> Vec<String> {
    let mut faults = Vec::new();
    if messages.first().is_none_or(|m| m.role != Role::User) {
        faults.push("does not begin with the user".into());
    }
    if messages.last().is_none_or(|m| m.role != Role::User) {
        faults.push("does not end with the user".into());
    }
    let mut ids = HashSet::new();
    let mut open: Vec<&str> = Vec::new();
    let mut said_something_else = false;
    for (at, message) in messages.iter().enumerate() {
        if message.content.is_empty() {
            faults.push(format!("{at}: empty"));
        }
        if message.role == Role::Assistant {
            for id in open.drain(..) {
                faults.push(format!("{at}: no result of {id}"));
            }
            said_something_else = false;
            if matches!(message.content.last(), Some(ContentBlock::Thinking { .. })) {
                faults.push(format!("{at}: ends in thinking"));
            }
        }
        for block in &message.content {
            match (message.role, block) {
                (_, ContentBlock::Text { text }) => {
                    if text.trim().is_empty() {
                        faults.push(format!("{at}: blank text"));
                    }
                    said_something_else = true;
                }
                (Role::User, ContentBlock::Image(image)) => {
                    if image.data.is_empty() || !IMAGE_TYPES.contains(&&*image.media_type) {
                        faults.push(format!("{at}: bad image"));
                    }
                    said_something_else = true;
                }
                (Role::User, ContentBlock::ToolResult(result)) => {
                    match open.iter().position(|id| *id == result.call_id) {
                        Some(place) => {
                            open.remove(place);
                        }
                        None => faults.push(format!("{at}: orphan result {}", result.call_id)),
                    }
                    if said_something_else {
                        faults.push(format!("{at}: result not right behind its call"));
                    }
                    if result.content.is_empty() || result.content.iter().any(is_blank) {
                        faults.push(format!("{at}: silent result"));
                    }
                }
                (Role::Assistant, ContentBlock::ToolCall(call)) => {
                    if call.id.trim().is_empty() || !ids.insert(call.id.as_str()) {
                        faults.push(format!("{at}: id {:?} blank or used twice", call.id));
                    }
                    if !call.arguments.is_object() {
                        faults.push(format!("{at}: arguments are no object"));
                    }
                    open.push(&call.id);
                }
                (
                    Role::Assistant,
                    ContentBlock::Thinking {
                        text,
                        signature: None,
                        redacted: None,
                    },
                ) if text.trim().is_empty() => faults.push(format!("{at}: says no thought")),
                (Role::Assistant, ContentBlock::Thinking { .. }) => {}
                _ => faults.push(format!("{at}: a block of the other role")),
            }
        }
        if message.role == Role::Assistant {
            said_something_else = false;
        }
    }
    for id in open {
        faults.push(format!("end: no result of {id}"));
    }
    faults
}

fn sent(messages: &[Message]) -> (Vec<Message>, Vec<String>) {
    let valid = validate(messages).expect("something is left to send");
    (
        valid.messages.into_iter().map(Cow::into_owned).collect(),
        valid.repairs,
    )
}

#[test]
fn each_fault_is_repaired_and_told() {
    let lost = ToolResult::failure("b", "read_file", ToolErrorKind::Interrupted, NO_RESULT);
    let lost = ContentBlock::ToolResult(lost);
    let silent = ContentBlock::ToolResult(ToolResult {
        content: vec![ResultContent::Text { text: " \n".into() }],
        ..ToolResult::failure("a", "read_file", ToolErrorKind::Failed, "")
    });
    let marked = ContentBlock::ToolResult(ToolResult::failure(
        "a",
        "read_file",
        ToolErrorKind::Failed,
        NO_OUTPUT,
    ));
    let mut listed = call("a");
    if let ContentBlock::ToolCall(call) = &mut listed {
        call.arguments = json!([1]);
    }
    let mut emptied = call("a");
    if let ContentBlock::ToolCall(call) = &mut emptied {
        call.arguments = json!({});
    }
    let go = || user([text("go")]);

    let cases: Vec<(Vec<Message>, Vec<Message>, &[&str])> = vec![
        (
            vec![user([text("go"), text(" \n\t")])],
            vec![go()],
            &["left out blank text"],
        ),
        (
            vec![go(), model([text("")]), user([text("on")])],
            vec![go(), user([text("on")])],
            &["left out blank text", "left out an empty message"],
        ),
        (
            vec![go(), model([text("ok"), result("a")]), go()],
            vec![go(), model([text("ok")]), go()],
            &["left out a block that its role cannot say"],
        ),
        (
            vec![go(), model([thinking("hm", Some("seal"))]), go()],
            vec![go(), go()],
            &[
                "left out thinking that leads to nothing",
                "left out an empty message",
            ],
        ),
        (
            vec![
                go(),
                model([thinking("", Some("seal")), call("a")]),
                user([result("a")]),
            ],
            vec![
                go(),
                model([thinking("", Some("seal")), call("a")]),
                user([result("a")]),
            ],
            &[],
        ),
        (
            vec![user([ContentBlock::Image(image("image/tiff", "AAAA"))])],
            vec![user([text(
                "(an image of type \"image/tiff\" was left out)",
            )])],
            &["left out an image of a type that models do not take"],
        ),
        (
            vec![go(), model([listed]), user([result("a")])],
            vec![go(), model([emptied]), user([result("a")])],
            &["emptied arguments that are not an object"],
        ),
        (
            vec![go(), model([call("a")]), user([silent])],
            vec![go(), model([call("a")]), user([marked])],
            &["marked a result that says nothing"],
        ),
        (
            // A server that counts its calls from zero in each answer.
            vec![
                go(),
                model([call("0")]),
                user([result("0")]),
                model([call("0")]),
                user([result("0")]),
            ],
            vec![
                go(),
                model([call("0")]),
                user([result("0")]),
                model([{
                    let mut renamed = call("0");
                    if let ContentBlock::ToolCall(call) = &mut renamed {
                        call.id = "0_2".into();
                    }
                    renamed
                }]),
                user([{
                    let mut renamed = result("0");
                    if let ContentBlock::ToolResult(result) = &mut renamed {
                        result.call_id = "0_2".into();
                    }
                    renamed
                }]),
            ],
            &["renamed a call whose id is blank or used twice"],
        ),
        (
            vec![
                user([result("x"), text("go")]),
                model([text("ok")]),
                user([result("y")]),
                go(),
            ],
            vec![go(), model([text("ok")]), go()],
            &["left out a result without its call (2 times)"],
        ),
        (
            // Killed while a tool ran, then resumed.
            vec![
                go(),
                model([call("a"), call("b")]),
                user([result("a")]),
                go(),
            ],
            vec![
                go(),
                model([call("a"), call("b")]),
                user([result("a"), lost.clone()]),
                go(),
            ],
            &["answered a call whose result is missing"],
        ),
        (
            vec![go(), model([call("b")])],
            vec![go(), model([call("b")]), user([lost])],
            &["answered a call whose result is missing"],
        ),
        (
            vec![go(), model([call("a")]), user([result("a"), result("a")])],
            vec![go(), model([call("a")]), user([result("a")])],
            &["left out a result without its call"],
        ),
        (
            vec![
                go(),
                model([call("a")]),
                user([text("wait")]),
                user([result("a")]),
            ],
            vec![
                go(),
                model([call("a")]),
                user([result("a")]),
                user([text("wait")]),
            ],
            &["moved results right behind their calls"],
        ),
        (
            vec![model([text("hello")]), go()],
            vec![user([text(EARLIER)]), model([text("hello")]), go()],
            &["began the conversation with a user message"],
        ),
        (
            vec![go(), model([text("a thought")])],
            vec![go(), model([text("a thought")]), user([text(CONTINUE)])],
            &["ended the conversation with a user message"],
        ),
    ];
    for (given, expected, told) in cases {
        let before = given.clone();
        let (messages, repairs) = sent(&given);
        assert_eq!(messages, expected, "{told:?}");
        assert_eq!(repairs, told);
        assert_eq!(faults(&messages), Vec::<String>::new(), "{told:?}");
        assert_eq!(given, before, "the history itself is not changed");
    }
}

#[test]
fn a_conversation_of_nothing_cannot_be_repaired() {
    for nothing in [vec![], vec![user([text(" ")])], vec![user([result("x")])]] {
        assert!(validate(&nothing).is_err(), "{nothing:?}");
    }
}

#[test]
fn many_uses_of_one_id_each_get_their_own() {
    let mut history = vec![user([text("go")])];
    for _ in 0..500 {
        history.push(model([call("0"), call("0"), call("")]));
        history.push(user([result("0"), result(""), result("0")]));
    }
    let (messages, repairs) = sent(&history);
    assert_eq!(faults(&messages), Vec::<String>::new());
    assert_eq!(
        repairs,
        ["renamed a call whose id is blank or used twice (1499 times)"]
    );
    assert_eq!(messages.len(), history.len());
}

#[test]
fn a_long_valid_conversation_is_borrowed_whole() {
    let mut history = vec![user([text("go")])];
    for turn in 0..5_000 {
        let (a, b) = (format!("a{turn}"), format!("b{turn}"));
        history.push(model([
            thinking("hm", None),
            text("so"),
            call(&a),
            call(&b),
        ]));
        history.push(user([result(&b), result(&a), text("and hurry")]));
    }
    let valid = validate(&history).expect("valid");
    assert!(valid.repairs.is_empty());
    assert_eq!(valid.messages.len(), history.len());
    for (sent, kept) in valid.messages.iter().zip(&history) {
        assert!(matches!(sent, Cow::Borrowed(message) if std::ptr::eq(*message, kept)));
    }
}

fn block() -> impl Strategy<Value = ContentBlock> {
    let id = || prop::sample::select(vec!["a", "b", "c", "d", ""]);
    let words = || prop::sample::select(vec!["", " ", "\n", "words", "\u{a0}"]);
    prop_oneof![
        2 => words().prop_map(text),
        3 => id().prop_map(call),
        3 => id().prop_map(result),
        1 => (words(), prop::option::of(Just("seal"))).prop_map(|(w, seal)| thinking(w, seal)),
        1 => (id(), prop::sample::select(vec![json!([]), json!(null), json!("x"), json!({})]))
            .prop_map(|(id, arguments)| {
                ContentBlock::ToolCall(ToolCall {
                    id: id.to_owned(), name: String::new(), arguments, malformed: None,
                })
            }),
        1 => (id(), prop::collection::vec(words(), 0..3)).prop_map(|(id, texts)| {
            ContentBlock::ToolResult(ToolResult {
                content: texts.into_iter().map(|t| ResultContent::Text { text: t.into() }).collect(),
                ..ToolResult::failure(id, "read_file", ToolErrorKind::Failed, "")
            })
        }),
        1 => (prop::sample::select(vec!["image/png", "image/svg+xml"]), prop::sample::select(vec!["", "AAAA"]))
            .prop_map(|(media_type, data)| ContentBlock::Image(image(media_type, data))),
    ]
}

fn history() -> impl Strategy<Value = Vec<Message>> {
    let role = prop_oneof![Just(Role::User), Just(Role::Assistant)];
    let message = (role, prop::collection::vec(block(), 0..5))
        .prop_map(|(role, content)| Message { role, content });
    prop::collection::vec(message, 0..14)
}

proptest! {
    #[test]
    fn any_history_becomes_valid_and_a_valid_one_stays_as_it_is(history in history()) {
        let before = history.clone();
        let Ok(valid) = validate(&history) else { return Ok(()) };
        let untouched = valid.messages.len() == history.len()
            && valid.messages.iter().all(|message| matches!(message, Cow::Borrowed(_)));
        prop_assert_eq!(faults(&history).is_empty(), untouched);
        prop_assert_eq!(valid.repairs.is_empty(), untouched);

        let messages: Vec<Message> = valid.messages.into_iter().map(Cow::into_owned).collect();
        prop_assert_eq!(faults(&messages), Vec::<String>::new());
        prop_assert_eq!(&history, &before);

        let again = validate(&messages).expect("it was valid");
        prop_assert!(again.repairs.is_empty(), "{:?}", again.repairs);
        prop_assert_eq!(again.messages.len(), messages.len());
    }
}
