//! What the history promises, held against what the providers demand.

use super::*;
use crate::history::operations::{apply, operation};
use crate::provider::{Provider as _, ScriptProvider};
use futures::executor::block_on;
use proptest::prelude::*;

/// What the validator in front of every vendor finds wrong with a request.
fn repairs(history: &History) -> Vec<String> {
    let script = ScriptProvider::from_text("test", "turns: [{text: fine}]").expect("a script");
    let request = Request {
        model: "m".to_owned(),
        system: String::new(),
        messages: Arc::clone(history.messages()),
        tools: Arc::default(),
        max_output_tokens: 100,
        stream: true,
    };
    let chunks: Vec<_> = block_on(script.send(request).collect());
    chunks
        .into_iter()
        .filter_map(|chunk| match chunk.expect("the request can be sent") {
            Chunk::Repaired(what) => Some(what),
            _ => None,
        })
        .collect()
}

proptest! {
    /// A repair in each request of a session would be told in each turn.
    #[test]
    fn no_request_from_a_history_needs_a_repair(
        operations in proptest::collection::vec(operation(), 0..24),
    ) {
        let mut history = History::new();
        for operation in &operations {
            apply(&mut history, operation);
        }
        history.push_user(vec![ContentBlock::text("go")]);
        prop_assert_eq!(repairs(&history), Vec::<String>::new());
        history.push_thought(ContentBlock::text("I look"));
        prop_assert_eq!(repairs(&history), Vec::<String>::new());
    }
}
