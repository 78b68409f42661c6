//! What bounds a run, and what a run is reminded of.

use super::{Cost, Price};
use std::time::Duration;

/// The limits of a run. 0, of the time as well, is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RunLimits {
    /// Turns.
    pub turns: u32,
    /// Wall clock.
    pub time: Duration,
    /// Tokens sent and generated, as the vendor counts them, estimated where it does not.
    pub tokens: u64,
    /// Fuel of all calls together.
    pub fuel: u64,
    /// What the tokens cost by `price`.
    pub cost: Cost,
    /// What the model's tokens cost; without it a run costs nothing.
    pub price: Price,
    /// How often one call is made with the same arguments while nothing in the workspace changes.
    pub repeats: u32,
}

/// When a run is reminded of what it may lose sight of. 0 is never.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reminders {
    /// The same call for this many times, while nothing in the workspace changes.
    pub repetition: u32,
    /// This many turns without a change of the workspace.
    pub stall: u32,
    /// This many turns are left.
    pub closing: u32,
    /// This many turns without a plan or a change, once a run.
    pub planning: u32,
    /// Every so many turns, to write down what is still needed.
    pub memory: u32,
}

impl Reminders {
    /// None at all.
    pub const NEVER: Reminders = Reminders {
        repetition: 0,
        stall: 0,
        closing: 0,
        planning: 0,
        memory: 0,
    };
}
