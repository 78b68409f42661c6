//! From a trap to a sentence the model can act on.
//!
//! Owns the error that limits raise inside a store, and the table that turns whatever ended a
//! guest into a kind and a message. It must never let a wasmtime error out as text of its own.

use super::call::CallFailure;
use crate::protocol::{Limit, Limits, ToolErrorKind};
use wasmtime::Trap;
use wasmtime::component::ResourceTableError;

/// A limit of the call was reached. Raised inside the store, and found again at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the call reached its limit `{limit}`: used {used} of {allowed} {}", limit.unit())]
pub struct LimitReached {
    pub limit: Limit,
    pub used: u64,
    pub allowed: u64,
}

impl LimitReached {
    pub const fn new(limit: Limit, used: u64, limits: &Limits) -> Self {
        LimitReached {
            limit,
            used,
            allowed: limit.of(limits),
        }
    }

    /// An error when `used` is over the limit.
    pub const fn check(limit: Limit, used: u64, limits: &Limits) -> Result<(), Self> {
        if used > limit.of(limits) {
            return Err(Self::new(limit, used, limits));
        }
        Ok(())
    }
}

/// Of a call, whose limits are settings.
impl From<LimitReached> for CallFailure {
    fn from(reached: LimitReached) -> Self {
        let limit = reached.limit;
        let flag = limit.key().replace('_', "-");
        CallFailure {
            kind: ToolErrorKind::LimitExceeded,
            message: format!(
                "{reached}; raise it by `{limit}` under [limits] in hotcell.toml or by --{flag}"
            ),
        }
    }
}

/// What ended a guest.
#[derive(Debug)]
pub enum Stopped {
    /// One of its limits.
    Limit(LimitReached),
    /// Anything else.
    Otherwise(CallFailure),
}

impl Stopped {
    /// As a call fails.
    pub fn of_call(self) -> CallFailure {
        match self {
            Stopped::Limit(reached) => reached.into(),
            Stopped::Otherwise(failure) => failure,
        }
    }

    /// As a component fails to describe itself, the limits of which are no settings.
    pub fn of_description(self) -> CallFailure {
        match self {
            Stopped::Limit(reached) => CallFailure {
                kind: ToolErrorKind::LimitExceeded,
                message: format!(
                    "{reached}, which is more than a component has to describe itself"
                ),
            },
            Stopped::Otherwise(failure) => failure,
        }
    }
}

/// How wasmtime says that one call between guest and host copies more than the store allows, which
/// is the output limit. The type of that error is private to wasmtime; guests of the tests that
/// answer too much watch over the text.
const TOO_MUCH_AT_ONCE: &str = "too much data is being copied between the host and the guest";

/// Says what ended a guest. `log` is the end of its standard error, where languages leave the
/// message of a panic or an abort.
pub fn explain(error: &wasmtime::Error, limits: &Limits, log: &str) -> Stopped {
    if let Some(reached) = error.downcast_ref::<LimitReached>() {
        return Stopped::Limit(*reached);
    }
    if let Some(ResourceTableError::Full) = error.downcast_ref::<ResourceTableError>() {
        return Stopped::Limit(LimitReached::new(
            Limit::Resources,
            limits.resources + 1,
            limits,
        ));
    }
    if let Some(exit) = error.downcast_ref::<wasmtime_wasi::I32Exit>() {
        return Stopped::Otherwise(crashed(
            &format!("the tool called exit({}) instead of answering", exit.0),
            log,
        ));
    }
    let cause = error.root_cause().to_string();
    if cause.starts_with(TOO_MUCH_AT_ONCE) {
        return Stopped::Limit(LimitReached::new(
            Limit::Output,
            limits.output_bytes + 1,
            limits,
        ));
    }
    let Some(trap) = error.downcast_ref::<Trap>() else {
        return Stopped::Otherwise(crashed(
            &format!("the tool broke the contract: {}", first_line(error)),
            log,
        ));
    };
    let reached = |limit, used| Stopped::Limit(LimitReached::new(limit, used, limits));
    Stopped::Otherwise(match trap {
        Trap::OutOfFuel => return reached(Limit::Fuel, limits.fuel),
        Trap::Interrupt => return reached(Limit::Deadline, limits.deadline_ms),
        Trap::StackOverflow => crashed("the tool overflowed its stack", log),
        Trap::MemoryOutOfBounds => crashed(
            "the tool accessed memory out of bounds, as a stack overflow also does",
            log,
        ),
        Trap::UnreachableCodeReached => crashed("the tool aborted", log),
        other => crashed(&format!("the tool trapped: {other}"), log),
    })
}

fn crashed(what: &str, log: &str) -> CallFailure {
    let log = log.trim();
    let message = if log.is_empty() {
        what.to_owned()
    } else {
        format!("{what}; the end of its log:\n{log}")
    };
    CallFailure {
        kind: ToolErrorKind::Crashed,
        message,
    }
}

/// The innermost cause, one line: outer ones name offsets in the component.
fn first_line(error: &wasmtime::Error) -> String {
    let text = error.root_cause().to_string();
    text.lines().next().unwrap_or_default().to_owned()
}
