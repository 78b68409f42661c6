//! Shows events: as text for people, as JSON lines for programs.
//!
//! Owns what goes to standard output and standard error. A renderer writes to the `Write` it is
//! given, so tests read what people would. Text that a model, a file or a tool wrote passes
//! through [`escape`] first: it must not drive the terminal. A renderer must never decide anything
//! about the run, and never read the environment.

pub mod escape;
mod json;
mod palette;
mod quantity;
mod summary;
#[cfg(test)]
mod tests;
mod text;

pub use json::{JsonRenderer, write_json, write_json_pretty};
pub use palette::{Paint, Palette};
pub use text::{TextOptions, TextRenderer};

use crate::protocol::Event;
use std::io;

/// A consumer of the events of a run.
pub trait Renderer {
    /// Shows one event, and leaves nothing in a buffer.
    ///
    /// # Errors
    /// That of the stream. `BrokenPipe` means that the reader has gone: nobody is left to tell.
    fn event(&mut self, event: &Event) -> io::Result<()>;
}
