//! The part of the shell's file system that exists only for one call.
//!
//! Owns [`Scratch`]: memory that can be written below `/tmp`, the home directory and `/dev`, and
//! nowhere else. bashkit's own memory file system takes a write anywhere; a command that believes
//! it changed `/etc` and was told nothing is worse off than one that is refused.
//!
//! It must never know about the host's files.

use crate::pace::Pace;
use crate::script::{self, Kind};
use bashkit::{
    DirEntry, FileSystem, FileSystemExt, FsLimits, InMemoryFs, Metadata, Result, async_trait,
};
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

/// Home directory of the shell's user. Not the workspace: what a tool drops in `~` should not
/// end up in a repository.
pub const HOME: &str = "/home/user";

/// Where the memory file system can be changed.
const WRITABLE: [&str; 3] = ["/tmp", HOME, "/dev"];

/// Everything in memory together, and one file. A call has 512 MiB by default.
const LIMIT_BYTES: u64 = 128 << 20;

/// Memory that is gone after the call.
pub struct Scratch {
    memory: InMemoryFs,
    pace: Arc<Pace>,
}

impl Scratch {
    /// Empty but for its directories and those in `mount_points`.
    pub fn new(mount_points: &[&str], pace: Arc<Pace>) -> Scratch {
        let memory = InMemoryFs::with_limits(
            FsLimits::unlimited()
                .max_total_bytes(LIMIT_BYTES)
                .max_file_size(LIMIT_BYTES),
        );
        for directory in mount_points {
            memory.add_dir(directory, 0o755);
        }
        Scratch { memory, pace }
    }
}

/// Refuses a change outside of [`WRITABLE`].
fn check(path: &Path) -> Result<()> {
    let inside = |root| path.starts_with(root) && path != Path::new(root);
    if WRITABLE.into_iter().any(inside) {
        return Ok(());
    }
    Err(Error::new(ErrorKind::ReadOnlyFilesystem, "Read-only file system").into())
}

#[async_trait]
impl FileSystemExt for Scratch {
    fn limits(&self) -> FsLimits {
        self.memory.limits()
    }

    async fn mkfifo(&self, path: &Path, mode: u32) -> Result<()> {
        check(path)?;
        self.memory.mkfifo(path, mode).await
    }

    fn backend_kind(&self) -> &'static str {
        "scratch"
    }
}

#[async_trait]
impl FileSystem for Scratch {
    async fn read_file(&self, path: &Path) -> Result<Vec<u8>> {
        self.pace.breathe().await;
        self.memory.read_file(path).await
    }

    async fn write_file(&self, path: &Path, content: &[u8]) -> Result<()> {
        check(path)?;
        self.memory.write_file(path, content).await
    }

    async fn append_file(&self, path: &Path, content: &[u8]) -> Result<()> {
        check(path)?;
        self.memory.append_file(path, content).await
    }

    async fn mkdir(&self, path: &Path, recursive: bool) -> Result<()> {
        if recursive
            && self
                .memory
                .stat(path)
                .await
                .is_ok_and(|m| m.file_type.is_dir())
        {
            return Ok(());
        }
        check(path)?;
        self.memory.mkdir(path, recursive).await
    }

    async fn remove(&self, path: &Path, recursive: bool) -> Result<()> {
        self.memory.stat(path).await?;
        check(path)?;
        self.memory.remove(path, recursive).await
    }

    async fn stat(&self, path: &Path) -> Result<Metadata> {
        self.pace.breathe().await;
        let mut metadata = self.memory.stat(path).await?;
        if metadata.file_type.is_file() && metadata.mode & 0o111 != 0 {
            let content = self.memory.read_file(path).await?;
            if script::kind(&content) == Kind::Other {
                metadata.mode &= !0o111;
            }
        }
        Ok(metadata)
    }

    async fn read_dir(&self, path: &Path) -> Result<Vec<DirEntry>> {
        self.memory.read_dir(path).await
    }

    async fn exists(&self, path: &Path) -> Result<bool> {
        self.pace.breathe().await;
        self.memory.exists(path).await
    }

    async fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        self.memory.stat(from).await?;
        check(from)?;
        check(to)?;
        self.memory.rename(from, to).await
    }

    async fn copy(&self, from: &Path, to: &Path) -> Result<()> {
        check(to)?;
        self.memory.copy(from, to).await
    }

    async fn symlink(&self, target: &Path, link: &Path) -> Result<()> {
        check(link)?;
        self.memory.symlink(target, link).await
    }

    async fn read_link(&self, path: &Path) -> Result<PathBuf> {
        self.memory.read_link(path).await
    }

    async fn chmod(&self, path: &Path, mode: u32) -> Result<()> {
        self.memory.stat(path).await?;
        check(path)?;
        self.memory.chmod(path, mode).await
    }

    async fn set_modified_time(&self, path: &Path, time: SystemTime) -> Result<()> {
        self.memory.stat(path).await?;
        check(path)?;
        self.memory.set_modified_time(path, time).await
    }
}
