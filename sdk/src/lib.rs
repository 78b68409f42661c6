//! What a Rust author of a hotcell tool depends on: one struct is the tool's arguments, its JSON
//! Schema and its documentation; [`export!`] makes the crate a component.
//!
//! Owns the author's side of the contract in `wit/tool.wit`, and hides it: no WIT type and no JSON
//! text is public here. The same crate compiles natively, where [`testing::MockHost`] runs a tool
//! in a unit test. It must never know how the host runs, limits or locks anything.
//!
//! ```
//! use hotcell_sdk::{Answer, Call, Capability, Deserialize, JsonSchema, ReadPath, Tool, ToolError};
//!
//! /// Counts the lines of a text file. Answers with the number.
//! #[derive(Deserialize, JsonSchema)]
//! #[serde(deny_unknown_fields)]
//! pub struct CountLines {
//!     /// File to count, relative to the workspace.
//!     path: ReadPath,
//! }
//!
//! impl Tool for CountLines {
//!     const NAME: &'static str = "count_lines";
//!     const REQUIRES: &'static [Capability] = &[Capability::WorkspaceRead];
//!
//!     fn run(self, call: &Call<'_>) -> Result<Answer, ToolError> {
//!         let path = call.resolve(self.path.as_str())?;
//!         let text = std::fs::read_to_string(&path)
//!             .map_err(|error| ToolError::io(self.path.as_str(), &error))?;
//!         Ok(text.lines().count().to_string().into())
//!     }
//! }
//!
//! hotcell_sdk::export!(CountLines);
//! # fn main() {}
//! ```
//!
//! `README.md` beside this crate goes from an empty directory to a loaded tool.

#[cfg(all(
    target_arch = "wasm32",
    not(all(target_os = "wasi", target_env = "p2"))
))]
compile_error!("hotcell tools are components: build for the target `wasm32-wasip2`");

mod answer;
mod call;
mod definition;
mod error;
mod export;
mod host;
mod invoke;
mod path;
mod process;
mod tool;

#[cfg(all(target_os = "wasi", target_env = "p2"))]
#[doc(hidden)]
pub mod component;
#[cfg(not(target_arch = "wasm32"))]
pub mod testing;

pub use answer::{Answer, Content};
pub use call::{Call, Versioned};
pub use definition::{Definition, definition};
pub use error::{ErrorKind, StateError, ToolError};
pub use path::{ReadPath, WritePath};
pub use process::{Command, Exit, Finished, Piece, Process, Stream};
pub use schemars::JsonSchema;
pub use serde::Deserialize;
pub use tool::{Capability, Tool};

/// What the expansion of [`export!`] names. Not for authors; it changes without notice.
#[doc(hidden)]
pub mod __private {
    #[cfg(all(target_os = "wasi", target_env = "p2"))]
    pub use crate::component::{Guest, describe, export_component, invoke, unknown_tool, wire};
    pub use crate::export::{names_differ, valid_name};
}

/// The README's Rust blocks, compiled and run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
