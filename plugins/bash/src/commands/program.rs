//! A native program as a command of the shell.
//!
//! Owns what the shell gives it: arguments, the exported variables, the working directory, streams;
//! and how its end reads. It must never know which programs there are or how one is run.

use crate::pace::Pace;
use crate::programs::{Desk, Ends};
use crate::scratch::HOME;
use crate::shell::{USER, WORKSPACE};
use bashkit::hooks::{HookAction, Interceptor, ToolEvent};
use bashkit::{
    Builtin, BuiltinContext, BuiltinRegistry, CommandContext, CommandInput, CommandStatus, Error,
    ExecResult, Result, async_trait,
};
use hotcell_sdk::{Command, ErrorKind, Exit, Stream, ToolError};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::mpsc;

/// Statuses of bash for what cannot be run, and for what is not there.
const CANNOT_RUN: i32 = 126;
const NOT_FOUND: i32 = 127;

/// Variables that speak of the shell itself and stay there.
const OF_THE_SHELL: [&str; 5] = ["PATH", "PWD", "OLDPWD", "SHLVL", "_"];

/// Variables that stay in the shell while they have these values: those it begins with, for which
/// the host has its own, and one that the host gives the same value but takes from nobody.
const OF_THE_HOST: [(&str, &str); 5] = [
    ("HOME", HOME),
    ("TERM", "dumb"),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("USER", USER),
];

/// Whether the shell has read a line of its input.
///
/// bashkit gives a command that takes bytes as they come all of the pipe, and the loop around it,
/// `git ls-files | while read -r f; do git log "$f"; done`, would end there. One that takes its
/// input whole gets a copy. So programs are the first kind until something reads, and the second
/// from then on.
#[derive(Clone, Default)]
pub struct Reading(Arc<AtomicBool>);

impl Reading {
    /// Watches for commands that read lines.
    pub fn watch(&self) -> Interceptor<ToolEvent> {
        let Reading(has_read) = self.clone();
        Box::new(move |event: ToolEvent| {
            if event.name == "read" {
                has_read.store(true, Ordering::Relaxed);
            }
            HookAction::Continue(event)
        })
    }
}

/// The command that runs the program `name`.
pub fn program(name: &str, desk: &Desk, reading: &Reading, pace: &Arc<Pace>) -> Box<dyn Builtin> {
    let registry = BuiltinRegistry::new();
    registry.insert_command(
        name,
        Program {
            desk: desk.clone(),
            pace: Arc::clone(pace),
        },
    );
    let live = registry.lookup(name).expect("it was just put in");
    Box::new(Paced {
        live,
        reading: reading.clone(),
    })
}

/// bashkit's adapter of a [`Program`], which is to be had from a registry only.
struct Paced {
    live: Arc<dyn Builtin>,
    reading: Reading,
}

#[async_trait]
impl Builtin for Paced {
    fn streams_io(&self) -> bool {
        !self.reading.0.load(Ordering::Relaxed)
    }

    async fn execute(&self, ctx: BuiltinContext<'_>) -> Result<ExecResult> {
        self.live.execute(ctx).await
    }
}

struct Program {
    desk: Desk,
    pace: Arc<Pace>,
}

#[async_trait]
impl bashkit::Command for Program {
    async fn execute(&self, ctx: CommandContext<'_>) -> Result<CommandStatus> {
        // What an earlier command wrote comes first.
        self.pace.breathe().await;
        let name = ctx.name;
        let command = exported(ctx.env)
            .fold(Command::new(name), |command, (name, value)| {
                command.env(name, value)
            })
            .args(ctx.args.iter().cloned());
        let (status, complaint) = match self.desk.ask(command, ctx.cwd) {
            Ok(ends) => outcome(run(ends, &ctx).await?),
            Err(_) => {
                let place = ctx.cwd.display();
                let why =
                    format!("native programs run below {WORKSPACE} only, and this is {place}");
                (CANNOT_RUN, Some(why))
            }
        };
        if let Some(complaint) = complaint {
            let line = format!("bash: {name}: {complaint}\n");
            ignoring_io(ctx.stderr.write_all(line.as_bytes()).await)?;
        }
        Ok(CommandStatus::with_code(status))
    }
}

