//! Whose turn it is to be compiled.
//!
//! Owns the one lane that compilations share. A compilation takes all cores, so one runs at a
//! time; of those that wait the smallest is next, so that small tools are at work while a large
//! one compiles. It must never know what is done in a turn.

use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::oneshot;

/// The lane of one sandbox. A clone is the same lane.
#[derive(Clone, Default)]
pub struct Lane {
    queue: Arc<Mutex<Queue>>,
}

#[derive(Default)]
struct Queue {
    busy: bool,
    waiting: Vec<Waiting>,
}

struct Waiting {
    size: usize,
    go: oneshot::Sender<Turn>,
}

/// The right to compile. Dropping it hands it on.
pub struct Turn {
    lane: Lane,
}

impl Lane {
    /// Takes a place for something of this size. The place is taken by this call, not by the first
    /// poll; dropping the future gives it up.
    pub fn turn(&self, size: usize) -> impl Future<Output = Turn> + use<> {
        let (go, turn) = oneshot::channel();
        let lane = self.clone();
        let free = lane.with(|queue| {
            if queue.busy {
                queue.waiting.push(Waiting { size, go });
                return None;
            }
            queue.busy = true;
            Some(go)
        });
        if let Some(go) = free {
            lane.give(go);
        }
        async move {
            let turn = turn.await;
            // Held until here, so that the queue and the sender in it are there.
            drop(lane);
            turn.expect("a place in the queue ends with a turn")
        }
    }

    fn give(&self, go: oneshot::Sender<Turn>) {
        // Who gave up waiting does not take it: it is dropped here, and handed on by that.
        let _ = go.send(Turn { lane: self.clone() });
    }

    fn with<T>(&self, act: impl FnOnce(&mut Queue) -> T) -> T {
        // No code that can panic runs under this mutex; a poisoned one is still whole.
        act(&mut self.queue.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let next = self.lane.with(|queue| {
            let smallest = (0..queue.waiting.len()).min_by_key(|at| queue.waiting[*at].size);
            queue.busy = smallest.is_some();
            smallest.map(|at| queue.waiting.remove(at))
        });
        if let Some(next) = next {
            self.lane.give(next.go);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt;
    use std::pin::pin;

    #[test]
    fn the_smallest_that_waits_is_next_whoever_is_polled_first() {
        let lane = Lane::default();
        let first = lane.turn(50).now_or_never().expect("the lane is free");
        let mut large = pin!(lane.turn(90));
        let mut small = pin!(lane.turn(10));
        let gone = lane.turn(1);
        assert!(large.as_mut().now_or_never().is_none());
        assert!(small.as_mut().now_or_never().is_none());
        drop(gone);
        drop(first);
        assert!(large.as_mut().now_or_never().is_none());
        let second = small.now_or_never().expect("the turn of the small one");
        drop(second);
        let third = large.now_or_never().expect("the turn of the large one");
        assert!(lane.turn(1).now_or_never().is_none());
        drop(third);
        assert!(lane.turn(1).now_or_never().is_some());
    }
}
