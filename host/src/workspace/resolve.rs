//! From a path that a tool wrote to the place it means.
//!
//! Owns the walk. A path without links is one system call on Linux, which refuses every link on
//! the way; any other is walked name by name, each link read and followed here, so that where it
//! leads is known and judged. Nothing is opened outside the root, not even to find that out.

use super::metadata::{Kind, Metadata};
use super::{Access, FileError, Rule};
use crate::policy::{PathClass, PathRules};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};

/// The most links on one way, as the kernel allows.
const MOST_LINKS: usize = 40;

/// The longest path a tool may write, as for the kernel.
const LONGEST: usize = 4096;

/// How many directories deep a path with links may go: each is a handle while it is walked.
const DEEPEST: usize = 200;

/// A handle of a directory that only leads on.
#[cfg(target_os = "linux")]
const WAYPOINT: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
#[cfg(not(target_os = "linux"))]
const WAYPOINT: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::CLOEXEC);

/// A workspace's directory, opened once.
pub(super) struct Root {
    handle: OwnedFd,
    /// Canonical: absolute links that lead back in are followed.
    path: PathBuf,
    device: u64,
    pub access: Access,
    pub rules: PathRules,
}

/// Whether a link at the end of a path is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Links {
    Follow,
    Keep,
}

/// Where a path leads: a name in a directory, and what it has.
pub(super) struct Place<'a> {
    parent: Parent<'a>,
    /// Real and relative to the root; empty for the root.
    pub path: PathBuf,
    /// What is there, without following a link.
    pub found: Option<Metadata>,
    /// The path ended in a slash.
    pub must_be_directory: bool,
    /// A protected link on the way: what it leads to is not changed through it.
    pub protected_link: Option<PathBuf>,
}

enum Parent<'a> {
    Root(&'a OwnedFd),
    Below(OwnedFd),
}

impl Place<'_> {
    /// The directory that holds the name.
    pub fn parent(&self) -> BorrowedFd<'_> {
        match &self.parent {
            Parent::Root(handle) => handle.as_fd(),
            Parent::Below(handle) => handle.as_fd(),
        }
    }

    /// The name in its directory; the root names itself.
    pub fn name(&self) -> &OsStr {
        self.path.file_name().unwrap_or(OsStr::new("."))
    }

    /// Whether it is the root.
    pub fn is_root(&self) -> bool {
        self.path.as_os_str().is_empty()
    }

    /// What is there.
    pub fn required(&self) -> Result<Metadata, FileError> {
        let found = self.found.ok_or(Errno::NOENT)?;
        if self.must_be_directory && found.kind != Kind::Directory {
            return Err(Errno::NOTDIR.into());
        }
        Ok(found)
    }
}

