//! What is in a directory.
//!
//! Owns the reading, a piece at a time, so that a directory of a million names costs no more
//! memory than one of ten. What is masked is not in it.

use super::FileError;
use super::metadata::Kind;
use super::resolve::look;
use crate::policy::{DirectoryRules, PathClass};
use rustix::fd::AsFd;
use rustix::fs::Dir;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

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
    directory: Dir,
    rules: DirectoryRules,
}

impl Listing {
    pub(super) const fn new(directory: Dir, rules: DirectoryRules) -> Self {
        Listing { directory, rules }
    }

    /// The next name, or `None` at the end. A name that is not UTF-8 is left out: a guest could
    /// not say it.
    ///
    /// # Errors
    /// Those of the system.
    pub fn next_entry(&mut self) -> Result<Option<Entry>, FileError> {
        loop {
            let Some(entry) = self.directory.read() else {
                return Ok(None);
            };
            let entry = entry?;
            let Ok(name) = entry.file_name().to_str() else {
                continue;
            };
            if name == "." || name == ".." {
                continue;
            }
            if self.rules.class(OsStr::from_bytes(name.as_bytes())) == PathClass::Masked {
                continue;
            }
            let name = name.to_owned();
            let kind = match Kind::from(entry.file_type()) {
                // Some file systems do not say it in the listing.
                Kind::Unknown => {
                    let here = self.directory.fd()?;
                    match look(here.as_fd(), OsStr::new(&name))? {
                        Some(found) => found.kind,
                        None => continue,
                    }
                }
                kind => kind,
            };
            return Ok(Some(Entry { name, kind }));
        }
    }
}
