//! What native processes change, kept so that it can be taken back.
//!
//! Owns what is believed of the workspace while they run. Before one starts, the content of every
//! file that it could change is in the store; afterwards what looks different is written down as
//! the change of its call. Beliefs and lines of the log go hand in hand: taking the lines back, the
//! last first, leads from what is there to what was. It must never name a path that it could not
//! keep as if it had.

mod content;
mod known;
mod steps;
mod tree;

pub(super) use known::digests as known_digests;

use super::UndoStore;
use super::objects::Objects;
use super::record::{Happened, Noted, Step};
use crate::process::{Look, NotSeen};
use crate::workspace::Workspace;
use content::Reader;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use steps::Difference;
use tree::{Known, Tree};

/// A file larger than this is not kept before a native process starts, in bytes: it is kept ahead of
/// a change that may never come.
pub const MOST_FILE_BYTES: u64 = 16 << 20;

/// Of a workspace, as much is kept ahead, in bytes: a quarter of the store.
pub const MOST_BYTES: u64 = 256 << 20;

/// Directories that programs fill with what they can make again. What native processes do in them
/// is not kept, nor whether they are there.
pub const OVERLOOKED: [&str; 13] = [
    "target",
    "node_modules",
    "__pycache__",
    ".venv",
    "venv",
    ".tox",
    ".nox",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    ".gradle",
    ".next",
    ".turbo",
];

/// Paths that one notice names.
const NAMED: usize = 3;

/// Where everything is.
pub(super) struct Ground<'a> {
    pub store: &'a UndoStore,
    pub objects: &'a Objects,
    pub workspace: &'a Workspace,
    /// Where the workspace is.
    pub place: &'a Path,
}

impl Ground<'_> {
    const fn reader(&self) -> Reader<'_> {
        Reader {
            workspace: self.workspace,
            objects: self.objects,
        }
    }
}

/// The native processes of a run.
#[derive(Default)]
pub(super) struct Natives {
    tree: Option<Tree>,
    /// The calls that have processes, with how many.
    at_work: Vec<(Step, usize)>,
    /// What was believed of the paths that components are about to change.
    expected: HashMap<PathBuf, Expected>,
    /// Whether the tree knows more than the index on the disk.
    is_news: bool,
    /// Whether it was said what is not kept.
    has_told: bool,
}

enum Expected {
    Was(Option<Known>),
    Moved(PathBuf),
}

/// What came of a look.
#[derive(Default)]
pub(super) struct Found {
    /// Whose changes they are.
    pub step: Option<Step>,
    pub changes: Vec<Noted>,
    pub notes: Vec<String>,
}

/// Whether native processes are not followed into a directory of this name.
pub(super) fn is_overlooked(directory: &OsStr) -> bool {
    OVERLOOKED.iter().any(|name| directory == *name)
}

impl Natives {
    /// Whether processes run.
    pub(super) fn is_at_work(&self) -> bool {
        !self.at_work.is_empty()
    }

    /// A process of `step` is about to start. What others did until now is theirs.
    pub(super) fn before(
        &mut self,
        ground: &Ground<'_>,
        step: &Step,
        look: Result<Look, NotSeen>,
    ) -> io::Result<Found> {
        let mut found = Found::default();
        match look {
            Ok(look) => {
                let tree = self
                    .tree
                    .get_or_insert_with(|| ground.store.known(ground.place));
                if tree.is_past(&look) {
                    // Another look has shown more already.
                } else if self.at_work.is_empty() {
                    tree.adopt(look);
                } else {
                    let differences = tree.compare(look, &ground.reader())?;
                    self.attribute(None, differences, &mut found);
                }
                self.keep(ground, &mut found)?;
            }
            Err(why) => self.lose(&why, &mut found),
        }
        match self.at_work.iter_mut().find(|(known, _)| known == step) {
            Some((_, count)) => *count += 1,
            None => self.at_work.push((step.clone(), 1)),
        }
        Ok(found)
    }

    /// A process of `step` has ended.
    pub(super) fn after(
        &mut self,
        ground: &Ground<'_>,
        step: &Step,
        look: Result<Look, NotSeen>,
    ) -> Found {
        let mut found = Found::default();
        match (look, &mut self.tree) {
            (Ok(look), Some(tree)) if !tree.is_past(&look) => {
                match tree.compare(look, &ground.reader()) {
                    Ok(differences) => self.attribute(Some(step), differences, &mut found),
                    Err(error) => self.lose(&NotSeen::Unreadable(error.to_string()), &mut found),
                }
            }
            (Ok(_), _) | (Err(NotSeen::Nobody), _) => {}
            (Err(why), _) => self.lose(&why, &mut found),
        }
        if let Some(at) = self.at_work.iter().position(|(known, _)| known == step) {
            self.at_work[at].1 -= 1;
            if self.at_work[at].1 == 0 {
                self.at_work.remove(at);
            }
        }
        if self.at_work.is_empty() {
            self.expected.clear();
        }
        found
    }

