//! What the command line asked for, before anything is checked against anything.
//!
//! Plain data, so that `config` does not know clap and tests need no command line.

use super::{ColorWhen, GuardKey, Think};
use crate::protocol::{Capability, Limit};
use std::path::PathBuf;

/// The flags that are settings. `Default` is a command line without any.
#[derive(Debug, Clone, Default)]
pub struct Flags {
    /// `--workspace`; the current directory without it.
    pub workspace: Option<PathBuf>,
    /// `--env-file`; `.env` in the configuration directory without it.
    pub env_file: Option<PathBuf>,
    /// `--script`
    pub script: Option<PathBuf>,
    /// `--provider`
    pub provider: Option<String>,
    /// `--model`
    pub model: Option<String>,
    /// `--base-url`
    pub base_url: Option<String>,
    /// `--max-output-tokens`
    pub max_output_tokens: Option<u32>,
    /// `--no-stream`
    pub no_stream: bool,
    /// `--think`
    pub think: Option<Think>,
    /// `--plan`
    pub plan: bool,
    /// `--max-turns`
    pub max_turns: Option<u32>,
    /// `--max-parallel-calls`
    pub max_parallel_calls: Option<u32>,
    /// `--allow`, each time
    pub allow: Vec<Capability>,
    /// `--deny`, each time; wins over `--allow`
    pub deny: Vec<Capability>,
    /// `--plugin`, each time
    pub plugins: Vec<PathBuf>,
    /// `--skills`
    pub skills: Option<PathBuf>,
    /// `--color`
    pub color: Option<ColorWhen>,
    /// `--unsafe-no-process-sandbox`
    pub unsafe_no_process_sandbox: bool,
    /// `--no-session`
    pub no_session: bool,
    /// `--db`
    pub db: Option<PathBuf>,
    /// The flags of the limits.
    pub limits: Vec<(Limit, u64)>,
    /// The flags of what bounds a run, as typed.
    pub guards: Vec<(GuardKey, String)>,
    /// Read no file and no variable but those that say where directories are. The demo runs so:
    /// it must be the same on every machine.
    pub ignore_settings: bool,
}
