//! Skills: instructions for special work, installed as directories.
//!
//! Owns which skills a run has, the copy of them that its tools see, and a prompt that names one.
//! The bodies are not in the system prompt: the `use_skill` tool loads one when the model asks.

mod expand;
mod front;
mod index;
mod layout;

pub use index::{Skill, SkillIndex, SkillNotice};
