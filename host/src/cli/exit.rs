//! How the process ends.
//!
//! Owns the exit codes, and which fault ends with which: they are part of the interface that
//! scripts rely on.

use crate::config::ConfigError;
use crate::process::ProcessesError;
use crate::protocol::{DoneReason, Event};
use crate::provider::ProviderSetupError;
use crate::sandbox::{LoadError, SandboxError};
use crate::store::StoreError;
use crate::tools::ToolboxError;
use crate::undo::UndoError;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

/// The exit code of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// It did what it was asked to.
    Done = 0,
    /// The run failed, or the model had no answer.
    Failed = 1,
    /// The command line, the settings or something they name cannot be used.
    Usage = 2,
    /// The run stopped at its most turns.
    MaxTurns = 3,
    /// The run stopped at its time.
    MaxTime = 4,
    /// The run stopped at its most tokens.
    MaxTokens = 5,
    /// The run stopped at its most fuel.
    MaxFuel = 6,
    /// The run stopped at its highest cost.
    MaxCost = 7,
    /// The run stopped because one call was made again and again.
    Repetition = 8,
    /// The terminal went away: 128 and the number of SIGHUP, as shells count.
    HungUp = 129,
    /// A person ended the run: 128 and the number of SIGINT.
    Interrupted = 130,
    /// The system or another program ended it: 128 and the number of SIGTERM.
    Terminated = 143,
}

impl Exit {
    /// How a run ended, by its terminal event; `None` for any other event.
    pub const fn of(event: &Event) -> Option<Exit> {
        match event {
            Event::Done { reason, .. } => Some(match reason {
                DoneReason::Completed => Exit::Done,
                DoneReason::Empty | DoneReason::Cut | DoneReason::Refused => Exit::Failed,
                DoneReason::MaxTurns => Exit::MaxTurns,
                DoneReason::MaxTime => Exit::MaxTime,
                DoneReason::MaxTokens => Exit::MaxTokens,
                DoneReason::MaxFuel => Exit::MaxFuel,
                DoneReason::MaxCost => Exit::MaxCost,
                DoneReason::Repetition => Exit::Repetition,
            }),
            Event::Error { .. } => Some(Exit::Failed),
            Event::Interrupted { .. } => Some(Exit::Interrupted),
            _ => None,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit as u8)
    }
}

/// Why a command could not do its work. One line for people.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// The settings.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The provider they name.
    #[error(transparent)]
    Provider(#[from] ProviderSetupError),
    /// The machine.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    /// Native programs.
    #[error(transparent)]
    Processes(#[from] ProcessesError),
    /// A component.
    #[error(transparent)]
    Tools(#[from] ToolboxError),
    /// What was changed earlier.
    #[error(transparent)]
    Undo(#[from] UndoError),
    /// What is kept of earlier runs.
    #[error(transparent)]
    Sessions(#[from] StoreError),
    /// A session was named, and none are kept.
    #[error("sessions are switched off by `sessions.enabled`; leave out the flag that names one")]
    SessionsOff,
    /// There is no session to go on with.
    #[error(
        "no session of this workspace is kept yet; leave out --continue, or name one of `hotcell sessions list --all`"
    )]
    NothingToContinue,
    /// The session that was named belongs to another workspace.
    #[error(
        "session {id} belongs to {workspace}; run it there with -C, or go on here in a copy by --fork {id}"
    )]
    OtherWorkspace {
        /// The session.
        id: String,
        /// Where it belongs.
        workspace: String,
    },
    /// A component file that was asked about.
    #[error("cannot load {}: {why}", .file.display())]
    Component {
        /// The file.
        file: PathBuf,
        /// What the sandbox says.
        why: LoadError,
    },
    /// A file that was named.
    #[error("cannot read {}: {why}", .file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The prompt.
    #[error("{0}")]
    Prompt(&'static str),
    /// The filter of the log.
    #[error("HOTCELL_LOG: {0}; write a level such as debug, or hotcell::sandbox=trace")]
    Log(String),
    /// Something to work with that the machine does not give: a runtime, a temporary directory.
    #[error("cannot {doing}: {why}")]
    Machine {
        /// What was tried.
        doing: &'static str,
        /// What the system says.
        why: io::Error,
    },
    /// Nobody can be told any more.
    #[error("cannot write the output: {0}")]
    Output(#[from] io::Error),
    /// Whoever read the events of a run went away before its end, which ended it.
    #[error("nobody reads the events of the run any more")]
    ReaderGone,
}

impl CommandError {
    /// The exit code that belongs to it.
    pub fn exit(&self) -> Exit {
        match self {
            // `hotcell … | head` is no fault: the reader has what it wants.
            CommandError::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => Exit::Done,
            CommandError::Output(_)
            | CommandError::ReaderGone
            | CommandError::Machine { .. }
            | CommandError::Sessions(
                StoreError::Database { .. } | StoreError::File { .. } | StoreError::InUse(_),
            )
            | CommandError::Undo(
                UndoError::Conflicts { .. } | UndoError::Store { .. } | UndoError::Workspace { .. },
            ) => Exit::Failed,
            _ => Exit::Usage,
        }
    }

    /// Whether there is nobody to tell.
    pub fn is_quiet(&self) -> bool {
        match self {
            CommandError::Output(error) => error.kind() == io::ErrorKind::BrokenPipe,
            CommandError::ReaderGone => true,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{RunErrorKind, Usage};

    #[test]
    fn every_end_has_its_code() {
        let done = |reason| Event::Done {
            reason,
            turns: 1,
            usage: Usage::default(),
            cost: None,
            text: String::new(),
        };
        let cases = [
            (done(DoneReason::Completed), Some(0)),
            (done(DoneReason::Empty), Some(1)),
            (done(DoneReason::Cut), Some(1)),
            (done(DoneReason::Refused), Some(1)),
            (done(DoneReason::MaxTurns), Some(3)),
            (done(DoneReason::MaxTime), Some(4)),
            (done(DoneReason::MaxTokens), Some(5)),
            (done(DoneReason::MaxFuel), Some(6)),
            (done(DoneReason::MaxCost), Some(7)),
            (done(DoneReason::Repetition), Some(8)),
            (
                Event::Error {
                    kind: RunErrorKind::Provider,
                    message: String::new(),
                },
                Some(1),
            ),
            (
                Event::Interrupted {
                    turns: 1,
                    usage: Usage::default(),
                },
                Some(130),
            ),
            (Event::TurnStarted { turn: 1 }, None),
        ];
        for (event, code) in cases {
            assert_eq!(Exit::of(&event).map(|exit| exit as u8), code, "{event:?}");
        }
    }

    #[test]
    fn a_reader_that_went_away_is_no_fault() {
        let gone = CommandError::from(io::Error::from(io::ErrorKind::BrokenPipe));
        assert_eq!((gone.exit(), gone.is_quiet()), (Exit::Done, true));
        let full = CommandError::from(io::Error::from(io::ErrorKind::StorageFull));
        assert_eq!((full.exit(), full.is_quiet()), (Exit::Failed, false));
        let settings = CommandError::from(ConfigError::NoProvider);
        assert_eq!((settings.exit(), settings.is_quiet()), (Exit::Usage, false));
    }
}
