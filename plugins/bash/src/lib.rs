//! The component of bash: arguments, documentation for the model, and the wording of an answer.
//!
//! The shell is bashkit, a bash in Rust. What it cannot do, or does unlike the real one, is listed
//! in `docs/bash.md`. A command that fails is an answer and no error: only a shell that could not
//! start is.

mod commands;
mod fs;
mod native;
mod pace;
mod programs;
mod scratch;
mod script;
mod shell;
mod transcript;

use hotcell_sdk::{
    Answer, Call, Capability, Deserialize, JsonSchema, StateError, Tool, ToolError, Versioned,
};
use programs::Programs;
use shell::{End, Ending, Start, WORKSPACE};
use std::fmt::Write as _;
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use transcript::Transcript;

/// Under which the working directory is kept: its path in the shell.
const KEY: &str = "cwd";

/// Time for a command, when the model names none.
const DEFAULT_SECS: u64 = 120;
/// The most that a model can ask for.
const MAX_SECS: u64 = 600;
/// Kept back from the call's deadline, so that a partial answer still gets out: a utility in the
/// middle of a large file looks at the clock only now and then.
const MARGIN: Duration = Duration::from_secs(2);

/// Runs a bash command line inside the sandbox. Answers with what it printed, standard output and
/// standard error together, and its exit status.
///
/// The shell has pipelines, redirections, here-documents, functions, arrays and its own utilities:
/// awk cat chmod cmp comm cp cut date diff du find grep gzip head jq ln ls md5sum mkdir mv patch
/// printf realpath rg rm sed seq sha256sum sort split stat tac tail tar tee touch tr tree uniq
/// unzip wc xargs xxd yq zip and more. Native programs (git, cargo, make, npm, python3 and the like)
/// are commands too where the user allows them; `command -v git` tells. Any other is not found,
/// status 127. The shell has no network. To read, search and change files prefer the tools made for
/// it.
///
/// The workspace is `/workspace`, and every call starts there or in the directory where the last
/// call left off. Nothing else stays between calls: no variables, no functions, no background
/// commands. `/tmp` is one directory for the session, native programs included;
/// where the workspace is read-only it is empty again in every call. Standard input is empty and there is no terminal. When the workspace is read-only,
/// writing fails with "Read-only file system". Of output over 30 KB the middle is cut: filter it, or
/// redirect it to a file.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bash {
    /// The command line, or a script of several lines.
    command: String,
    /// Seconds until the command is ended and answered with what it has printed; 120 by default.
    #[serde(default)]
    #[schemars(range(min = 1, max = 600))]
    timeout_secs: Option<u64>,
}

impl Tool for Bash {
    const NAME: &'static str = "bash";
    const REQUIRES: &'static [Capability] = &[Capability::WorkspaceRead];
    const ACCEPTS: &'static [Capability] = &[
        Capability::WorkspaceWrite,
        Capability::Process,
        Capability::SessionState,
        Capability::Skills,
    ];

    fn run(self, call: &Call<'_>) -> Result<Answer, ToolError> {
        let began = Instant::now();
        let directory = Directory::of(call)?;
        let asked = asked_for(self.timeout_secs);
        let timeout = time_for(self.timeout_secs, call.time_left());
        let programs = Programs::of(call);
        let start = Start {
            workspace: call.workspace(),
            writable: call.granted(Capability::WorkspaceWrite),
            temporary: call.temporary(),
            skills: call.granted(Capability::Skills).then(|| call.skills()),
            programs: &programs,
            directory: &directory.path,
            timeout,
        };
        let transcript = Arc::new(Mutex::new(Transcript::new(watcher())));
        let native = call
            .granted(Capability::Process)
            .then(|| call.shell())
            .flatten();
        let end = match native {
            Some(bash) => native::run(&bash, &self.command, call, &start, &transcript)?,
            None => shell::run(&self.command, &start, &transcript)
                .map_err(|error| ToolError::failed(format!("the shell did not start: {error}")))?,
        };
        let mut text = String::new();
        if end.started_elsewhere {
            let _ = writeln!(
                text,
                "[the working directory {} is gone: this ran in {WORKSPACE}]",
                directory.path
            );
        }
        let mut transcript = transcript.lock().unwrap_or_else(PoisonError::into_inner);
        let output = transcript.render(if start.writable {
            "redirect to a file to keep all of it, or filter with grep, head, tail, sed -n"
        } else {
            "filter with grep, head, tail, sed -n"
        });
        text.push_str(if output.is_empty() {
            "(no output)\n"
        } else {
            &output
        });
        if end.modes_changed {
            text.push_str("[file modes do not reach the disk: chmod holds for this call only]\n");
        }
        text.push_str(&closing(&end, timeout, asked, began.elapsed()));
        if let Some(path) = &end.directory {
            directory.keep(call, path)?;
        }
        Ok(text.into())
    }
}

