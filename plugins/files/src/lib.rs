//! The component of read_file, write_file and edit_file.
//!
//! Owns the three tools together because they share what the session has seen of each file: a
//! component has one namespace of session state, and a write is only as safe as the read before
//! it. The parts that decide take text and bytes and are tested without files; the tools around
//! them open and save. It must never be the boundary of the workspace: the sandbox is.

mod edit;
mod endings;
mod locate;
mod read;
mod save;
mod seen;
mod write;

pub use edit::EditFile;
pub use read::ReadFile;
pub use write::WriteFile;

hotcell_sdk::export!(ReadFile, WriteFile, EditFile);
