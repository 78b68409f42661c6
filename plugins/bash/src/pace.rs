//! Keeps the shell and what reads its output in step.
//!
//! Owns the count of rounds: each is one poll of everything that belongs to a command. bashkit
//! hands output over through two pipes, one a stream, that are emptied only while the shell waits.
//! Where it waits is therefore where the two streams keep their order, so everything of ours that
//! the shell calls waits first.
//!
//! It must never know what waits, or what is waited for.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;

/// Rounds that [`Pace::breathe`] waits. In the first a pipe may have had its turn before the shell
/// wrote to it; in the second every pipe is emptied; in the third nothing comes, which tells that
/// the shell waits.
const ROUNDS: u64 = 3;

/// The rounds of one shell.
#[derive(Default)]
pub struct Pace(AtomicU64);

impl Pace {
    /// Runs `future` and counts its rounds; `after` is called at the end of each.
    pub async fn drive<F: Future>(&self, future: F, mut after: impl FnMut()) -> F::Output {
        let mut future = pin!(future);
        poll_fn(|cx| {
            let result = future.as_mut().poll(cx);
            self.0.fetch_add(1, Ordering::Relaxed);
            after();
            result
        })
        .await
    }

    /// Gives everything else in [`Pace::drive`] its turn. Waits for ever outside of it.
    pub async fn breathe(&self) {
        // bashkit polls the running command twice in a round, so polls do not count.
        let end = self.0.load(Ordering::Relaxed) + ROUNDS;
        poll_fn(|cx| {
            if self.0.load(Ordering::Relaxed) >= end {
                return Poll::Ready(());
            }
            cx.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
    }
}
