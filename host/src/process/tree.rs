//! The masked and protected paths of a workspace, before and after a process.
//!
//! Owns the walk that finds them, and the comparison that finds what a process made although it is
//! protected: the kernel can guard a path that is there, not one that is not. It must never follow
//! a link, and never guess about a tree it could not see whole.

use super::plan::{Exception, ExceptionKind};
use super::witness::{Look, MOST_SEEN, NotSeen, Seen, SeenKind, Witness};
use crate::policy::{PathClass, PathRules};
use rustix::fs::{FileType, Mode, OFlags, RawDir, ResolveFlags, openat2};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Entries that are looked at before and after each process. A workspace with more gets no
/// process: what was not looked at could not be held back.
const MOST_ENTRIES: usize = 2_000_000;

/// Paths that are not like the others. Each costs a mount.
const MOST_EXCEPTIONS: usize = 8_192;

/// Levels of directories.
const MOST_DEPTH: usize = 256;

/// Bytes of directory entries that are read at once.
const BUFFER_BYTES: usize = 64 << 10;

/// Why a workspace cannot be guarded.
#[derive(Debug, thiserror::Error)]
pub(super) enum TreeError {
    #[error(
        "the workspace has more than {MOST_ENTRIES} entries, too many to guard its masked and protected paths; use a smaller workspace"
    )]
    Entries,
    #[error(
        "the workspace has more than {MOST_EXCEPTIONS} masked and protected paths, too many to guard; use a smaller workspace"
    )]
    Exceptions,
    #[error(
        "the workspace has more than {MOST_DEPTH} levels of directories, too many to guard its masked and protected paths"
    )]
    Depth,
    #[error(
        "`{path}` holds a name that is not text and is masked or protected, which cannot be guarded; rename it"
    )]
    Name { path: String },
    #[error("cannot look for masked and protected paths in `{path}`: {error}")]
    Unreadable { path: String, error: io::Error },
}

/// What is not like the rest in a workspace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Exceptions {
    /// Parents before children.
    pub found: Vec<Exception>,
    /// Protected paths that are links, with their targets. Nothing can be mounted on a link, so
    /// these are looked at afterwards only.
    links: BTreeMap<PathBuf, PathBuf>,
}

impl Exceptions {
    /// Looks at every entry of the workspace, and for a witness at what is known of each.
    pub(super) fn find(
        workspace: &Path,
        rules: &PathRules,
        witness: Option<&dyn Witness>,
    ) -> Result<(Self, Result<Look, NotSeen>), TreeError> {
        let root = rustix::fs::open(
            workspace,
            OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC,
            Mode::empty(),
        )
        .map_err(|error| unreadable(workspace, error))?;
        let mut walk = Walk {
            rules,
            entries: 0,
            found: Vec::new(),
            links: BTreeMap::new(),
            buffer: Vec::with_capacity(BUFFER_BYTES),
            witness,
            look: witness.map(|_| Look::new()).ok_or(NotSeen::Nobody),
        };
        walk.directory(root, Path::new(""), 0, witness.is_some())?;
        let (links, look) = (walk.links, walk.look);
        let mut found = walk.found;
        found.sort_by(|a, b| {
            let depth = |one: &Exception| one.path.components().count();
            (depth(a), &a.path).cmp(&(depth(b), &b.path))
        });
        Ok((Exceptions { found, links }, look))
    }

    /// Protected and masked paths that are here and not in `before`, without those below another.
    fn new_since(&self, before: &Exceptions) -> Vec<Exception> {
        let known: BTreeSet<&Path> = before.paths().collect();
        let links = self.links.keys().map(|path| Exception {
            path: path.clone(),
            kind: ExceptionKind::Protected,
            is_directory: false,
        });
        let mut new: Vec<Exception> = Vec::new();
        for exception in self.guarded().cloned().chain(links) {
            let covered = new
                .iter()
                .any(|other| exception.path.starts_with(&other.path));
            // What is below a path that was guarded before cannot have been made through it.
            let below_known = exception
                .path
                .ancestors()
                .skip(1)
                .any(|parent| known.contains(parent));
            if !known.contains(exception.path.as_path()) && !covered && !below_known {
                new.push(exception);
            }
        }
        new
    }

