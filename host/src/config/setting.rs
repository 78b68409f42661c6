//! The table of settings: the one list that files, variables, flags, hints and the reference in
//! `docs/config.md` are made from.
//!
//! A new setting is one row here, one field in `layer.rs`, and the compiler names the rest.

use super::guard::GuardKey;
use super::process::ProcessKey;
use crate::protocol::Limit;

/// One thing that can be set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Setting {
    Provider,
    Model,
    BaseUrl,
    ApiKeyEnv,
    MaxOutputTokens,
    Stream,
    Think,
    Plan,
    MaxTurns,
    MaxParallelCalls,
    Capabilities,
    Plugins,
    Skills,
    Masked,
    Protected,
    Color,
    SessionsEnabled,
    SessionsDb,
    Process(ProcessKey),
    Guard(GuardKey),
    Prices,
    Limit(Limit),
}

/// How a setting is written and what it does.
pub(super) struct Row {
    pub setting: Setting,
    /// In `hotcell.toml`; a dot stands for a table.
    pub key: &'static str,
    /// On the command line; empty where there is none.
    pub flag: &'static str,
    /// What a value looks like.
    pub takes: &'static str,
    /// What it does, for the reference.
    pub about: &'static str,
}

impl Row {
    /// The key without its table.
    pub(super) fn leaf(&self) -> &'static str {
        self.key.rsplit('.').next().unwrap_or(self.key)
    }

    /// The variable: `HOTCELL_` and the key, of limits without their table.
    pub(super) fn variable(&self) -> String {
        let name = match self.setting {
            // These leaves say little without their table.
            Setting::Process(_)
            | Setting::Guard(_)
            | Setting::SessionsEnabled
            | Setting::SessionsDb => self.key.replace('.', "_"),
            _ => self.leaf().to_owned(),
        };
        format!("{VARIABLE_PREFIX}{}", name.to_ascii_uppercase())
    }

    /// Whether the workspace's own file may set it, to something tighter than what stands.
    pub(super) const fn workspace_may_tighten(&self) -> bool {
        match self.setting {
            Setting::Process(key) => return key.workspace_may_tighten(),
            Setting::Guard(key) => return key.is_limit(),
            _ => {}
        }
        matches!(
            self.setting,
            Setting::Limit(_)
                | Setting::MaxTurns
                | Setting::MaxParallelCalls
                | Setting::Capabilities
                | Setting::Plan
                | Setting::Masked
                | Setting::Protected
        )
    }
}

/// What the names of our variables begin with.
pub(super) const VARIABLE_PREFIX: &str = "HOTCELL_";

impl Setting {
    /// The row of this setting.
    pub(super) fn row(self) -> &'static Row {
        ROWS.iter()
            .find(|row| row.setting == self)
            .expect("a test checks that every setting has a row")
    }
}

const fn row(
    setting: Setting,
    key: &'static str,
    flag: &'static str,
    takes: &'static str,
    about: &'static str,
) -> Row {
    Row {
        setting,
        key,
        flag,
        takes,
        about,
    }
}

