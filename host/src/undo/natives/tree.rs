//! What is believed to be in a workspace while native processes run.
//!
//! Owns the paths with what is known of each, and the comparison with a new look at them. A belief
//! changes in two ways: by a look, whose differences are changes of a program, and by what a
//! component tells it is about to do. It must never read a file that looks as it did.

use super::content::Reader;
use super::steps::{Difference, Steps};
use super::{MOST_BYTES, MOST_FILE_BYTES};
use crate::process::{Look, Seen, SeenKind};
use crate::protocol::Digest;
use crate::undo::record::{Happened, State, moved};
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// A path, as it is believed to be.
#[derive(Debug, Clone)]
pub(super) struct Known {
    /// What was seen; `None` where a component has changed it since.
    pub seen: Option<Seen>,
    pub content: Content,
}

/// What is in it.
#[derive(Debug, Clone)]
pub(super) enum Content {
    /// Nobody has looked yet; or there is nothing to look into.
    Unread,
    Digest(Kept),
    Link(PathBuf),
    /// It is not kept.
    Not(NotKept),
}

/// The content of a file.
#[derive(Debug, Clone)]
pub(super) struct Kept {
    pub digest: Digest,
    /// Whether the store has it.
    pub is_stored: bool,
    /// Whether the file cannot have changed since without looking different.
    pub is_settled: bool,
}

/// Why content is not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub(super) enum NotKept {
    #[error("it has more than the {MOST_FILE_BYTES} bytes that are kept of a file")]
    TooLarge,
    #[error("the files of the workspace have more than the {MOST_BYTES} bytes that are kept")]
    TooMuch,
    #[error("it could not be read")]
    Unreadable,
    #[error("its name is not UTF-8")]
    Name,
}

impl Known {
    /// A file whose content is in the store.
    pub(super) const fn stored(seen: Seen, digest: Digest) -> Known {
        Known {
            seen: Some(seen),
            content: Content::Digest(Kept {
                digest,
                is_stored: true,
                is_settled: true,
            }),
        }
    }

    pub(super) const fn unread(seen: Seen) -> Known {
        Known {
            seen: Some(seen),
            content: Content::Unread,
        }
    }

    /// Whether a look that shows `seen` shows nothing new.
    fn is_as(&self, seen: &Seen) -> bool {
        let is_settled = match &self.content {
            Content::Digest(kept) => kept.is_settled,
            _ => true,
        };
        is_settled && self.seen.as_ref() == Some(seen)
    }

    /// As it is written down.
    pub(super) fn state(&self) -> State {
        let Some(seen) = self.seen else {
            return State::Special;
        };
        match (seen.kind, &self.content) {
            (SeenKind::Directory, _) => State::Directory { mode: seen.mode },
            (SeenKind::Link, Content::Link(target)) => State::Link {
                target: target.clone(),
            },
            (SeenKind::Link | SeenKind::Special, _) => State::Special,
            (SeenKind::File, Content::Digest(kept)) => State::File {
                digest: kept.digest.clone(),
                size: seen.size,
                mode: seen.mode,
                modified: seen.modified,
            },
            (SeenKind::File, _) => State::Unread {
                size: seen.size,
                mode: seen.mode,
                modified: seen.modified,
            },
        }
    }

    /// Why what it was cannot be brought back.
    pub(super) const fn not_kept(&self) -> Option<NotKept> {
        match self.content {
            Content::Not(why) => Some(why),
            _ => None,
        }
    }
}

/// The paths of a workspace.
#[derive(Debug, Default)]
pub(super) struct Tree {
    paths: HashMap<PathBuf, Known>,
    /// When the look began that it is by.
    looked: Option<Instant>,
}

impl FromIterator<(PathBuf, Known)> for Tree {
    fn from_iter<T: IntoIterator<Item = (PathBuf, Known)>>(paths: T) -> Self {
        Tree {
            paths: paths.into_iter().collect(),
            looked: None,
        }
    }
}

impl Tree {
    pub(super) fn iter(&self) -> impl Iterator<Item = (&Path, &Known)> {
        self.paths
            .iter()
            .map(|(path, known)| (path.as_path(), known))
    }

    /// Whether a look is older than what is believed: then it shows nothing new.
    pub(super) fn is_past(&self, look: &Look) -> bool {
        self.looked.is_some_and(|looked| look.began < looked)
    }

