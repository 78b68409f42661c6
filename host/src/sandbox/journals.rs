//! Who is told before a call changes a file.
//!
//! Owns the way from a call to its [`Journal`]: the sandbox knows which call it is, and a journal
//! keeps what is told to it for exactly one. It must never know what is kept or where.

use crate::workspace::{Journal, NoJournal};
use std::sync::Arc;

/// Gives each call a journal.
pub trait Journals: Send + Sync {
    /// The journal of the call `call` of the session `session`. Asked once a call, before the
    /// guest runs; it is dropped with the call, however that ends.
    fn of_call(&self, session: &str, call: &str) -> Arc<dyn Journal>;
}

/// Keeps nothing of any call.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoJournals;

impl Journals for NoJournals {
    fn of_call(&self, _session: &str, _call: &str) -> Arc<dyn Journal> {
        Arc::new(NoJournal)
    }
}
