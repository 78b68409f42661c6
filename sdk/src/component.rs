//! The tool inside a component: WIT types on one side, the author's on the other.
//!
//! The only file that names WIT types. Everything here is for the expansion of `export!`; it is no
//! public interface.

use crate::call::Facts;
use crate::host::Backend;
use crate::process::{Command, Exit, Piece, Process, Running, Stream};
use crate::{Call, Capability, Content, ErrorKind, StateError, Tool, ToolError, Versioned};
use std::path::Path;
use std::time::Duration;

wit_bindgen::generate!({
    path: "../wit",
    world: "tool-component-with-process",
    generate_all,
    pub_export_macro: true,
    export_macro_name: "export_component",
    default_bindings_module: "hotcell_sdk::component",
});

pub use exports::hotcell::tool::tool::Guest;
pub use hotcell::tool::types as wire;

use hotcell::tool::{process, progress, state};
use wasi::io::poll::{Pollable, poll};
use wasi::io::streams::{InputStream, OutputStream, StreamError};

/// How much is read at once.
const PIECE_BYTES: u64 = 64 << 10;

/// A process of the host. The streams go before the child they belong to.
struct Started {
    stdin: Option<OutputStream>,
    /// Whether the end of the input waits for what was written before it.
    is_closing: bool,
    stdout: Option<InputStream>,
    stderr: Option<InputStream>,
    child: process::Child,
}

impl Running for Started {
    fn write(&mut self, bytes: &[u8]) -> Option<usize> {
        let stdin = self.stdin.as_ref()?;
        let room = usize::try_from(stdin.check_write().ok()?).unwrap_or(usize::MAX);
        let taken = bytes.len().min(room);
        if taken > 0 {
            stdin.write(bytes.get(..taken)?).ok()?;
        }
        Some(taken)
    }

    fn close_input(&mut self) -> bool {
        let Some(stdin) = &self.stdin else {
            return true;
        };
        // Dropping the stream drops what it has not passed on yet. Waiting for that here could be
        // for ever: the program may first want its output to be read.
        if !self.is_closing && stdin.flush().is_ok() {
            self.is_closing = true;
        }
        if self.is_closing && matches!(stdin.check_write(), Ok(0)) {
            return false;
        }
        // A program that reads no more is no fault.
        self.stdin = None;
        true
    }

    fn read(&mut self, stream: Stream) -> Piece {
        let slot = match stream {
            Stream::Stdout => &mut self.stdout,
            Stream::Stderr => &mut self.stderr,
        };
        let Some(open) = slot else {
            return Piece::End;
        };
        match open.read(PIECE_BYTES) {
            Ok(bytes) if bytes.is_empty() => Piece::NothingYet,
            Ok(bytes) => Piece::Bytes(bytes),
            Err(StreamError::Closed | StreamError::LastOperationFailed(_)) => {
                *slot = None;
                Piece::End
            }
        }
    }

    fn exit(&self) -> Option<Exit> {
        self.child.exit_status().map(|exit| match exit {
            process::Exit::Code(code) => Exit::Code(code),
            process::Exit::Signal(signal) => Exit::Signal(signal),
        })
    }

    fn wait(&mut self, for_room: bool) {
        let outputs = [self.stdout.as_ref(), self.stderr.as_ref()];
        let mut ready: Vec<Pollable> = outputs
            .into_iter()
            .flatten()
            .map(InputStream::subscribe)
            .collect();
        // The end is news only when both streams have ended: before that it would be told again
        // and again.
        if ready.is_empty() {
            ready.push(self.child.subscribe());
        }
        if let Some(stdin) = self.stdin.as_ref().filter(|_| for_room) {
            ready.push(stdin.subscribe());
        }
        poll(&ready.iter().collect::<Vec<_>>());
    }

    fn kill(&mut self) {
        // What was still on its way is of no use, and would keep `wait` from waiting for the end.
        self.stdin = None;
        self.stdout = None;
        self.stderr = None;
        self.child.kill();
    }
}

/// The imports that the host links.
pub(crate) struct Imports;

impl Backend for Imports {
    fn state_get(&self, key: &str) -> Result<Option<Versioned>, StateError> {
        let found = state::get(key).map_err(state_error)?;
        Ok(found.map(|state::Versioned { value, version }| Versioned { value, version }))
    }

    fn state_swap(&self, key: &str, value: &[u8], expected: u64) -> Result<u64, StateError> {
        state::compare_and_swap(key, value, expected).map_err(state_error)
    }

