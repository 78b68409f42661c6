//! The private directory of a session.
//!
//! Owns its making, for its user alone and outside of every workspace, and its end: whatever
//! programs have left in it, and in whatever modes. What is in it: `tmp`, which tools and programs
//! see as `/tmp`, and `home`, the home directory of programs. It must never follow a link.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A directory that only its user sees. It goes with the value.
#[derive(Debug)]
pub struct PrivateDirectory {
    path: PathBuf,
}

impl PrivateDirectory {
    /// Makes one below the system's directory for temporary files.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn new() -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        builder.prefix("hotcell-");
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        let made = builder.tempdir()?;
        // Not removed by its own guard, which gives up where a program has closed a directory.
        let private = PrivateDirectory { path: made.keep() };
        fs::create_dir(private.temporary())?;
        fs::create_dir(private.home())?;
        Ok(private)
    }

    /// What is `/tmp` for tools and programs.
    pub fn temporary(&self) -> PathBuf {
        self.path.join("tmp")
    }

    /// The home directory of programs.
    pub(super) fn home(&self) -> PathBuf {
        self.path.join("home")
    }
}

impl Drop for PrivateDirectory {
    fn drop(&mut self) {
        let removed = fs::remove_dir_all(&self.path).or_else(|_| {
            open_all(&self.path);
            fs::remove_dir_all(&self.path)
        });
        if let Err(error) = removed {
            let path = self.path.display();
            tracing::warn!(%path, %error, "the private directory of the session is left behind");
        }
    }
}

/// Makes every directory one that its owner can empty. Some programs close theirs: the module
/// cache of Go is read-only.
fn open_all(directory: &Path) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // Where it cannot be done, removing says so.
        let _ = fs::set_permissions(directory, fs::Permissions::from_mode(0o700));
    }
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            open_all(&entry.path());
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn it_is_private_and_goes_with_whatever_is_in_it() {
        let outside = tempfile::tempdir().expect("a directory");
        fs::write(outside.path().join("kept"), "x").expect("a file");
        let private = PrivateDirectory::new().expect("a directory");
        let root = private.path.clone();
        let mode = |path: &Path| {
            fs::metadata(path)
                .expect("it is there")
                .permissions()
                .mode()
        };
        assert_eq!(mode(&root) & 0o777, 0o700);
        let deep = private.temporary().join("a/b");
        fs::create_dir_all(&deep).expect("directories");
        fs::write(deep.join("file"), "x").expect("a file");
        symlink(outside.path(), deep.join("out")).expect("a link");
        for closed in [deep.as_path(), deep.parent().expect("a parent")] {
            fs::set_permissions(closed, fs::Permissions::from_mode(0o000)).expect("a mode");
        }
        drop(private);
        assert!(!root.exists());
        assert!(outside.path().join("kept").exists());
    }
}
