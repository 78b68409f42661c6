//! The files of a workspace: the one place through which a tool's file access goes.
//!
//! Owns a directory, opened once, and every operation below it. Each is resolved beneath that
//! handle, is judged by the path it really reached and by what lies there, and says by which rule
//! it was refused. It must never know WASI, who asks, or what for; and never judge by the text of
//! a path alone.

mod change;
mod directory;
mod file;
mod hold;
mod journal;
mod listing;
mod metadata;
mod open;
mod quota;
mod refusal;
mod resolve;
#[cfg(test)]
mod tests;

pub use directory::Directory;
pub use file::File;
pub use hold::Held;
pub use journal::{Change, ChangeKind, Earlier, Journal, NoJournal};
pub use listing::{Entry, Listing};
pub use metadata::{Kind, Metadata, Moment, NewTime};
pub use open::{OpenOptions, Opened};
pub use refusal::{FileError, Refusal, Rule};

use crate::policy::PathRules;
use quota::Quota;
use resolve::Root;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Whether the files of a workspace may be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Nothing is changed: no content, name, time or length.
    ReadOnly,
    /// What the rules leave open may be changed.
    ReadWrite,
}

/// A directory and what may be done below it. Cheap to clone.
#[derive(Clone)]
pub struct Workspace {
    root: Arc<Root>,
    journal: Arc<dyn Journal>,
    quota: Option<Arc<Quota>>,
}

impl Workspace {
    /// Opens `directory`. Whatever is later put in its place is not followed.
    ///
    /// # Errors
    /// When it is not there, is no directory, or belongs to the kernel (procfs and the like).
    pub fn open(directory: &Path, access: Access, rules: PathRules) -> io::Result<Self> {
        Ok(Workspace {
            root: Arc::new(Root::open(directory, access, rules)?),
            journal: Arc::new(NoJournal),
            quota: None,
        })
    }

    /// The same workspace, below which there may be `most` bytes, whoever made them. Only what is
    /// made through this value and its clones is refused.
    #[must_use]
    pub fn limited_to(&self, most: u64) -> Self {
        Workspace {
            quota: Some(Arc::new(Quota::new(self.root.path(), most))),
            ..self.clone()
        }
    }

    /// The same workspace, whose changes are told to `journal`.
    #[must_use]
    pub fn with_journal(&self, journal: Arc<dyn Journal>) -> Self {
        Workspace {
            journal,
            ..self.clone()
        }
    }

    /// The directory itself.
    pub fn directory(&self) -> Directory {
        Directory::new(self.clone(), PathBuf::new())
    }

    /// Whether the files may be changed.
    pub fn access(&self) -> Access {
        self.root.access
    }
}
