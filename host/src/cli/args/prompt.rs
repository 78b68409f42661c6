//! The commands about what the model is told: `trust`, `skills`, `prompt`.

use super::{PlaceArgs, ToolArgs};
use crate::config::Flags;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// `hotcell trust`
#[derive(Debug, Args)]
pub struct TrustArgs {
    /// The workspace [default: the current directory]
    #[arg(value_name = "PATH")]
    pub path: Option<PathBuf>,
    /// Take it back
    #[arg(long)]
    pub untrust: bool,
    /// Show what was said of which workspace
    #[arg(long, conflicts_with_all = ["path", "untrust"])]
    pub list: bool,
}

/// `hotcell skills`
#[derive(Debug, Args)]
pub struct SkillsArgs {
    /// What about them
    #[command(subcommand)]
    pub command: SkillsCommand,
}

/// The commands about skills.
#[derive(Debug, Subcommand)]
pub enum SkillsCommand {
    /// List the skills that a run here has, and what is wrong with others
    List {
        /// Print a JSON list
        #[arg(long)]
        json: bool,
        /// Where it is about
        #[command(flatten)]
        place: SkillsPlaceArgs,
    },
    /// Check a skill before it is installed: 0 when a run would list it
    Check {
        /// The directory of the skill, which holds its SKILL.md
        #[arg(value_name = "DIR")]
        skill: PathBuf,
    },
}

/// Where skills are looked for.
#[derive(Debug, Args)]
pub struct SkillsPlaceArgs {
    #[command(flatten)]
    place: PlaceArgs,
    /// Where installed skills are [default: `skills` in the configuration directory]
    #[arg(long, value_name = "DIR")]
    skills: Option<PathBuf>,
}

impl SkillsPlaceArgs {
    /// The flags that are settings.
    pub fn flags(&self) -> Flags {
        let mut flags = Flags::default();
        self.place.add_to(&mut flags);
        flags.skills.clone_from(&self.skills);
        flags
    }
}

/// `hotcell prompt`
#[derive(Debug, Args)]
pub struct PromptArgs {
    /// What you would ask; without it only what every run begins with is shown
    pub prompt: Option<String>,
    /// Print one JSON object with the system prompt, the messages and the definitions of the tools
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    place: PlaceArgs,
    #[command(flatten)]
    tools: ToolArgs,
}

impl PromptArgs {
    /// The flags that are settings.
    pub fn flags(&self) -> Flags {
        let mut flags = Flags::default();
        self.place.add_to(&mut flags);
        self.tools.add_to(&mut flags);
        flags
    }
}
