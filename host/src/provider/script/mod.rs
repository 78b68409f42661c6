//! The provider `script`: answers from a file of turns, and demands on the requests.
//!
//! Owns the file's format, described in `docs/script.md`, and plays it: the demo, the tests and
//! authors of plugins get a model that needs no key and says the same each time. The request is
//! validated as for a real vendor. It must never do what no model could do: a script only says
//! text, thinks, and calls tools.

mod demand;
mod format;

use self::format::{Fault, Script, Turn};
use super::accumulate::{CallDelta, Calls};
use super::validate::validate;
use super::{
    Chunk, ChunkStream, Provider, ProviderError, ProviderSetupError, Request, Response,
    RetrySettings, StopReason,
};
use crate::config::ProviderConfig;
use crate::protocol::{ContentBlock, Message, Usage};
use futures::StreamExt as _;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// The name in the provider table.
pub(super) const NAME: &str = "script";

/// The most bytes of a script.
const MAX_BYTES: u64 = 16 << 20;

/// Plays a script, one turn a request.
#[derive(Debug, Clone)]
pub struct ScriptProvider(Arc<Play>);

#[derive(Debug)]
struct Play {
    /// For messages: the file, or what the caller calls it.
    name: String,
    turns: Vec<Turn>,
    next: AtomicUsize,
}

/// Sets the provider up from the file that the configuration names.
pub(super) fn connect(
    config: &ProviderConfig,
    _: RetrySettings,
) -> Result<Arc<dyn Provider>, ProviderSetupError> {
    let path = config
        .script
        .as_deref()
        .ok_or(ProviderSetupError::MissingScript)?;
    let name = path.display().to_string();
    let text = read(path).map_err(|reason| ProviderSetupError::Script {
        script: name.clone(),
        reason,
    })?;
    Ok(Arc::new(ScriptProvider::from_text(name, &text)?))
}

fn read(path: &Path) -> Result<String, String> {
    let file = std::fs::File::open(path).map_err(|error| error.to_string())?;
    let mut text = String::new();
    file.take(MAX_BYTES + 1)
        .read_to_string(&mut text)
        .map_err(|error| error.to_string())?;
    if text.len() as u64 > MAX_BYTES {
        return Err(format!("it has more than {MAX_BYTES} bytes"));
    }
    Ok(text)
}

impl ScriptProvider {
    /// A provider that plays `text`, YAML or JSON. `name` is what messages call it.
    ///
    /// # Errors
    /// When the text is not a script: unknown keys are an error too.
    pub fn from_text(name: impl Into<String>, text: &str) -> Result<Self, ProviderSetupError> {
        let name = name.into();
        match Script::parse(text) {
            Ok(script) => Ok(ScriptProvider(Arc::new(Play {
                name,
                turns: script.turns,
                next: AtomicUsize::new(0),
            }))),
            Err(reason) => Err(ProviderSetupError::Script {
                script: name,
                reason,
            }),
        }
    }

    /// How many turns were not played yet.
    pub fn remaining(&self) -> usize {
        let played = self.0.next.load(Ordering::Relaxed);
        self.0.turns.len().saturating_sub(played)
    }
}

impl Provider for ScriptProvider {
    fn name(&self) -> &str {
        NAME
    }

    fn send(&self, request: Request) -> ChunkStream {
        let play = Arc::clone(&self.0);
        async_stream::stream! {
            let (number, turn) = match play.next_turn() {
                Ok(next) => next,
                Err(error) => {
                    yield Err(error);
                    return;
                }
            };
            let valid = match validate(&request.messages) {
                Ok(valid) => valid,
                Err(reason) => {
                    yield Err(ProviderError::InvalidRequest { reason });
                    return;
                }
            };
            let unmet = demand::unmet(&turn.expect, &request, &valid.messages);
            for repair in valid.repairs {
                yield Ok(Chunk::Repaired(repair));
            }
            if let Some(reason) = unmet {
                yield Err(play.error(number, reason));
                return;
            }
            let response = turn.response(number, &request.messages);
            let stream = request.stream;
            drop(request);
            for chunk in turn.pieces(stream) {
                yield Ok(chunk);
            }
            if turn.hang {
                std::future::pending::<()>().await;
            }
            if let Some(fault) = &turn.error {
                yield Err(fault.error());
                return;
            }
            yield Ok(Chunk::Usage(response.usage));
            yield Ok(Chunk::Completed(response));
        }
        .boxed()
    }
}

