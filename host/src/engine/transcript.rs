//! Who keeps what is said, while it is said.
//!
//! Owns when it is kept: before the run acts on it or asks for more. What cannot be kept is told
//! once, and nothing behind it is kept either, so that what is there is a whole beginning. It must
//! never know where it goes.

use super::emit::Emitter;
use crate::protocol::{NoticeLevel, SessionEntry};
use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Keeps a session beyond the process.
pub trait Transcript: fmt::Debug + Send + Sync {
    /// Keeps one piece. When this returns, whoever comes after this process finds it. Called on a
    /// thread that may block.
    ///
    /// # Errors
    /// When it is not kept; one line for people.
    fn append(&self, entry: &SessionEntry) -> Result<(), Box<dyn Error + Send + Sync>>;
}

/// The transcript of one run. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct Keeper {
    transcript: Option<Arc<dyn Transcript>>,
    failed: Arc<AtomicBool>,
    emitter: Emitter,
}

impl Keeper {
    pub(super) fn new(transcript: Option<Arc<dyn Transcript>>, emitter: Emitter) -> Self {
        Keeper {
            transcript,
            failed: Arc::default(),
            emitter,
        }
    }

    /// Keeps what `entry` makes, and waits until it is kept. An interruption does not end the wait:
    /// what was said is kept.
    pub(super) async fn keep(&self, entry: impl FnOnce() -> SessionEntry) {
        let Some(transcript) = &self.transcript else {
            return;
        };
        if self.failed.load(Ordering::Relaxed) {
            return;
        }
        let transcript = Arc::clone(transcript);
        let entry = entry();
        let kept = tokio::task::spawn_blocking(move || {
            transcript.append(&entry).map_err(|error| error.to_string())
        })
        .await
        .unwrap_or_else(|_| Err("a fault in hotcell".to_owned()));
        if let Err(why) = kept
            && !self.failed.swap(true, Ordering::Relaxed)
        {
            let message =
                format!("from here on the session is not kept, and cannot be gone on with: {why}");
            self.emitter
                .notice(NoticeLevel::Warning, "session_not_kept", message)
                .await;
        }
    }
}
