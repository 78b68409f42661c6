//! An own root directory: only what the plan names is mounted.
//!
//! Owns the mounts, in an order that lets each be made from the untouched tree of the host: first
//! the host's root is moved aside, then the new one is built beside it, then the host's is let go.
//! Masked paths get an empty file or directory over them, protected ones become read-only mounts
//! of themselves. It must never follow a link of the workspace.

use super::{Failure, at};
use crate::process::environment::HOME;
use crate::process::layers::Layer;
use crate::process::place::TEMPORARY_MOUNT;
use crate::process::plan::{ExceptionKind, View, Workspace};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, ResolveFlags, openat2};
use rustix::io::Errno;
use rustix::mount::{
    MountFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags, UnmountFlags, mount,
    mount_change, move_mount, open_tree, unmount,
};
use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

/// Any directory that is there: what is mounted on it is soon the root.
const STAGE: &str = "/tmp";
/// The host's root, once it is aside.
const OLD: &str = "/old";
/// The new root, while it is built.
const NEW: &str = "/new";
/// What covers masked files and directories.
const EMPTY_FILE: &str = "/empty-file";
const EMPTY_DIRECTORY: &str = "/empty-directory";

/// Devices that hold nothing and reach nothing.
pub(super) const DEVICES: [&str; 5] = ["null", "zero", "full", "random", "urandom"];

/// Links in `/dev` to what a process has open.
const DEVICE_LINKS: [(&str, &str); 4] = [
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
];

/// Shared memory of the processes of one sandbox.
pub(super) const SHARED_MEMORY: &str = "/dev/shm";

/// Builds the root and moves into it.
pub(super) fn build(view: &View) -> Result<(), Failure> {
    step_aside().map_err(at(Layer::PrivateRoot, "move the host's root aside"))?;
    for (link, target) in &view.links {
        std::os::unix::fs::symlink(target, inside(link))
            .map_err(at(Layer::PrivateRoot, "link a directory of the system"))?;
    }
    for path in &view.mounts {
        bind(path, path, Access::ReadOnly).map_err(|error| named(path, &error))?;
    }
    devices().map_err(at(Layer::PrivateRoot, "mount /dev"))?;
    proc()?;
    temporary(view.temporary.as_deref())?;
    bind(&view.home, Path::new(HOME), Access::Private)
        .map_err(|error| named(&view.home, &error))?;
    workspace(&view.workspace)?;
    settle().map_err(at(Layer::PrivateRoot, "let go of the host's root"))
}

fn named(path: &Path, error: &io::Error) -> Failure {
    Failure::Lacking(
        Layer::PrivateRoot,
        format!("mount {}: {error}", path.display()),
    )
}

/// Where a path is while the new root is built.
fn inside(path: &Path) -> PathBuf {
    below(NEW, path)
}

fn below(root: &str, path: &Path) -> PathBuf {
    Path::new(root).join(path.strip_prefix("/").unwrap_or(path))
}

fn step_aside() -> io::Result<()> {
    // Nothing of what follows may reach the host.
    mount_change(
        "/",
        MountPropagationFlags::PRIVATE | MountPropagationFlags::REC,
    )?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    mount("tmpfs", STAGE, "tmpfs", flags, c"mode=0755,size=1m")?;
    let staged = |path: &str| below(STAGE, Path::new(path));
    fs::create_dir(staged(OLD))?;
    fs::create_dir(staged(NEW))?;
    fs::create_dir(staged(EMPTY_DIRECTORY))?;
    fs::write(staged(EMPTY_FILE), "")?;
    mount("tmpfs", staged(NEW), "tmpfs", flags, c"mode=0755,size=1m")?;
    rustix::process::pivot_root(STAGE, staged(OLD))?;
    rustix::process::chdir("/")?;
    Ok(())
}

/// What may be done through a mount. Landlock says nothing of modes, owners and times; a read-only
/// mount does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    ReadOnly,
    ReadWrite,
    /// As well, without devices, and without programs that have the rights of their owner.
    Private,
}

/// Mounts what is at `source` outside, with everything mounted below it, at `target` inside.
fn bind(source: &Path, target: &Path, access: Access) -> io::Result<()> {
    let source = open_path(&below(OLD, source))?;
    let target = inside(target);
    if is_directory(&source)? {
        fs::create_dir_all(&target)?;
    } else {
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(&target)?;
    }
    let tree = clone_tree(source.as_fd())?;
    match access {
        Access::ReadOnly => make_read_only(&tree)?,
        Access::Private => restrict(&tree, libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV)?,
        Access::ReadWrite => {}
    }
    attach(&tree, &open_path(&target)?)?;
    Ok(())
}

/// `/tmp`. Programs may be run there: builds and tests do that.
fn temporary(source: Option<&Path>) -> Result<(), Failure> {
    let target = Path::new(TEMPORARY_MOUNT);
    match source {
        Some(source) => {
            bind(source, target, Access::Private).map_err(|error| named(source, &error))
        }
        None => {
            let flags = MountFlags::NOSUID | MountFlags::NODEV;
            fs::create_dir(inside(target))
                .and_then(|()| {
                    let options = c"mode=0700,size=256m";
                    Ok(mount("tmpfs", inside(target), "tmpfs", flags, options)?)
                })
                .map_err(at(Layer::PrivateRoot, "mount an empty /tmp"))
        }
    }
}

fn open_path(path: &Path) -> rustix::io::Result<OwnedFd> {
    rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())
}

fn is_directory(open: &OwnedFd) -> rustix::io::Result<bool> {
    let stat = rustix::fs::fstat(open)?;
    Ok(FileType::from_raw_mode(stat.st_mode) == FileType::Directory)
}