/// Carries bytes both ways until the process has ended.
async fn run(
    Ends {
        input,
        mut output,
        end,
    }: Ends,
    ctx: &CommandContext<'_>,
) -> Result<std::result::Result<Exit, ToolError>> {
    let hear = async {
        while let Some((stream, bytes)) = output.recv().await {
            match stream {
                // Where nobody reads any more, this ends, and the process with it.
                Stream::Stdout => ctx.stdout.write_all(&bytes).await?,
                Stream::Stderr => ignoring_io(ctx.stderr.write_all(&bytes).await)?,
            }
        }
        end.await.map_err(|_| Error::Cancelled)
    };
    let fault = async {
        match feed(&ctx.stdin, input).await {
            // The process may go on for long without input.
            Ok(()) => std::future::pending().await,
            Err(error) => error,
        }
    };
    tokio::select! {
        biased;
        ended = hear => ended,
        error = fault => Err(error),
    }
}

/// Hands on the input of the command, until its end or until the process takes no more.
async fn feed(from: &CommandInput, to: mpsc::Sender<Vec<u8>>) -> Result<()> {
    while let Some(bytes) = from.read_chunk().await? {
        if to.send(bytes).await.is_err() {
            break;
        }
    }
    Ok(())
}

/// A program that cannot complain goes on all the same.
fn ignoring_io(result: Result<()>) -> Result<()> {
    match result {
        Err(Error::Io(_)) => Ok(()),
        result => result,
    }
}

/// The variables that a program gets from the shell.
fn exported(env: &HashMap<String, String>) -> impl Iterator<Item = (&String, &String)> {
    env.iter().filter(|(name, value)| {
        !OF_THE_SHELL.contains(&name.as_str())
            && !OF_THE_HOST.contains(&(name.as_str(), value.as_str()))
    })
}

/// The status, and what the shell has to say.
fn outcome(ended: std::result::Result<Exit, ToolError>) -> (i32, Option<String>) {
    match ended {
        Ok(exit) => {
            let complaint = match exit {
                Exit::Code(_) => None,
                Exit::Signal(signal) => told(signal),
            };
            (i32::from(exit.status()), complaint)
        }
        Err(error) => {
            let status = match error.kind() {
                ErrorKind::NotFound => NOT_FOUND,
                _ => CANNOT_RUN,
            };
            (status, Some(error.message().to_owned()))
        }
    }
}

/// What bash says of a program that a signal ended; nothing for an interrupt and a closed pipe.
fn told(signal: u8) -> Option<String> {
    let name = match signal {
        2 | 13 => return None,
        3 => "Quit",
        4 => "Illegal instruction",
        6 => "Aborted",
        7 => "Bus error",
        8 => "Floating point exception",
        9 => "Killed",
        11 => "Segmentation fault",
        14 => "Alarm clock",
        15 => "Terminated",
        24 => "CPU time limit exceeded",
        25 => "File size limit exceeded",
        31 => "Bad system call",
        signal => return Some(format!("ended by signal {signal}")),
    };
    Some(name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_get_what_the_script_exports_and_not_what_is_the_shells_own() {
        let env = [
            ("PATH", "/bin"),
            ("PWD", "/workspace"),
            ("OLDPWD", "/tmp"),
            ("SHLVL", "2"),
            ("_", "x"),
            ("HOME", HOME),
            ("TERM", "xterm"),
            ("PAGER", "cat"),
            ("GIT_PAGER", "cat"),
            ("USER", USER),
            ("MINE", "1"),
        ];
        let env = env
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into();
        let mut passed: Vec<_> = exported(&env)
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        passed.sort();
        assert_eq!(passed, ["MINE=1", "TERM=xterm"]);
    }

    #[test]
    fn an_end_reads_as_bash_puts_it() {
        let cases = [
            (Ok(Exit::Code(0)), 0, None),
            (Ok(Exit::Code(3)), 3, None),
            (Ok(Exit::Signal(2)), 130, None),
            (Ok(Exit::Signal(13)), 141, None),
            (Ok(Exit::Signal(9)), 137, Some("Killed")),
            (Ok(Exit::Signal(64)), 192, Some("ended by signal 64")),
            (Err(ToolError::denied("no")), 126, Some("no")),
            (Err(ToolError::not_found("gone")), 127, Some("gone")),
        ];
        for (ended, status, said) in cases {
            let expected = (status, said.map(str::to_owned));
            assert_eq!(outcome(ended.clone()), expected, "{ended:?}");
        }
    }
}