/// Where output goes while the command runs. The host shows the standard output of a component to
/// the person who watches; a test has nobody who does.
fn watcher() -> Box<dyn Write + Send> {
    if cfg!(target_family = "wasm") {
        Box::new(std::io::stdout())
    } else {
        Box::new(std::io::sink())
    }
}

/// Time for the command: what was asked for, within what the call has left.
fn time_for(requested: Option<u64>, left: Duration) -> Duration {
    asked_for(requested).min(left.saturating_sub(MARGIN).max(left / 2))
}

/// Time that was asked for.
fn asked_for(requested: Option<u64>) -> Duration {
    Duration::from_secs(requested.unwrap_or(DEFAULT_SECS).clamp(1, MAX_SECS))
}

/// What would give a command that took `timeout` more time, when `asked` was asked for.
fn more_time(timeout: Duration, asked: Duration) -> String {
    if timeout < asked {
        "a call may take no longer here (the limit deadline_ms)".to_owned()
    } else {
        format!("timeout_secs can be up to {MAX_SECS}")
    }
}

/// The last line: status, time, and where the shell was left.
fn closing(end: &End, timeout: Duration, asked: Duration, took: Duration) -> String {
    let took = duration(took);
    let place = match end.directory.as_deref() {
        Some(path) if path != WORKSPACE => format!(", now in {path}"),
        _ => String::new(),
    };
    match &end.ending {
        Ending::Exited(status) => format!("[exit status {status}, {took}{place}]"),
        Ending::LeftBackground(status) => format!(
            "[exit status {status}, {took}{place}; what still ran in the background was ended]"
        ),
        Ending::TimedOut => format!(
            "[timed out: ended after {}, without an exit status; {}]",
            duration(timeout),
            more_time(timeout, asked)
        ),
        Ending::Stopped(why) => format!("[stopped by the shell: {why}, {took}]"),
    }
}

fn duration(time: Duration) -> String {
    if time < Duration::from_secs(1) {
        format!("{} ms", time.as_millis())
    } else {
        format!("{:.1} s", time.as_secs_f64())
    }
}

/// The working directory that calls of a session hand on.
struct Directory {
    path: String,
    /// Of the stored value; 0 when there is none.
    version: u64,
}

impl Directory {
    fn of(call: &Call<'_>) -> Result<Directory, ToolError> {
        let stored = if call.granted(Capability::SessionState) {
            call.state_get(KEY)?
        } else {
            None
        };
        let (path, version) = match stored {
            Some(Versioned { value, version }) => (String::from_utf8(value).ok(), version),
            None => (None, 0),
        };
        Ok(Directory {
            path: path.unwrap_or_else(|| WORKSPACE.to_owned()),
            version,
        })
    }

    /// Keeps `path` for the next call. When another call of the session moved meanwhile, that one
    /// is the last: calls that run side by side have no order.
    fn keep(&self, call: &Call<'_>, path: &str) -> Result<(), ToolError> {
        if path == self.path || !call.granted(Capability::SessionState) {
            return Ok(());
        }
        match call.state_swap(KEY, path.as_bytes(), self.version) {
            Ok(_) | Err(StateError::Conflict) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

hotcell_sdk::export!(Bash);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_has_what_it_asks_for_within_what_the_call_has() {
        let cases = [
            (None, 900, 120_000),
            (None, 120, 118_000),
            (Some(5), 120, 5_000),
            (Some(600), 900, 600_000),
            (Some(9_999), 9_999, 600_000),
            (Some(0), 120, 1_000),
            (Some(600), 3, 1_500),
            (Some(600), 0, 0),
        ];
        for (requested, left, expected) in cases {
            let time = time_for(requested, Duration::from_secs(left));
            assert_eq!(time.as_millis(), expected, "{requested:?} of {left} s");
        }
    }

    #[test]
    fn the_limit_that_ended_a_command_is_the_one_that_is_named() {
        for (requested, left, named) in [
            (Some(5), 120, "timeout_secs can be up to 600"),
            (None, 900, "timeout_secs can be up to 600"),
            (None, 120, "deadline_ms"),
            (Some(600), 120, "deadline_ms"),
        ] {
            let timeout = time_for(requested, Duration::from_secs(left));
            let said = more_time(timeout, asked_for(requested));
            assert!(said.contains(named), "{requested:?} of {left} s: {said}");
        }
    }
}