impl Play {
    fn next_turn(&self) -> Result<(usize, &Turn), ProviderError> {
        let at = self.next.fetch_add(1, Ordering::Relaxed);
        let count = self.turns.len();
        self.turns
            .get(at)
            .map(|turn| (at + 1, turn))
            .ok_or_else(|| self.error(at + 1, format!("the script has only {count} turns")))
    }

    fn error(&self, turn: usize, reason: String) -> ProviderError {
        ProviderError::Script {
            script: self.name.clone(),
            turn,
            reason,
        }
    }
}

impl Turn {
    /// The thinking and the text, in the pieces in which a vendor would stream them.
    fn pieces(&self, stream: bool) -> Vec<Chunk> {
        let size = self.chunk.map(std::num::NonZeroUsize::get);
        let split = |text: &str| match (stream, size) {
            (false, _) => vec![text.to_owned()],
            (true, Some(size)) => text
                .chars()
                .collect::<Vec<char>>()
                .chunks(size)
                .map(String::from_iter)
                .collect(),
            (true, None) => text.split_inclusive(' ').map(str::to_owned).collect(),
        };
        let pieces = |text: &Option<String>, chunk: fn(String) -> Chunk| -> Vec<Chunk> {
            let text = text.as_deref().filter(|text| !text.is_empty());
            text.map(split)
                .unwrap_or_default()
                .into_iter()
                .map(chunk)
                .collect()
        };
        let mut all = pieces(&self.thinking, Chunk::Thinking);
        all.extend(pieces(&self.text, Chunk::Text));
        all
    }

    fn response(&self, number: usize, history: &[Message]) -> Response {
        let mut calls = Calls::default();
        for (at, call) in self.calls.iter().enumerate() {
            let id = call
                .id
                .clone()
                .unwrap_or_else(|| format!("call_{number}_{}", at + 1));
            calls.add(CallDelta {
                index: Some(at as u64),
                id: Some(&id),
                name: Some(&call.name),
                arguments: &call.arguments_text(),
            });
        }
        let stop = self.stop.map_or_else(
            || match self.calls.as_slice() {
                [] => StopReason::EndTurn,
                _ => StopReason::ToolCalls,
            },
            StopReason::from,
        );
        let mut content = Vec::new();
        content.extend(self.thinking.iter().map(|text| ContentBlock::Thinking {
            text: text.clone(),
            signature: None,
            redacted: None,
        }));
        content.extend(self.text.iter().map(ContentBlock::text));
        let calls = calls.finish(history);
        content.extend(calls.into_iter().map(ContentBlock::ToolCall));
        Response::new(
            content,
            self.usage.map(Usage::from).unwrap_or_default(),
            stop,
        )
    }
}

impl Fault {
    /// The error that a vendor's failure of this kind would be, after all retries.
    fn error(&self) -> ProviderError {
        let provider = NAME.to_owned();
        let message = self.message().to_owned();
        let seconds = |seconds: &Option<u32>| seconds.map(|s| Duration::from_secs(s.into()));
        match self {
            Fault::Connect { .. } => ProviderError::Connect {
                provider,
                server: "nowhere".to_owned(),
                reason: message,
            },
            Fault::Broken { .. } => ProviderError::Broken {
                provider,
                reason: message,
            },
            Fault::RateLimited { wait_seconds, .. } => ProviderError::RateLimited {
                provider,
                wait: seconds(wait_seconds),
                message,
            },
            Fault::Server { status, .. } => ProviderError::Server {
                provider,
                status: *status,
                wait: None,
                message,
            },
            Fault::Rejected { status, .. } => ProviderError::Rejected {
                provider,
                status: *status,
                message,
            },
            Fault::Malformed { .. } => ProviderError::Malformed {
                provider,
                reason: message,
            },
        }
    }
}

#[cfg(test)]
mod tests;