/// Every setting, in the order of the reference.
pub(super) const ROWS: &[Row] = &[
    row(
        Setting::Provider,
        "provider",
        "--provider",
        "`anthropic`, `openai` or `script`",
        "Whom to ask. Without it, the provider whose key is set; where both are, `anthropic`.",
    ),
    row(
        Setting::Model,
        "model",
        "--model",
        "text",
        "The vendor's model name.",
    ),
    row(
        Setting::BaseUrl,
        "base_url",
        "--base-url",
        "`http://` or `https://` URL",
        "Where the API is, for compatible servers. Without it `ANTHROPIC_BASE_URL` or `OPENAI_BASE_URL`, then the vendor's own.",
    ),
    row(
        Setting::ApiKeyEnv,
        "api_key_env",
        "",
        "name of a variable",
        "The variable that holds the key, where it is not `ANTHROPIC_API_KEY` or `OPENAI_API_KEY`.",
    ),
    row(
        Setting::MaxOutputTokens,
        "max_output_tokens",
        "--max-output-tokens",
        "number",
        "The most tokens one answer may have.",
    ),
    row(
        Setting::Stream,
        "stream",
        "--no-stream",
        "`true` or `false`",
        "Whether answers are streamed.",
    ),
    row(
        Setting::Think,
        "think",
        "--think",
        "`off`, `first` or `always`",
        "Ask first without tools, keep the thought, then act: never, in the first turn, or in every turn.",
    ),
    row(
        Setting::Plan,
        "plan",
        "--plan",
        "`true` or `false`",
        "Only tools that look are offered, and they get read-only grants.",
    ),
    row(
        Setting::MaxTurns,
        "max_turns",
        "--max-turns",
        "number, 0 for no limit",
        "The most turns of a run.",
    ),
    row(
        Setting::MaxParallelCalls,
        "max_parallel_calls",
        "--max-parallel-calls",
        "number",
        "The most tool calls at work at once.",
    ),
    row(
        Setting::Capabilities,
        "capabilities",
        "--allow, --deny",
        "list of capabilities",
        "What tools are given at most. `--allow` adds to the list, `--deny` takes away and wins.",
    ),
    row(
        Setting::Plugins,
        "plugins",
        "--plugin",
        "list of files",
        "Components to load beside the built-in ones. Files, the variable (separated as in `PATH`) and flags add up.",
    ),
    row(
        Setting::Skills,
        "skills",
        "--skills",
        "directory",
        "Installed skills. Without it `skills` in the configuration directory, if that is there.",
    ),
    row(
        Setting::Masked,
        "masked",
        "",
        "list of globs",
        "Paths of the workspace that do not exist for tools, beside the usual places of secrets. Files and the variable (separated as in `PATH`) add up.",
    ),
    row(
        Setting::Protected,
        "protected",
        "",
        "list of globs",
        "Paths of the workspace that tools may read and not change, beside what git, shells and editors run. Files and the variable (separated as in `PATH`) add up.",
    ),
    row(
        Setting::Color,
        "color",
        "--color",
        "`auto`, `always` or `never`",
        "Colours; `auto` follows the terminal, `NO_COLOR`, `CLICOLOR` and `CLICOLOR_FORCE`.",
    ),
    row(
        Setting::SessionsEnabled,
        "sessions.enabled",
        "--no-session",
        "`true` or `false`",
        "Whether a run is kept as a session, to go on with later.",
    ),
    row(
        Setting::SessionsDb,
        "sessions.db",
        "--db",
        "file",
        "Where sessions are kept, outside of every workspace. Without it `sessions.db` in the data directory, `~/.local/share/hotcell`.",
    ),
    row(
        Setting::Process(ProcessKey::Programs),
        "process.programs",
        "",
        "list of names",
        "Native programs that tools with the `process` capability may start, each found on `PATH` outside of the workspace.",
    ),
    row(
        Setting::Process(ProcessKey::ReadOnlyPrograms),
        "process.read_only_programs",
        "",
        "list of names",
        "Those that may run in plan mode as well, where they can change nothing.",
    ),
    row(
        Setting::Process(ProcessKey::ReadPaths),
        "process.read_paths",
        "",
        "list of directories",
        "What processes can read beside the system's directories and the usual toolchains below the home directory.",
    ),
    row(
        Setting::Process(ProcessKey::Environment),
        "process.environment",
        "",
        "list of variables",
        "Variables of hotcell's own environment that processes get. All others they do not.",
    ),
    row(
        Setting::Process(ProcessKey::Network),
        "process.network",
        "",
        "`true` or `false`",
        "Whether processes see the network of the machine.",
    ),
    row(
        Setting::Process(ProcessKey::Shell),
        "process.shell",
        "",
        "`component` or `native`",
        "What runs the command lines of the `bash` tool: its own shell, or the system's bash in the process sandbox, as a program by the name of `bash`.",
    ),
    row(
        Setting::Process(ProcessKey::MaxProcesses),
        "process.max_processes",
        "",
        "number",
        "Processes and threads of one start, at once.",
    ),
    row(
        Setting::Process(ProcessKey::FileBytes),
        "process.file_bytes",
        "",
        "bytes, or `MiB`, `GiB`",
        "The largest file a process can write.",
    ),
    row(
        Setting::Process(ProcessKey::AddressSpaceBytes),
        "process.address_space_bytes",
        "",
        "bytes, or `MiB`, `GiB`",
        "Address space of each process, what is only reserved included.",
    ),
    row(
        Setting::Process(ProcessKey::OpenFiles),
        "process.open_files",
        "",
        "number",
        "Files and pipes each process has open at once.",
    ),
    row(
        Setting::Guard(GuardKey::Time),
        "run.max_time_ms",
        "--max-time",
        "milliseconds, or `s`, `min`, `h`; 0 for no limit",
        "Wall clock of a run.",
    ),
    row(
        Setting::Guard(GuardKey::Tokens),
        "run.max_tokens",
        "--max-tokens",
        "number, `k`, `M`, `G`; 0 for no limit",
        "Tokens of a run, sent and generated.",
    ),
    row(
        Setting::Guard(GuardKey::Fuel),
        "run.max_fuel",
        "--max-run-fuel",
        "number, `k`, `M`, `G`; 0 for no limit",
        "Fuel of all calls of a run.",
    ),
    row(
        Setting::Guard(GuardKey::Cost),
        "run.max_cost",
        "--max-cost",
        "US dollars; 0 for no limit",
        "What the tokens of a run may cost, by `prices`.",
    ),
    row(
        Setting::Guard(GuardKey::Repeats),
        "run.max_repeats",
        "--max-repeats",
        "number, 0 for no limit",
        "How often one call is made with the same arguments while nothing in the workspace changes.",
    ),
    row(
        Setting::Guard(GuardKey::RemindRepetition),
        "run.remind_repetition",
        "",
        "number, 0 for never",
        "Remind the model after so many of these.",
    ),
    row(
        Setting::Guard(GuardKey::RemindStall),
        "run.remind_stall",
        "",
        "turns, 0 for never",
        "Remind it after every so many turns without a change of the workspace.",
    ),
    row(
        Setting::Guard(GuardKey::RemindClosing),
        "run.remind_closing",
        "",
        "turns, 0 for never",
        "Remind it once when so many turns are left.",
    ),
    row(
        Setting::Guard(GuardKey::RemindPlanning),
        "run.remind_planning",
        "",
        "turns, 0 for never",
        "Remind it once after so many turns without a plan or a change.",
    ),
    row(
        Setting::Guard(GuardKey::RemindMemory),
        "run.remind_memory",
        "",
        "turns, 0 for never",
        "Remind it every so many turns to write down what it still needs.",
    ),
    row(
        Setting::Prices,
        "prices",
        "",
        "tables `[prices.\"MODEL\"]`",
        "What a model costs: `input`, `output`, `cache_read`, `cache_write`, in US dollars a million tokens.",
    ),
    row(
        Setting::Limit(Limit::Fuel),
        "limits.fuel",
        "--fuel",
        "number, `k`, `M`, `G`",
        "CPU work of a call, about one a WebAssembly instruction.",
    ),
    row(
        Setting::Limit(Limit::Deadline),
        "limits.deadline_ms",
        "--deadline-ms",
        "milliseconds, or `s`, `min`",
        "Wall clock of a call, also while it waits.",
    ),
    row(
        Setting::Limit(Limit::Memory),
        "limits.memory_bytes",
        "--memory-bytes",
        "bytes, or `MiB`, `GiB`",
        "Linear memory of a call, all memories together.",
    ),
    row(
        Setting::Limit(Limit::Tables),
        "limits.table_elements",
        "--table-elements",
        "number, `k`, `M`, `G`",
        "Table elements of a call, all tables together.",
    ),
    row(
        Setting::Limit(Limit::Resources),
        "limits.resources",
        "--resources",
        "number, `k`, `M`, `G`",
        "Files, streams and other host handles a call has open at once.",
    ),
    row(
        Setting::Limit(Limit::HostCalls),
        "limits.host_calls",
        "--host-calls",
        "number, `k`, `M`, `G`",
        "Calls from the tool into the host.",
    ),
    row(
        Setting::Limit(Limit::Output),
        "limits.output_bytes",
        "--output-bytes",
        "bytes, or `MiB`, `GiB`",
        "What a call hands out: its result and its standard output, each.",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_has_exactly_one_row() {
        for (index, row) in ROWS.iter().enumerate() {
            assert_eq!(
                ROWS.iter().position(|other| other.setting == row.setting),
                Some(index),
                "{}",
                row.key
            );
        }
        // One a variant: the plain ones and the limits.
        let tables = ProcessKey::ALL.len() + GuardKey::ALL.len() + Limit::ALL.len();
        assert_eq!(ROWS.len(), 19 + tables);
        for limit in Limit::ALL {
            let row = Setting::Limit(limit).row();
            assert_eq!(row.leaf(), limit.key());
            assert_eq!(row.flag, format!("--{}", limit.key().replace('_', "-")));
        }
    }
}
