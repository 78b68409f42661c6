//! Taking changes back.
//!
//! Owns the inverse of each change and their order, the last first, and the check before any of it
//! that nothing was changed by anybody else since. Everything is done through the workspace, and
//! told to a journal again: an undo can be undone.

use super::journal::look;
use super::log::{Entry, Log};
use super::objects::Objects;
use super::record::{Happened, Noted, State, moved};
use super::{Recorder, Selection, Step, UndoError, UndoStore};
use crate::workspace::{
    Directory, FileError, Moment, NewTime, OpenOptions, Opened, Rule, Workspace,
};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// A path that is not as the selection left it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// Relative to the workspace.
    pub path: PathBuf,
    /// What differs, in a few words.
    pub why: String,
}

/// What an undo did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// The id under which this undo can itself be undone.
    pub run: String,
    /// The paths that are as they were before.
    pub paths: Vec<PathBuf>,
    /// The paths that could not be brought back, each with the reason.
    pub lost: Vec<(PathBuf, String)>,
}

impl UndoStore {
    /// Takes back what the selection changed in `workspace`, which is at `place`. `run` is the id of
    /// this undo. With `force`, what others changed since is overwritten; it is kept as well.
    ///
    /// # Errors
    /// As [`UndoError`] says. Nothing is changed then.
    pub fn restore(
        &self,
        place: &Path,
        workspace: &Workspace,
        asked: &Selection,
        run: &str,
        force: bool,
    ) -> Result<Restored, UndoError> {
        let log = self.select(place, asked)?;
        let (conflicts, paths) = conflicts(&log, workspace);
        if !force && !conflicts.is_empty() {
            return Err(UndoError::Conflicts { conflicts, paths });
        }
        let title = format!("undo of {}", log.head.run);
        let recorder = Recorder::new(self.clone(), run, place, workspace.clone(), &title);
        let journal = recorder.call(Step {
            turn: 1,
            call: 1,
            tool: "undo".to_owned(),
        });
        let told = workspace.with_journal(std::sync::Arc::clone(&journal) as _);
        let inverse = Inverse {
            root: told.directory(),
            workspace: &told,
            objects: self.objects(),
        };
        let mut outcome: BTreeMap<PathBuf, Option<String>> = BTreeMap::new();
        for noted in log.changes().rev() {
            let done = inverse.apply(noted);
            let fault = done.err().map(|error| error.to_string());
            outcome.insert(noted.path.clone(), fault);
        }
        journal.finish();
        let mut restored = Restored {
            run: run.to_owned(),
            paths: Vec::new(),
            lost: Vec::new(),
        };
        for (path, fault) in outcome {
            match fault {
                None => restored.paths.push(path),
                Some(why) => restored.lost.push((path, why)),
            }
        }
        Ok(restored)
    }
}

/// What is not as the selection left it, and how many paths were looked at.
fn conflicts(log: &Log, workspace: &Workspace) -> (Vec<Conflict>, usize) {
    // `None` where a change is known and not how its call left the path.
    let mut left: BTreeMap<PathBuf, Option<&State>> = BTreeMap::new();
    for entry in &log.entries {
        match entry {
            Entry::Change(noted) => {
                if let Happened::Renamed { to } = &noted.happened {
                    carry(&mut left, &noted.path, to);
                    left.insert(to.clone(), None);
                }
                left.insert(noted.path.clone(), None);
            }
            Entry::Ended(_, states) => {
                for (path, state) in states {
                    left.insert(path.clone(), Some(state));
                }
            }
        }
    }
    let paths = left.len();
    let conflicts = left
        .into_iter()
        .filter_map(|(path, left)| {
            let why = match (left, look(workspace, &path)) {
                (_, Err(error)) => error.to_string(),
                (None, Ok(_)) => {
                    "the call was cut short, so nobody knows how it left it".to_owned()
                }
                (Some(left), Ok(now)) if left.is_same(&now) => return None,
                (Some(left), Ok(now)) => {
                    format!(
                        "was left as {}, and is {} now",
                        left.words(),
                        differs(left, &now)
                    )
                }
            };
            Some(Conflict { path, why })
        })
        .collect();
    (conflicts, paths)
}

