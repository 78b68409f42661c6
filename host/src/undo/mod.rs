//! What tools changed, kept so that it can be taken back.
//!
//! Owns the undo store below the data directory: the earlier content of every file that a call was
//! about to change, addressed by digest, and for each run a log of what happened in which order. It
//! is told by [`workspace`](crate::workspace), before a change and through the handle that changes,
//! and by [`process`](crate::process) of what lay there before a program started and after it ended;
//! and takes changes back through the same boundary. It must never know which tool asked or why,
//! and never follow a path that the workspace does not give it.

mod journal;
mod log;
mod natives;
mod objects;
mod preview;
mod record;
mod restore;
mod select;
#[cfg(test)]
mod tests;

pub use journal::{CallJournal, Recorder};
pub use natives::{
    MOST_BYTES as MOST_NATIVE_BYTES, MOST_FILE_BYTES as MOST_NATIVE_FILE_BYTES, OVERLOOKED,
};
pub use preview::Preview;
pub use record::Step;
pub use restore::{Conflict, Restored};
pub use select::{RunSummary, Selection, SelectionError};

use objects::Objects;
use std::io;
use std::path::{Path, PathBuf};

/// A file larger than this is not kept, in bytes: undo is for sources, not for disk images.
pub const MOST_FILE_BYTES: u64 = 64 << 20;

/// When the store has more bytes than this, the oldest runs are forgotten before a new one begins.
pub const MOST_STORE_BYTES: u64 = 1 << 30;

/// Why something cannot be undone or shown.
#[derive(Debug, thiserror::Error)]
pub enum UndoError {
    /// There is no directory to keep anything in.
    #[error(
        "there is no data directory, so nothing was kept; set XDG_DATA_HOME or HOME to an absolute path"
    )]
    NoStore,
    /// The selection names nothing.
    #[error(transparent)]
    Selection(#[from] SelectionError),
    /// What the selection changed was changed again since.
    #[error(
        "{} of {} changed paths are not as the run left them; nothing was undone: look at them, then use --force to overwrite",
        .conflicts.len(), .paths
    )]
    Conflicts {
        /// Each with what differs.
        conflicts: Vec<Conflict>,
        /// How many paths the selection changed.
        paths: usize,
    },
    /// The store cannot be read or written.
    #[error("the undo store at {}: {error}", .path.display())]
    Store {
        /// Where it is.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
    /// The workspace cannot be opened.
    #[error("cannot open the workspace {}: {error}", .path.display())]
    Workspace {
        /// Where it was when the run began.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
}

/// The undo store of this user.
#[derive(Debug, Clone)]
pub struct UndoStore {
    directory: PathBuf,
}

impl UndoStore {
    /// The store below the data directory of hotcell. Nothing is made before something is kept.
    pub fn new(data: &Path) -> Self {
        UndoStore {
            directory: data.join("undo"),
        }
    }

    fn objects(&self) -> Objects {
        Objects::new(self.directory.join("objects"))
    }

    fn runs(&self) -> PathBuf {
        self.directory.join("runs")
    }

    fn failed(&self, error: io::Error) -> UndoError {
        UndoError::Store {
            path: self.directory.clone(),
            error,
        }
    }
}
