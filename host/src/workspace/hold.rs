//! A path of the workspace by its real name, for the host itself.
//!
//! Owns what undo needs and no tool gets: looking at a path without following any link, modes, and
//! putting back a link wherever it leads. The rules for a change hold here as well.

use super::journal::{ChangeKind, Earlier, tell};
use super::metadata::{Kind, Metadata};
use super::resolve::{Links, Place};
use super::{FileError, Rule, Workspace};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::path::Path;

/// A place in a workspace, found once.
pub struct Held<'a> {
    workspace: &'a Workspace,
    place: Place<'a>,
}

impl Workspace {
    /// Finds `path`, which is relative and real. Where a directory on the way has become a link,
    /// it is another place and refused.
    ///
    /// # Errors
    /// When it is masked, outside, or not where it says; those of the system.
    pub fn hold(&self, path: &Path) -> Result<Held<'_>, FileError> {
        let text = path.to_str().ok_or(Errno::ILSEQ)?;
        let place = self.root.resolve(Path::new(""), text, Links::Keep)?;
        if place.path != path {
            let place = place.path;
            return Err(FileError::refused(path, Rule::Elsewhere { place }));
        }
        Ok(Held {
            workspace: self,
            place,
        })
    }
}

impl Held<'_> {
    /// What is there.
    pub const fn metadata(&self) -> Option<Metadata> {
        self.place.found
    }

    /// The view of what is there.
    pub fn earlier(&self) -> Earlier<'_> {
        Earlier {
            parent: self.place.parent(),
            name: self.place.name(),
        }
    }

    /// Makes a link where nothing is.
    ///
    /// # Errors
    /// By the rules for a change; those of the system.
    pub fn put_link(&self, target: &Path) -> Result<(), FileError> {
        self.workspace.root.check_making(&self.place)?;
        let journal = &*self.workspace.journal;
        let (parent, name) = (self.place.parent(), self.place.name());
        tell(journal, &self.place.path, ChangeKind::Create, parent, name)?;
        let done = rustix::fs::symlinkat(target, parent, name);
        super::journal::settle(journal, &self.place.path, done)
    }

    /// Sets the twelve bits of the mode of a file or a directory, told as a write.
    ///
    /// # Errors
    /// By the rules for a change; when it is something else or cannot be opened.
    pub fn set_mode(&self, mode: u32) -> Result<(), FileError> {
        let found = self.place.required()?;
        self.workspace
            .root
            .check_file_change(&self.place.path, &found)?;
        if !matches!(found.kind, Kind::File | Kind::Directory) {
            return Err(Errno::INVAL.into());
        }
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let (parent, name) = (self.place.parent(), self.place.name());
        let journal = &*self.workspace.journal;
        tell(journal, &self.place.path, ChangeKind::Write, parent, name)?;
        let handle = rustix::fs::openat(parent, name, flags, Mode::empty())?;
        Ok(rustix::fs::fchmod(handle, Mode::from_bits_truncate(mode))?)
    }
}
