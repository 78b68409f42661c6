//! A run as its owner holds it.
//!
//! Owns the three ends of a run: the events, the way to interrupt it, the history it leaves
//! behind. It must never hold what the run works with.

use super::emit::Emitter;
use crate::history::History;
use crate::protocol::Event;
use futures::{Stream, StreamExt};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio_util::sync::{CancellationToken, DropGuard};

/// A run under way.
#[derive(Debug)]
pub struct Run {
    /// What happens, ending with exactly one terminal event.
    pub events: Events,
    /// The way to interrupt it.
    pub control: Control,
    /// The history afterwards.
    pub outcome: Outcome,
}

impl Run {
    /// Waits for the end: the terminal event and the history. This is blocking use.
    pub async fn finish(mut self) -> (Event, History) {
        let mut last = None;
        while let Some(event) = self.events.next().await {
            last = Some(event);
        }
        let history = self.outcome.await;
        (last.expect("a run ends with a terminal event"), history)
    }
}

/// Interrupts a run. Any clone does.
#[derive(Debug, Clone)]
pub struct Control {
    cancel: CancellationToken,
}

impl Control {
    /// Ends the run soon, whatever it does: requests and calls are dropped, and every open call
    /// gets a result that says so. More than one call does nothing more.
    pub fn interrupt(&self) {
        self.cancel.cancel();
    }
}

/// The events of a run. The stream ends after the terminal event; dropping it interrupts the run.
#[derive(Debug)]
pub struct Events {
    receiver: mpsc::UnboundedReceiver<Event>,
    /// How many more events may wait; the emitter takes, this gives back.
    room: Arc<Semaphore>,
    _interrupts: DropGuard,
}

impl Stream for Events {
    type Item = Event;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Event>> {
        let event = ready!(self.receiver.poll_recv(cx));
        if event.is_some() {
            self.room.add_permits(1);
        }
        Poll::Ready(event)
    }
}

/// The history that a run leaves behind. It is there before the terminal event is, whether or not
/// anybody takes the events.
#[derive(Debug)]
pub struct Outcome {
    history: oneshot::Receiver<History>,
}

impl Future for Outcome {
    type Output = History;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<History> {
        let received = ready!(Pin::new(&mut self.history).poll(cx));
        // The run hands it over however it ends, unless the runtime is gone and with it all runs.
        Poll::Ready(received.unwrap_or_default())
    }
}

/// The ends of a run that its task keeps.
pub(super) struct Ends {
    pub(super) emitter: Emitter,
    pub(super) cancel: CancellationToken,
    pub(super) history: oneshot::Sender<History>,
}

/// Both sides of a run, with room for `capacity` events that nobody has taken yet.
pub(super) fn ends(capacity: usize) -> (Run, Ends) {
    let (events, receiver) = mpsc::unbounded_channel();
    let room = Arc::new(Semaphore::new(capacity));
    let (history, left) = oneshot::channel();
    let cancel = CancellationToken::new();
    let run = Run {
        events: Events {
            receiver,
            room: Arc::clone(&room),
            _interrupts: cancel.clone().drop_guard(),
        },
        control: Control {
            cancel: cancel.clone(),
        },
        outcome: Outcome { history: left },
    };
    let ends = Ends {
        emitter: Emitter::new(events, room, cancel.clone()),
        cancel,
        history,
    };
    (run, ends)
}
