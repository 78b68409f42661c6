//! The command line as clap reads it.
//!
//! Owns the names of commands and flags and their help, and turns them into [`Flags`], the plain
//! data that `config` takes. It must never look at a file or a variable.

mod limits;
mod prompt;
mod sessions;
#[cfg(test)]
mod tests;

use crate::config::{ColorWhen, Flags, GuardKey, Think, offered};
use crate::protocol::Capability;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;
use limits::LimitArgs;
pub use prompt::{PromptArgs, SkillsArgs, SkillsCommand, TrustArgs};
use sessions::StoreArgs;
pub use sessions::{ExportFormat, SessionArgs, SessionsArgs, SessionsCommand};
use std::path::PathBuf;

/// A sandboxed agent: every tool is a WebAssembly component.
#[derive(Debug, Parser)]
#[command(
    name = "hotcell",
    version,
    max_term_width = 100,
    after_help = "Try `hotcell demo` first: it needs no key and no network."
)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Let the model work on a prompt in the workspace
    #[command(
        after_help = "The answer goes to standard output, how it came about to standard error.\n\
                      Exit codes: 0 done, 1 failed, 2 usage or settings, 3 most turns reached,\n\
                      4 time, 5 tokens, 6 fuel, 7 cost, 8 a repeated call, 130 interrupted."
    )]
    Run(RunArgs),
    /// Watch the whole agent fix a bug in a sample project, with no key and no network
    Demo(DemoArgs),
    /// List the tools with what they require, where they come from and their digest
    Tools(ToolsArgs),
    /// Print the definitions of a component's tools as JSON
    Describe(DescribeArgs),
    /// List, read, search and remove the sessions that were kept
    Sessions(SessionsArgs),
    /// Take back what a run changed in the workspace
    #[command(
        after_help = "WHAT is RUN, RUN:TURN or RUN:TURN:CALL; a run is `last`, its id or the beginning of it.\n\
                      Nothing is undone where something was changed since. An undo can be undone."
    )]
    Undo(UndoArgs),
    /// Show what a run changed in the workspace
    Diff(DiffArgs),
    /// Say that a workspace is yours: its settings, AGENTS.md and skills are interpreted
    #[command(
        after_help = "Until then hotcell does not interpret what a workspace says, since a cloned repository is\n\
                      whoever wrote it. It holds for this directory alone, not for those inside it."
    )]
    Trust(TrustArgs),
    /// List the installed skills, or check one that you write
    Skills(SkillsArgs),
    /// Print what would be sent to the model
    Prompt(PromptArgs),
    /// Check what works here, and say what to type where something does not
    Doctor(DoctorArgs),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
}

/// `hotcell run`
#[derive(Debug, Args)]
pub struct RunArgs {
    /// What to do; `-` reads it from standard input
    pub prompt: String,
    /// Print one JSON event a line
    #[arg(long)]
    pub json: bool,
    /// Also show turns, tokens and the first lines of results
    #[arg(long, short, conflicts_with = "json")]
    pub verbose: bool,
    #[command(flatten)]
    pub session: SessionArgs,
    #[command(flatten)]
    settings: SettingsArgs,
}

impl RunArgs {
    /// The flags that are settings.
    pub fn flags(&self) -> Flags {
        let mut flags = self.settings.flags();
        self.session.add_to(&mut flags);
        flags
    }
}

/// `hotcell demo`
#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Print one JSON event a line
    #[arg(long)]
    pub json: bool,
    /// Keep the directory of the sample project
    #[arg(long)]
    pub keep: bool,
    /// Colours
    #[arg(long, value_name = "WHEN", value_parser = choice(&ColorWhen::ALL))]
    pub color: Option<ColorWhen>,
}

/// `hotcell tools`
#[derive(Debug, Args)]
pub struct ToolsArgs {
    /// Print a JSON list
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    place: PlaceArgs,
    #[command(flatten)]
    tools: ToolArgs,
}