fn devices() -> io::Result<()> {
    for device in DEVICES {
        let path = Path::new("/dev").join(device);
        // Writing to a device does not need a writable mount.
        bind(&path, &path, Access::ReadOnly)?;
    }
    for (link, target) in DEVICE_LINKS {
        std::os::unix::fs::symlink(target, inside(&Path::new("/dev").join(link)))?;
    }
    let shared = inside(Path::new(SHARED_MEMORY));
    fs::create_dir(&shared)?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    mount("tmpfs", shared, "tmpfs", flags, c"mode=1777,size=64m")?;
    Ok(())
}

fn proc() -> Result<(), Failure> {
    let target = inside(Path::new("/proc"));
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    fs::create_dir(&target)
        .and_then(|()| Ok(mount("proc", target, "proc", flags, None)?))
        .map_err(at(Layer::PrivateProc, "mount it"))
}

/// The workspace, with its exceptions, at both of its places.
fn workspace(workspace: &Workspace) -> Result<(), Failure> {
    let access = if workspace.writable {
        Access::ReadWrite
    } else {
        Access::ReadOnly
    };
    bind(&workspace.path, &workspace.mount, access)
        .map_err(|error| named(&workspace.path, &error))?;
    let root = open_path(&inside(&workspace.mount))
        .map_err(at(Layer::PrivateRoot, "open the workspace"))?;
    let empty = Empty::open().map_err(at(Layer::PrivateRoot, "open what covers masked paths"))?;
    for exception in &workspace.exceptions {
        let covering = match (exception.kind, exception.is_directory) {
            (ExceptionKind::Masked, true) => Some(empty.directory.as_fd()),
            (ExceptionKind::Masked, false) => Some(empty.file.as_fd()),
            (ExceptionKind::Pinned | ExceptionKind::Protected, _) => None,
        };
        let is_read_only = exception.kind != ExceptionKind::Pinned;
        match cover(root.as_fd(), &exception.path, covering, is_read_only) {
            // Gone since the host looked.
            Ok(()) | Err(Errno::NOENT) => {}
            Err(error) => return Err(named(&exception.path, &error.into())),
        }
    }
    if workspace.path != workspace.mount {
        let tree = clone_tree(root.as_fd())
            .map_err(at(Layer::PrivateRoot, "take the workspace a second time"))?;
        let target = inside(&workspace.path);
        fs::create_dir_all(&target)
            .and_then(|()| Ok(attach(&tree, &open_path(&target)?)?))
            .map_err(|error| named(&workspace.path, &error))?;
    }
    Ok(())
}

struct Empty {
    file: OwnedFd,
    directory: OwnedFd,
}

impl Empty {
    fn open() -> rustix::io::Result<Self> {
        Ok(Empty {
            file: open_path(Path::new(EMPTY_FILE))?,
            directory: open_path(Path::new(EMPTY_DIRECTORY))?,
        })
    }
}

/// Mounts `covering`, or the path itself, over a path of the workspace.
fn cover(
    root: BorrowedFd<'_>,
    path: &Path,
    covering: Option<BorrowedFd<'_>>,
    is_read_only: bool,
) -> rustix::io::Result<()> {
    let target = openat2(
        root,
        path,
        OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC,
        Mode::empty(),
        ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS | ResolveFlags::NO_SYMLINKS,
    );
    let target = match target {
        Ok(target) => target,
        // The last part is a link, which is what is opened then; a mount cannot be put on it.
        Err(Errno::LOOP) => return Ok(()),
        Err(error) => return Err(error),
    };
    let tree = clone_tree(covering.unwrap_or(target.as_fd()))?;
    if is_read_only {
        make_read_only(&tree)?;
    }
    attach(&tree, &target)
}

fn clone_tree(of: BorrowedFd<'_>) -> rustix::io::Result<OwnedFd> {
    open_tree(
        of,
        "",
        OpenTreeFlags::OPEN_TREE_CLONE
            | OpenTreeFlags::OPEN_TREE_CLOEXEC
            | OpenTreeFlags::AT_RECURSIVE
            | OpenTreeFlags::AT_EMPTY_PATH,
    )
}

fn attach(tree: &OwnedFd, target: &OwnedFd) -> rustix::io::Result<()> {
    move_mount(
        tree,
        "",
        target,
        "",
        MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH,
    )
}

/// Makes a mount that is attached nowhere yet read-only, and all below it.
fn make_read_only(tree: &OwnedFd) -> rustix::io::Result<()> {
    restrict(tree, libc::MOUNT_ATTR_RDONLY)
}

/// Adds attributes to a mount that is attached nowhere yet, and to all below it.
fn restrict(tree: &OwnedFd, attributes: u64) -> rustix::io::Result<()> {
    let attributes = libc::mount_attr {
        attr_set: attributes,
        attr_clr: 0,
        propagation: 0,
        userns_fd: 0,
    };
    let flags = (AtFlags::EMPTY_PATH.bits() as libc::c_int) | libc::AT_RECURSIVE;
    // SAFETY: the descriptor is open, the path is a C string, and the structure lives for the call
    // and is as large as is said. The kernel writes to none of them.
    let done = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            tree.as_raw_fd(),
            c"".as_ptr(),
            flags,
            std::ptr::from_ref(&attributes),
            size_of::<libc::mount_attr>(),
        )
    };
    if done == 0 {
        Ok(())
    } else {
        Err(Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::INVAL))
    }
}

fn settle() -> io::Result<()> {
    rustix::process::chdir(NEW)?;
    // Puts the old root, with the host's below it, on top of the new one, where it can be let go.
    rustix::process::pivot_root(".", ".")?;
    unmount(".", UnmountFlags::DETACH)?;
    rustix::process::chdir("/")?;
    Ok(())
}
