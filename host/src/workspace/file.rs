//! A regular file that is open.
//!
//! Owns the handle and what was asked for when it was opened. Reads and writes are at an offset:
//! there is no shared position, so a handle can be used from several streams.

use super::metadata::{Metadata, NewTime, timestamps};
use super::{FileError, Workspace};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use std::io::IoSlice;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A regular file of a workspace. Cheap to clone.
#[derive(Clone)]
pub struct File(Arc<Open>);

/// What one opening of a file gave.
pub(super) struct Open {
    pub handle: OwnedFd,
    pub path: PathBuf,
    pub workspace: Workspace,
    pub may_read: bool,
    pub may_write: bool,
}

impl From<Open> for File {
    fn from(open: Open) -> Self {
        File(Arc::new(open))
    }
}

impl File {
    /// Where it was opened, real and relative to the workspace.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// Whether it was opened to read.
    pub fn may_read(&self) -> bool {
        self.0.may_read
    }

    /// Whether it was opened to write.
    pub fn may_write(&self) -> bool {
        self.0.may_write
    }

    /// Reads at most `length` bytes from `offset`. Nothing means the end.
    ///
    /// # Errors
    /// When it was not opened to read; those of the system.
    pub fn read_at(&self, length: usize, offset: u64) -> Result<Vec<u8>, FileError> {
        if !self.0.may_read {
            return Err(Errno::BADF.into());
        }
        check_offset(offset)?;
        let mut bytes = Vec::with_capacity(length);
        loop {
            match rustix::io::pread(
                &self.0.handle,
                rustix::buffer::spare_capacity(&mut bytes),
                offset,
            ) {
                Ok(_) => return Ok(bytes),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Writes all of `bytes` at `offset`.
    ///
    /// # Errors
    /// When it was not opened to write; those of the system, after which part may be written.
    pub fn write_at(&self, mut bytes: &[u8], mut offset: u64) -> Result<(), FileError> {
        self.check_write()?;
        check_offset(offset)?;
        self.grow(offset.saturating_add(bytes.len() as u64))?;
        while !bytes.is_empty() {
            match rustix::io::pwrite(&self.0.handle, bytes, offset) {
                Ok(0) => return Err(Errno::IO.into()),
                Ok(written) => {
                    bytes = &bytes[written..];
                    offset = offset.saturating_add(written as u64);
                }
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Writes all of `bytes` at the end, wherever that is.
    ///
    /// # Errors
    /// As [`File::write_at`].
    pub fn append(&self, mut bytes: &[u8]) -> Result<(), FileError> {
        self.check_write()?;
        if self.0.workspace.quota.is_some() {
            let end = self.metadata()?.size;
            self.grow(end.saturating_add(bytes.len() as u64))?;
        }
        while !bytes.is_empty() {
            match append_once(&self.0.handle, bytes) {
                Ok(0) => return Err(Errno::IO.into()),
                Ok(written) => bytes = &bytes[written..],
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Sets the length.
    ///
    /// # Errors
    /// As [`File::write_at`].
    pub fn set_length(&self, length: u64) -> Result<(), FileError> {
        self.check_write()?;
        check_offset(length)?;
        self.grow(length)?;
        Ok(rustix::fs::ftruncate(&self.0.handle, length)?)
    }

    /// Sets the times.
    ///
    /// # Errors
    /// By the rules for a change of this file; those of the system.
    pub fn set_times(&self, accessed: NewTime, modified: NewTime) -> Result<(), FileError> {
        let found = self.metadata()?;
        self.0
            .workspace
            .root
            .check_file_change(&self.0.path, &found)?;
        Ok(rustix::fs::futimens(
            &self.0.handle,
            &timestamps(accessed, modified),
        )?)
    }

    /// What is known about it.
    ///
    /// # Errors
    /// Those of the system.
    pub fn metadata(&self) -> Result<Metadata, FileError> {
        Ok(Metadata::from(&rustix::fs::fstat(&self.0.handle)?))
    }

    /// Waits until its content is on the disk, and with `all` what is known about it too.
    ///
    /// # Errors
    /// Those of the system.
    pub fn sync(&self, all: bool) -> Result<(), FileError> {
        if !all {
            #[cfg(target_os = "linux")]
            return Ok(rustix::fs::fdatasync(&self.0.handle)?);
        }
        Ok(rustix::fs::fsync(&self.0.handle)?)
    }

    /// Refuses to reach to `end` where the directory would have too many bytes.
    fn grow(&self, end: u64) -> Result<(), FileError> {
        match &self.0.workspace.quota {
            Some(quota) => Ok(quota.grow(&self.0.handle, end)?),
            None => Ok(()),
        }
    }

    fn check_write(&self) -> Result<(), FileError> {
        if self.0.may_write {
            Ok(())
        } else {
            Err(Errno::BADF.into())
        }
    }
}

/// The kernel takes offsets as signed.
fn check_offset(offset: u64) -> Result<(), FileError> {
    if i64::try_from(offset).is_err() {
        return Err(Errno::INVAL.into());
    }
    Ok(())
}

/// Appends in one step, so that two handles do not write over each other.
#[cfg(target_os = "linux")]
fn append_once(handle: &OwnedFd, bytes: &[u8]) -> Result<usize, Errno> {
    use rustix::io::ReadWriteFlags;
    let slice = [IoSlice::new(bytes)];
    match rustix::io::pwritev2(handle, &slice, 0, ReadWriteFlags::APPEND) {
        // Not every file system knows the flag.
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => append_at_end(handle, bytes),
        written => written,
    }
}

#[cfg(not(target_os = "linux"))]
fn append_once(handle: &OwnedFd, bytes: &[u8]) -> Result<usize, Errno> {
    append_at_end(handle, bytes)
}

fn append_at_end(handle: &OwnedFd, bytes: &[u8]) -> Result<usize, Errno> {
    let end = super::metadata::wide(rustix::fs::fstat(handle)?.st_size);
    rustix::io::pwritev(handle, &[IoSlice::new(bytes)], end)
}
