//! A function that stands for a native program in a unit test.
//!
//! Owns the way from all of the input to all of the output. It must never start anything.

use crate::process::{Command, Exit, Finished, Piece, Running, Stream};
use std::fmt;
use std::sync::Arc;

/// What stands for a program in a test: a function from the command and its whole input.
pub(super) struct MockProgram(Box<dyn Fn(&Command, &[u8]) -> Finished + Send + Sync>);

impl MockProgram {
    pub(super) fn new(run: impl Fn(&Command, &[u8]) -> Finished + Send + Sync + 'static) -> Self {
        MockProgram(Box::new(run))
    }
}

impl fmt::Debug for MockProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MockProgram")
    }
}

/// A program that reads all of its input before it writes.
pub(super) enum MockProcess {
    Reading {
        program: Arc<MockProgram>,
        command: Command,
        input: Vec<u8>,
    },
    Done(Finished),
}

impl MockProcess {
    pub(super) fn new(program: &Arc<MockProgram>, command: &Command) -> Self {
        MockProcess::Reading {
            program: Arc::clone(program),
            command: command.clone(),
            input: Vec::new(),
        }
    }
}

impl Running for MockProcess {
    fn write(&mut self, bytes: &[u8]) -> Option<usize> {
        match self {
            MockProcess::Reading { input, .. } => {
                input.extend_from_slice(bytes);
                Some(bytes.len())
            }
            MockProcess::Done(_) => None,
        }
    }

    fn close_input(&mut self) -> bool {
        if let MockProcess::Reading {
            program,
            command,
            input,
        } = self
        {
            *self = MockProcess::Done((program.0)(command, input));
        }
        true
    }

    fn read(&mut self, stream: Stream) -> Piece {
        let MockProcess::Done(finished) = self else {
            return Piece::NothingYet;
        };
        let written = match stream {
            Stream::Stdout => &mut finished.stdout,
            Stream::Stderr => &mut finished.stderr,
        };
        match std::mem::take(written) {
            bytes if bytes.is_empty() => Piece::End,
            bytes => Piece::Bytes(bytes),
        }
    }

    fn exit(&self) -> Option<Exit> {
        match self {
            MockProcess::Reading { .. } => None,
            MockProcess::Done(finished) => Some(finished.exit),
        }
    }

    fn wait(&mut self, _for_room: bool) {}

    fn kill(&mut self) {
        *self = MockProcess::Done(Finished {
            exit: Exit::Signal(9),
            stdout: Vec::new(),
            stderr: Vec::new(),
        });
    }
}