    /// Every guarded path, links included.
    fn paths(&self) -> impl Iterator<Item = &Path> {
        let guarded = self.guarded().map(|exception| exception.path.as_path());
        guarded.chain(self.links.keys().map(PathBuf::as_path))
    }

    fn guarded(&self) -> impl Iterator<Item = &Exception> {
        self.found
            .iter()
            .filter(|exception| exception.kind != ExceptionKind::Pinned)
    }
}

/// Looks again after a process, removes what it made against the rules, and says so.
pub(super) fn undo_forbidden(
    workspace: &Path,
    rules: &PathRules,
    before: &Exceptions,
    witness: Option<&dyn Witness>,
) -> (Vec<String>, Result<Look, NotSeen>) {
    let (after, look) = match Exceptions::find(workspace, rules, witness) {
        Ok(after) => after,
        Err(error) => {
            let note = format!(
                "it could not be checked whether the process made protected paths: {error}"
            );
            return (vec![note], Err(NotSeen::Unreadable(error.to_string())));
        }
    };
    (without_forbidden(workspace, before, &after), look)
}

fn without_forbidden(workspace: &Path, before: &Exceptions, after: &Exceptions) -> Vec<String> {
    let mut notes: Vec<String> = after
        .new_since(before)
        .into_iter()
        .map(|made| {
            let shown = made.path.display();
            let kind = match made.kind {
                ExceptionKind::Masked => "masked",
                ExceptionKind::Protected | ExceptionKind::Pinned => "protected",
            };
            match remove(workspace, &made) {
                Ok(()) => format!("`{shown}` is {kind}; the process made it, and it was removed"),
                Err(error) => format!(
                    "`{shown}` is {kind}; the process made it, and it could not be removed: {error}"
                ),
            }
        })
        .collect();
    for (path, target) in &before.links {
        if after.links.get(path) != Some(target) {
            notes.push(restore(workspace, path, target, after));
        }
    }
    let still: BTreeSet<&Path> = after.paths().collect();
    notes.extend(
        before
            .guarded()
            .filter(|exception| !still.contains(exception.path.as_path()))
            .map(|exception| {
                format!(
                    "`{}` is protected or masked; it moved together with a directory above it",
                    exception.path.display()
                )
            }),
    );
    notes
}

/// Puts a protected link back in place of whatever is there now.
fn restore(workspace: &Path, path: &Path, target: &Path, after: &Exceptions) -> String {
    let shown = path.display();
    let there = after.found.iter().find(|exception| exception.path == path);
    let is_directory = there.is_some_and(|exception| exception.is_directory);
    let restored = below(workspace, path).and_then(|(_parent, entry)| {
        match remove_entry(&entry, is_directory) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        std::os::unix::fs::symlink(target, entry)
    });
    match restored {
        Ok(()) => {
            format!("`{shown}` is protected; the process changed it, and it is a link again")
        }
        Err(error) => format!(
            "`{shown}` is protected; the process changed it, and it could not be put back: {error}"
        ),
    }
}

/// Removes a path below the workspace, without a link on the way being followed.
fn remove(workspace: &Path, made: &Exception) -> io::Result<()> {
    let (_parent, entry) = below(workspace, &made.path)?;
    remove_entry(&entry, made.is_directory)
}

fn remove_entry(entry: &Path, is_directory: bool) -> io::Result<()> {
    if is_directory {
        std::fs::remove_dir_all(entry)
    } else {
        std::fs::remove_file(entry)
    }
}

