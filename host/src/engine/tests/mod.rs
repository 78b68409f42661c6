//! The loop against a model that does as it is told, with real tools where a call has to run.

mod endings;
mod guarded;
mod interruption;
mod kept;
mod requests;
mod stages;
mod support;
mod telling;
mod working;

use super::*;
use crate::history::BRIDGE;
use crate::policy::Mode;
use crate::protocol::{
    ContentBlock, DoneReason, Event, Message, NoticeLevel, OutputStream, ResultContent,
    RunErrorKind, ToolCall, ToolErrorKind, Usage,
};
use crate::provider::{Chunk, ChunkStream, ProviderError, Request, Response, StopReason};
use futures::StreamExt;
use hotcell_test_artifacts::Guest;
use serde_json::json;
use std::sync::Mutex;
use std::time::Duration;
use support::*;

fn texts(history: &History) -> Vec<String> {
    history.messages().iter().map(Message::text).collect()
}

fn end(events: &[Event]) -> &Event {
    events.last().expect("a terminal event")
}

fn notices(events: &[Event]) -> Vec<(&str, &str)> {
    events
        .iter()
        .filter_map(|event| match event {
            Event::Notice { code, message, .. } => Some((code.as_str(), message.as_str())),
            _ => None,
        })
        .collect()
}

fn results(events: &[Event]) -> Vec<(String, Option<ToolErrorKind>, String)> {
    events
        .iter()
        .filter_map(|event| match event {
            Event::ToolResult {
                call_id,
                error,
                content,
                ..
            } => {
                let text = content
                    .iter()
                    .filter_map(|part| match part {
                        ResultContent::Text { text } => Some(text.as_str()),
                        _ => None,
                    })
                    .collect();
                Some((call_id.clone(), *error, text))
            }
            _ => None,
        })
        .collect()
}
