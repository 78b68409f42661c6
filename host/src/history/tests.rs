//! The promises of the history, over every order of operations.

use super::operations::{apply, block, call, content, operation, result};
use super::*;
use crate::protocol::ImageBlock;
use proptest::prelude::*;

/// Everything a vendor rejects. Open calls are fine in the last message only.
fn check(messages: &[Message]) {
    let mut seen = HashSet::new();
    for (index, message) in messages.iter().enumerate() {
        let role = if index % 2 == 0 {
            Role::User
        } else {
            Role::Assistant
        };
        assert_eq!(message.role, role, "role of message {index}");
        assert!(!message.content.is_empty(), "an empty message");
        for block in &message.content {
            assert!(!block.is_blank_text(), "a blank text");
            if let ContentBlock::ToolResult(result) = block {
                assert!(!result.text().trim().is_empty(), "a blank result");
            }
        }
        let asked: Vec<&str> = message.calls().map(|call| call.id.as_str()).collect();
        for id in &asked {
            assert!(seen.insert(id.to_string()), "call id {id} twice");
        }
        let answered_before: Vec<&str> = message
            .content
            .iter()
            .filter_map(|block| match block {
                ContentBlock::ToolResult(result) => Some(result.call_id.as_str()),
                _ => None,
            })
            .collect();
        let asked_before: Vec<&str> = index
            .checked_sub(1)
            .map(|before| {
                messages[before]
                    .calls()
                    .map(|call| call.id.as_str())
                    .collect()
            })
            .unwrap_or_default();
        assert_eq!(answered_before, asked_before, "pairs of message {index}");
    }
}

proptest! {
    #[test]
    fn no_order_of_operations_leaves_an_orphan(
        operations in proptest::collection::vec(operation(), 0..24),
    ) {
        let mut history = History::new();
        for operation in &operations {
            apply(&mut history, operation);
            let stored = history.messages();
            check(stored);
            let sum: u64 = stored.iter().map(estimate_message).sum();
            prop_assert_eq!(history.tokens(), sum);
        }
        history.close();
        check(history.messages());
        prop_assert!(history.open.is_empty());

        let before = history.clone();
        let sent = history.with_reminder("think again");
        check(&sent);
        prop_assert!(sent.last().is_some_and(|last| last.text().ends_with("think again")));
        prop_assert_eq!(history.messages(), before.messages());
    }

    #[test]
    fn any_list_of_messages_is_restored_to_a_valid_history(
        list in proptest::collection::vec(
            (any::<bool>(), proptest::collection::vec(block(), 0..5)), 0..12),
    ) {
        let messages = list.iter().map(|(user, blocks)| Message {
            role: if *user { Role::User } else { Role::Assistant },
            content: blocks.iter().map(content).collect(),
        });
        let history = History::restore(messages);
        check(history.messages());

        let again = History::restore(history.messages().iter().cloned());
        prop_assert_eq!(again.messages(), history.messages());
    }
}

#[test]
fn a_run_killed_while_a_tool_ran_can_go_on() {
    let history = History::restore([
        Message::user("go"),
        Message::assistant(vec![call("a"), call("b")]),
        Message::results([result("b", "done")]),
    ]);
    let results = &history.messages()[2];
    let texts: Vec<(String, Option<ToolErrorKind>, String)> = results
        .content
        .iter()
        .filter_map(|block| match block {
            ContentBlock::ToolResult(result) => {
                Some((result.call_id.clone(), result.error, result.text()))
            }
            _ => None,
        })
        .collect();
    assert_eq!(
        texts,
        [
            (
                "a".to_owned(),
                Some(ToolErrorKind::Interrupted),
                UNANSWERED.to_owned()
            ),
            ("b".to_owned(), None, "done".to_owned()),
        ]
    );
}

#[test]
fn a_repeated_call_id_is_made_unique_and_keeps_its_result() {
    let mut history = History::new();
    history.push_user(vec![ContentBlock::text("go")]);
    for expected in ["call_0", "call_0_2", "call_0_3"] {
        let calls = history.push_answer(vec![call("call_0")]);
        assert_eq!(calls[0].id, expected);
        history.push_results([result("call_0", expected)]);
        let last = history.messages().last().expect("just pushed");
        assert!(
            matches!(&last.content[..], [ContentBlock::ToolResult(result)]
            if result.call_id == expected && result.text() == expected && result.error.is_none())
        );
    }
}

#[test]
fn a_thought_alone_is_not_stored_but_a_signed_one_before_a_call_is() {
    let thought = ContentBlock::Thinking {
        text: String::new(),
        signature: Some("seal".into()),
        redacted: None,
    };
    let mut history = History::new();
    history.push_user(vec![ContentBlock::text("go")]);
    history.push_answer(vec![thought.clone(), ContentBlock::text(" ")]);
    assert_eq!(history.messages().len(), 1);
    history.push_answer(vec![thought.clone(), call("a")]);
    assert_eq!(history.messages()[1].content[0], thought);
}

#[test]
fn a_message_is_stored_without_copying_the_ones_before() {
    let mut history = History::new();
    history.push_user(vec![ContentBlock::text("ask")]);
    let sent = Arc::clone(history.messages());
    let text = |messages: &[Message]| match &messages[0].content[0] {
        ContentBlock::Text { text } => text.as_ptr(),
        other => panic!("{other:?}"),
    };
    assert_eq!(text(&sent), text(history.messages()));
    let before = text(&sent);
    drop(sent);
    history.push_answer(vec![ContentBlock::text("answer")]);
    assert_eq!(text(history.messages()), before);
}

#[test]
fn a_thought_and_its_act_have_the_person_between_them() {
    let mut history = History::new();
    history.push_user(vec![ContentBlock::text("go")]);
    history.push_thought(ContentBlock::text(" "));
    assert_eq!(history.messages().len(), 1);
    history.push_thought(ContentBlock::text("I will look"));
    assert_eq!(history.messages()[2], Message::user(BRIDGE));
    history.push_answer(vec![call("a")]);
    assert_eq!(history.messages().len(), 4);
}

#[test]
fn a_result_that_says_nothing_says_so() {
    let text = |text: &str| ResultContent::Text { text: text.into() };
    let image = ResultContent::Image(ImageBlock {
        media_type: "image/png".into(),
        data: "AA==".into(),
    });
    for (content, expected) in [
        (vec![], vec![text(NO_OUTPUT)]),
        (vec![text(" \n")], vec![text(NO_OUTPUT)]),
        (vec![text(""), text("a ")], vec![text("a ")]),
        (vec![text(""), image.clone()], vec![image]),
    ] {
        assert_eq!(speaking(content), expected);
    }
}