    /// Believes a look, as nobody's change.
    pub(super) fn adopt(&mut self, look: Look) {
        let mut old = std::mem::take(&mut self.paths);
        self.looked = Some(look.began);
        self.paths = look
            .seen
            .into_iter()
            .map(|(path, seen)| {
                let known = old.remove(&path).filter(|known| known.is_as(&seen));
                (path, known.unwrap_or(Known::unread(seen)))
            })
            .collect();
        self.keep_closed(old, &look.closed);
    }

    /// Believes a look, and answers what a program did since the last.
    ///
    /// # Errors
    /// Those of reading a file that was opened.
    pub(super) fn compare(
        &mut self,
        look: Look,
        reader: &Reader<'_>,
    ) -> io::Result<Vec<Difference>> {
        let mut old = std::mem::take(&mut self.paths);
        let mut steps = Steps::default();
        self.looked = Some(look.began);
        for (path, seen) in look.seen {
            let known = match old.remove(&path) {
                None => {
                    steps.created(&path, seen);
                    Known::unread(seen)
                }
                Some(known) if known.is_as(&seen) => known,
                Some(known) => match known.seen {
                    None => Known::unread(seen),
                    Some(before) if before.kind != seen.kind => {
                        steps.removed(&path, &known);
                        steps.created(&path, seen);
                        Known::unread(seen)
                    }
                    Some(before) => changed(&path, before, known, seen, reader, &mut steps)?,
                },
            };
            self.paths.insert(path, known);
        }
        for (path, known) in self.keep_closed(old, &look.closed) {
            // What a component made and is gone needs no word: taking its making back finds nothing.
            if known.seen.is_some() {
                steps.removed(&path, &known);
            }
        }
        Ok(steps.in_order())
    }

    /// What is in a directory that cannot be read is believed to be as it was. Answers the rest.
    fn keep_closed(
        &mut self,
        old: HashMap<PathBuf, Known>,
        closed: &[PathBuf],
    ) -> HashMap<PathBuf, Known> {
        if closed.is_empty() {
            return old;
        }
        let is_closed = |path: &Path| closed.iter().any(|above| path.starts_with(above));
        let (kept, rest): (HashMap<_, _>, HashMap<_, _>) =
            old.into_iter().partition(|(path, _)| is_closed(path));
        for (path, known) in kept {
            self.paths.entry(path).or_insert(known);
        }
        rest
    }

    /// Keeps the content of everything that is not kept yet, small files first, and what git can
    /// only add to last. Answers whether anything was read.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub(super) fn keep(&mut self, reader: &Reader<'_>) -> io::Result<bool> {
        let mut room = MOST_BYTES;
        let mut waiting: Vec<(bool, u64, &Path, &mut Known)> = Vec::new();
        for (path, known) in &mut self.paths {
            let Some(seen) = known.seen else {
                continue;
            };
            match (&seen.kind, &mut known.content) {
                (SeenKind::File, Content::Digest(kept)) if kept.is_stored => {
                    room = room.saturating_sub(seen.size);
                }
                (SeenKind::File, Content::Not(NotKept::Name | NotKept::Unreadable)) => {}
                (SeenKind::File, _) => {
                    waiting.push((is_git_object(path), seen.size, path, known));
                }
                (SeenKind::Link, Content::Unread) => known.content = reader.link(path),
                _ => {}
            }
        }
        waiting.sort_by(|a, b| (a.0, a.1, a.2).cmp(&(b.0, b.1, b.2)));
        let mut has_read = false;
        for (_, size, path, known) in waiting {
            if size > MOST_FILE_BYTES {
                known.content = Content::Not(NotKept::TooLarge);
                continue;
            }
            if size > room {
                known.content = Content::Not(NotKept::TooMuch);
                continue;
            }
            room -= size;
            if let Content::Digest(kept) = &mut known.content
                && kept.is_settled
                && reader.has(&kept.digest)
            {
                kept.is_stored = true;
                continue;
            }
            has_read = true;
            match reader.file(path, true)? {
                Ok((kept, seen)) => {
                    known.seen = Some(seen);
                    known.content = Content::Digest(kept);
                }
                Err(why) => known.content = Content::Not(why),
            }
        }
        Ok(has_read)
    }

    /// The paths whose content is too much to be kept, largest first, with their bytes.
    pub(super) fn not_kept(&self) -> Vec<(&Path, u64)> {
        let mut paths: Vec<(&Path, u64)> = self
            .iter()
            .filter(|(_, known)| {
                matches!(known.not_kept(), Some(NotKept::TooLarge | NotKept::TooMuch))
            })
            .map(|(path, known)| (path, known.seen.map_or(0, |seen| seen.size)))
            .collect();
        paths.sort_by(|a, b| (b.1, a.0).cmp(&(a.1, b.0)));
        paths
    }

    /// What a component is about to do. Answers what was believed of the path.
    pub(super) fn expect(&mut self, path: &Path, happened: &Happened) -> Option<Known> {
        match happened {
            Happened::Wrote | Happened::Created | Happened::Touched => {
                let changed = Known {
                    seen: None,
                    content: Content::Unread,
                };
                self.paths.insert(path.to_owned(), changed)
            }
            Happened::Removed => self.paths.remove(path),
            Happened::Renamed { to } => {
                self.rename(path, to);
                None
            }
        }
    }

    /// Puts back what was believed, because nothing happened.
    pub(super) fn forget(&mut self, path: &Path, was: Option<Known>) {
        match was {
            Some(known) => {
                self.paths.insert(path.to_owned(), known);
            }
            None => {
                self.paths.remove(path);
            }
        }
    }

    pub(super) fn rename(&mut self, from: &Path, to: &Path) {
        let with_it: Vec<(PathBuf, PathBuf)> = self
            .paths
            .keys()
            .filter_map(|path| Some((path.clone(), moved(path, from, to)?)))
            .collect();
        for (old, new) in with_it {
            if let Some(known) = self.paths.remove(&old) {
                self.paths.insert(new, known);
            }
        }
    }
}

