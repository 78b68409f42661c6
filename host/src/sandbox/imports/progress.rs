//! The `progress` import: lines for the person who watches.
//!
//! Owns their way into the call's output, counted against the same limit as standard output. It
//! must never block the guest on the person.

use crate::protocol::{Limit, OutputStream};
use crate::sandbox::bindings::v0_1::hotcell::tool::progress::Host;
use crate::sandbox::failure::LimitReached;
use crate::sandbox::store::Guest;

impl Host for Guest {
    fn report(&mut self, line: String) -> wasmtime::Result<()> {
        self.reported_bytes += line.len() as u64 + 1;
        LimitReached::check(Limit::Output, self.reported_bytes, self.limits())?;
        self.output.output(OutputStream::Progress, line);
        Ok(())
    }
}
