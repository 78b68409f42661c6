//! The sections of the system prompt, one file each.
//!
//! Owns the words. It must never decide their order: the module above does.

mod granted;
mod identity;
mod instructions;
mod mode;
mod skills;
mod surroundings;

pub(super) use granted::granted;
pub(super) use identity::{IDENTITY, RULES, TOOL_USE};
pub(super) use instructions::instructions;
pub(super) use mode::{THINK, plan, tools_in_prose};
pub(super) use skills::skills;
pub(super) use surroundings::surroundings;

/// Text that came from somewhere else, on one line.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
