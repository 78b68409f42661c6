//! Who may write to a session, and who may replace the store.
//!
//! Owns lock files beside the database. The system lets go of a lock when its process ends, however
//! that was, so that nothing has to be guessed about a process that is gone. A lock file is removed
//! by its holder; one that was removed meanwhile is not the lock any more, which is looked at.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

/// A lock, held until it is dropped.
#[derive(Debug)]
pub(super) struct Lock {
    path: PathBuf,
    /// Closing it lets go.
    _file: File,
}

impl Lock {
    /// Waits for the lock.
    pub(super) fn wait(path: &Path) -> io::Result<Lock> {
        loop {
            let file = open(path)?;
            file.lock()?;
            if is_at(&file, path) {
                return Ok(Lock::of(file, path));
            }
        }
    }

    /// Takes the lock, if nobody has it.
    pub(super) fn take(path: &Path) -> io::Result<Option<Lock>> {
        loop {
            let file = open(path)?;
            match file.try_lock() {
                Ok(()) if is_at(&file, path) => return Ok(Some(Lock::of(file, path))),
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
    }

    fn of(file: File, path: &Path) -> Lock {
        Lock {
            path: path.to_owned(),
            _file: file,
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // One that stays does no harm: it is nobody's.
        let _ = fs::remove_file(&self.path);
    }
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), fs::metadata(path)) {
        (Ok(held), Ok(there)) => (held.dev(), held.ino()) == (there.dev(), there.ino()),
        _ => false,
    }
}

/// Elsewhere a file that is open cannot be removed.
#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> bool {
    true
}
