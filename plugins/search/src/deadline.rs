//! When a search must stop to still be able to answer.

use hotcell_sdk::Call;
use std::io::{self, Read};
use std::time::Duration;

/// Kept of the call's time to write the answer with, unless the call is very short.
const RESERVE: Duration = Duration::from_millis(500);

/// The moment a search gives what it has.
#[derive(Clone, Copy)]
pub struct Deadline<'call> {
    call: &'call Call<'call>,
    reserve: Duration,
}

impl<'call> Deadline<'call> {
    pub fn of(call: &'call Call<'call>) -> Self {
        Deadline {
            call,
            reserve: RESERVE.min(call.deadline() / 5),
        }
    }

    /// Asks the clock, which is a call into the host.
    pub fn passed(&self) -> bool {
        self.call.time_left() <= self.reserve
    }
}

/// A reader that fails with [`io::ErrorKind::TimedOut`] when the time is up: a file without a match
/// is otherwise searched to its end, however large it is.
pub struct Timed<'call, R> {
    inner: R,
    deadline: Deadline<'call>,
}

impl<'call, R> Timed<'call, R> {
    pub fn new(inner: R, deadline: Deadline<'call>) -> Self {
        Timed { inner, deadline }
    }
}

impl<R: Read> Read for Timed<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.deadline.passed() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.inner.read(buffer)
    }
}
