//! Who is told before something changes.
//!
//! Owns [`Journal`], by which earlier content can be kept, and the view of that content: through
//! the handle by which the change then happens, so that what is kept is what is changed.

use super::FileError;
use super::metadata::Metadata;
use rustix::fd::{AsFd, BorrowedFd};
use rustix::fs::{AtFlags, Mode, OFlags};
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// Is told about every change before it happens, in order. Called on the thread of the call.
pub trait Journal: Send + Sync {
    /// `change` is allowed and about to happen; it may still fail.
    ///
    /// # Errors
    /// An error keeps the change from happening: what cannot be kept is not overwritten.
    fn before(&self, change: &Change<'_>) -> io::Result<()>;

    /// The change that was told last of this path did not happen.
    fn failed(&self, path: &Path);
}

/// Keeps nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoJournal;

impl Journal for NoJournal {
    fn before(&self, _change: &Change<'_>) -> io::Result<()> {
        Ok(())
    }

    fn failed(&self, _path: &Path) {}
}

/// A change that is about to happen.
pub struct Change<'a> {
    /// The path it really reached, relative to the workspace.
    pub path: &'a Path,
    /// What happens.
    pub kind: ChangeKind<'a>,
    /// What is there before.
    pub earlier: Earlier<'a>,
}

/// What happens to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind<'a> {
    /// A file is opened to write, or its length set. Told once a handle, before the handle exists.
    Write,
    /// Something is made where nothing is: a file, a directory, a link.
    Create,
    /// A file or a link is removed.
    Remove,
    /// A directory is removed; it is empty, or the removal fails.
    RemoveDirectory,
    /// The path gets this other name. What the other name had before, if anything, is told apart
    /// and first, as removed.
    Rename {
        /// The other name, relative to the workspace.
        to: &'a Path,
    },
    /// Its times are set.
    Times,
}

/// What is at a path before it changes. Valid only while the change is told.
pub struct Earlier<'a> {
    pub(super) parent: BorrowedFd<'a>,
    pub(super) name: &'a OsStr,
}

impl Earlier<'_> {
    /// What it is, or `None` where nothing is. Links are not followed.
    ///
    /// # Errors
    /// Those of the system.
    pub fn metadata(&self) -> io::Result<Option<Metadata>> {
        match rustix::fs::statat(self.parent, self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(Metadata::from(&stat))),
            Err(rustix::io::Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Opens the regular file that is there to read.
    ///
    /// # Errors
    /// When it is none, or cannot be read.
    pub fn open(&self) -> io::Result<std::fs::File> {
        let flags =
            OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = rustix::fs::openat(self.parent, self.name, flags, Mode::empty())?;
        let file = std::fs::File::from(file);
        if file.metadata()?.is_file() {
            Ok(file)
        } else {
            Err(io::ErrorKind::InvalidInput.into())
        }
    }

    /// Where the link that is there points.
    ///
    /// # Errors
    /// When it is no link.
    pub fn link_target(&self) -> io::Result<PathBuf> {
        let target = rustix::fs::readlinkat(self.parent, self.name, Vec::new())?;
        Ok(std::ffi::OsString::from_vec(target.into_bytes()).into())
    }
}

/// Tells `journal`, and turns its error into one of the operation.
pub(super) fn tell(
    journal: &dyn Journal,
    path: &Path,
    kind: ChangeKind<'_>,
    parent: impl AsFd,
    name: &OsStr,
) -> Result<(), FileError> {
    let earlier = Earlier {
        parent: parent.as_fd(),
        name,
    };
    let change = Change {
        path,
        kind,
        earlier,
    };
    journal.before(&change).map_err(|error| {
        tracing::warn!(path = %path.display(), %error, "a change cannot be kept for undo");
        FileError::System(rustix::io::Errno::from_io_error(&error).unwrap_or(rustix::io::Errno::IO))
    })
}

/// Tells `journal` when the change that it was told of did not happen.
pub(super) fn settle<T>(
    journal: &dyn Journal,
    path: &Path,
    done: Result<T, rustix::io::Errno>,
) -> Result<T, FileError> {
    done.map_err(|error| {
        journal.failed(path);
        error.into()
    })
}
