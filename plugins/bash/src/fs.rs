//! The shell's view of a directory that the host gave to this component.
//!
//! Owns [`DirFs`], a file system for bashkit over `std::fs`: below a preopen in a component, below
//! a temporary directory in a test, by the same code. It exists because bashkit's own one needs
//! threads and Unix calls that WASI does not have.
//!
//! It never follows a symbolic link: a path that goes through one is answered as absent, and the
//! layer above looks the link's target up inside the shell's own file system, where nothing of the
//! host can be named. It is not the security boundary (the host's sandbox is), so a race between
//! its check and its use gains nothing.
//!
//! It must never know about the shell, about where it is mounted, or about other mounts.

use crate::pace::Pace;
use crate::script::{self, Kind};
use bashkit::{DirEntry, FileSystem, FileSystemExt, FileType, Metadata, Result, async_trait};
use std::collections::{HashMap, HashSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

/// Largest file that is read whole. bashkit holds a file in memory, some utilities more than
/// once, and a call has 512 MiB by default.
pub const MAX_FILE_BYTES: u64 = 64 << 20;

/// A directory of the host as a file system of the shell.
///
/// WASI has no file modes. Every file reports 644, or 755 when it is a shell script by its `#!`
/// line, and every directory 755, without the write bits when the directory is read-only. `chmod`
/// is remembered for the life of this value and does not reach the disk; [`DirFs::modes_changed`]
/// tells. A script for another interpreter is never executable.
pub struct DirFs {
    root: PathBuf,
    read_only: bool,
    /// Directories already seen to be real ones, so that a path costs one host call and not one
    /// a component. Cleared by whatever could put a link in their place.
    real_dirs: Mutex<HashSet<PathBuf>>,
    modes: Mutex<HashMap<PathBuf, u32>>,
    pace: Arc<Pace>,
}

impl DirFs {
    /// A file system whose `/` is `root`. With `read_only` every change is refused here, before
    /// the host refuses it too.
    pub fn new(root: impl Into<PathBuf>, read_only: bool, pace: Arc<Pace>) -> DirFs {
        DirFs {
            root: root.into(),
            read_only,
            real_dirs: Mutex::default(),
            modes: Mutex::default(),
            pace,
        }
    }

    /// Whether a mode was set that the disk does not have.
    pub fn modes_changed(&self) -> bool {
        !lock(&self.modes).is_empty()
    }

    /// The host path of `path`, if every directory on the way is a real directory. The last
    /// component is not looked at.
    fn locate(&self, path: &Path) -> Result<PathBuf> {
        let mut real = self.root.clone();
        let parts = components(path);
        let Some((last, parents)) = parts.split_last() else {
            return Ok(real);
        };
        for part in parents {
            real.push(part);
            if lock(&self.real_dirs).contains(&real) {
                continue;
            }
            let kind = fs::symlink_metadata(&real).map_err(errno)?.file_type();
            if kind.is_symlink() {
                return Err(is_link(&real));
            }
            if !kind.is_dir() {
                return Err(error(ErrorKind::NotADirectory));
            }
            lock(&self.real_dirs).insert(real.clone());
        }
        real.push(last);
        Ok(real)
    }

    /// As [`DirFs::locate`], for a change of the last component.
    fn locate_to_change(&self, path: &Path) -> Result<PathBuf> {
        let real = self.locate(path)?;
        if self.read_only {
            return Err(error(ErrorKind::ReadOnlyFilesystem));
        }
        Ok(real)
    }

    /// Where the content of `path` can be written: absent, or a regular file.
    fn locate_to_write(&self, path: &Path) -> Result<PathBuf> {
        let real = self.locate_to_change(path)?;
        match fs::symlink_metadata(&real) {
            Ok(metadata) => regular(&real, &metadata).map(|()| real),
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(real),
            Err(e) => Err(errno(e)),
        }
    }

    /// An existing regular file of a size that can be held.
    fn locate_to_read(&self, path: &Path) -> Result<PathBuf> {
        let real = self.locate(path)?;
        let metadata = fs::symlink_metadata(&real).map_err(errno)?;
        // Looked at before the open, which would wait for the other end of a FIFO.
        regular(&real, &metadata)?;
        if metadata.len() > MAX_FILE_BYTES {
            return Err(io::Error::new(
                ErrorKind::FileTooLarge,
                format!(
                    "File too large ({} MiB; this shell reads files of up to {} MiB)",
                    metadata.len() >> 20,
                    MAX_FILE_BYTES >> 20
                ),
            )
            .into());
        }
        Ok(real)
    }

    fn describe(&self, real: &Path, metadata: &fs::Metadata, look_inside: bool) -> Metadata {
        let kind = metadata.file_type();
        let (file_type, default_mode) = if kind.is_symlink() {
            (FileType::Symlink, 0o777)
        } else if kind.is_dir() {
            (FileType::Directory, 0o755)
        } else if !kind.is_file() {
            // Pipe, socket or device: all that a script needs to know is that it is no file.
            (FileType::Fifo, 0o600)
        } else {
            (FileType::File, 0o644)
        };
        let set = lock(&self.modes).get(real).copied();
        let mut mode = set.unwrap_or(default_mode);
        if look_inside && file_type == FileType::File {
            mode = match script::kind(&start_of(real)) {
                Kind::Shell => set.unwrap_or(0o755),
                // bashkit would take it for a shell script and run its lines.
                Kind::Other => mode & !0o111,
                Kind::NoScript => mode,
            };
        }
        if self.read_only && file_type != FileType::Symlink {
            mode &= !0o222;
        }
        let modified = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        Metadata {
            file_type,
            size: metadata.len(),
            mode,
            modified,
            created: metadata.created().unwrap_or(modified),
        }
    }

    /// After this, no directory is taken for a real one without a look.
    fn forget(&self) {
        lock(&self.real_dirs).clear();
    }
}

#[async_trait]
impl FileSystemExt for DirFs {
    fn backend_kind(&self) -> &'static str {
        "directory"
    }
}