    /// A component is about to do something. It is told while processes run only: at other times a
    /// look is believed as it is.
    pub(super) fn expect(&mut self, path: &Path, happened: &Happened) {
        let Some(tree) = &mut self.tree else {
            return;
        };
        let was = tree.expect(path, happened);
        let expected = match happened {
            Happened::Renamed { to } => Expected::Moved(to.clone()),
            _ => Expected::Was(was),
        };
        self.expected.insert(path.to_owned(), expected);
    }

    /// It did not happen.
    pub(super) fn did_not(&mut self, path: &Path) {
        let (Some(tree), Some(expected)) = (&mut self.tree, self.expected.remove(path)) else {
            return;
        };
        match expected {
            Expected::Was(was) => tree.forget(path, was),
            Expected::Moved(to) => tree.rename(&to, path),
        }
    }

    /// Keeps what is known for the next run, when nothing runs.
    pub(super) fn remember(&mut self, ground: &Ground<'_>) {
        if let Some(tree) = &self.tree
            && self.is_news
            && self.at_work.is_empty()
        {
            self.is_news = false;
            if let Err(error) = ground.store.remember(ground.place, tree) {
                // The next run reads the workspace again.
                tracing::warn!(%error, "what is kept of the workspace is not written down");
            }
        }
    }

    fn keep(&mut self, ground: &Ground<'_>, found: &mut Found) -> io::Result<()> {
        let Some(tree) = &mut self.tree else {
            return Ok(());
        };
        if tree.keep(&ground.reader())? {
            ground.store.remember(ground.place, tree)?;
        } else {
            ground.store.still_known(ground.place);
        }
        let not_kept = tree.not_kept();
        if !not_kept.is_empty() && !self.has_told {
            found.notes.push(summary(&not_kept));
            self.has_told = true;
        }
        Ok(())
    }

    fn lose(&mut self, why: &NotSeen, found: &mut Found) {
        self.tree = None;
        if !self.has_told {
            self.has_told = true;
            found.notes.push(format!(
                "what native programs change is not kept, and `hotcell undo` does not know it: {why}"
            ));
        }
    }

    /// Says whose changes these are: of the calls that have processes, and `by` before others.
    fn attribute(&mut self, by: Option<&Step>, differences: Vec<Difference>, found: &mut Found) {
        let mut steps = self.at_work.iter().map(|(step, _)| step);
        let whose = by
            .filter(|step| self.at_work.iter().any(|(known, _)| known == *step))
            .or_else(|| steps.next());
        let Some(whose) = whose.cloned() else {
            return;
        };
        if differences.is_empty() {
            return;
        }
        self.is_news = true;
        let others: Vec<String> = self
            .at_work
            .iter()
            .filter(|(step, _)| *step != whose)
            .map(|(step, _)| format!("{}:{}", step.turn, step.call))
            .collect();
        if !others.is_empty() {
            found.notes.push(format!(
                "programs of other calls ({}) ran at the same time; {} paths that changed meanwhile count as changed by this call: undo the turn, not one of them",
                others.join(", "),
                differences.len()
            ));
        }
        let lost: Vec<&Difference> = differences
            .iter()
            .filter(|difference| difference.lost.is_some())
            .collect();
        for difference in lost.iter().take(NAMED) {
            if let Some((why, size)) = difference.lost {
                found.notes.push(format!(
                    "a native program changed {}, of which the earlier content ({size} bytes) was not kept: {why}; `hotcell undo` cannot bring it back",
                    difference.path.display()
                ));
            }
        }
        if let Some(more) = lost.len().checked_sub(NAMED).filter(|more| *more > 0) {
            found.notes.push(format!(
                "native programs changed {more} more files that were not kept"
            ));
        }
        found.changes = differences
            .into_iter()
            // A log is text.
            .filter(|difference| difference.path.to_str().is_some())
            .map(|difference| Noted {
                step: whose.clone(),
                path: difference.path,
                happened: difference.happened,
                earlier: difference.earlier,
            })
            .collect();
        found.step = Some(whose);
    }
}

fn summary(not_kept: &[(&Path, u64)]) -> String {
    let bytes: u64 = not_kept.iter().map(|(_, size)| size).sum();
    let mut named: Vec<String> = not_kept
        .iter()
        .take(NAMED)
        .map(|(path, _)| path.display().to_string())
        .collect();
    if not_kept.len() > NAMED {
        named.push("…".to_owned());
    }
    format!(
        "{} files of the workspace with {bytes} bytes together are too large to be kept before native programs run ({}): what these change in them cannot be undone",
        not_kept.len(),
        named.join(", ")
    )
}
