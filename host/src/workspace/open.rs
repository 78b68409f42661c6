//! Opening a file or a directory.
//!
//! Owns the order: what is there is looked at before it is opened, because opening a FIFO or a
//! device does something, and again on the handle, because it may have been replaced in between.

use super::change::{check_one_name, check_ordinary};
use super::file::Open;
use super::journal::{ChangeKind, tell};
use super::metadata::{Kind, Metadata};
use super::quota::ENTRY_BYTES;
use super::resolve::{Links, Place};
use super::{Directory, File, FileError};
use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

/// How often a file that is replaced while it is opened is looked at anew.
const TRIES: usize = 8;

/// What to open, and how.
#[derive(Debug, Clone, Copy, Default)]
pub struct OpenOptions {
    /// To read its content. What is opened neither to read nor to write is opened to read.
    pub read: bool,
    /// To change its content.
    pub write: bool,
    /// Make the file if nothing is there.
    pub create: bool,
    /// With `create`: fail if something is there.
    pub exclusive: bool,
    /// Empty the file.
    pub truncate: bool,
    /// Fail if it is no directory.
    pub directory: bool,
    /// Follow a link at the end of the path.
    pub follow: bool,
}

/// What was opened.
pub enum Opened {
    /// A regular file.
    File(File),
    /// A directory.
    Directory(Directory),
}

impl OpenOptions {
    fn changes_content(self) -> bool {
        self.write || self.truncate
    }

    fn flags(self) -> OFlags {
        let access = match (self.changes_content(), self.read) {
            (true, true) => OFlags::RDWR,
            (true, false) => OFlags::WRONLY,
            (false, _) => OFlags::RDONLY,
        };
        access | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC
    }
}

impl Directory {
    /// Opens what `path` means in this directory.
    ///
    /// # Errors
    /// By every rule there is, and those of the system.
    pub fn open(&self, path: &str, options: OpenOptions) -> Result<Opened, FileError> {
        let makes = options.create || options.changes_content();
        if options.directory && (options.create || options.truncate) {
            return Err(Errno::INVAL.into());
        }
        let links = if options.follow && !(options.create && options.exclusive) {
            Links::Follow
        } else {
            Links::Keep
        };
        for _ in 0..TRIES {
            let place = self
                .root()
                .resolve(&self.path, path, links)
                .map_err(|error| {
                    if options.create {
                        error.when_making()
                    } else {
                        error
                    }
                })?;
            if makes {
                self.root().check_writable(&place.path)?;
            }
            let opened = match place.found {
                None => self.make(place, options)?,
                Some(found) => self.open_found(place, found, options)?,
            };
            if let Some(opened) = opened {
                return Ok(opened);
            }
        }
        Err(Errno::AGAIN.into())
    }

    /// Makes a file; `None` when something came to be there first.
    fn make(&self, place: Place<'_>, options: OpenOptions) -> Result<Option<Opened>, FileError> {
        if !options.create {
            return Err(Errno::NOENT.into());
        }
        if place.must_be_directory {
            return Err(Errno::ISDIR.into());
        }
        self.root()
            .check_making(&place)
            .map_err(FileError::when_making)?;
        self.tell(&place, ChangeKind::Create)?;
        let flags = options.flags() | OFlags::CREATE | OFlags::EXCL;
        match rustix::fs::openat(place.parent(), place.name(), flags, Mode::from(0o666)) {
            Ok(handle) => Ok(Some(self.opened(handle, place, options))),
            Err(error) => {
                self.workspace.journal.failed(&place.path);
                match error {
                    Errno::EXIST if !options.exclusive => Ok(None),
                    error => Err(error.into()),
                }
            }
        }
    }

    /// Opens what is there; `None` when it was replaced meanwhile.
    fn open_found(
        &self,
        place: Place<'_>,
        found: Metadata,
        options: OpenOptions,
    ) -> Result<Option<Opened>, FileError> {
        if options.create && options.exclusive {
            return Err(Errno::EXIST.into());
        }
        check_ordinary(&place.path, &found)?;
        match found.kind {
            Kind::Directory if options.changes_content() || options.create => {
                return Err(Errno::ISDIR.into());
            }
            Kind::Directory => {
                let directory = Directory::new(self.workspace.clone(), place.path);
                return Ok(Some(Opened::Directory(directory)));
            }
            Kind::Link => return Err(Errno::LOOP.into()),
            _ if options.directory || place.must_be_directory => {
                return Err(Errno::NOTDIR.into());
            }
            _ => {}
        }
        self.root()
            .check_file_system(&place.path, &found, place.parent())?;
        if options.changes_content() {
            self.root().check_way(&place)?;
            self.root().check_file_change(&place.path, &found)?;
            self.tell(&place, ChangeKind::Write)?;
        }
        let handle = match rustix::fs::openat(
            place.parent(),
            place.name(),
            options.flags(),
            Mode::empty(),
        ) {
            Ok(handle) => handle,
            Err(error) => {
                self.did_not(&place, options);
                return match error {
                    // Removed, or replaced by a link or a socket.
                    Errno::NOENT | Errno::LOOP | Errno::NXIO => Ok(None),
                    error => Err(error.into()),
                };
            }
        };
        let really = Metadata::from(&rustix::fs::fstat(&handle)?);
        if !really.is_same_file(&found) || really.kind != Kind::File {
            self.did_not(&place, options);
            return Ok(None);
        }
        if options.changes_content() {
            check_one_name(&place.path, &really)?;
        }
        if options.truncate {
            rustix::fs::ftruncate(&handle, 0)?;
        }
        Ok(Some(self.opened(handle, place, options)))
    }

    /// A file that was to be changed is not.
    fn did_not(&self, place: &Place<'_>, options: OpenOptions) {
        if options.changes_content() {
            self.workspace.journal.failed(&place.path);
        }
    }

    fn opened(&self, handle: OwnedFd, place: Place<'_>, options: OpenOptions) -> Opened {
        let open = Open {
            handle,
            path: place.path,
            workspace: self.workspace.clone(),
            may_read: options.read || !options.write,
            may_write: options.write,
        };
        Opened::File(open.into())
    }

    pub(super) fn tell(&self, place: &Place<'_>, kind: ChangeKind<'_>) -> Result<(), FileError> {
        if let (ChangeKind::Create, Some(quota)) = (kind, &self.workspace.quota) {
            quota.take(ENTRY_BYTES)?;
        }
        tell(
            &*self.workspace.journal,
            &place.path,
            kind,
            place.parent(),
            place.name(),
        )
    }
}
