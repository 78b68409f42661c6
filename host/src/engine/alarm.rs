//! The end of a run's time.
//!
//! Owns the one timer of a run. When it is over the run is interrupted as a person would do it, so
//! that its history is in order and open calls are answered; only the reason is another.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::task::AbortHandle;
use tokio_util::sync::CancellationToken;

/// Rings once, unless it is dropped before.
pub(super) struct Alarm {
    rung: Arc<AtomicBool>,
    timer: Option<AbortHandle>,
}

impl Alarm {
    /// Cancels `run` after `time`; never where that is zero.
    pub(super) fn set(time: Duration, run: &CancellationToken) -> Alarm {
        let rung = Arc::new(AtomicBool::new(false));
        let timer = (!time.is_zero()).then(|| {
            let (rung, run) = (Arc::clone(&rung), run.clone());
            let wait = async move {
                tokio::time::sleep(time).await;
                // A run that somebody interrupted before did not end by its time.
                if !run.is_cancelled() {
                    rung.store(true, Ordering::Release);
                    run.cancel();
                }
            };
            tokio::spawn(wait).abort_handle()
        });
        Alarm { rung, timer }
    }

    /// Whether it ended the run.
    pub(super) fn has_rung(&self) -> bool {
        self.rung.load(Ordering::Acquire)
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        if let Some(timer) = &self.timer {
            timer.abort();
        }
    }
}
