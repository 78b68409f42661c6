//! The way out for events.
//!
//! Owns which events may be lost and when: none as long as the run goes on, however slow the
//! consumer is; once it is interrupted, those that only tell of progress. It must never decide
//! what happens next.

use crate::protocol::{Event, NoticeLevel, ToolResult};
use std::sync::Arc;
use tokio::sync::{Semaphore, mpsc};
use tokio_util::sync::CancellationToken;

/// Sends the events of one run.
///
/// The channel is bounded by `room`, of which each event takes one and the consumer gives it back.
/// What the grammar promises goes past that bound once the run is interrupted: no more than a
/// result for each open call and the terminal event, so that an interrupted run ends although
/// nobody reads.
#[derive(Debug, Clone)]
pub(super) struct Emitter {
    events: mpsc::UnboundedSender<Event>,
    room: Arc<Semaphore>,
    cancel: CancellationToken,
}

impl Emitter {
    pub(super) const fn new(
        events: mpsc::UnboundedSender<Event>,
        room: Arc<Semaphore>,
        cancel: CancellationToken,
    ) -> Self {
        Emitter {
            events,
            room,
            cancel,
        }
    }

    /// Waits for room. An interruption ends the wait, and the event is lost then.
    pub(super) async fn tell(&self, event: Event) {
        if self.has_room().await {
            self.send(event);
        }
    }

    /// Waits for room. An interruption ends the wait, and the event is sent all the same.
    pub(super) async fn promise(&self, event: Event) {
        self.has_room().await;
        self.send(event);
    }

    /// Sends the terminal event, for which there is always room.
    pub(super) fn last(&self, event: Event) {
        self.send(event);
    }

    async fn has_room(&self) -> bool {
        tokio::select! {
            biased;
            room = self.room.acquire() => {
                if let Ok(room) = room {
                    room.forget();
                }
                true
            }
            () = self.cancel.cancelled() => false,
        }
    }

    fn send(&self, event: Event) {
        // It fails only when nobody listens any more.
        let _ = self.events.send(event);
    }

    pub(super) async fn notice(
        &self,
        level: NoticeLevel,
        code: &'static str,
        message: impl Into<String>,
    ) {
        self.tell(notice(level, code, message)).await;
    }

    pub(super) async fn result(&self, result: &ToolResult) {
        self.promise(Event::ToolResult {
            call_id: result.call_id.clone(),
            name: result.name.clone(),
            is_error: result.is_error(),
            error: result.error,
            content: result.content.clone(),
            stats: result.stats,
        })
        .await;
    }
}

pub(super) fn notice(level: NoticeLevel, code: &'static str, message: impl Into<String>) -> Event {
    Event::Notice {
        level,
        code: code.to_owned(),
        message: message.into(),
    }
}
