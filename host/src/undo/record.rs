//! What is written down about a change.
//!
//! Owns the lines of a run's log as data, one JSON value a line. A line is written before the change
//! it tells of. It must never be changed without a new [`VERSION`]: logs outlive the program.

use crate::protocol::Digest;
use crate::workspace::{Kind, Metadata, Moment};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Of the format; a log of another version is not read.
pub(super) const VERSION: u32 = 1;

/// A line of a log.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "snake_case")]
pub(super) enum Line {
    /// The first.
    Run(Head),
    /// A change that was about to happen.
    Change(Noted),
    /// The change that this call told last of this path did not happen.
    Failed { step: Step, path: PathBuf },
    /// A call has ended, and how it left what it changed.
    Ended {
        /// The call.
        step: Step,
        /// Each path it changed, as it is now.
        left: Vec<(PathBuf, State)>,
    },
}

/// What a log begins with.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Head {
    pub version: u32,
    pub run: String,
    /// Canonical.
    pub workspace: PathBuf,
    /// Seconds since 1970.
    pub started: u64,
    /// What the run was for: the prompt's beginning, or what was undone.
    pub title: String,
}

/// A call in its run.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Step {
    /// The turn, from 1.
    pub turn: u32,
    /// The call in its turn, from 1 in the order of the model.
    pub call: u32,
    /// The tool.
    pub tool: String,
}

/// A change and what was there before.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Noted {
    pub step: Step,
    pub path: PathBuf,
    #[serde(flatten)]
    pub happened: Happened,
    pub earlier: State,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "happened", rename_all = "snake_case")]
pub(super) enum Happened {
    /// The content of a file changed.
    Wrote,
    /// Something came to be.
    Created,
    /// Something went away.
    Removed,
    /// It got another name.
    Renamed { to: PathBuf },
    /// Only its times changed.
    Touched,
}

/// What is at a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub(super) enum State {
    /// Nothing.
    Absent,
    /// A file whose content is known by its digest.
    File {
        digest: Digest,
        size: u64,
        mode: u32,
        modified: (i64, u32),
    },
    /// A file whose content was not looked into: it is too large, or only its name changed.
    Unread {
        size: u64,
        mode: u32,
        modified: (i64, u32),
    },
    /// A link.
    Link { target: PathBuf },
    /// A directory. What is in it is told apart.
    Directory { mode: u32 },
    /// A pipe, a socket or a device.
    Special,
}

impl State {
    /// Whether a person would call both the same: times do not count where the content is known.
    pub(super) fn is_same(&self, other: &State) -> bool {
        match (self, other) {
            (
                State::File { digest, mode, .. },
                State::File {
                    digest: other_digest,
                    mode: other_mode,
                    ..
                },
            ) => digest == other_digest && mode == other_mode,
            (State::Directory { .. }, State::Directory { .. }) => true,
            (one, other) => one == other,
        }
    }

    /// What it is, in a few words.
    pub(super) fn words(&self) -> String {
        match self {
            State::Absent => "not there".to_owned(),
            State::File { size, mode, .. } => format!("a file of {size} bytes, mode {mode:o}"),
            State::Unread { size, .. } => {
                format!("a file of {size} bytes, whose content is not known")
            }
            State::Link { target } => format!("a link to {}", target.display()),
            State::Directory { .. } => "a directory".to_owned(),
            State::Special => "a pipe, a socket or a device".to_owned(),
        }
    }

    /// The state of something that is no regular file.
    pub(super) fn of_other(
        found: &Metadata,
        target: impl FnOnce() -> std::io::Result<PathBuf>,
    ) -> std::io::Result<State> {
        Ok(match found.kind {
            Kind::Directory => State::Directory { mode: found.mode },
            Kind::Link => State::Link { target: target()? },
            _ => State::Special,
        })
    }
}

/// The path that `path` has when `from` gets the name `to`; `None` if it is not below `from`.
pub(super) fn moved(path: &Path, from: &Path, to: &Path) -> Option<PathBuf> {
    let rest = path.strip_prefix(from).ok()?;
    // Joined to nothing, a path ends in a slash and means a directory.
    Some(if rest.as_os_str().is_empty() {
        to.to_owned()
    } else {
        to.join(rest)
    })
}

pub(super) const fn moment(moment: Moment) -> (i64, u32) {
    (moment.seconds, moment.nanoseconds)
}