impl Root {
    pub fn open(directory: &Path, access: Access, rules: PathRules) -> io::Result<Self> {
        let path = directory.canonicalize()?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let handle = rustix::fs::open(&path, flags, Mode::empty())?;
        if shows_the_kernel(&handle)? {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "it is on a file system of the kernel",
            ));
        }
        let device = Metadata::from(&rustix::fs::fstat(&handle)?).device;
        Ok(Root {
            handle,
            path,
            device,
            access,
            rules,
        })
    }

    /// Where it is, canonical.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Finds the place that `text` means, beginning at `from`, a real path below the root.
    pub fn resolve(&self, from: &Path, text: &str, links: Links) -> Result<Place<'_>, FileError> {
        if text.is_empty() {
            return Err(Errno::NOENT.into());
        }
        if text.contains('\0') {
            return Err(Errno::INVAL.into());
        }
        if text.len() > LONGEST {
            return Err(Errno::NAMETOOLONG.into());
        }
        if text.starts_with('/') {
            let target = PathBuf::from(text);
            return Err(FileError::refused(&target.clone(), Rule::Leaves { target }));
        }
        let must_be_directory = ends_as_directory(text.as_bytes());
        let names = || {
            text.split('/')
                .filter(|name| !name.is_empty() && *name != ".")
        };
        let mut path = PathBuf::with_capacity(from.as_os_str().len() + text.len() + 1);
        path.push(from);
        let mut has_dots = false;
        for name in names() {
            has_dots |= name == "..";
            path.push(name);
        }
        if !has_dots {
            let direct = self.direct(path, links, must_be_directory)?;
            if let Some(place) = direct {
                return Ok(place);
            }
        }
        if !from.as_os_str().is_empty() && climbs(names()) {
            return Err(FileError::refused(&from.join(text), Rule::Above));
        }
        let mut rest: Vec<OsString> = names().rev().map(OsString::from).collect();
        rest.extend(from.iter().rev().map(OsStr::to_owned));
        self.walk(rest, links, must_be_directory)
    }

    /// The place of a path without links, or `None` where there may be one.
    fn direct(
        &self,
        path: PathBuf,
        links: Links,
        must_be_directory: bool,
    ) -> Result<Option<Place<'_>>, FileError> {
        self.check_seen(&path)?;
        let parent = match path.parent() {
            None => Parent::Root(&self.handle),
            Some(parent) if parent.as_os_str().is_empty() => Parent::Root(&self.handle),
            Some(parent) => match self.waypoint(parent)? {
                Some(handle) => Parent::Below(handle),
                None => return Ok(None),
            },
        };
        let mut place = Place {
            parent,
            path,
            found: None,
            must_be_directory,
            protected_link: None,
        };
        place.found = look(place.parent(), place.name())?;
        let is_link = place.found.is_some_and(|found| found.kind == Kind::Link);
        if is_link && (links == Links::Follow || must_be_directory) {
            return Ok(None);
        }
        Ok(Some(place))
    }

    /// Opens a directory by a path that must not hold a link; `None` where it may.
    #[cfg(target_os = "linux")]
    fn waypoint(&self, path: &Path) -> Result<Option<OwnedFd>, FileError> {
        use rustix::fs::ResolveFlags;
        let how = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS | ResolveFlags::NO_SYMLINKS;
        match rustix::fs::openat2(&self.handle, path, WAYPOINT, Mode::empty(), how) {
            Ok(handle) => Ok(Some(handle)),
            Err(error @ (Errno::NOENT | Errno::NOTDIR | Errno::ACCESS | Errno::NAMETOOLONG)) => {
                Err(error.into())
            }
            // A link, a kernel or a filter without this call, or a rename at the same time: the
            // walk needs none of it, and says what is wrong.
            Err(_) => Ok(None),
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn waypoint(&self, _path: &Path) -> Result<Option<OwnedFd>, FileError> {
        Ok(None)
    }

    /// Walks name by name. `rest` is what lies ahead, the next name last.
    fn walk(
        &self,
        mut rest: Vec<OsString>,
        links: Links,
        mut must_be_directory: bool,
    ) -> Result<Place<'_>, FileError> {
        // The directories passed, without the root.
        let mut passed: Vec<OwnedFd> = Vec::new();
        let mut path = PathBuf::new();
        let mut written = PathBuf::new();
        let mut followed = 0;
        let mut protected_link = None;
        let found = loop {
            let Some(name) = rest.pop() else {
                // The path ended in `..`, or in a link to such a one: a directory that was passed.
                must_be_directory = true;
                passed.pop();
                let here = passed.last().unwrap_or(&self.handle);
                break look(here.as_fd(), path.file_name().unwrap_or(OsStr::new(".")))?;
            };
            if name == ".." {
                if passed.pop().is_none() {
                    rest.push(name);
                    return Err(self.leaves(&written, &self.path, rest));
                }
                path.pop();
                continue;
            }
            path.push(&name);
            written.clone_from(&path);
            self.check_seen(&path)?;
            let here = passed.last().unwrap_or(&self.handle);
            let Some(found) = look(here.as_fd(), &name)? else {
                if rest.is_empty() {
                    break None;
                }
                return Err(Errno::NOENT.into());
            };
            let is_last = rest.is_empty();
            match found.kind {
                Kind::Link if is_last && links == Links::Keep && !must_be_directory => {
                    break Some(found);
                }
                Kind::Link => {
                    followed += 1;
                    if followed > MOST_LINKS {
                        return Err(Errno::LOOP.into());
                    }
                    self.check_file_system(&path, &found, here)?;
                    if self.rules.rule(&path).is_some() {
                        protected_link = Some(path.clone());
                    }
                    let target = rustix::fs::readlinkat(here, &name, Vec::new())?.into_bytes();
                    must_be_directory |= is_last && ends_as_directory(&target);
                    let target = PathBuf::from(OsString::from_vec(target));
                    path.pop();
                    let inside = match target.strip_prefix(&self.path) {
                        Ok(inside) => {
                            passed.clear();
                            path.clear();
                            inside
                        }
                        Err(_) if target.has_root() => {
                            return Err(self.leaves(&written, &target, rest));
                        }
                        Err(_) => &target,
                    };
                    rest.extend(names_of(inside).into_iter().rev());
                }
                Kind::Directory if !is_last => {
                    if passed.len() >= DEEPEST {
                        return Err(Errno::NAMETOOLONG.into());
                    }
                    // Not a link any more, or this fails.
                    let flags = WAYPOINT | OFlags::NOFOLLOW;
                    let below = rustix::fs::openat(here, &name, flags, Mode::empty())?;
                    passed.push(below);
                }
                _ if is_last => {
                    break Some(found);
                }
                _ => return Err(Errno::NOTDIR.into()),
            }
        };
        Ok(Place {
            parent: passed
                .pop()
                .map_or(Parent::Root(&self.handle), Parent::Below),
            path,
            found,
            must_be_directory,
            protected_link,
        })
    }

    /// The refusal of a way out: from `base`, an absolute path, by what is left of the way.
    fn leaves(&self, written: &Path, base: &Path, rest: Vec<OsString>) -> FileError {
        let mut target = PathBuf::new();
        let ahead: PathBuf = rest.into_iter().rev().collect();
        for component in base.join(&ahead).components() {
            match component {
                Component::ParentDir => {
                    target.pop();
                }
                other => target.push(other),
            }
        }
        let path = if written.as_os_str().is_empty() {
            &ahead
        } else {
            written
        };
        FileError::refused(path, Rule::Leaves { target })
    }

    /// A masked path does not exist.
    fn check_seen(&self, path: &Path) -> Result<(), FileError> {
        match self.rules.rule(path) {
            Some(rule) if rule.class == PathClass::Masked => Err(FileError::refused(
                path,
                Rule::Masked {
                    glob: rule.glob.to_owned(),
                },
            )),
            _ => Ok(()),
        }
    }

    /// What the kernel shows of itself may be mounted below a workspace; it is not opened.
    pub fn check_file_system(
        &self,
        path: &Path,
        found: &Metadata,
        handle: impl AsFd,
    ) -> Result<(), FileError> {
        if found.device != self.device && shows_the_kernel(handle)? {
            return Err(FileError::refused(path, Rule::Kernel));
        }
        Ok(())
    }
}

