//! Native programs, for a tool that was given the `process` capability.
//!
//! Owns the author's side: a [`Command`], the running [`Process`], and the loop that reads two
//! streams while it writes a third, which is easily got wrong. The host decides which programs
//! there are and holds them in a sandbox. It must never interpret a command line: no shell is here.

use crate::{ErrorKind, ToolError};
use std::path::{Path, PathBuf};

/// A program and how to start it. The arguments reach it as they are: no shell is in between.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Command {
    pub(crate) program: String,
    pub(crate) arguments: Vec<String>,
    pub(crate) environment: Vec<(String, String)>,
    pub(crate) directory: Option<PathBuf>,
}

impl Command {
    /// A program by its name, as [`Call::programs`](crate::Call::programs) lists it.
    pub fn new(program: impl Into<String>) -> Self {
        Command {
            program: program.into(),
            ..Command::default()
        }
    }

    /// Adds one argument.
    #[must_use]
    pub fn arg(mut self, argument: impl Into<String>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<A: Into<String>>(mut self, arguments: impl IntoIterator<Item = A>) -> Self {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// Sets a variable beside those that the host gives every process. Those that change which
    /// code a program runs, such as `LD_PRELOAD`, are refused.
    #[must_use]
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.environment.push((name.into(), value.into()));
        self
    }

    /// Starts it in this directory, as [`Call::resolve`](crate::Call::resolve) answers it, or below
    /// [`Call::temporary`](crate::Call::temporary), instead of the root of the workspace.
    #[must_use]
    pub fn directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// The name of the program.
    pub fn program(&self) -> &str {
        &self.program
    }

    /// The arguments after the name.
    pub fn arguments(&self) -> &[String] {
        &self.arguments
    }

    /// The variables that it gets beside those of the host.
    pub fn environment(&self) -> &[(String, String)] {
        &self.environment
    }

    /// Where it starts; `None` for the root of the workspace.
    pub fn working_directory(&self) -> Option<&Path> {
        self.directory.as_deref()
    }
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// By itself, with this status.
    Code(u8),
    /// By this signal.
    Signal(u8),
}

impl Exit {
    /// Whether it ended with status 0.
    pub const fn is_success(self) -> bool {
        matches!(self, Exit::Code(0))
    }

    /// The status as shells count it: a signal is 128 and its number.
    pub const fn status(self) -> u8 {
        match self {
            Exit::Code(code) => code,
            Exit::Signal(signal) => signal.saturating_add(128),
        }
    }
}

/// Which of its streams a program wrote to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// What a program wrote, and how it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// How it ended.
    pub exit: Exit,
    /// Its standard output.
    pub stdout: Vec<u8>,
    /// Its standard error.
    pub stderr: Vec<u8>,
}

/// A running program. Dropping it ends the program, with everything that it started.
pub struct Process {
    running: Box<dyn Running>,
}

/// What a stream of a program brings now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// What it wrote next, at least one byte.
    Bytes(Vec<u8>),
    /// Nothing now; more may come.
    NothingYet,
    /// Nothing any more.
    End,
}

/// A program as the host gives it; no operation waits but [`Running::wait`].
pub(crate) trait Running {
    /// Takes as much of `bytes` as there is room for; `None` when the program reads no more.
    fn write(&mut self, bytes: &[u8]) -> Option<usize>;
    /// The end of the input. True when all of it has been passed on: until then it is asked for
    /// again.
    fn close_input(&mut self) -> bool;
    fn read(&mut self, stream: Stream) -> Piece;
    fn exit(&self) -> Option<Exit>;
    /// Waits until reading brings something, there is room for input, or the program has ended.
    fn wait(&mut self, for_room: bool);
    fn kill(&mut self);
}

impl Process {
    pub(crate) fn new(running: Box<dyn Running>) -> Self {
        Process { running }
    }

    /// Feeds the program `input`, hands on what it writes as it comes, and waits for its end. The
    /// program is ended early where `heard` answers false.
    pub fn follow(
        mut self,
        mut input: &[u8],
        mut heard: impl FnMut(Stream, &[u8]) -> bool,
    ) -> Exit {
        let mut is_open = [true, true];
        let mut is_fed = false;
        loop {
            if !is_fed {
                match self.running.write(input) {
                    Some(taken) => input = input.get(taken..).unwrap_or_default(),
                    None => input = &[],
                }
                if input.is_empty() {
                    is_fed = self.running.close_input();
                }
            }
            let mut is_quiet = true;
            for (index, stream) in [Stream::Stdout, Stream::Stderr].into_iter().enumerate() {
                if !is_open[index] {
                    continue;
                }
                match self.running.read(stream) {
                    Piece::Bytes(bytes) => {
                        is_quiet = false;
                        if !heard(stream, &bytes) {
                            self.running.kill();
                            return self.end();
                        }
                    }
                    Piece::NothingYet => {}
                    Piece::End => is_open[index] = false,
                }
            }
            if is_open == [false, false] {
                return self.end();
            }
            if is_quiet {
                self.running.wait(!is_fed);
            }
        }
    }

    /// Ends the program and everything that it started.
    pub fn kill(mut self) -> Exit {
        self.running.kill();
        self.end()
    }

    fn end(mut self) -> Exit {
        loop {
            let is_closed = self.running.close_input();
            if let Some(exit) = self.running.exit() {
                return exit;
            }
            self.running.wait(!is_closed);
        }
    }

    /// Offers the program input, without waiting: how many of `bytes` it took, from the first on, or
    /// `None` when it reads no more. For a tool that has something to do meanwhile; with
    /// [`take`](Process::take) and [`exit`](Process::exit) the pieces of [`follow`](Process::follow).
    pub fn offer(&mut self, bytes: &[u8]) -> Option<usize> {
        self.running.write(bytes)
    }

    /// Ends the program's input, without waiting. False while something offered before is still on
    /// its way, which dropping the input now would lose: ask again.
    pub fn close_input(&mut self) -> bool {
        self.running.close_input()
    }

    /// What `stream` brings now, without waiting. A program that nobody takes output from is held up
    /// in the end.
    pub fn take(&mut self, stream: Stream) -> Piece {
        self.running.read(stream)
    }

    /// How the program ended; `None` while it runs. Output may still be to be taken.
    pub fn exit(&self) -> Option<Exit> {
        self.running.exit()
    }
}

/// Runs a program to its end, as [`Call::run`](crate::Call::run) promises.
pub(crate) fn run(process: Process, input: &[u8], most: usize) -> Result<Finished, ToolError> {
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let exit = process.follow(input, |stream, bytes| {
        match stream {
            Stream::Stdout => stdout.extend_from_slice(bytes),
            Stream::Stderr => stderr.extend_from_slice(bytes),
        }
        stdout.len() + stderr.len() <= most
    });
    if stdout.len() + stderr.len() > most {
        return Err(ToolError::new(
            ErrorKind::Failed,
            format!("the program wrote more than {most} bytes and was ended"),
        ));
    }
    Ok(Finished {
        exit,
        stdout,
        stderr,
    })
}