/// What was known below a directory goes with it to its new name.
fn carry<'a>(left: &mut BTreeMap<PathBuf, Option<&'a State>>, from: &Path, to: &Path) {
    let with_it: Vec<(PathBuf, Option<&'a State>)> = left
        .iter()
        .filter_map(|(path, state)| Some((moved(path, from, to)?, *state)))
        .collect();
    for (path, state) in left.iter_mut() {
        if path.starts_with(from) {
            *state = Some(&State::Absent);
        }
    }
    left.extend(with_it);
}

fn differs(left: &State, now: &State) -> String {
    if left.words() == now.words() {
        format!("another one: {}", now.words())
    } else {
        now.words()
    }
}

/// Why one change could not be taken back.
#[derive(Debug, thiserror::Error)]
enum Fault {
    #[error("it was too large to be kept")]
    NotKept,
    #[error("something else is there now; it was left alone")]
    InTheWay,
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Object(#[from] io::Error),
    #[error("its path is not UTF-8")]
    Name,
}

struct Inverse<'a> {
    root: Directory,
    workspace: &'a Workspace,
    objects: Objects,
}

impl Inverse<'_> {
    fn apply(&self, noted: &Noted) -> Result<(), Fault> {
        let path = text(&noted.path)?;
        if noted.happened != Happened::Created {
            // By its real name, or not at all: a link on the way would lead somewhere else.
            self.workspace.hold(&noted.path)?;
        }
        match &noted.happened {
            Happened::Created => self.remove(path, &noted.path),
            Happened::Wrote | Happened::Removed => self.put(path, &noted.path, &noted.earlier),
            Happened::Renamed { to } => {
                if look(self.workspace, to)? == State::Absent {
                    return Err(Fault::InTheWay);
                }
                Ok(self.root.rename(text(to)?, &self.root, path)?)
            }
            Happened::Touched => self.set_time(path, &noted.earlier),
        }
    }

    fn remove(&self, text: &str, path: &Path) -> Result<(), Fault> {
        match look(self.workspace, path)? {
            State::Absent => Ok(()),
            State::Directory { .. } => Ok(self.root.remove_directory(text)?),
            _ => Ok(self.root.remove_file(text)?),
        }
    }

    fn put(&self, text: &str, path: &Path, earlier: &State) -> Result<(), Fault> {
        let now = look(self.workspace, path)?;
        match (earlier, &now) {
            (State::Directory { mode }, State::Directory { mode: now }) if mode != now => {
                return Ok(self.workspace.hold(path)?.set_mode(*mode)?);
            }
            _ if now.is_same(earlier) => return self.set_time(text, earlier),
            _ => {}
        }
        match (earlier, &now) {
            (State::Absent, _) => Ok(()),
            (State::Unread { mode, .. }, _) if has_only_other_mode(earlier, &now) => {
                Ok(self.workspace.hold(path)?.set_mode(*mode)?)
            }
            (State::Unread { .. } | State::Special, _) => Err(Fault::NotKept),
            (
                State::File { digest, mode, .. },
                State::Absent | State::File { .. } | State::Unread { .. },
            ) => {
                let content = self.objects.read(digest)?;
                if let State::File { mode, .. } | State::Unread { mode, .. } = now
                    && mode & 0o200 == 0
                {
                    self.workspace.hold(path)?.set_mode(mode | 0o200)?;
                }
                self.write(text, &content)?;
                self.workspace.hold(path)?.set_mode(*mode)?;
                self.set_time(text, earlier)
            }
            (State::Link { target }, State::Absent) => {
                Ok(self.workspace.hold(path)?.put_link(target)?)
            }
            (State::Link { target }, State::Link { .. }) => {
                self.root.remove_file(text)?;
                Ok(self.workspace.hold(path)?.put_link(target)?)
            }
            (State::Directory { mode }, State::Absent) => {
                self.root.create_directory(text)?;
                Ok(self.workspace.hold(path)?.set_mode(*mode)?)
            }
            _ => Err(Fault::InTheWay),
        }
    }

    fn write(&self, path: &str, content: &[u8]) -> Result<(), Fault> {
        match self.write_at_place(path, content) {
            // Another name of it may be outside of the workspace; this one is ours.
            Err(Fault::File(FileError::Refused(refusal)))
                if matches!(refusal.rule, Rule::HardLink { .. }) =>
            {
                self.root.remove_file(path)?;
                self.write_at_place(path, content)
            }
            done => done,
        }
    }

    fn write_at_place(&self, path: &str, content: &[u8]) -> Result<(), Fault> {
        let options = OpenOptions {
            write: true,
            create: true,
            truncate: true,
            follow: false,
            ..OpenOptions::default()
        };
        match self.root.open(path, options)? {
            Opened::File(file) => Ok(file.write_at(content, 0)?),
            Opened::Directory(_) => Err(Fault::InTheWay),
        }
    }

    fn set_time(&self, path: &str, earlier: &State) -> Result<(), Fault> {
        let (State::File { modified, .. } | State::Unread { modified, .. }) = earlier else {
            return Ok(());
        };
        let (seconds, nanoseconds) = *modified;
        let moment = Moment {
            seconds,
            nanoseconds,
        };
        Ok(self
            .root
            .set_times_of(path, false, NewTime::Keep, NewTime::At(moment))?)
    }
}

/// Whether a file whose content is not known is the same, as far as that can be told, but for its
/// mode.
fn has_only_other_mode(earlier: &State, now: &State) -> bool {
    let known = |state: &State| match state {
        State::File { size, modified, .. } | State::Unread { size, modified, .. } => {
            Some((*size, *modified))
        }
        _ => None,
    };
    known(earlier).is_some() && known(earlier) == known(now)
}

fn text(path: &Path) -> Result<&str, Fault> {
    path.to_str().ok_or(Fault::Name)
}
