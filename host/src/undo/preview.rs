//! What a selection changed, to be looked at.
//!
//! Owns the comparison of what was kept with what is there now, as a unified diff. It changes
//! nothing, and it shows nothing itself: it makes text.

use super::journal::look;
use super::objects::Objects;
use super::record::{Happened, State};
use super::{Selection, UndoError, UndoStore};
use crate::workspace::Workspace;
use similar::TextDiff;
use std::collections::HashSet;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// A text larger than this is not compared line by line, in bytes.
const MOST_TEXT: u64 = 1 << 20;

/// Unchanged lines around a change.
const AROUND: usize = 3;

/// What a selection changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preview {
    /// The run.
    pub run: String,
    /// Every path, in the order in which it was changed first.
    pub paths: Vec<PathChange>,
    /// What got another name, as from and to.
    pub renamed: Vec<(PathBuf, PathBuf)>,
}

/// A path before the selection and now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathChange {
    /// Relative to the workspace.
    pub path: PathBuf,
    /// Before the first change of the selection.
    pub was: Content,
    /// Now.
    pub is: Content,
}

/// What is at a path, as far as it can be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// Nothing.
    Absent,
    /// A file of text.
    Text(String),
    /// Anything else, in a few words.
    Other(String),
}

impl Content {
    fn text(&self) -> &str {
        match self {
            Content::Text(text) => text,
            Content::Absent | Content::Other(_) => "",
        }
    }

    fn name(&self, side: &str, path: &Path) -> String {
        match self {
            Content::Absent => "/dev/null".to_owned(),
            Content::Text(_) | Content::Other(_) => format!("{side}/{}", path.display()),
        }
    }
}

impl Preview {
    /// As a unified diff from before to now, or with `back` from now to before.
    pub fn diff(&self, back: bool) -> String {
        let mut text = String::new();
        for (from, to) in &self.renamed {
            let (from, to) = if back { (to, from) } else { (from, to) };
            text.push_str(&format!("rename {} => {}\n", from.display(), to.display()));
        }
        for change in &self.paths {
            let (old, new) = if back {
                (&change.is, &change.was)
            } else {
                (&change.was, &change.is)
            };
            text.push_str(&section(&change.path, old, new));
        }
        text
    }
}

fn section(path: &Path, old: &Content, new: &Content) -> String {
    if old == new {
        return String::new();
    }
    let names = (old.name("a", path), new.name("b", path));
    match (old, new) {
        (Content::Other(_), _) | (_, Content::Other(_)) => {
            let words = |content: &Content| match content {
                Content::Absent => "nothing".to_owned(),
                Content::Text(text) => format!("a text of {} bytes", text.len()),
                Content::Other(what) => what.clone(),
            };
            format!("{}: {} => {}\n", path.display(), words(old), words(new))
        }
        _ if old.text().is_empty() && new.text().is_empty() => {
            format!("--- {}\n+++ {}\n", names.0, names.1)
        }
        _ => TextDiff::from_lines(old.text(), new.text())
            .unified_diff()
            .context_radius(AROUND)
            .header(&names.0, &names.1)
            .to_string(),
    }
}

impl UndoStore {
    /// What the selection changed in `workspace`, which is at `place`.
    ///
    /// # Errors
    /// As [`UndoError`] says.
    pub fn preview(
        &self,
        place: &Path,
        workspace: &Workspace,
        asked: &Selection,
    ) -> Result<Preview, UndoError> {
        let log = self.select(place, asked)?;
        let objects = self.objects();
        let mut seen: HashSet<&Path> = HashSet::new();
        let mut paths = Vec::new();
        let mut renamed = Vec::new();
        for noted in log.changes() {
            if let Happened::Renamed { to } = &noted.happened {
                renamed.push((noted.path.clone(), to.clone()));
                continue;
            }
            if seen.insert(&noted.path) {
                paths.push(PathChange {
                    path: noted.path.clone(),
                    was: kept(&objects, &noted.earlier),
                    is: now(workspace, &noted.path),
                });
            }
        }
        Ok(Preview {
            run: log.head.run.clone(),
            paths,
            renamed,
        })
    }
}

fn kept(objects: &Objects, state: &State) -> Content {
    match state {
        State::Absent => Content::Absent,
        State::File { digest, size, .. } if *size <= MOST_TEXT => match objects.read(digest) {
            Ok(bytes) => of_bytes(bytes),
            Err(error) => Content::Other(format!("a file that was kept and is not there: {error}")),
        },
        other => Content::Other(other.words()),
    }
}

fn now(workspace: &Workspace, path: &Path) -> Content {
    match look(workspace, path) {
        Ok(State::Absent) => Content::Absent,
        Ok(State::File { size, .. }) if size <= MOST_TEXT => match read(workspace, path) {
            Ok(bytes) => of_bytes(bytes),
            Err(error) => Content::Other(format!("a file that cannot be read: {error}")),
        },
        Ok(other) => Content::Other(other.words()),
        Err(error) => Content::Other(format!("something that cannot be looked at: {error}")),
    }
}

fn read(workspace: &Workspace, path: &Path) -> io::Result<Vec<u8>> {
    let held = workspace.hold(path).map_err(io::Error::other)?;
    let mut bytes = Vec::new();
    held.earlier()
        .open()?
        .take(MOST_TEXT)
        .read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn of_bytes(bytes: Vec<u8>) -> Content {
    match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => Content::Text(text),
        Ok(text) => Content::Other(format!("a binary file of {} bytes", text.len())),
        Err(error) => Content::Other(format!("a binary file of {} bytes", error.as_bytes().len())),
    }
}
