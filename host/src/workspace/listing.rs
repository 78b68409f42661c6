//! What is in a directory.
//!
//! Owns the reading, a piece at a time, so that a directory of a million names costs no more
//! memory than one of ten. What is masked is not in it.

use super::FileError;
use super::metadata::Kind;
use super::resolve::look;
use crate::policy::{DirectoryRules, PathClass};
use rustix::fd::{AsFd, OwnedFd};
use std::ffi::OsStr;

/// A name in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The name.
    pub name: String,
    /// What it is.
    pub kind: Kind,
}

/// The names of a directory, in no order, without `.` and `..`.
pub struct Listing {
    source: source::Source,
    /// Read and not handed out yet.
    ready: std::vec::IntoIter<Entry>,
    rules: DirectoryRules,
}

impl Listing {
    pub(super) fn new(directory: OwnedFd, rules: DirectoryRules) -> Result<Self, FileError> {
        Ok(Listing {
            source: source::Source::new(directory)?,
            ready: Vec::new().into_iter(),
            rules,
        })
    }

    /// The next name, or `None` at the end. A name that is not UTF-8 is left out: a guest could
    /// not say it.
    ///
    /// # Errors
    /// Those of the system.
    pub fn next_entry(&mut self) -> Result<Option<Entry>, FileError> {
        loop {
            if let Some(entry) = self.ready.next() {
                match self.known(entry)? {
                    Some(entry) => return Ok(Some(entry)),
                    None => continue,
                }
            }
            let mut piece = Vec::new();
            let is_over = !self.source.read(|name, kind| {
                let Ok(name) = std::str::from_utf8(name) else {
                    return;
                };
                // Judged before anything else is asked about it.
                if matches!(name, "." | "..")
                    || self.rules.class(OsStr::new(name)) == PathClass::Masked
                {
                    return;
                }
                let name = name.to_owned();
                piece.push(Entry { name, kind });
            })?;
            if is_over {
                return Ok(None);
            }
            self.ready = piece.into_iter();
        }
    }

    /// The entry with its kind, which some file systems do not say in the listing; `None` where it
    /// is gone.
    fn known(&self, entry: Entry) -> Result<Option<Entry>, FileError> {
        if entry.kind != Kind::Unknown {
            return Ok(Some(entry));
        }
        let found = look(self.source.handle()?.as_fd(), OsStr::new(&entry.name))?;
        Ok(found.map(|found| Entry {
            kind: found.kind,
            ..entry
        }))
    }
}

/// Names by the system call itself: the library's way has a copy of each name more.
#[cfg(target_os = "linux")]
mod source {
    use super::{FileError, Kind};
    use rustix::fd::{BorrowedFd, OwnedFd};
    use rustix::fs::RawDir;
    use rustix::io::Errno;
    use std::mem::MaybeUninit;

    /// Bytes of one reading, on the stack: some 400 names.
    const PIECE: usize = 16 << 10;

    pub struct Source(OwnedFd);

    impl Source {
        pub fn new(directory: OwnedFd) -> Result<Self, FileError> {
            Ok(Source(directory))
        }

        pub fn handle(&self) -> Result<BorrowedFd<'_>, FileError> {
            use rustix::fd::AsFd;
            Ok(self.0.as_fd())
        }

        /// Gives `take` the names of one piece; false at the end.
        pub fn read(&mut self, mut take: impl FnMut(&[u8], Kind)) -> Result<bool, FileError> {
            let mut buffer = [const { MaybeUninit::uninit() }; PIECE];
            let mut piece = RawDir::new(&self.0, &mut buffer);
            loop {
                match piece.next() {
                    Some(Ok(entry)) => {
                        take(entry.file_name().to_bytes(), entry.file_type().into());
                    }
                    // A directory that was removed has no names.
                    None | Some(Err(Errno::NOENT)) => return Ok(false),
                    Some(Err(Errno::INTR)) => {}
                    Some(Err(error)) => return Err(error.into()),
                }
                if piece.is_buffer_empty() {
                    return Ok(true);
                }
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod source {
    use super::{FileError, Kind};
    use rustix::fd::{BorrowedFd, OwnedFd};
    use rustix::fs::Dir;

    pub struct Source(Dir);

    impl Source {
        pub fn new(directory: OwnedFd) -> Result<Self, FileError> {
            Ok(Source(Dir::new(directory)?))
        }

        pub fn handle(&self) -> Result<BorrowedFd<'_>, FileError> {
            Ok(self.0.fd()?)
        }

        /// Gives `take` one name; false at the end.
        pub fn read(&mut self, mut take: impl FnMut(&[u8], Kind)) -> Result<bool, FileError> {
            let Some(entry) = self.0.read() else {
                return Ok(false);
            };
            let entry = entry?;
            take(entry.file_name().to_bytes(), entry.file_type().into());
            Ok(true)
        }
    }
}