    fn report(&self, line: &str) {
        progress::report(line);
    }

    fn programs(&self) -> Vec<String> {
        process::available()
    }

    fn shell(&self) -> Option<String> {
        process::shell()
    }

    fn start(&self, command: &Command) -> Result<Process, ToolError> {
        let directory = command
            .working_directory()
            .map_or("/workspace".into(), Path::to_string_lossy);
        let child = process::spawn(&process::Command {
            program: command.program.clone(),
            arguments: command.arguments.clone(),
            environment: command.environment.clone(),
            working_directory: directory.into_owned(),
        })
        .map_err(|error| match error {
            process::SpawnError::Denied(why) => ToolError::denied(why),
            process::SpawnError::NotFound => ToolError::not_found(format!(
                "the program `{}` is not installed",
                command.program
            )),
            process::SpawnError::Failed(why) => ToolError::new(ErrorKind::Failed, why),
        })?;
        Ok(Process::new(Box::new(Started {
            stdin: child.stdin(),
            is_closing: false,
            stdout: child.stdout(),
            stderr: child.stderr(),
            child,
        })))
    }
}

fn state_error(error: state::StateError) -> StateError {
    match error {
        state::StateError::TooLarge(limit) => StateError::TooLarge(limit),
        state::StateError::Quota(limit) => StateError::Quota(limit),
        state::StateError::Conflict => StateError::Conflict,
        state::StateError::Unavailable(why) => StateError::Unavailable(why),
    }
}

pub fn describe<T: Tool>() -> wire::Definition {
    let definition = crate::definition::<T>();
    wire::Definition {
        name: definition.name,
        description: definition.description,
        input_schema: definition.input_schema.to_string(),
        requires: flags(&definition.requires),
        accepts: flags(&definition.accepts),
    }
}

pub fn invoke<T: Tool>(call: wire::Invocation) -> Result<Vec<wire::Content>, wire::CallError> {
    let facts = Facts {
        workspace: "/workspace".into(),
        temporary: Some("/tmp".into()),
        skills: "/skills".into(),
        granted: CAPABILITIES
            .iter()
            .filter(|(_, flag)| call.granted.contains(*flag))
            .map(|(capability, _)| *capability)
            .collect(),
        call_id: call.call_id,
        session_id: call.session_id,
        deadline: Duration::from_millis(call.deadline_ms),
    };
    crate::invoke::run::<T>(&call.arguments, &Call::new(&Imports, facts))
        .map(|answer| answer.into_parts().into_iter().map(content).collect())
        .map_err(call_error)
}

/// The host calls only what `describe` listed, so this is a fault of the host or of a stale cache.
pub fn unknown_tool(name: &str) -> wire::CallError {
    call_error(ToolError::not_found(format!(
        "this component has no tool `{name}`"
    )))
}

fn content(part: Content) -> wire::Content {
    match part {
        Content::Text(text) => wire::Content::Text(text),
        Content::Image { media_type, data } => {
            wire::Content::Image(wire::Image { media_type, data })
        }
    }
}

fn call_error(error: ToolError) -> wire::CallError {
    let kind = match error.kind() {
        ErrorKind::InvalidArguments => wire::ErrorKind::InvalidArguments,
        ErrorKind::NotFound => wire::ErrorKind::NotFound,
        ErrorKind::Denied => wire::ErrorKind::Denied,
        ErrorKind::Conflict => wire::ErrorKind::Conflict,
        ErrorKind::Failed => wire::ErrorKind::Failed,
    };
    wire::CallError {
        kind,
        message: error.message().to_owned(),
    }
}

const CAPABILITIES: [(Capability, wire::Capability); 6] = [
    (Capability::WorkspaceRead, wire::Capability::WORKSPACE_READ),
    (
        Capability::WorkspaceWrite,
        wire::Capability::WORKSPACE_WRITE,
    ),
    (Capability::Process, wire::Capability::PROCESS),
    (Capability::Network, wire::Capability::NETWORK),
    (Capability::SessionState, wire::Capability::SESSION_STATE),
    (Capability::Skills, wire::Capability::SKILLS),
];

fn flags(capabilities: &[Capability]) -> wire::Capability {
    CAPABILITIES
        .iter()
        .filter(|(capability, _)| capabilities.contains(capability))
        .fold(wire::Capability::empty(), |set, (_, flag)| set | *flag)
}