/// What became of a path that is of the same kind as before.
fn changed(
    path: &Path,
    before: Seen,
    known: Known,
    seen: Seen,
    reader: &Reader<'_>,
    steps: &mut Steps,
) -> io::Result<Known> {
    match seen.kind {
        SeenKind::Directory => {
            if before.mode != seen.mode {
                steps.directory_mode(path, before.mode);
            }
            Ok(Known::unread(seen))
        }
        SeenKind::Special => Ok(Known::unread(seen)),
        SeenKind::Link => {
            let content = reader.link(path);
            if !matches!((&known.content, &content), (Content::Link(old), Content::Link(new)) if old == new)
            {
                steps.wrote(path, &known);
            }
            Ok(Known {
                seen: Some(seen),
                content,
            })
        }
        SeenKind::File => file_changed(path, before, known, seen, reader, steps),
    }
}

fn file_changed(
    path: &Path,
    before: Seen,
    known: Known,
    seen: Seen,
    reader: &Reader<'_>,
    steps: &mut Steps,
) -> io::Result<Known> {
    let read = if seen.size > MOST_FILE_BYTES {
        Err(NotKept::TooLarge)
    } else {
        reader.file(path, false)?
    };
    let looks_same =
        before.size == seen.size && before.modified == seen.modified && before.inode == seen.inode;
    let is_same = match (&known.content, &read) {
        (Content::Digest(old), Ok((new, _))) => old.digest == new.digest,
        // One of them could not be read: all that is left to go by.
        _ => looks_same,
    };
    if !is_same || before.mode != seen.mode {
        steps.wrote(path, &known);
    } else if before.modified != seen.modified {
        steps.touched(path, &known);
    }
    Ok(match (read, known.content) {
        (Ok((mut new, now)), Content::Digest(old)) => {
            new.is_stored = is_same && old.is_stored;
            Known {
                seen: Some(now),
                content: Content::Digest(new),
            }
        }
        (Ok((new, now)), _) => Known {
            seen: Some(now),
            content: Content::Digest(new),
        },
        (Err(_), old) if is_same => Known {
            seen: Some(seen),
            content: old,
        },
        (Err(why), _) => Known {
            seen: Some(seen),
            content: Content::Not(why),
        },
    })
}

/// Git never changes these, it adds them.
fn is_git_object(path: &Path) -> bool {
    let mut parts = path.iter();
    parts.any(|part| part == ".git") && parts.next().is_some_and(|part| part == "objects")
}
