//! Who is told what a workspace looked like around a process.
//!
//! Owns [`Witness`], by which the effects of a program can be kept, and [`Look`]: what is known of
//! every path without reading one. It exists because the walk around a process is made here, for
//! masked and protected paths, and must not be made twice. It must never know what is kept or
//! where.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

/// Most paths of one look. Each is remembered with what is known of it, about 300 bytes.
pub const MOST_SEEN: usize = 200_000;

/// Is told what the workspace looks like before a process that may change it starts, and after it
/// and everything it started has ended. Called where blocking is fine, from several threads.
pub trait Witness: Send + Sync {
    /// Whether directories of this name are left out of a look, with all that is in them.
    fn overlooks(&self, directory: &OsStr) -> bool;

    /// A process is about to start. Each call that answers `Ok` is followed by one of
    /// [`after`](Self::after), however the process ends, and if it never starts.
    ///
    /// # Errors
    /// An error keeps the process from starting: what cannot be kept is not put at risk.
    fn before(&self, look: Result<Look, NotSeen>) -> io::Result<()>;

    /// A process has ended, with everything it started.
    fn after(&self, look: Result<Look, NotSeen>);
}

/// Why there is no look.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotSeen {
    /// The workspace is too large.
    #[error("the workspace has more than {MOST_SEEN} files and directories")]
    TooMany,
    /// The system does not show it.
    #[error("{0}")]
    Unreadable(String),
    /// The process did not start, or hotcell is about to end.
    #[error("nobody looked")]
    Nobody,
}

/// What a workspace looked like: every path that is neither masked nor protected, relative to it.
#[derive(Debug, Clone)]
pub struct Look {
    /// When the walk began.
    pub began: Instant,
    /// What was seen, links not followed.
    pub seen: HashMap<PathBuf, Seen>,
    /// Directories that could not be read. What is in them was not seen.
    pub closed: Vec<PathBuf>,
}

impl Look {
    pub(super) fn new() -> Self {
        Look {
            began: Instant::now(),
            seen: HashMap::new(),
            closed: Vec::new(),
        }
    }
}

/// What lies at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeenKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// A pipe, a socket or a device.
    Special,
}

/// What is known of a path without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    /// What it is.
    pub kind: SeenKind,
    /// The mode's twelve bits of access.
    pub mode: u32,
    /// Bytes.
    pub size: u64,
    /// When its content was changed last: seconds since 1970, and nanoseconds.
    pub modified: (i64, u32),
    /// When anything about it was changed last. No program can set this one.
    pub changed: (i64, u32),
    /// The device it is on.
    pub device: u64,
    /// Its number on the device.
    pub inode: u64,
}

/// Tells a witness of the end of a process, also where the process never came to be.
pub(super) struct Watched(Option<Arc<dyn Witness>>);

impl Watched {
    /// Tells the beginning.
    pub(super) fn begin(
        witness: Arc<dyn Witness>,
        look: Result<Look, NotSeen>,
    ) -> io::Result<Self> {
        witness.before(look)?;
        Ok(Watched(Some(witness)))
    }

    /// Who is told.
    pub(super) fn witness(&self) -> Option<Arc<dyn Witness>> {
        self.0.clone()
    }

    /// Tells the end.
    pub(super) fn end(mut self, look: Result<Look, NotSeen>) {
        if let Some(witness) = self.0.take() {
            witness.after(look);
        }
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        if let Some(witness) = self.0.take() {
            witness.after(Err(NotSeen::Nobody));
        }
    }
}
