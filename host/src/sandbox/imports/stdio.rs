//! Standard output and standard error of a guest.
//!
//! Owns two bounded streams: what a guest prints goes to the person who watches, what it logs is
//! kept at its end for the message of a crash. Over the limit the call ends, so that a flood costs
//! the host nothing. It must never reach the process's own streams.

use crate::protocol::{Limit, OutputStream};
use crate::sandbox::call::CallOutput;
use crate::sandbox::failure::LimitReached;
use bytes::Bytes;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use tokio::io::AsyncWrite;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::{OutputStream as WasiOutput, Pollable, StreamError, StreamResult};

/// How much of standard error is kept: enough for a panic message with its context.
const LOG_TAIL_BYTES: usize = 4 << 10;

/// What one write may bring at most.
const WRITE_PERMIT: usize = 64 << 10;

/// Takes the bytes of one stream, in order, and says when there are too many.
trait Sink: Clone + Send + Sync + 'static {
    fn accept(&self, bytes: &[u8]) -> Result<(), LimitReached>;
}

/// Counts bytes against the output limit.
#[derive(Debug)]
struct Budget {
    used: u64,
    allowed: u64,
}

impl Budget {
    const fn take(&mut self, bytes: usize) -> Result<(), LimitReached> {
        self.used += bytes as u64;
        if self.used > self.allowed {
            return Err(LimitReached {
                limit: Limit::Output,
                used: self.used,
                allowed: self.allowed,
            });
        }
        Ok(())
    }
}

/// A guest's standard output, shown while the call runs.
#[derive(Clone)]
pub struct ProgramOutput {
    inner: Arc<Mutex<ProgramOutputInner>>,
    output: Arc<dyn CallOutput>,
}

struct ProgramOutputInner {
    budget: Budget,
    /// The beginning of a character whose rest has not come yet.
    partial: Vec<u8>,
}

impl ProgramOutput {
    pub fn new(output: Arc<dyn CallOutput>, allowed: u64) -> Self {
        ProgramOutput {
            inner: Arc::new(Mutex::new(ProgramOutputInner {
                budget: Budget { used: 0, allowed },
                partial: Vec::new(),
            })),
            output,
        }
    }
}

impl Sink for ProgramOutput {
    fn accept(&self, bytes: &[u8]) -> Result<(), LimitReached> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.budget.take(bytes.len())?;
        inner.partial.extend_from_slice(bytes);
        let complete = complete_prefix(&inner.partial);
        let text = String::from_utf8_lossy(&inner.partial[..complete]).into_owned();
        inner.partial.drain(..complete);
        drop(inner);
        if !text.is_empty() {
            self.output.output(OutputStream::Stdout, text);
        }
        Ok(())
    }
}

/// How many bytes can be shown now: all but an unfinished character at the end.
fn complete_prefix(bytes: &[u8]) -> usize {
    let tail = bytes.len().saturating_sub(3);
    for start in (tail..bytes.len()).rev() {
        let needed = match bytes[start] {
            0x00..=0x7f => return bytes.len(),
            0x80..=0xbf => continue,
            0xc0..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xff => 4,
        };
        return if bytes.len() - start < needed {
            start
        } else {
            bytes.len()
        };
    }
    bytes.len()
}

/// A guest's standard error: its end is kept.
#[derive(Clone)]
pub struct LogStream {
    inner: Arc<Mutex<LogInner>>,
}

struct LogInner {
    budget: Budget,
    tail: Vec<u8>,
}

impl LogStream {
    pub fn new(allowed: u64) -> Self {
        LogStream {
            inner: Arc::new(Mutex::new(LogInner {
                budget: Budget { used: 0, allowed },
                tail: Vec::new(),
            })),
        }
    }

    /// The end of what was logged.
    pub fn tail(&self) -> String {
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&inner.tail).into_owned()
    }
}

impl Sink for LogStream {
    fn accept(&self, bytes: &[u8]) -> Result<(), LimitReached> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.budget.take(bytes.len())?;
        inner.tail.extend_from_slice(bytes);
        let excess = inner.tail.len().saturating_sub(LOG_TAIL_BYTES);
        inner.tail.drain(..excess);
        Ok(())
    }
}

/// The stream a guest writes to.
struct SinkStream<S>(S);

#[wasmtime_wasi::async_trait]
impl<S: Sink> Pollable for SinkStream<S> {
    async fn ready(&mut self) {}
}

#[wasmtime_wasi::async_trait]
impl<S: Sink> WasiOutput for SinkStream<S> {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.0
            .accept(&bytes)
            .map_err(|reached| StreamError::Trap(reached.into()))
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(WRITE_PERMIT)
    }
}

impl<S: Sink> AsyncWrite for SinkStream<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        _context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        Poll::Ready(
            self.0
                .accept(bytes)
                .map(|()| bytes.len())
                .map_err(std::io::Error::other),
        )
    }

    fn poll_flush(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(
        self: Pin<&mut Self>,
        _context: &mut Context<'_>,
    ) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

impl IsTerminal for ProgramOutput {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for ProgramOutput {
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(SinkStream(self.clone()))
    }

    fn p2_stream(&self) -> Box<dyn WasiOutput> {
        Box::new(SinkStream(self.clone()))
    }
}

impl IsTerminal for LogStream {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for LogStream {
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(SinkStream(self.clone()))
    }

    fn p2_stream(&self) -> Box<dyn WasiOutput> {
        Box::new(SinkStream(self.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Seen(Mutex<Vec<String>>);

    impl CallOutput for Seen {
        fn output(&self, _stream: OutputStream, text: String) {
            self.0.lock().unwrap().push(text);
        }
    }

    #[test]
    fn characters_split_over_writes_arrive_whole() {
        let text = "aé€😀z";
        for size in 1..=text.len() {
            let seen = Arc::new(Seen::default());
            let output = ProgramOutput::new(Arc::clone(&seen) as Arc<dyn CallOutput>, 1_000);
            for chunk in text.as_bytes().chunks(size) {
                output.accept(chunk).unwrap();
            }
            assert_eq!(seen.0.lock().unwrap().concat(), text, "chunks of {size}");
        }
    }

    #[test]
    fn invalid_bytes_are_shown_as_replacements_and_do_not_stick() {
        let seen = Arc::new(Seen::default());
        let output = ProgramOutput::new(Arc::clone(&seen) as Arc<dyn CallOutput>, 1_000);
        output.accept(b"a\xffb\n").unwrap();
        assert_eq!(seen.0.lock().unwrap().concat(), "a\u{fffd}b\n");
    }

    #[test]
    fn the_log_keeps_its_end_and_counts_all_of_it() {
        let log = LogStream::new(10_000);
        for _ in 0..100 {
            log.accept(&[b'x'; 99]).unwrap();
        }
        log.accept(b"the end").unwrap();
        assert!(log.tail().ends_with("xthe end"));
        assert_eq!(log.tail().len(), LOG_TAIL_BYTES);
        assert_eq!(
            log.accept(&[0; 100]),
            Err(LimitReached {
                limit: Limit::Output,
                used: 10_007,
                allowed: 10_000
            })
        );
    }
}
