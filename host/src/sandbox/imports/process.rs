//! The `process` import: native programs, in a sandbox of their own.
//!
//! Owns the translation to [`Processes`](crate::process::Processes): streams, polls, ends. Without
//! the `process` capability, or where hotcell was started without processes, every spawn answers
//! `denied` and says which. It must never look at a command beyond its shape; the checks are those
//! of `process`.

use crate::process::{Child, Command, Ending, Exit};
use crate::protocol::Capability;
use crate::sandbox::bindings::process::hotcell::tool::process as wit;
use crate::sandbox::store::Guest;
use wasmtime::component::Resource;
use wasmtime_wasi::p2::bindings::io::poll::Pollable as WasiPollable;
use wasmtime_wasi::p2::pipe::{AsyncReadStream, AsyncWriteStream};
use wasmtime_wasi::p2::{DynInputStream, DynOutputStream, Pollable, subscribe};

/// What a guest can write ahead of the program, in bytes: as much as a pipe holds.
const WRITE_AHEAD: usize = 64 << 10;

/// Most notes about processes in the answer of a call.
const MOST_NOTES: usize = 10;

/// A process that a guest holds. Each of its streams is given once. Dropping it ends the process.
pub struct Running {
    child: Option<Child>,
    ending: Ending,
}

#[wasmtime_wasi::async_trait]
impl Pollable for Running {
    async fn ready(&mut self) {
        self.ending.wait().await;
    }
}

impl wit::Host for Guest {
    async fn spawn(
        &mut self,
        command: wit::Command,
    ) -> wasmtime::Result<Result<Resource<Running>, wit::SpawnError>> {
        let Some(processes) = self.runtime.processes.clone() else {
            let why = format!(
                "native processes are not offered in this run, so the `{}` capability gives nothing",
                Capability::Process
            );
            return Ok(Err(wit::SpawnError::Denied(why)));
        };
        let command = Command {
            program: command.program,
            arguments: command.arguments,
            environment: command.environment,
            directory: command.working_directory,
        };
        let witness = self.output.witness();
        match processes.spawn_watched(command, &self.grant, witness).await {
            Ok(child) => {
                let ending = child.ending();
                self.endings.add(ending.clone());
                let running = Running {
                    child: Some(child),
                    ending,
                };
                Ok(Ok(self.table.push(running)?))
            }
            Err(error) => Ok(Err(error.into())),
        }
    }

    fn available(&mut self) -> wasmtime::Result<Vec<String>> {
        let processes = self.runtime.processes.as_ref();
        Ok(processes.map_or_else(Vec::new, |processes| processes.available(&self.grant)))
    }

    fn shell(&mut self) -> wasmtime::Result<Option<String>> {
        let processes = self.runtime.processes.as_ref();
        Ok(processes.and_then(|processes| processes.shell(&self.grant)))
    }
}

impl wit::HostChild for Guest {
    fn stdin(
        &mut self,
        child: Resource<Running>,
    ) -> wasmtime::Result<Option<Resource<DynOutputStream>>> {
        let running = self.table.get_mut(&child)?;
        let Some(end) = running.child.as_mut().and_then(|child| child.stdin.take()) else {
            return Ok(None);
        };
        let stream: DynOutputStream = Box::new(AsyncWriteStream::new(WRITE_AHEAD, end));
        Ok(Some(self.table.push(stream)?))
    }

    fn stdout(
        &mut self,
        child: Resource<Running>,
    ) -> wasmtime::Result<Option<Resource<DynInputStream>>> {
        let running = self.table.get_mut(&child)?;
        let end = running.child.as_mut().and_then(|child| child.stdout.take());
        self.input(end)
    }

    fn stderr(
        &mut self,
        child: Resource<Running>,
    ) -> wasmtime::Result<Option<Resource<DynInputStream>>> {
        let running = self.table.get_mut(&child)?;
        let end = running.child.as_mut().and_then(|child| child.stderr.take());
        self.input(end)
    }

    fn subscribe(&mut self, child: Resource<Running>) -> wasmtime::Result<Resource<WasiPollable>> {
        subscribe(&mut self.table, child)
    }

    fn exit_status(&mut self, child: Resource<Running>) -> wasmtime::Result<Option<wit::Exit>> {
        let ended = self.table.get(&child)?.ending.now();
        Ok(ended.map(|ended| match ended.exit {
            Exit::Code(code) => wit::Exit::Code(code),
            Exit::Signal(signal) => wit::Exit::Signal(signal),
        }))
    }

    fn kill(&mut self, child: Resource<Running>) -> wasmtime::Result<()> {
        if let Some(child) = self.table.get_mut(&child)?.child.take() {
            child.kill();
        }
        Ok(())
    }

    fn drop(&mut self, child: Resource<Running>) -> wasmtime::Result<()> {
        self.table.delete(child)?;
        Ok(())
    }
}

impl Guest {
    fn input(
        &mut self,
        end: Option<crate::process::Output>,
    ) -> wasmtime::Result<Option<Resource<DynInputStream>>> {
        let Some(end) = end else {
            return Ok(None);
        };
        let stream: DynInputStream = Box::new(AsyncReadStream::new(end));
        Ok(Some(self.table.push(stream)?))
    }
}

/// The ends of the processes that a call has started, with what was found afterwards.
#[derive(Default)]
pub struct Endings(Vec<Ending>);

impl Endings {
    fn add(&mut self, ending: Ending) {
        // What has ended with nothing to say needs no memory: a call may start many.
        self.0
            .retain(|known| known.now().is_none_or(|ended| !ended.notes.is_empty()));
        self.0.push(ending);
    }

    /// Waits for the end of all, when nobody holds them any more. Few notes are told one by one.
    pub async fn notes(self) -> Vec<String> {
        let mut notes = Vec::new();
        for mut ending in self.0 {
            notes.extend(ending.wait().await.notes);
        }
        if let Some(more) = notes.len().checked_sub(MOST_NOTES).filter(|more| *more > 0) {
            notes.truncate(MOST_NOTES);
            notes.push(format!("{more} more of the same kind"));
        }
        notes
    }
}

impl From<crate::process::SpawnError> for wit::SpawnError {
    fn from(error: crate::process::SpawnError) -> Self {
        use crate::process::SpawnError;
        match error {
            SpawnError::Denied(why) => wit::SpawnError::Denied(why),
            SpawnError::NotFound(_) => wit::SpawnError::NotFound,
            SpawnError::Failed(why) => wit::SpawnError::Failed(why),
        }
    }
}
