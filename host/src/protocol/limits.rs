//! What one tool call may use, and the word for each limit.
//!
//! Owns the numbers and their defaults: this is the one table that configuration, flags, errors
//! and the README speak of. It must never know how a limit is measured or enforced.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The limits of one tool call. Every call gets all of them, counted for it alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// CPU work in units of wasmtime fuel, about one per WebAssembly instruction. Deterministic:
    /// the same call with the same files uses the same fuel.
    pub fuel: u64,
    /// Wall clock in milliseconds, while the guest runs and while it waits in the host.
    pub deadline_ms: u64,
    /// Bytes of linear memory, over all memories of the call together.
    pub memory_bytes: u64,
    /// Elements of tables, over all tables of the call together.
    pub table_elements: u64,
    /// Handles to host resources (files, streams, pollables) open at once.
    pub resources: u64,
    /// Calls from the guest into the host.
    pub host_calls: u64,
    /// Bytes a call can hand out: its result and its standard output, each.
    pub output_bytes: u64,
}

impl Default for Limits {
    /// Generous for a tool that works, small enough that a hostile one is no nuisance. Fuel and
    /// host calls allow about what a shell that loops uses up to the deadline, so that it can
    /// still answer with what it has: 1.3 G fuel and 0.7 M host calls a second were measured.
    fn default() -> Self {
        Limits {
            fuel: 200_000_000_000,
            deadline_ms: 120_000,
            memory_bytes: 512 << 20,
            table_elements: 200_000,
            resources: 1_024,
            host_calls: 200_000_000,
            output_bytes: 16 << 20,
        }
    }
}

/// Names a limit in errors, events and configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// [`Limits::fuel`]
    Fuel,
    /// [`Limits::deadline_ms`]
    Deadline,
    /// [`Limits::memory_bytes`]
    Memory,
    /// [`Limits::table_elements`]
    Tables,
    /// [`Limits::resources`]
    Resources,
    /// [`Limits::host_calls`]
    HostCalls,
    /// [`Limits::output_bytes`]
    Output,
}

impl Limit {
    /// Every limit, in the order of the fields of [`Limits`].
    pub const ALL: [Limit; 7] = [
        Limit::Fuel,
        Limit::Deadline,
        Limit::Memory,
        Limit::Tables,
        Limit::Resources,
        Limit::HostCalls,
        Limit::Output,
    ];

    /// The key in `[limits]` of the configuration; the flag is the same with `--` and dashes.
    pub const fn key(self) -> &'static str {
        match self {
            Limit::Fuel => "fuel",
            Limit::Deadline => "deadline_ms",
            Limit::Memory => "memory_bytes",
            Limit::Tables => "table_elements",
            Limit::Resources => "resources",
            Limit::HostCalls => "host_calls",
            Limit::Output => "output_bytes",
        }
    }

    /// What the number counts, for messages.
    pub const fn unit(self) -> &'static str {
        match self {
            Limit::Fuel => "fuel",
            Limit::Deadline => "ms",
            Limit::Memory | Limit::Output => "bytes",
            Limit::Tables => "table elements",
            Limit::Resources => "handles",
            Limit::HostCalls => "host calls",
        }
    }

    /// The value of this limit in `limits`.
    pub const fn of(self, limits: &Limits) -> u64 {
        match self {
            Limit::Fuel => limits.fuel,
            Limit::Deadline => limits.deadline_ms,
            Limit::Memory => limits.memory_bytes,
            Limit::Tables => limits.table_elements,
            Limit::Resources => limits.resources,
            Limit::HostCalls => limits.host_calls,
            Limit::Output => limits.output_bytes,
        }
    }

    /// Sets the value of this limit in `limits`.
    pub const fn set(self, limits: &mut Limits, value: u64) {
        match self {
            Limit::Fuel => limits.fuel = value,
            Limit::Deadline => limits.deadline_ms = value,
            Limit::Memory => limits.memory_bytes = value,
            Limit::Tables => limits.table_elements = value,
            Limit::Resources => limits.resources = value,
            Limit::HostCalls => limits.host_calls = value,
            Limit::Output => limits.output_bytes = value,
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.key())
    }
}