/// A path to an entry of the workspace that leads through no link, good for as long as its open
/// parent is held.
fn below(workspace: &Path, path: &Path) -> io::Result<(OwnedFd, PathBuf)> {
    let root = rustix::fs::open(
        workspace,
        OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC,
        Mode::empty(),
    )?;
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let parent = if parent.as_os_str().is_empty() {
        root
    } else {
        open_below(&root, parent, OFlags::PATH | OFlags::DIRECTORY)?
    };
    let entry = Path::new("/proc/self/fd")
        .join(parent.as_raw_fd().to_string())
        .join(name);
    Ok((parent, entry))
}

/// Opens a path below `root`, no link followed.
fn open_below(root: impl AsFd, path: &Path, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    openat2(
        root,
        path,
        flags | OFlags::NOFOLLOW | OFlags::CLOEXEC,
        Mode::empty(),
        ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS,
    )
}

struct Walk<'a> {
    rules: &'a PathRules,
    entries: usize,
    found: Vec<Exception>,
    links: BTreeMap<PathBuf, PathBuf>,
    buffer: Vec<u8>,
    witness: Option<&'a dyn Witness>,
    look: Result<Look, NotSeen>,
}

struct Entry {
    name: Vec<u8>,
    is_directory: bool,
    is_link: bool,
}

