//! Which files a search sees, in the order of their paths.
//!
//! The ignore rules are those of the `ignore` crate; the walk is our own, because the crate's opens
//! every `.gitignore` by name (a pipe of that name would hang the call), needs the real path of the
//! start for the rules above it (which WASI does not tell), and cannot stop at a deadline inside a
//! large directory. This one opens regular files only and follows no link, so it ends on any tree.

use crate::deadline::Deadline;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// Files with ignore rules; in one directory the later one wins.
const RULE_FILES: [&str; 2] = [".gitignore", ".ignore"];
/// Bytes of a file with rules. Larger ones are not applied: compiling them costs more than they save.
const MAX_RULES: u64 = 128 * 1024;
/// Entries between two looks at the clock.
const ENTRIES_A_LOOK: u32 = 256;

/// A walk under way. An iterator over what it finds.
pub struct Walk<'call> {
    deadline: Deadline<'call>,
    levels: Vec<Level>,
    /// The rules in force, outermost first.
    rules: Vec<Gitignore>,
    entries: u32,
    stopped: bool,
    unreadable: u64,
    rules_skipped: u64,
}

/// A directory that is being walked.
struct Level {
    path: PathBuf,
    /// What is still to come, last first.
    entries: Vec<(OsString, Kind)>,
    /// How many rules were in force before this directory's own.
    outer_rules: usize,
}

/// What the walk reports; anything else is passed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    File,
    Directory,
}

impl<'call> Walk<'call> {
    /// A walk below `base`, which is in `root`, under the rules of `root` and what is between.
    ///
    /// A base that the rules leave out was asked for by name: then those rules do not count.
    pub fn new(root: &Path, base: &Path, deadline: Deadline<'call>) -> Self {
        let mut walk = Walk {
            deadline,
            levels: Vec::new(),
            rules: Vec::new(),
            entries: 0,
            stopped: deadline.passed(),
            unreadable: 0,
            rules_skipped: 0,
        };
        let mut directory = root.to_owned();
        let below = base.strip_prefix(root).unwrap_or(Path::new(""));
        for name in below {
            let found = RULE_FILES.map(|file| directory.join(file));
            walk.add_rules(&directory, found);
            directory.push(name);
            if walk.is_ignored(&directory, Kind::Directory) {
                walk.rules.clear();
            }
        }
        if !walk.stopped {
            walk.enter(base.to_owned());
        }
        walk
    }

    /// Whether the time was up before the end.
    pub const fn stopped(&self) -> bool {
        self.stopped
    }

    /// Directories that could not be read.
    pub const fn unreadable(&self) -> u64 {
        self.unreadable
    }

    /// Files with ignore rules that were not applied, for their size or because they do not compile.
    pub const fn rules_skipped(&self) -> u64 {
        self.rules_skipped
    }

    fn enter(&mut self, path: PathBuf) {
        let Ok(listing) = fs::read_dir(&path) else {
            self.unreadable += 1;
            return;
        };
        let mut entries = Vec::new();
        for entry in listing {
            let Ok(entry) = entry else {
                self.unreadable += 1;
                break;
            };
            if self.look_at_clock() {
                return;
            }
            let kind = match entry.file_type() {
                Ok(kind) if kind.is_dir() => Kind::Directory,
                Ok(kind) if kind.is_file() => Kind::File,
                _ => continue,
            };
            entries.push((entry.file_name(), kind));
        }
        let outer_rules = self.rules.len();
        let rule_files = RULE_FILES
            .iter()
            .filter(|name| {
                entries
                    .iter()
                    .any(|(entry, kind)| *kind == Kind::File && entry == **name)
            })
            .map(|name| path.join(name));
        self.add_rules(&path, rule_files);
        entries.sort_unstable_by(|left, right| right.0.cmp(&left.0));
        self.levels.push(Level {
            path,
            entries,
            outer_rules,
        });
    }

    fn add_rules(&mut self, directory: &Path, files: impl IntoIterator<Item = PathBuf>) {
        let mut builder = GitignoreBuilder::new(directory);
        let mut any = false;
        for file in files {
            // Not through a link and not from a pipe, as git itself has it.
            let Ok(found) = fs::symlink_metadata(&file) else {
                continue;
            };
            if !found.is_file() {
                continue;
            }
            if found.len() > MAX_RULES {
                self.rules_skipped += 1;
                continue;
            }
            let Ok(bytes) = fs::read(&file) else {
                self.rules_skipped += 1;
                continue;
            };
            let text = String::from_utf8_lossy(&bytes);
            for line in text.trim_start_matches('\u{feff}').lines() {
                // A line that is no pattern matches nothing, as in git.
                any |= builder.add_line(None, line).is_ok();
            }
        }
        if any {
            match builder.build() {
                Ok(rules) => self.rules.push(rules),
                Err(_) => self.rules_skipped += 1,
            }
        }
    }

    fn is_ignored(&self, path: &Path, kind: Kind) -> bool {
        let is_directory = kind == Kind::Directory;
        self.rules
            .iter()
            .rev()
            .map(|rules| rules.matched(path, is_directory))
            .find(|found| !found.is_none())
            .is_some_and(|found| found.is_ignore())
    }

    fn look_at_clock(&mut self) -> bool {
        self.entries = self.entries.wrapping_add(1);
        if self.entries.is_multiple_of(ENTRIES_A_LOOK) && self.deadline.passed() {
            self.stopped = true;
        }
        self.stopped
    }
}

impl Iterator for Walk<'_> {
    type Item = (PathBuf, Kind);

    fn next(&mut self) -> Option<(PathBuf, Kind)> {
        while !self.stopped {
            let level = self.levels.last_mut()?;
            let Some((name, kind)) = level.entries.pop() else {
                self.rules.truncate(level.outer_rules);
                self.levels.pop();
                continue;
            };
            let path = level.path.join(&name);
            if name == ".git" || self.is_ignored(&path, kind) {
                continue;
            }
            if kind == Kind::Directory {
                self.stopped = self.deadline.passed();
                if !self.stopped {
                    self.enter(path.clone());
                }
            }
            return Some((path, kind));
        }
        None
    }
}
