//! The way out for events.
//!
//! Owns which events may be lost and when: none as long as the run goes on, however slow the
//! consumer is; once it is interrupted, those that only tell of progress. It must never decide
//! what happens next.

use crate::protocol::{Event, NoticeLevel, ToolResult};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Sends the events of one run.
#[derive(Debug, Clone)]
pub(super) struct Emitter {
    events: mpsc::Sender<Event>,
    cancel: CancellationToken,
}

impl Emitter {
    pub(super) const fn new(events: mpsc::Sender<Event>, cancel: CancellationToken) -> Self {
        Emitter { events, cancel }
    }

    /// Waits for room. An interruption ends the wait, and the event is lost then.
    pub(super) async fn tell(&self, event: Event) {
        tokio::select! {
            biased;
            // It fails only when nobody listens any more.
            _ = self.events.send(event) => {}
            () = self.cancel.cancelled() => {}
        }
    }

    /// Waits for room as long as anybody listens: for what the grammar promises.
    pub(super) async fn promise(&self, event: Event) {
        let _ = self.events.send(event).await;
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