impl Walk<'_> {
    /// `is_seen` says whether what is here belongs to the look.
    fn directory(
        &mut self,
        open: OwnedFd,
        path: &Path,
        depth: usize,
        is_seen: bool,
    ) -> Result<(), TreeError> {
        if depth > MOST_DEPTH {
            return Err(TreeError::Depth);
        }
        let own = self.rules.class(path);
        let mut names = self.rules.within(path);
        for entry in self.read(&open, path)? {
            self.entries += 1;
            if self.entries > MOST_ENTRIES {
                return Err(TreeError::Entries);
            }
            let name = OsStr::from_bytes(&entry.name);
            let class = names.class(name);
            let is_seen = is_seen
                && class == PathClass::Open
                && !(entry.is_directory && self.witness.is_some_and(|one| one.overlooks(name)));
            if is_seen {
                self.see(&open, path, name);
            }
            let path = path.join(name);
            if class == PathClass::Open && !entry.is_directory {
                // A file or a link where a rule speaks of what is below, as a `.git` that names
                // another directory, decides what the rule is about.
                if self.rules.rule_below(&path).is_none() {
                    continue;
                }
                if entry.is_link {
                    self.add_link(&open, &path)?;
                } else {
                    self.add(&path, ExceptionKind::Protected, false)?;
                }
                continue;
            }
            match class {
                // A link is no content: what it leads to has a class of its own.
                PathClass::Masked if entry.is_link => continue,
                PathClass::Masked => {
                    self.add(&path, ExceptionKind::Masked, entry.is_directory)?;
                    continue;
                }
                PathClass::Protected if own == PathClass::Protected => {}
                PathClass::Protected if entry.is_link => {
                    self.add_link(&open, &path)?;
                    continue;
                }
                PathClass::Protected => {
                    self.add(&path, ExceptionKind::Protected, entry.is_directory)?;
                }
                PathClass::Open => {
                    // Under another name, what is below it would not be protected.
                    if self.rules.rule_below(&path).is_some() {
                        self.add(&path, ExceptionKind::Pinned, true)?;
                    }
                }
            }
            if entry.is_directory {
                match open_below(&open, Path::new(name), OFlags::RDONLY | OFlags::DIRECTORY) {
                    Ok(inner) => self.directory(inner, &path, depth + 1, is_seen)?,
                    // Gone meanwhile, or another thing now: nothing to look at.
                    Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR) => {}
                    // The process is the same user, and could let itself in.
                    Err(rustix::io::Errno::ACCESS) => {
                        if let Ok(look) = &mut self.look {
                            look.closed.push(path.clone());
                        }
                        self.add(&path, ExceptionKind::Masked, true)?;
                    }
                    Err(error) => return Err(unreadable(&path, error)),
                }
            }
        }
        Ok(())
    }

    /// Adds what is known of an entry to the look.
    fn see(&mut self, directory: &OwnedFd, path: &Path, name: &OsStr) {
        let Ok(look) = &mut self.look else {
            return;
        };
        if look.seen.len() == MOST_SEEN {
            self.look = Err(NotSeen::TooMany);
            return;
        }
        let stat = rustix::fs::statat(directory, name, rustix::fs::AtFlags::SYMLINK_NOFOLLOW);
        // One that is gone meanwhile was not seen.
        if let Ok(stat) = stat {
            look.seen.insert(path.join(name), seen(&stat));
        }
    }

    fn read(&mut self, open: &OwnedFd, path: &Path) -> Result<Vec<Entry>, TreeError> {
        let mut entries = Vec::new();
        let mut directory = RawDir::new(open, self.buffer.spare_capacity_mut());
        while let Some(entry) = directory.next() {
            let entry = entry.map_err(|error| unreadable(path, error))?;
            let name = entry.file_name().to_bytes();
            if name == b"." || name == b".." {
                continue;
            }
            let mut kind = entry.file_type();
            if kind == FileType::Unknown {
                kind = rustix::fs::statat(
                    open,
                    entry.file_name(),
                    rustix::fs::AtFlags::SYMLINK_NOFOLLOW,
                )
                .map_or(FileType::Unknown, |stat| {
                    FileType::from_raw_mode(stat.st_mode)
                });
            }
            entries.push(Entry {
                name: name.to_vec(),
                is_directory: kind == FileType::Directory,
                is_link: kind == FileType::Symlink,
            });
        }
        Ok(entries)
    }

    fn add_link(&mut self, directory: &OwnedFd, path: &Path) -> Result<(), TreeError> {
        if self.links.len() == MOST_EXCEPTIONS {
            return Err(TreeError::Exceptions);
        }
        let name = path.file_name().unwrap_or_default();
        match rustix::fs::readlinkat(directory, name, Vec::new()) {
            Ok(target) => {
                let target = PathBuf::from(OsStr::from_bytes(target.to_bytes()));
                self.links.insert(path.to_owned(), target);
                Ok(())
            }
            // Gone meanwhile, or another thing now.
            Err(rustix::io::Errno::NOENT | rustix::io::Errno::INVAL) => Ok(()),
            Err(error) => Err(unreadable(path, error)),
        }
    }

    fn add(
        &mut self,
        path: &Path,
        kind: ExceptionKind,
        is_directory: bool,
    ) -> Result<(), TreeError> {
        if self.found.len() == MOST_EXCEPTIONS {
            return Err(TreeError::Exceptions);
        }
        if path.to_str().is_none() {
            return Err(TreeError::Name {
                path: path.display().to_string(),
            });
        }
        self.found.push(Exception {
            path: path.to_owned(),
            kind,
            is_directory,
        });
        Ok(())
    }
}

fn seen(stat: &rustix::fs::Stat) -> Seen {
    let moment = |seconds, nanoseconds| (seconds, u32::try_from(nanoseconds).unwrap_or(0));
    Seen {
        kind: match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => SeenKind::File,
            FileType::Directory => SeenKind::Directory,
            FileType::Symlink => SeenKind::Link,
            _ => SeenKind::Special,
        },
        mode: stat.st_mode & 0o7777,
        size: u64::try_from(stat.st_size).unwrap_or(0),
        modified: moment(stat.st_mtime, stat.st_mtime_nsec),
        changed: moment(stat.st_ctime, stat.st_ctime_nsec),
        device: stat.st_dev,
        inode: stat.st_ino,
    }
}

fn unreadable(path: &Path, error: rustix::io::Errno) -> TreeError {
    TreeError::Unreadable {
        path: path.display().to_string(),
        error: error.into(),
    }
}
