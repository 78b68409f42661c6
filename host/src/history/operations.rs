//! Random operations on a history, good and bad, for property tests here and in the engine.
//!
//! Owns the generators. They know the slips of models and the damage of records, so that a promise
//! which holds over them holds in a run.

use super::History;
use crate::protocol::{ContentBlock, ResultContent, ToolCall, ToolResult};
use proptest::prelude::*;
use serde_json::json;

#[derive(Debug, Clone)]
pub(crate) enum Operation {
    User(String),
    Answer(Vec<Block>),
    Results(Vec<(String, String)>),
    Close,
}

#[derive(Debug, Clone)]
pub(crate) enum Block {
    Text(String),
    Thinking(String, Option<String>),
    Call(String),
    /// What a model has no business to say.
    Result(String),
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        Just(" \n\t".to_owned()),
        "[a-z ]{1,8}".prop_map(|text| text)
    ]
}

fn id() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        Just(" ".to_owned()),
        Just("call_0".to_owned()),
        Just("call_0_2".to_owned()),
        "[a-c]".prop_map(|id| id)
    ]
}

pub(crate) fn block() -> impl Strategy<Value = Block> {
    prop_oneof![
        text().prop_map(Block::Text),
        (text(), proptest::option::of(Just("seal".to_owned())))
            .prop_map(|(text, seal)| Block::Thinking(text, seal)),
        id().prop_map(Block::Call),
        id().prop_map(Block::Result),
    ]
}

pub(crate) fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        text().prop_map(Operation::User),
        proptest::collection::vec(block(), 0..5).prop_map(Operation::Answer),
        proptest::collection::vec((id(), text()), 0..5).prop_map(Operation::Results),
        Just(Operation::Close),
    ]
}

pub(crate) fn result(id: &str, text: &str) -> ToolResult {
    ToolResult {
        call_id: id.to_owned(),
        name: "t".to_owned(),
        content: vec![ResultContent::Text {
            text: text.to_owned(),
        }],
        error: None,
        stats: Default::default(),
    }
}

pub(crate) fn call(id: &str) -> ContentBlock {
    ContentBlock::ToolCall(ToolCall {
        id: id.to_owned(),
        name: "t".to_owned(),
        arguments: if id == "b" { json!([1]) } else { json!({}) },
        malformed: None,
    })
}

pub(crate) fn content(block: &Block) -> ContentBlock {
    match block {
        Block::Text(text) => ContentBlock::text(text),
        Block::Thinking(text, signature) => ContentBlock::Thinking {
            text: text.clone(),
            signature: signature.clone(),
            redacted: None,
        },
        Block::Call(id) => call(id),
        Block::Result(id) => ContentBlock::ToolResult(result(id, "mine")),
    }
}

pub(crate) fn apply(history: &mut History, operation: &Operation) {
    match operation {
        Operation::User(text) => {
            history.push_user(vec![ContentBlock::text(text)]);
        }
        Operation::Answer(blocks) => {
            history.push_answer(blocks.iter().map(content).collect());
        }
        Operation::Results(results) => {
            history.push_results(results.iter().map(|(id, text)| result(id, text)));
        }
        Operation::Close => history.close(),
    }
}
