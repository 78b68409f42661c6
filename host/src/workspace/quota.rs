//! How many bytes a directory may have.
//!
//! Owns the count of what is made through a workspace, so that nobody fills a disk that is not
//! theirs. It is counted before it happens, as if nothing were ever removed; only when that reaches
//! the limit the directory is measured anew. It must never measure less than what is there.

use super::metadata::wide;
use rustix::fd::AsFd;
use rustix::io::Errno;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// What an entry counts, beside its content: about what a file system needs for it.
pub(super) const ENTRY_BYTES: u64 = 4_096;

/// The most bytes below a directory, and how many are left as far as is known.
pub(super) struct Quota {
    most: u64,
    directory: PathBuf,
    /// Nothing is known at first.
    left: Mutex<u64>,
}

impl Quota {
    pub(super) fn new(directory: &Path, most: u64) -> Self {
        Quota {
            most,
            directory: directory.to_owned(),
            left: Mutex::new(0),
        }
    }

    /// Takes `bytes` of what is left.
    pub(super) fn take(&self, bytes: u64) -> Result<(), Errno> {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        if *left < bytes {
            *left = self.most.saturating_sub(measure(&self.directory));
        }
        *left = left.checked_sub(bytes).ok_or(Errno::DQUOT)?;
        Ok(())
    }

    /// Takes what a file needs to reach to `end`. One that has no name any more is not found when
    /// the directory is measured, so it does not grow.
    pub(super) fn grow(&self, file: impl AsFd, end: u64) -> Result<(), Errno> {
        let stat = rustix::fs::fstat(file)?;
        match end.checked_sub(wide(stat.st_size)) {
            None | Some(0) => Ok(()),
            Some(_) if wide(stat.st_nlink) == 0 => Err(Errno::DQUOT),
            Some(more) => self.take(more),
        }
    }
}

/// The bytes of everything below: what a file says it has, or takes on the disk if that is more. A
/// hole counts, since it can be filled without growing.
fn measure(directory: &Path) -> u64 {
    let mut bytes = 0_u64;
    let mut open = vec![directory.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).into_iter().flatten().flatten() {
            let Ok(metadata) = entry.metadata() else {
                continue;
            };
            let on_disk = std::os::unix::fs::MetadataExt::blocks(&metadata).saturating_mul(512);
            let content = if metadata.is_file() {
                metadata.len().max(on_disk)
            } else {
                0
            };
            bytes = bytes.saturating_add(content).saturating_add(ENTRY_BYTES);
            if metadata.is_dir() {
                open.push(entry.path());
            }
        }
    }
    bytes
}