/// Whether a path by its end can only mean a directory.
fn ends_as_directory(text: &[u8]) -> bool {
    text.ends_with(b"/") || text.ends_with(b"/.") || text == b"."
}

/// Whether `..` leads above where the names begin.
fn climbs<'a>(names: impl Iterator<Item = &'a str>) -> bool {
    let mut depth = 0_usize;
    for name in names {
        if name != ".." {
            depth += 1;
        } else if depth == 0 {
            return true;
        } else {
            depth -= 1;
        }
    }
    false
}

/// The names of a link's target.
fn names_of(target: &Path) -> Vec<OsString> {
    target
        .components()
        .filter_map(|component| match component {
            Component::Normal(name) => Some(name.to_owned()),
            Component::ParentDir => Some("..".into()),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => None,
        })
        .collect()
}

/// What a directory has under a name, without following it.
pub(super) fn look(directory: BorrowedFd<'_>, name: &OsStr) -> Result<Option<Metadata>, FileError> {
    match rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(Metadata::from(&stat))),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Whether a handle is on a file system by which the kernel shows itself. The numbers are those of
/// `linux/magic.h`.
#[cfg(target_os = "linux")]
fn shows_the_kernel(handle: impl AsFd) -> Result<bool, Errno> {
    const PROC: u64 = 0x9fa0;
    const SYS: u64 = 0x6265_6572;
    const DEBUG: u64 = 0x6462_6720;
    const TRACE: u64 = 0x7472_6163;
    const SECURITY: u64 = 0x7363_6673;
    const CGROUP: u64 = 0x0027_e0eb;
    const CGROUP2: u64 = 0x6367_7270;
    const BPF: u64 = 0xcafe_4a11;
    const CONFIG: u64 = 0x6265_6570;
    const TERMINALS: u64 = 0x1cd1;
    let number = super::metadata::wide(rustix::fs::fstatfs(handle)?.f_type);
    Ok(matches!(
        number,
        PROC | SYS | DEBUG | TRACE | SECURITY | CGROUP | CGROUP2 | BPF | CONFIG | TERMINALS
    ))
}

#[cfg(not(target_os = "linux"))]
fn shows_the_kernel(_handle: impl AsFd) -> Result<bool, Errno> {
    Ok(false)
}
