//! Who watches runs from the side, such as tracing or metrics.
//!
//! Owns the callbacks, which do nothing unless an observer wants them. They are told apart from
//! events: an observer sees every run of an engine, and nobody can slow it down by not reading. It
//! must never steer a run.

use crate::protocol::{Event, Usage};

/// Names a run to an observer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunInfo {
    /// The session it belongs to.
    pub session_id: String,
    /// The provider's name in the provider table.
    pub provider: String,
    /// The vendor's model name.
    pub model: String,
}

/// Sees where runs and turns begin and end. Every start has its end, also when a fault ends the
/// run. Called in the task of the run, so it should return at once.
pub trait Observer: Send + Sync {
    /// A run begins: the interaction that one prompt starts.
    fn run_started(&self, _run: &RunInfo) {}

    /// A turn begins; turns count from 1.
    fn turn_started(&self, _run: &RunInfo, _turn: u32) {}

    /// A turn has ended, having used these tokens.
    fn turn_ended(&self, _run: &RunInfo, _turn: u32, _usage: Usage) {}

    /// A run has ended by this terminal event, which is delivered after this.
    fn run_ended(&self, _run: &RunInfo, _end: &Event) {}
}

/// Sees nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unobserved;

impl Observer for Unobserved {}