#[async_trait]
impl FileSystem for DirFs {
    async fn read_file(&self, path: &Path) -> Result<Vec<u8>> {
        self.pace.breathe().await;
        let real = self.locate_to_read(path)?;
        let file = File::open(real).map_err(errno)?;
        let mut bytes = Vec::new();
        // The limit again, for a file that grows meanwhile.
        file.take(MAX_FILE_BYTES)
            .read_to_end(&mut bytes)
            .map_err(errno)?;
        Ok(bytes)
    }

    async fn write_file(&self, path: &Path, content: &[u8]) -> Result<()> {
        self.pace.breathe().await;
        if is_stand_in(path) {
            return Err(error(ErrorKind::Unsupported));
        }
        // In place, as a shell does: a new file in its stead would lose the mode, which WASI
        // cannot carry over, and every hard link.
        let real = self.locate_to_write(path)?;
        let mut file = File::create(real).map_err(errno)?;
        file.write_all(content).map_err(errno)
    }

    async fn append_file(&self, path: &Path, content: &[u8]) -> Result<()> {
        self.pace.breathe().await;
        let real = self.locate_to_write(path)?;
        let mut file = OpenOptions::new()
            .append(true)
            .create(true)
            .open(real)
            .map_err(errno)?;
        file.write_all(content).map_err(errno)
    }

    async fn mkdir(&self, path: &Path, recursive: bool) -> Result<()> {
        self.pace.breathe().await;
        if !recursive {
            return fs::create_dir(self.locate_to_change(path)?).map_err(errno);
        }
        let mut so_far = PathBuf::from("/");
        for part in components(path) {
            so_far.push(part);
            let real = self.locate(&so_far)?;
            match fs::symlink_metadata(&real) {
                Ok(metadata) if metadata.is_dir() => {}
                Ok(metadata) if metadata.is_symlink() => return Err(is_link(&real)),
                Ok(_) => return Err(error(ErrorKind::AlreadyExists)),
                Err(e) if e.kind() == ErrorKind::NotFound => {
                    fs::create_dir(self.locate_to_change(&so_far)?).map_err(errno)?;
                }
                Err(e) => return Err(errno(e)),
            }
        }
        Ok(())
    }

    async fn remove(&self, path: &Path, recursive: bool) -> Result<()> {
        self.pace.breathe().await;
        if components(path).is_empty() {
            return Err(error(ErrorKind::ResourceBusy));
        }
        let real = self.locate(path)?;
        let metadata = fs::symlink_metadata(&real).map_err(errno)?;
        let real = self.locate_to_change(path)?;
        self.forget();
        match (metadata.is_dir(), recursive) {
            (true, true) => fs::remove_dir_all(real),
            (true, false) => fs::remove_dir(real),
            (false, _) => fs::remove_file(real),
        }
        .map_err(errno)
    }

