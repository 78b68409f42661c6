//! The order in which differences are written down.
//!
//! Owns the translation of what differs between two looks into changes that can be taken back one
//! by one, the last first. Programs did them in an order that nobody saw; this is one in which each
//! inverse finds what it needs: directories are open before something is put into them, are there
//! before and empty after, and names are free. It must never look at a file.

use super::tree::{Known, NotKept};
use crate::process::{Seen, SeenKind};
use crate::undo::record::{Happened, State};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// What a directory needs for something to be put into it: its owner may read, write and enter.
const OPEN: u32 = 0o700;

/// A change, with what was there before.
#[derive(Debug)]
pub(super) struct Difference {
    pub path: PathBuf,
    pub happened: Happened,
    pub earlier: State,
    /// Why it cannot be taken back, where it cannot.
    pub lost: Option<(NotKept, u64)>,
}

/// Differences, by when they are written down.
#[derive(Debug, Default)]
pub(super) struct Steps {
    /// Modes of directories that close them: taken back last.
    closed: Vec<Difference>,
    written: Vec<Difference>,
    removed_files: Vec<(Difference, Option<Seen>)>,
    created_directories: Vec<Difference>,
    removed_directories: Vec<Difference>,
    created_files: Vec<(Difference, Seen)>,
    /// Modes of directories that were open before: taken back first.
    opened: Vec<Difference>,
}

impl Steps {
    pub(super) fn created(&mut self, path: &Path, seen: Seen) {
        let difference = difference(path, Happened::Created, State::Absent);
        if seen.kind == SeenKind::Directory {
            self.created_directories.push(difference);
        } else {
            self.created_files.push((difference, seen));
        }
    }

    pub(super) fn removed(&mut self, path: &Path, known: &Known) {
        let mut earlier = known.state();
        if let State::Directory { mode } = &mut earlier {
            if *mode & OPEN != OPEN {
                self.directory_mode(path, *mode);
                *mode |= OPEN;
            }
            let removed = difference(path, Happened::Removed, earlier);
            self.removed_directories.push(removed);
        } else {
            let removed = of_file(path, Happened::Removed, known);
            self.removed_files.push((removed, known.seen));
        }
    }

    pub(super) fn wrote(&mut self, path: &Path, known: &Known) {
        self.written.push(of_file(path, Happened::Wrote, known));
    }

    pub(super) fn touched(&mut self, path: &Path, known: &Known) {
        let touched = difference(path, Happened::Touched, known.state());
        self.written.push(touched);
    }

    /// The mode of a directory was `mode`.
    pub(super) fn directory_mode(&mut self, path: &Path, mode: u32) {
        let changed = difference(path, Happened::Wrote, State::Directory { mode });
        if mode & OPEN == OPEN {
            self.opened.push(changed);
        } else {
            self.closed.push(changed);
        }
    }

    /// All of them.
    pub(super) fn in_order(mut self) -> Vec<Difference> {
        let renamed = self.take_renamed();
        // Parents before children, which taking back turns around, and the other way.
        let down = |list: &mut Vec<Difference>| list.sort_by(|a, b| a.path.cmp(&b.path));
        down(&mut self.created_directories);
        down(&mut self.removed_directories);
        self.removed_directories.reverse();
        let mut removed: Vec<Difference> =
            self.removed_files.into_iter().map(|(one, _)| one).collect();
        let mut created: Vec<Difference> =
            self.created_files.into_iter().map(|(one, _)| one).collect();
        for list in [
            &mut self.closed,
            &mut self.written,
            &mut removed,
            &mut created,
            &mut self.opened,
        ] {
            down(list);
        }
        // A closed directory is closed after what is in it, so it is written down before.
        [
            self.closed,
            self.written,
            removed,
            self.created_directories,
            renamed,
            self.removed_directories,
            created,
            self.opened,
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// Files without kept content that have only another name: that can be taken back all the same.
    fn take_renamed(&mut self) -> Vec<Difference> {
        let identity = |seen: &Seen| (seen.device, seen.inode, seen.size, seen.modified);
        let mut new: HashMap<_, PathBuf> = self
            .created_files
            .iter()
            .filter(|(_, seen)| seen.kind == SeenKind::File)
            .map(|(created, seen)| (identity(seen), created.path.clone()))
            .collect();
        let mut renamed: Vec<Difference> = Vec::new();
        self.removed_files.retain_mut(|(removed, seen)| {
            let is_known = matches!(removed.earlier, State::File { .. });
            let to = seen
                .filter(|seen| seen.kind == SeenKind::File && !is_known)
                .and_then(|seen| new.remove(&identity(&seen)));
            let Some(to) = to else {
                return true;
            };
            let earlier = std::mem::replace(&mut removed.earlier, State::Absent);
            // It may have got another mode as well: that is seen to once it has its name again.
            self.written
                .push(difference(&removed.path, Happened::Wrote, earlier.clone()));
            renamed.push(Difference {
                path: removed.path.clone(),
                happened: Happened::Renamed { to },
                earlier,
                lost: None,
            });
            false
        });
        self.created_files.retain(|(created, _)| {
            !renamed
                .iter()
                .any(|one| matches!(&one.happened, Happened::Renamed { to } if *to == created.path))
        });
        renamed
    }
}

const fn difference_lost(known: &Known) -> Option<(NotKept, u64)> {
    match (known.not_kept(), known.seen) {
        (Some(why), Some(seen)) => Some((why, seen.size)),
        _ => None,
    }
}

fn of_file(path: &Path, happened: Happened, known: &Known) -> Difference {
    Difference {
        lost: difference_lost(known),
        ..difference(path, happened, known.state())
    }
}

fn difference(path: &Path, happened: Happened, earlier: State) -> Difference {
    Difference {
        path: path.to_owned(),
        happened,
        earlier,
        lost: None,
    }
}
