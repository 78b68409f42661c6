//! The property of path resolution, for proptest and for the fuzz target.
//!
//! Owns the way from bytes to a tree and paths, and the comparison with the kernel's own
//! resolution below a directory (`openat2`). It shares no code with what it checks.

use hotcell::policy::PathRules;
use hotcell::workspace::{Access, Directory, FileError, OpenOptions, Opened, Workspace};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{Mode, OFlags, ResolveFlags, fstat, open, openat2};
use rustix::io::Errno;
use std::os::unix::fs::symlink;
use std::path::Path;

/// What came of the paths that were asked about.
#[derive(Debug, Default, Clone, Copy)]
pub struct Seen {
    /// Led to something.
    pub found: usize,
    /// Refused by a rule.
    pub refused: usize,
    /// Nothing is there.
    pub absent: usize,
}

/// Names that meet each other. No rule speaks of them: what a rule hides from a tool the kernel
/// does not hide.
const NAMES: [&str; 8] = ["a", "b", "c", "d", "..", ".", "", "a"];

/// Reads a tree and paths out of any bytes.
struct Input<'a>(std::slice::Iter<'a, u8>);

impl Input<'_> {
    fn byte(&mut self) -> u8 {
        self.0.next().copied().unwrap_or(0)
    }

    fn path(&mut self) -> String {
        let length = usize::from(self.byte() % 6) + 1;
        let mut path = String::new();
        for step in 0..length {
            if step > 0 {
                path.push('/');
            }
            path.push_str(NAMES[usize::from(self.byte()) % NAMES.len()]);
        }
        path
    }

    fn is_over(&self) -> bool {
        self.0.len() == 0
    }
}

/// Builds the tree that `input` describes in `ws`, beside `outside`.
fn build(input: &mut Input<'_>, ws: &Path) {
    std::fs::create_dir_all(ws.join("a/b")).expect("made");
    std::fs::write(ws.join("a/c"), "file").expect("written");
    for _ in 0..input.byte() % 12 {
        let kind = input.byte() % 5;
        let at = ws.join(input.path());
        // The tree is built by the kernel, links and all: where a name is in the way, or the way is
        // out, nothing is made.
        let inside = at.parent().and_then(|parent| parent.canonicalize().ok());
        let is_inside = inside.is_some_and(|parent| parent.starts_with(ws));
        if !is_inside {
            continue;
        }
        drop(match kind {
            0 => std::fs::create_dir(&at),
            1 if !at.exists() => std::fs::write(&at, "file"),
            2 => symlink("../outside", &at),
            3 => symlink(ws.parent().expect("a parent").join("outside"), &at),
            _ => symlink(input.path(), &at),
        });
    }
}

/// What the kernel finds below `root`, without anything outside of it.
fn by_kernel(root: &OwnedFd, path: &str, follow: bool) -> Result<(u64, u64), Errno> {
    let mut flags = OFlags::PATH | OFlags::CLOEXEC;
    if !follow {
        flags |= OFlags::NOFOLLOW;
    }
    let how = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    loop {
        match openat2(root.as_fd(), path, flags, Mode::empty(), how) {
            Ok(handle) => {
                let stat = fstat(&handle)?;
                return Ok((stat.st_dev, stat.st_ino));
            }
            // Something was renamed somewhere, and the path has `..` in it.
            Err(Errno::AGAIN) => {}
            Err(error) => return Err(error),
        }
    }
}

/// Builds a tree from the first bytes, asks about paths from the rest, and compares. Counts in
/// `seen`.
///
/// # Panics
/// When a path leads elsewhere than the kernel says, or something outside was reached.
pub fn check(bytes: &[u8], seen: &mut Seen) {
    let place = tempfile::tempdir().expect("a directory");
    let home = place.path().canonicalize().expect("it is there");
    let (ws, outside) = (home.join("ws"), home.join("outside"));
    std::fs::create_dir_all(outside.join("a")).expect("made");
    std::fs::write(outside.join("c"), "a secret").expect("written");
    std::fs::create_dir(&ws).expect("made");
    let mut input = Input(bytes.iter());
    build(&mut input, &ws);
    let root = open(&ws, OFlags::PATH | OFlags::DIRECTORY, Mode::empty()).expect("it opens");
    let workspace = Workspace::open(&ws, Access::ReadWrite, PathRules::default());
    let directory = workspace.expect("it opens").directory();
    while !input.is_over() {
        let follow = input.byte() % 2 == 0;
        let path = input.path();
        compare(&directory, &root, &path, follow, seen);
        reach(&directory, &path, follow);
    }
    let names: Vec<_> = std::fs::read_dir(&outside)
        .expect("it is there")
        .map(|entry| entry.expect("it is readable").file_name())
        .collect();
    assert_eq!(names.len(), 2, "{names:?}");
    let secret = std::fs::read_to_string(outside.join("c")).expect("it is there");
    assert_eq!(secret, "a secret");
}

fn compare(directory: &Directory, root: &OwnedFd, path: &str, follow: bool, seen: &mut Seen) {
    let kernel = by_kernel(root, path, follow);
    match directory.metadata_of(path, follow) {
        Ok(found) => {
            let ours = (found.device, found.inode);
            assert_eq!(kernel, Ok(ours), "{path:?}, follow {follow}");
            seen.found += 1;
        }
        Err(FileError::Refused(refusal)) => {
            assert_eq!(
                kernel,
                Err(Errno::XDEV),
                "{path:?}, follow {follow}: {refusal}"
            );
            seen.refused += 1;
        }
        Err(FileError::System(error)) => {
            assert!(kernel.is_err(), "{path:?}, follow {follow}: {error}");
            seen.absent += 1;
        }
    }
}

/// Does to the path what reads or changes what is behind it.
fn reach(directory: &Directory, path: &str, follow: bool) {
    let options = OpenOptions {
        read: true,
        follow,
        ..OpenOptions::default()
    };
    if let Ok(Opened::File(file)) = directory.open(path, options) {
        let content = file.read_at(100, 0).expect("it reads");
        assert_ne!(content, b"a secret", "{path:?}, follow {follow}");
    }
    let options = OpenOptions {
        write: true,
        create: true,
        ..options
    };
    if let Ok(Opened::File(file)) = directory.open(path, options) {
        file.write_at(b"changed", 0).expect("it writes");
    }
}