impl ToolsArgs {
    /// The flags that are settings.
    pub fn flags(&self) -> Flags {
        let mut flags = Flags::default();
        self.place.add_to(&mut flags);
        self.tools.add_to(&mut flags);
        flags
    }
}

/// `hotcell describe`
#[derive(Debug, Args)]
pub struct DescribeArgs {
    /// The component
    #[arg(value_name = "PATH.wasm")]
    pub component: PathBuf,
}

/// `hotcell undo`
#[derive(Debug, Args)]
pub struct UndoArgs {
    /// Which run, turn or call [default: last]
    pub what: Option<String>,
    /// List the runs that changed something here, with their turns and calls
    #[arg(long, conflicts_with_all = ["what", "force", "dry_run"])]
    pub list: bool,
    /// Show what would be done, and do nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Also where something was changed since; that is kept, and undone like everything else
    #[arg(long)]
    pub force: bool,
    #[command(flatten)]
    place: PlaceArgs,
}

impl UndoArgs {
    /// The flags that are settings.
    pub fn flags(&self) -> Flags {
        let mut flags = Flags::default();
        self.place.add_to(&mut flags);
        flags
    }
}

/// `hotcell diff`
#[derive(Debug, Args)]
pub struct DiffArgs {
    /// Which run, turn or call, as for `hotcell undo` [default: last]
    pub what: Option<String>,
    /// Everything that the runs of this session changed, together
    #[arg(long, value_name = "ID", conflicts_with = "what")]
    pub session: Option<String>,
    #[command(flatten)]
    store: StoreArgs,
    #[command(flatten)]
    place: PlaceArgs,
}

impl DiffArgs {
    /// The flags that are settings.
    pub fn flags(&self) -> Flags {
        let mut flags = Flags::default();
        self.place.add_to(&mut flags);
        self.store.add_to(&mut flags);
        flags
    }
}

/// `hotcell doctor`
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    settings: SettingsArgs,
}

impl DoctorArgs {
    /// The flags that are settings.
    pub fn flags(&self) -> Flags {
        self.settings.flags()
    }
}

#[derive(Debug, Args)]
struct SettingsArgs {
    #[command(flatten)]
    place: PlaceArgs,
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    run: TurnArgs,
    #[command(flatten)]
    tools: ToolArgs,
    #[command(flatten)]
    limits: LimitArgs,
}

impl SettingsArgs {
    fn flags(&self) -> Flags {
        let mut flags = Flags::default();
        self.place.add_to(&mut flags);
        self.model.add_to(&mut flags);
        self.run.add_to(&mut flags);
        self.tools.add_to(&mut flags);
        self.limits.add_to(&mut flags);
        flags
    }
}

#[derive(Debug, Args)]
struct PlaceArgs {
    /// Where the tools work [default: the current directory]
    #[arg(long, short = 'C', value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// Read variables from this file instead of `.env` in the configuration directory
    #[arg(long, value_name = "FILE")]
    env_file: Option<PathBuf>,
    /// Colours
    #[arg(long, value_name = "WHEN", value_parser = choice(&ColorWhen::ALL))]
    color: Option<ColorWhen>,
}

