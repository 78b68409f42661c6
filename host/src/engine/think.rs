//! The first stage of a two-stage turn.
//!
//! Owns the request in which the model can only think: no tool is in it, the tools are told in
//! prose. What it says is kept as a message of its own, and the person asks it to act. It must
//! never run a call, whatever the answer holds.

use super::run::{Driver, End};
use super::turn::{Question, Voice};
use crate::history::BRIDGE;
use crate::prompt;
use crate::protocol::{ContentBlock, Message, SessionEntry};
use std::sync::Arc;

impl Driver {
    /// Lets the model think. A blank thought leaves no trace.
    pub(super) async fn think(&mut self) -> Result<(), End> {
        let answer = self
            .ask(Question {
                system: prompt::thinking(&self.system, &self.tools),
                messages: Arc::clone(self.history.messages()),
                tools: Arc::default(),
                voice: Voice::Thought,
            })
            .await?;
        let usage = answer.usage;
        let thought = Message::assistant(answer.content).text();
        let before = self.history.messages().len();
        self.history.push_thought(ContentBlock::text(thought));
        self.keep_answer(before, usage).await;
        if self.history.messages().len() > before {
            let bridge = || SessionEntry::User(vec![ContentBlock::text(BRIDGE)]);
            self.keeper.keep(bridge).await;
        }
        Ok(())
    }
}
