//! Streams over an open file.
//!
//! Owns the position of each. A file is always ready: reads and writes happen when they are asked
//! for. It must never hand out more bytes at once than one piece, because a guest chooses how many
//! it asks for.

use crate::workspace::{File, FileError};
use bytes::Bytes;
use wasmtime_wasi::p2::{InputStream, OutputStream, Pollable, StreamError, StreamResult};

/// The most bytes of one read or write: large enough that the way into the guest costs more than
/// the system call, small enough to be nothing for the host.
pub const PIECE: usize = 256 << 10;

/// Reads a file from a position on.
pub struct FileReader {
    file: File,
    position: u64,
}

impl FileReader {
    pub const fn new(file: File, position: u64) -> Self {
        FileReader { file, position }
    }
}

#[wasmtime_wasi::async_trait]
impl Pollable for FileReader {
    async fn ready(&mut self) {}
}

#[wasmtime_wasi::async_trait]
impl InputStream for FileReader {
    fn read(&mut self, size: usize) -> StreamResult<Bytes> {
        if size == 0 {
            return Ok(Bytes::new());
        }
        let bytes = self
            .file
            .read_at(size.min(PIECE), self.position)
            .map_err(failed)?;
        if bytes.is_empty() {
            return Err(StreamError::Closed);
        }
        self.position += bytes.len() as u64;
        Ok(bytes.into())
    }
}

/// Where a writer writes.
#[derive(Clone, Copy)]
pub enum WriteAt {
    Position(u64),
    End,
}

/// Writes a file from a position on, or at its end.
pub struct FileWriter {
    file: File,
    at: WriteAt,
    failed: bool,
}

impl FileWriter {
    pub const fn new(file: File, at: WriteAt) -> Self {
        FileWriter {
            file,
            at,
            failed: false,
        }
    }

    fn write_now(&mut self, bytes: &[u8]) -> StreamResult<()> {
        if self.failed {
            return Err(StreamError::Closed);
        }
        let written = match &mut self.at {
            WriteAt::Position(position) => {
                let written = self.file.write_at(bytes, *position);
                *position = position.saturating_add(bytes.len() as u64);
                written
            }
            WriteAt::End => self.file.append(bytes),
        };
        written.map_err(|error| {
            self.failed = true;
            failed(error)
        })
    }
}

#[wasmtime_wasi::async_trait]
impl Pollable for FileWriter {
    async fn ready(&mut self) {}
}

#[wasmtime_wasi::async_trait]
impl OutputStream for FileWriter {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        if bytes.len() > PIECE {
            return Err(StreamError::trap("a write is larger than was permitted"));
        }
        self.write_now(&bytes)
    }

    fn flush(&mut self) -> StreamResult<()> {
        if self.failed {
            return Err(StreamError::Closed);
        }
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        if self.failed {
            return Err(StreamError::Closed);
        }
        Ok(PIECE)
    }
}

fn failed(error: FileError) -> StreamError {
    StreamError::LastOperationFailed(wasmtime::Error::new(error))
}
