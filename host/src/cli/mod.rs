//! The command line: reads it, wires the parts together, and ends the process.
//!
//! Owns which command does what, the log, and the exit code. Everything a command needs is built
//! here from the resolved settings and handed down; no part reaches up. It must never hold logic
//! that another face of hotcell would need as well: that belongs further down.

mod args;
mod demo;
mod describe;
mod doctor;
mod exit;
mod interrupts;
mod kept;
mod log;
mod prompt;
mod run;
mod sessions;
mod skills;
mod tools;
mod trust;
mod undo;
mod wiring;

#[cfg(target_os = "linux")]
use crate::config::first_argument;
use crate::config::{ColorWhen, Colors, Environment, Terminals};
use crate::render::{Paint, Palette, escape};
use args::{Arguments, Command};
use clap::{CommandFactory, Parser};
use exit::{CommandError, Exit};
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

/// The whole program.
pub fn main() -> ExitCode {
    // Before anything that could start a thread: a launcher forks.
    #[cfg(target_os = "linux")]
    if first_argument().is_some_and(|argument| argument == crate::process::LAUNCH) {
        return crate::process::launch();
    }
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        // Help and version end here as well, with code 0.
        Err(told) => {
            // Where it cannot be written nobody is there to read why.
            let _ = told.print();
            return u8::try_from(told.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from);
        }
    };
    let environment = Environment::of_process(Terminals {
        stdin: io::stdin().is_terminal(),
        stdout: io::stdout().is_terminal(),
        stderr: io::stderr().is_terminal(),
    });
    let done = log::start(&environment).and_then(|()| perform(arguments, &environment));
    match done {
        Ok(exit) => exit.into(),
        Err(error) => {
            if !error.is_quiet() {
                tell(&error, &environment);
            }
            error.exit().into()
        }
    }
}

fn perform(arguments: Arguments, environment: &Environment) -> Result<Exit, CommandError> {
    match arguments.command {
        None => {
            let help = Arguments::command().render_help();
            io::stdout().write_all(help.to_string().as_bytes())?;
            Ok(Exit::Done)
        }
        Some(Command::Run(args)) => on_runtime(run::run(&args, environment)),
        Some(Command::Demo(args)) => on_runtime(demo::demo(&args, environment)),
        Some(Command::Tools(args)) => on_runtime(tools::tools(&args, environment)),
        Some(Command::Describe(args)) => on_runtime(describe::describe(&args)),
        Some(Command::Sessions(args)) => sessions::sessions(&args, environment),
        Some(Command::Undo(args)) => undo::undo(&args, environment),
        Some(Command::Diff(args)) => undo::diff(&args, environment),
        Some(Command::Trust(args)) => trust::trust(&args, environment),
        Some(Command::Skills(args)) => skills::skills(&args, environment),
        Some(Command::Prompt(args)) => on_runtime(prompt::prompt(&args, environment)),
        Some(Command::Doctor(args)) => on_runtime(doctor::doctor(&args, environment)),
        Some(Command::Completions { shell }) => {
            let mut script = Vec::new();
            let mut command = Arguments::command();
            clap_complete::generate(shell, &mut command, "hotcell", &mut script);
            io::stdout().write_all(&script)?;
            Ok(Exit::Done)
        }
    }
}

/// Drives a command. What it leaves behind, such as a compilation nobody waits for any more, is
/// not waited for.
fn on_runtime(
    command: impl Future<Output = Result<Exit, CommandError>>,
) -> Result<Exit, CommandError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|why| CommandError::Machine {
            doing: "start the threads of the program",
            why,
        })?;
    let done = runtime.block_on(command);
    runtime.shutdown_background();
    done
}

fn tell(error: &CommandError, environment: &Environment) {
    let palette = Palette::from(Colors::resolve(ColorWhen::Auto, environment).stderr);
    let label = palette.paint(Paint::Bad, "error:");
    let message = error.to_string();
    // Where it cannot be written nobody is there to read why.
    let _ = writeln!(io::stderr(), "{label} {}", escape::line(&message));
}
