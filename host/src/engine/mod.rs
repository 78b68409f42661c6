//! The loop: ask the model, run the tools it calls, until it is done.
//!
//! Owns a run from its prompt to its one terminal event: turns, the two-stage turn, the calls of a
//! turn side by side, interruption. One kernel serves streaming and blocking use: both read the
//! same events. It must never know a vendor, a component or a terminal, and nothing it depends on
//! changes in the middle of a run: that is what [`RunConfig`] holds.

mod alarm;
mod calls;
mod control;
mod emit;
mod guards;
mod observer;
mod run;
#[cfg(test)]
mod tests;
mod think;
mod transcript;
mod turn;

pub use crate::config::Think;
pub use control::{Control, Events, Outcome, Run};
pub use observer::{Observer, RunInfo, Unobserved};
pub use transcript::Transcript;

use crate::history::History;
use crate::policy::Policy;
use crate::prompt::Briefing;
use crate::protocol::{Reminders, RunLimits};
use crate::provider::Provider;
use crate::tools::Toolbox;
use crate::undo::Recorder;
use std::sync::Arc;

/// Everything a run depends on, fixed at its start.
#[derive(Debug, Clone)]
pub struct RunConfig {
    /// What its calls may touch.
    pub policy: Policy,
    /// The session it belongs to: tools keep their notes under it.
    pub session_id: String,
    /// The vendor's model name.
    pub model: String,
    /// The most tokens one answer may have.
    pub max_output_tokens: u32,
    /// Whether answers are asked for as a stream. The events are of the same kinds either way.
    pub stream: bool,
    /// What bounds it.
    pub limits: RunLimits,
    /// What it is reminded of.
    pub reminders: Reminders,
    /// Whether the model first thinks.
    pub think: Think,
    /// The most calls at work at once; at least 1.
    pub max_parallel_calls: u32,
    /// What the system prompt says beside what the policy gives.
    pub briefing: Briefing,
    /// Keeps what its calls change.
    pub recorder: Recorder,
    /// Keeps what is said; `None` for a run that is forgotten.
    pub transcript: Option<Arc<dyn Transcript>>,
}

/// What runs have in common: whom to ask, which tools there are, who watches. Cheap to clone.
#[derive(Clone)]
pub struct Engine {
    provider: Arc<dyn Provider>,
    toolbox: Arc<Toolbox>,
    observer: Arc<dyn Observer>,
}

impl Engine {
    /// An engine that nobody observes.
    pub fn new(provider: Arc<dyn Provider>, toolbox: Arc<Toolbox>) -> Self {
        Engine {
            provider,
            toolbox,
            observer: Arc::new(Unobserved),
        }
    }

    /// The same engine with an observer.
    #[must_use]
    pub fn observed_by(self, observer: Arc<dyn Observer>) -> Self {
        Engine { observer, ..self }
    }

    /// Starts a run: `prompt` is added to `history` and the model is asked, in a task of its own.
    /// Must be called on a tokio runtime.
    pub fn run(&self, config: RunConfig, history: History, prompt: impl Into<String>) -> Run {
        run::start(self.clone(), config, history, prompt.into())
    }
}
