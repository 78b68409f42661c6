//! What must hold before anything changes.
//!
//! Owns the checks that every changing operation passes, so that none can forget one: the access,
//! the class of the real path, and what lies there.

use super::metadata::{Kind, Metadata};
use super::resolve::{Place, Root};
use super::{Access, FileError, Rule};
use crate::policy::PathClass;
use rustix::io::Errno;
use std::path::Path;

impl Root {
    /// Refuses any change where the grant is to read.
    pub fn check_writable(&self, path: &Path) -> Result<(), FileError> {
        match self.access {
            Access::ReadWrite => Ok(()),
            Access::ReadOnly => Err(FileError::refused(path, Rule::ReadOnly)),
        }
    }

    /// Refuses a change of what is protected or the root. Masked paths were not found before.
    pub fn check_open_to_change(&self, path: &Path) -> Result<(), FileError> {
        self.check_writable(path)?;
        if path.as_os_str().is_empty() {
            return Err(Errno::BUSY.into());
        }
        match self.rules.rule(path) {
            None => Ok(()),
            Some(rule) => {
                let glob = rule.glob.to_owned();
                Err(FileError::refused(
                    path,
                    match rule.class {
                        PathClass::Masked => Rule::Masked { glob },
                        PathClass::Protected | PathClass::Open => Rule::Protected { glob },
                    },
                ))
            }
        }
    }

    /// Refuses to turn a path into something else while a rule speaks of what is below it: a
    /// directory of that name moved away, or a file, a link or another directory in its place,
    /// would put what is below out of the rule's reach or something else into it.
    pub fn check_keeps_its_name(&self, path: &Path) -> Result<(), FileError> {
        match self.rules.rule_below(path) {
            None => Ok(()),
            Some(rule) => Err(FileError::refused(
                path,
                Rule::Keeps {
                    glob: rule.glob.to_owned(),
                },
            )),
        }
    }

    /// What must hold to change a file's content, length or times.
    pub fn check_file_change(&self, path: &Path, found: &Metadata) -> Result<(), FileError> {
        self.check_open_to_change(path)?;
        if found.kind == Kind::Directory {
            return Ok(());
        }
        self.check_keeps_its_name(path)?;
        check_one_name(path, found)
    }

    /// Refuses to change through a protected link what it leads to.
    pub fn check_way(&self, place: &Place<'_>) -> Result<(), FileError> {
        match &place.protected_link {
            None => Ok(()),
            Some(link) => self.check_open_to_change(link),
        }
    }

    /// What must hold to make a file or a link.
    pub fn check_making(&self, place: &Place<'_>) -> Result<(), FileError> {
        self.check_way(place)?;
        self.check_open_to_change(&place.path)?;
        self.check_keeps_its_name(&place.path)
    }
}

/// A file with other names may be one outside the workspace.
pub(super) fn check_one_name(path: &Path, found: &Metadata) -> Result<(), FileError> {
    if found.kind == Kind::File && found.links > 1 {
        return Err(FileError::refused(
            path,
            Rule::HardLink { links: found.links },
        ));
    }
    Ok(())
}

/// Only regular files, directories and links are moved, linked and opened.
pub(super) fn check_ordinary(path: &Path, found: &Metadata) -> Result<(), FileError> {
    match found.kind {
        Kind::File | Kind::Directory | Kind::Link => Ok(()),
        kind => Err(FileError::refused(path, Rule::Special { kind })),
    }
}
