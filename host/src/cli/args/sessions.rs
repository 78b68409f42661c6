//! The flags and commands of sessions.
//!
//! Owns how a person names a session: to go on with it, to copy it, to look at it.

use super::PlaceArgs;
use crate::config::Flags;
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::str::FromStr;

/// Which session a run belongs to.
#[derive(Debug, Args)]
#[command(next_help_heading = "Session")]
pub struct SessionArgs {
    /// Go on with the last session of this workspace
    #[arg(long = "continue", short = 'c', conflicts_with_all = ["session", "fork", "no_session"])]
    pub last: bool,
    /// Go on with this session; the beginning of its id is enough
    #[arg(long, value_name = "ID", conflicts_with_all = ["fork", "no_session"])]
    pub session: Option<String>,
    /// Go on in a copy of this session, up to a message or whole
    #[arg(long, value_name = "ID[@MESSAGE]", conflicts_with = "no_session")]
    pub fork: Option<ForkOf>,
    /// Keep nothing of this run but what `undo` needs
    #[arg(long)]
    no_session: bool,
    #[command(flatten)]
    store: StoreArgs,
}

impl SessionArgs {
    pub(super) fn add_to(&self, flags: &mut Flags) {
        flags.no_session = self.no_session;
        self.store.add_to(flags);
    }
}

/// Where sessions are.
#[derive(Debug, Args)]
pub(super) struct StoreArgs {
    /// The file that sessions are kept in [default: `sessions.db` in the data directory]
    #[arg(long, value_name = "FILE")]
    db: Option<PathBuf>,
}

impl StoreArgs {
    pub(super) fn add_to(&self, flags: &mut Flags) {
        flags.db.clone_from(&self.db);
    }
}

/// A session, and the message up to which it is copied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForkOf {
    /// The beginning of its id.
    pub session: String,
    /// The last message; all of them without it.
    pub message: Option<u64>,
}

impl FromStr for ForkOf {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some((session, message)) = text.split_once('@') else {
            return Ok(ForkOf {
                session: text.to_owned(),
                message: None,
            });
        };
        let message = message
            .parse()
            .map_err(|_| format!("`{message}` is no number of a message"))?;
        Ok(ForkOf {
            session: session.to_owned(),
            message: Some(message),
        })
    }
}

/// `hotcell sessions`
#[derive(Debug, Args)]
#[command(disable_help_subcommand = true)]
pub struct SessionsArgs {
    /// What to do
    #[command(subcommand)]
    pub command: SessionsCommand,
    #[command(flatten)]
    store: StoreArgs,
    #[command(flatten)]
    place: PlaceArgs,
}

impl SessionsArgs {
    /// The flags that are settings.
    pub fn flags(&self) -> Flags {
        let mut flags = Flags::default();
        self.place.add_to(&mut flags);
        self.store.add_to(&mut flags);
        flags
    }
}

/// What to do with sessions. A session is its id or the beginning of it.
#[derive(Debug, Subcommand)]
pub enum SessionsCommand {
    /// List the sessions of this workspace, the one that changed last at the end
    List {
        /// Those of every workspace
        #[arg(long)]
        all: bool,
        /// Those with this tag
        #[arg(long, value_name = "TAG")]
        tag: Option<String>,
        /// Print a JSON list
        #[arg(long)]
        json: bool,
    },
    /// Show what was said in a session, and its to-do list
    Show {
        /// Which
        id: String,
        /// Results in full
        #[arg(long)]
        full: bool,
        /// Print JSON, in full
        #[arg(long)]
        json: bool,
    },
    /// Find messages that hold all of these terms, each any part of a text
    Search {
        /// What to look for
        #[arg(required = true)]
        terms: Vec<String>,
        /// In every workspace
        #[arg(long)]
        all: bool,
        /// The most messages to show
        #[arg(long, value_name = "N", default_value_t = 30)]
        limit: u32,
        /// Print a JSON list
        #[arg(long)]
        json: bool,
    },
    /// Give a session tags
    Tag {
        /// Which
        id: String,
        /// The tags
        #[arg(required = true)]
        tags: Vec<String>,
        /// Take them away instead
        #[arg(long)]
        remove: bool,
    },
    /// Print a session, to be kept or read elsewhere
    Export {
        /// Which
        id: String,
        /// As what
        #[arg(long, value_enum, default_value_t = ExportFormat::Md)]
        format: ExportFormat,
    },
    /// Remove sessions with all that belongs to them
    Rm {
        /// Which
        #[arg(required = true)]
        ids: Vec<String>,
    },
}

/// As what a session is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// JSON
    Json,
    /// Markdown
    Md,
}
