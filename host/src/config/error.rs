//! What can be wrong with the settings.
//!
//! Every message is one line for the person who typed it: what happened, which rule, what to type
//! next. It must never hold a key or the text of a line that might be one.

use super::Origin;
use std::path::PathBuf;

/// Settings that cannot be used. The command line ends with exit code 2.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// A file holds a key that is no setting.
    #[error("{origin}: `{key}` is not a setting{}; docs/config.md lists them", hint(.nearest))]
    UnknownKey {
        /// Where.
        origin: Origin,
        /// The key as written, with its table.
        key: String,
        /// The setting that reads most like it.
        nearest: Option<String>,
    },
    /// A table is not written as one.
    #[error(
        "{origin}: `{table}` is a table; write a line [{table}], and below it one line a setting"
    )]
    NoTable {
        /// Where.
        origin: Origin,
        /// The table.
        table: &'static str,
    },
    /// A value does not fit its setting.
    #[error("{origin}: `{key}` {problem}")]
    Value {
        /// Where.
        origin: Origin,
        /// The setting.
        key: String,
        /// What does not fit, as the end of a sentence.
        problem: String,
    },
    /// A file holds a key or password itself.
    #[error(
        "{origin}: keys do not go into hotcell.toml, and `{key}` looks like one; export it as ANTHROPIC_API_KEY or OPENAI_API_KEY, put that line into .env beside the user's hotcell.toml, or name another variable by `api_key_env`"
    )]
    LiteralKey {
        /// Where.
        origin: Origin,
        /// The name of the setting; never its value.
        key: String,
    },
    /// The workspace's file asks for what only the user may set.
    #[error(
        "{origin}: `{key}` may not be set by a workspace, which may only tighten limits, max_turns, max_parallel_calls and capabilities and turn plan mode on; set it in {user_file} or by {flag}"
    )]
    NotForWorkspaces {
        /// Where.
        origin: Origin,
        /// The setting.
        key: String,
        /// The user's own file.
        user_file: String,
        /// The flag for it.
        flag: String,
    },
    /// The workspace's file asks for more than it has.
    #[error(
        "{origin}: a workspace may only tighten, and `{key}` = {asked} is looser than {standing}, which stands ({standing_origin}); remove the line, or loosen `{key}` in {user_file}"
    )]
    Looser {
        /// Where.
        origin: Origin,
        /// The setting.
        key: String,
        /// What the workspace asks for.
        asked: String,
        /// What stands.
        standing: String,
        /// Where that comes from.
        standing_origin: Origin,
        /// The user's own file.
        user_file: String,
    },
    /// A file is not TOML.
    #[error("{origin}: {message}")]
    Syntax {
        /// Where.
        origin: Origin,
        /// What the parser says, without the text of the line.
        message: String,
    },
    /// A `.env` file has a line that is no assignment.
    #[error("{}: a line is not NAME=VALUE; put values with spaces, `#` or `$` into single quotes", .file.display())]
    EnvFileSyntax {
        /// The file.
        file: PathBuf,
    },
    /// A file that must be there cannot be read.
    #[error("cannot read {}: {why}", .file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// What the system says.
        why: String,
    },
    /// The file of trusted workspaces cannot be used.
    #[error("cannot use the trust file {}: {why}", .file.display())]
    Trust {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// A limit of cost without a price to count by.
    #[error(
        "{origin}: `run.max_cost` needs the price of `{model}`; write [prices.\"{model}\"] with input and output, in US dollars a million tokens, into the user's hotcell.toml"
    )]
    NoPrice {
        /// Where the limit comes from.
        origin: Origin,
        /// The model without a price.
        model: String,
    },
    /// There is nowhere to keep what the user says.
    #[error("there is no data directory to keep this in; set HOME or XDG_DATA_HOME")]
    NoDataDirectory,
    /// A variable is not UTF-8.
    #[error("the variable {name} is not UTF-8 text")]
    NotText {
        /// Its name.
        name: String,
    },
    /// There is no directory to work in.
    #[error("cannot use {} as workspace: {why}; pass --workspace DIR", .path.display())]
    Workspace {
        /// As typed.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The workspace reaches what hotcell itself trusts, or the other way round.
    #[error(
        "the workspace {} {relation} {what} ({}), so a tool could change what hotcell trusts; work in a project directory (--workspace DIR){}", .workspace.display(), .path.display(), moved(.variable)
    )]
    WorkspaceHoldsOwnFiles {
        /// The workspace, canonical.
        workspace: PathBuf,
        /// `contains` or `is inside`.
        relation: &'static str,
        /// `hotcell's configuration directory`, …
        what: &'static str,
        /// Where that is, canonical.
        path: PathBuf,
        /// The variable that moves it, if one does.
        variable: Option<&'static str>,
    },
    /// Nothing says which model to ask.
    #[error(
        "no provider: set ANTHROPIC_API_KEY or OPENAI_API_KEY, or type `hotcell demo`, which needs no key"
    )]
    NoProvider,
    /// A base URL alone does not say which protocol is spoken there.
    #[error(
        "{origin}: a base URL does not say which protocol is spoken there; add --provider openai or --provider anthropic"
    )]
    BaseUrlWithoutProvider {
        /// Where the base URL comes from.
        origin: Origin,
    },
    /// The provider's key is not there.
    #[error(
        "the provider `{provider}` needs the variable {variable}: export it, or put {variable}=… into {env_file}"
    )]
    NoKey {
        /// The provider.
        provider: String,
        /// The variable looked for.
        variable: String,
        /// The `.env` that would be read.
        env_file: String,
    },
    /// Two flags name two providers.
    #[error("--script plays a file and --provider {provider} asks a model; pass one of them")]
    ScriptWithProvider {
        /// The provider named.
        provider: String,
    },
    /// No provider has this name.
    #[error("{origin}: `{name}` is not a provider{}; the providers are {}", hint(.nearest), .known.join(", "))]
    UnknownProvider {
        /// Where.
        origin: Origin,
        /// The name as written.
        name: String,
        /// The provider that reads most like it.
        nearest: Option<String>,
        /// All of them.
        known: Vec<&'static str>,
    },
}

fn hint(nearest: &Option<String>) -> String {
    nearest
        .as_ref()
        .map(|name| format!(", did you mean `{name}`"))
        .unwrap_or_default()
}

fn moved(variable: &Option<&'static str>) -> String {
    variable
        .map(|name| format!(" or move hotcell's own by {name}"))
        .unwrap_or_default()
}

/// The candidate that reads most like `name`, if one does. The threshold is clap's.
pub(super) fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<String> {
    const ALIKE: f64 = 0.7;
    candidates
        .map(|candidate| (strsim::jaro(name, candidate), candidate))
        .filter(|(score, _)| *score > ALIKE)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate.to_owned())
}