    async fn stat(&self, path: &Path) -> Result<Metadata> {
        self.pace.breathe().await;
        let real = self.locate(path)?;
        let metadata = fs::symlink_metadata(&real).map_err(errno)?;
        Ok(self.describe(&real, &metadata, true))
    }

    async fn read_dir(&self, path: &Path) -> Result<Vec<DirEntry>> {
        self.pace.breathe().await;
        let real = self.locate(path)?;
        let kind = fs::symlink_metadata(&real).map_err(errno)?.file_type();
        if kind.is_symlink() {
            return Err(is_link(&real));
        }
        if !kind.is_dir() {
            return Err(error(ErrorKind::NotADirectory));
        }
        let mut entries = Vec::new();
        for entry in fs::read_dir(real).map_err(errno)? {
            let entry = entry.map_err(errno)?;
            // An entry that went away meanwhile is simply not there.
            let Ok(metadata) = entry.metadata() else {
                continue;
            };
            entries.push(DirEntry {
                name: entry.file_name().to_string_lossy().into_owned(),
                // Not opened: listing a thousand files must not read a thousand files.
                metadata: self.describe(&entry.path(), &metadata, false),
            });
        }
        Ok(entries)
    }

    async fn exists(&self, path: &Path) -> Result<bool> {
        self.pace.breathe().await;
        let real = match self.locate(path) {
            Ok(real) => real,
            Err(_) => return Ok(false),
        };
        Ok(fs::symlink_metadata(real).is_ok())
    }

    async fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        self.pace.breathe().await;
        if components(from).is_empty() || components(to).is_empty() {
            return Err(error(ErrorKind::ResourceBusy));
        }
        let real = self.locate(from)?;
        fs::symlink_metadata(&real).map_err(errno)?;
        let (real, target) = (self.locate_to_change(from)?, self.locate_to_change(to)?);
        self.forget();
        fs::rename(&real, &target).map_err(errno)?;
        let mut modes = lock(&self.modes);
        match modes.remove(&real) {
            Some(mode) => modes.insert(target, mode),
            None => modes.remove(&target),
        };
        Ok(())
    }

    async fn copy(&self, from: &Path, to: &Path) -> Result<()> {
        self.pace.breathe().await;
        let source = self.locate(from)?;
        regular(&source, &fs::symlink_metadata(&source).map_err(errno)?)?;
        let target = self.locate_to_write(to)?;
        let mut source = File::open(source).map_err(errno)?;
        // Not `std::fs::copy`, which also sets a mode that WASI does not have.
        let mut target = File::create(target).map_err(errno)?;
        io::copy(&mut source, &mut target).map_err(errno)?;
        Ok(())
    }

    async fn symlink(&self, target: &Path, link: &Path) -> Result<()> {
        self.pace.breathe().await;
        let real = self.locate_to_change(link)?;
        // The host refuses an absolute target. A relative one that leaves would be harmless here
        // and a trap for the next native program.
        if target.is_absolute() || leaves(link, target) {
            return Err(io::Error::new(
                ErrorKind::PermissionDenied,
                "Permission denied (a link must be relative and stay below its file system's root)",
            )
            .into());
        }
        self.forget();
        #[expect(
            deprecated,
            reason = "the one stable call that makes a symbolic link on WASI and on Unix"
        )]
        fs::soft_link(target, real).map_err(errno)
    }

    async fn read_link(&self, path: &Path) -> Result<PathBuf> {
        self.pace.breathe().await;
        fs::read_link(self.locate(path)?).map_err(errno)
    }

    async fn chmod(&self, path: &Path, mode: u32) -> Result<()> {
        self.pace.breathe().await;
        let real = self.locate(path)?;
        let metadata = fs::symlink_metadata(&real).map_err(errno)?;
        let real = self.locate_to_change(path)?;
        if self.describe(&real, &metadata, true).mode != mode & 0o7777 {
            lock(&self.modes).insert(real, mode & 0o7777);
        }
        Ok(())
    }

    async fn set_modified_time(&self, path: &Path, time: SystemTime) -> Result<()> {
        self.pace.breathe().await;
        let real = self.locate_to_change(path)?;
        let metadata = fs::symlink_metadata(&real).map_err(errno)?;
        let file = if metadata.is_dir() {
            File::open(real)
        } else {
            regular(&real, &metadata)?;
            OpenOptions::new().write(true).open(real)
        };
        file.and_then(|file| file.set_modified(time)).map_err(errno)
    }
}