impl PlaceArgs {
    fn add_to(&self, flags: &mut Flags) {
        flags.workspace.clone_from(&self.workspace);
        flags.env_file.clone_from(&self.env_file);
        flags.color = self.color;
    }
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Model")]
struct ModelArgs {
    /// Whom to ask: anthropic, openai or script [default: the one whose key is set]
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,
    /// The vendor's model name
    #[arg(long, short, value_name = "NAME")]
    model: Option<String>,
    /// Where the API is, for compatible servers
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// Play this file of turns instead of asking a model
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,
    /// The most tokens one answer may have
    #[arg(long, value_name = "N")]
    max_output_tokens: Option<u32>,
    /// Ask for whole answers instead of streams
    #[arg(long)]
    no_stream: bool,
}

impl ModelArgs {
    fn add_to(&self, flags: &mut Flags) {
        flags.provider.clone_from(&self.provider);
        flags.model.clone_from(&self.model);
        flags.base_url.clone_from(&self.base_url);
        flags.script.clone_from(&self.script);
        flags.max_output_tokens = self.max_output_tokens;
        flags.no_stream = self.no_stream;
    }
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Run")]
struct TurnArgs {
    /// Think first, without tools, then act: in every turn, or in the first
    #[arg(long, value_name = "WHEN", num_args = 0..=1, require_equals = true,
          default_missing_value = "always", value_parser = choice(&Think::ALL))]
    think: Option<Think>,
    /// The most turns of a run; 0 for no limit [default: 50]
    #[arg(long, value_name = "N")]
    max_turns: Option<u32>,
    /// The most tool calls at work at once [default: cores, at least 4]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_parallel_calls: Option<u32>,
    /// The longest time; 0 for no limit [default: 0]
    #[arg(long, value_name = "MS")]
    max_time: Option<String>,
    /// The most tokens, sent and generated; 0 for no limit [default: 0]
    #[arg(long, value_name = "N")]
    max_tokens: Option<String>,
    /// The most fuel of all calls together; 0 for no limit [default: 0]
    #[arg(long, value_name = "N")]
    max_run_fuel: Option<String>,
    /// The most US dollars, by the prices in hotcell.toml; 0 for no limit [default: 0]
    #[arg(long, value_name = "DOLLARS")]
    max_cost: Option<String>,
    /// The most calls with the same arguments while nothing changes; 0 for no limit [default: 8]
    #[arg(long, value_name = "N")]
    max_repeats: Option<String>,
}

impl TurnArgs {
    fn add_to(&self, flags: &mut Flags) {
        flags.think = self.think;
        flags.max_turns = self.max_turns;
        flags.max_parallel_calls = self.max_parallel_calls;
        let guards = [
            (GuardKey::Time, &self.max_time),
            (GuardKey::Tokens, &self.max_tokens),
            (GuardKey::Fuel, &self.max_run_fuel),
            (GuardKey::Cost, &self.max_cost),
            (GuardKey::Repeats, &self.max_repeats),
        ];
        flags.guards = guards
            .into_iter()
            .filter_map(|(guard, value)| Some((guard, value.clone()?)))
            .collect();
    }
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Tools")]
struct ToolArgs {
    /// Only look: offer read-only tools and give them read-only grants
    #[arg(long)]
    plan: bool,
    /// Give tools this capability as well (repeatable)
    #[arg(long, value_name = "CAPABILITY", value_parser = capability())]
    allow: Vec<Capability>,
    /// Give no tool this capability; wins over --allow (repeatable)
    #[arg(long, value_name = "CAPABILITY", value_parser = capability())]
    deny: Vec<Capability>,
    /// Start native programs without any sandbox, with all rights you have. Not for untrusted code
    #[arg(long)]
    unsafe_no_process_sandbox: bool,
    /// Load this component beside the built-in ones (repeatable)
    #[arg(long = "plugin", value_name = "PATH.wasm")]
    plugins: Vec<PathBuf>,
    /// Where installed skills are [default: `skills` in the configuration directory]
    #[arg(long, value_name = "DIR")]
    skills: Option<PathBuf>,
}

impl ToolArgs {
    fn add_to(&self, flags: &mut Flags) {
        flags.plan = self.plan;
        flags.unsafe_no_process_sandbox = self.unsafe_no_process_sandbox;
        flags.allow.clone_from(&self.allow);
        flags.deny.clone_from(&self.deny);
        flags.plugins.clone_from(&self.plugins);
        flags.skills.clone_from(&self.skills);
    }
}

fn choice<T: Copy + Send + Sync + 'static>(
    choices: &'static [(&'static str, T)],
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(choices.iter().map(|(name, _)| *name)).map(move |name| {
        choices
            .iter()
            .find(|(other, _)| *other == name)
            .map(|(_, value)| *value)
            .expect("clap lets only these names through")
    })
}

fn capability() -> impl TypedValueParser<Value = Capability> {
    PossibleValuesParser::new(offered().iter().map(Capability::name))
        .try_map(|name| name.parse::<Capability>())
}
