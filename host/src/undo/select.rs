//! Which changes are meant.
//!
//! Owns the names of runs, turns and calls as a person types them, and the list of runs. A run is
//! found only from its own workspace: what was changed elsewhere is not taken back from here.

use super::log::Log;
use super::record::Step;
use super::{UndoError, UndoStore};
use std::collections::BTreeSet;
use std::path::Path;
use std::str::FromStr;

/// `RUN`, `RUN:TURN` or `RUN:TURN:CALL`. A run is `last`, its id, or the beginning of its id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    run: String,
    turn: Option<u32>,
    call: Option<u32>,
}

/// A selection that names nothing. One line for people.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SelectionError {
    /// It is not of the form.
    #[error(
        "`{0}` names no run, turn or call: type RUN, RUN:TURN or RUN:TURN:CALL, as `hotcell undo --list` shows them"
    )]
    Form(String),
    /// No run of this workspace changed anything.
    #[error("no run has changed anything in this workspace")]
    Nothing,
    /// No run has this name.
    #[error("no run of this workspace is `{0}`; `hotcell undo --list` shows them")]
    Unknown(String),
    /// Several runs begin so.
    #[error("several runs begin with `{0}`; type more of the id")]
    Ambiguous(String),
    /// The run is there, but changed nothing in that turn or call.
    #[error("run {run} changed nothing in `{asked}`; it did in {did}")]
    Unchanged {
        /// The run.
        run: String,
        /// What was asked for.
        asked: String,
        /// The turns and calls in which it did.
        did: String,
    },
}

impl Default for Selection {
    /// The last run.
    fn default() -> Self {
        Selection {
            run: "last".to_owned(),
            turn: None,
            call: None,
        }
    }
}

impl FromStr for Selection {
    type Err = SelectionError;

    fn from_str(text: &str) -> Result<Self, SelectionError> {
        let form = || SelectionError::Form(text.to_owned());
        let mut parts = text.split(':');
        let run = parts
            .next()
            .filter(|run| !run.is_empty())
            .ok_or_else(form)?;
        let mut number = || match parts.next() {
            None => Ok(None),
            Some(part) => part.parse().map(Some).map_err(|_| form()),
        };
        let (turn, call) = (number()?, number()?);
        if parts.next().is_some() {
            return Err(form());
        }
        Ok(Selection {
            run: run.to_owned(),
            turn,
            call,
        })
    }
}

/// A run, as it is listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunSummary {
    /// Its id.
    pub run: String,
    /// When it began, in seconds since 1970.
    pub started: u64,
    /// What it was for.
    pub title: String,
    /// The calls that changed something, as they are selected: `TURN:CALL` and the tool.
    pub calls: Vec<(String, String)>,
    /// How many paths it changed.
    pub paths: usize,
}

impl UndoStore {
    /// The runs that changed something in `workspace`, oldest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn runs_of(&self, workspace: &Path) -> Result<Vec<RunSummary>, UndoError> {
        let mut runs = Vec::new();
        for head in self.heads()? {
            if head.workspace != workspace {
                continue;
            }
            let log = self.log(&head.run)?;
            let steps: BTreeSet<_> = log.changes().map(|noted| shown(&noted.step)).collect();
            let paths: BTreeSet<_> = log.changes().map(|noted| &noted.path).collect();
            if !paths.is_empty() {
                runs.push(RunSummary {
                    started: head.started,
                    title: head.title,
                    calls: steps
                        .into_iter()
                        .map(|(_, name, tool)| (name, tool))
                        .collect(),
                    paths: paths.len(),
                    run: head.run,
                });
            }
        }
        Ok(runs)
    }

    /// What a selection means: its run, with the changes selected and no others.
    pub(super) fn select(&self, workspace: &Path, asked: &Selection) -> Result<Log, UndoError> {
        let runs = self.runs_of(workspace)?;
        let run = match (&*asked.run, runs.last()) {
            (_, None) => return Err(SelectionError::Nothing.into()),
            ("last", Some(run)) => run,
            (begin, Some(_)) => {
                let mut named = runs.iter().filter(|run| run.run.starts_with(begin));
                let exact = runs.iter().find(|run| run.run == begin);
                match (exact, named.next(), named.next()) {
                    (Some(run), ..) | (None, Some(run), None) => run,
                    (None, None, _) => {
                        return Err(SelectionError::Unknown(begin.to_owned()).into());
                    }
                    (None, Some(_), Some(_)) => {
                        return Err(SelectionError::Ambiguous(begin.to_owned()).into());
                    }
                }
            }
        };
        let mut log = self.log(&run.run)?;
        let is_meant = |step: &Step| {
            asked.turn.is_none_or(|turn| turn == step.turn)
                && asked.call.is_none_or(|call| call == step.call)
        };
        log.entries.retain(|entry| is_meant(entry.step()));
        if log.changes().next().is_none() {
            let numbers = [asked.turn, asked.call].into_iter().flatten();
            let asked: Vec<String> = numbers.map(|number| number.to_string()).collect();
            let did: Vec<&str> = run.calls.iter().map(|(name, _)| name.as_str()).collect();
            return Err(SelectionError::Unchanged {
                run: run.run.clone(),
                asked: asked.join(":"),
                did: did.join(", "),
            }
            .into());
        }
        Ok(log)
    }
}

fn shown(step: &Step) -> ((u32, u32), String, String) {
    let name = format!("{}:{}", step.turn, step.call);
    ((step.turn, step.call), name, step.tool.clone())
}