/// The names in `path`, `.` and `..` resolved by text. `..` stops at the root.
fn components(path: &Path) -> Vec<&std::ffi::OsStr> {
    let mut names = Vec::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => names.push(name),
            Component::ParentDir => {
                names.pop();
            }
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    names
}

/// Whether `path` is the new file by which `sed -i` and `yq -i` of bashkit replace an old one. They
/// write into the old one when they cannot have it, which keeps the mode and the hard links.
fn is_stand_in(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.strip_prefix(".bashkit-")
        .and_then(|rest| rest.strip_suffix(".tmp"))
        .and_then(|rest| rest.rsplit_once('-'))
        .is_some_and(|(_, random)| {
            random.len() == 16 && random.bytes().all(|byte| byte.is_ascii_hexdigit())
        })
}

/// Whether `target`, seen from the directory of `link`, climbs above the root.
fn leaves(link: &Path, target: &Path) -> bool {
    let mut depth = components(link).len().saturating_sub(1);
    for component in target.components() {
        match component {
            Component::Normal(_) => depth += 1,
            Component::ParentDir if depth == 0 => return true,
            Component::ParentDir => depth -= 1,
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    false
}

/// The first bytes of a file, none if it cannot be read.
fn start_of(real: &Path) -> Vec<u8> {
    let mut start = Vec::new();
    if let Ok(file) = File::open(real) {
        // What is missing after a fault is no `#!` line.
        let _ = file.take(script::START_BYTES).read_to_end(&mut start);
    }
    start
}

/// Refuses what is not a regular file, with what bash would print.
fn regular(real: &Path, metadata: &fs::Metadata) -> Result<()> {
    let kind = metadata.file_type();
    if kind.is_file() {
        Ok(())
    } else if kind.is_dir() {
        Err(error(ErrorKind::IsADirectory))
    } else if kind.is_symlink() {
        Err(is_link(real))
    } else {
        Err(io::Error::new(
            ErrorKind::PermissionDenied,
            "Permission denied (a pipe, socket or device, not a file)",
        )
        .into())
    }
}

/// A link on the way: absent as far as this file system goes. Any error but a refusal makes the
/// layer above resolve links and come back. The host is asked to follow it, so that one which leads
/// out of the workspace is refused by the host, which then says where it leads.
fn is_link(real: &Path) -> bashkit::Error {
    match fs::metadata(real) {
        Err(e) if e.kind() == ErrorKind::PermissionDenied => errno(e),
        _ => error(ErrorKind::NotFound),
    }
}

fn error(kind: ErrorKind) -> bashkit::Error {
    errno(kind.into())
}

/// The error with the words of a Unix tool. bashkit prints them as they are.
fn errno(e: io::Error) -> bashkit::Error {
    let words = match e.kind() {
        ErrorKind::NotFound => "No such file or directory",
        ErrorKind::PermissionDenied => "Permission denied",
        ErrorKind::AlreadyExists => "File exists",
        ErrorKind::IsADirectory => "Is a directory",
        ErrorKind::NotADirectory => "Not a directory",
        ErrorKind::DirectoryNotEmpty => "Directory not empty",
        ErrorKind::ReadOnlyFilesystem => "Read-only file system",
        ErrorKind::FileTooLarge => "File too large",
        ErrorKind::StorageFull => "No space left on device",
        ErrorKind::QuotaExceeded => "Disk quota exceeded",
        ErrorKind::InvalidFilename => "File name too long",
        ErrorKind::ResourceBusy => "Device or resource busy",
        ErrorKind::CrossesDevices => "Invalid cross-device link",
        ErrorKind::Unsupported => "Operation not supported",
        kind => {
            let text = e.to_string();
            let text = text.split(" (os error").next().unwrap_or_default();
            return io::Error::new(kind, text.to_owned()).into();
        }
    };
    io::Error::new(e.kind(), words).into()
}

/// A mutex of a value that no panic can leave half changed.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}
