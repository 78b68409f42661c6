//! One request over HTTP, from the conversation to the last chunk.
//!
//! Owns the order of things that all HTTP providers share: repair, encode once, try, read the
//! answer, try again where that is safe, complete. A vendor only says how a request is written
//! and what an event means ([`Protocol`], [`Decoder`]). It must never know a vendor's JSON.

use super::errors::ProviderError;
use super::failure::{Fault, Origin};
use super::http::{MAX_ANSWER_BYTES, MAX_ERROR_BYTES};
use super::retry::{Retries, RetrySettings};
use super::sse::{MAX_EVENT_BYTES, SseReader};
use super::validate::validate;
use super::{Chunk, ChunkStream, Request, Response};
use crate::protocol::Message;
use bytes::Bytes;
use futures::StreamExt as _;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Client, Url};
use std::borrow::Cow;
use std::sync::Arc;

/// What sets one vendor's API apart.
pub(super) trait Protocol: Send + Sync + 'static {
    /// Reads the answers.
    type Decoder: Decoder;

    /// The body of a request with these messages, which keep all rules.
    fn encode(
        &self,
        request: &Request,
        messages: &[Cow<'_, Message>],
    ) -> serde_json::Result<Vec<u8>>;

    /// A decoder for one answer.
    fn decoder(&self) -> Self::Decoder;
}

/// Reads one answer, event by event. A whole body counts as one event.
pub(super) trait Decoder: Send + 'static {
    /// Takes the data of an event and adds the text and thinking in it to `chunks`.
    fn event(&mut self, data: &str, chunks: &mut Vec<Chunk>) -> Result<(), Fault>;

    /// Whether the vendor has said why the answer ends; only counts may follow.
    fn is_complete(&self) -> bool;

    /// Whether the vendor has said that nothing follows.
    fn is_ended(&self) -> bool;

    /// The whole answer. `history` is what was sent: no id of a call in it comes again.
    fn finish(self, history: &[Message]) -> Result<Response, Fault>;
}

/// A vendor's API at one address.
#[derive(Debug)]
pub(super) struct Endpoint<P> {
    pub(super) client: Client,
    pub(super) url: Url,
    /// Headers of every request; the key is in one of them.
    pub(super) headers: HeaderMap,
    pub(super) protocol: P,
    pub(super) origin: Origin,
    pub(super) retry: RetrySettings,
}

/// Sends `request` and hands the answer on.
pub(super) fn exchange<P: Protocol>(endpoint: Arc<Endpoint<P>>, request: Request) -> ChunkStream {
    async_stream::stream! {
        let mut repairs = Vec::new();
        let body = endpoint.prepare(&request, &mut repairs);
        for repair in repairs {
            yield Ok(Chunk::Repaired(repair));
        }
        let body = match body {
            Ok(body) => body,
            Err(error) => {
                yield Err(error);
                return;
            }
        };
        let messages = request.messages;
        let mut retries = Retries::new(endpoint.retry);
        loop {
            let mut shown = false;
            let error = match endpoint.open(body.clone()).await {
                Err(error) => error,
                Ok(mut reading) => loop {
                    match reading.next(&endpoint.origin).await {
                        Ok(Some(chunks)) => {
                            for chunk in chunks {
                                shown = true;
                                yield Ok(chunk);
                            }
                        }
                        Ok(None) => match reading.decoder.finish(&messages) {
                            Ok(response) => {
                                drop(messages);
                                yield Ok(Chunk::Usage(response.usage));
                                yield Ok(Chunk::Completed(response));
                                return;
                            }
                            Err(fault) => break endpoint.origin.fault(fault),
                        },
                        Err(error) => break error,
                    }
                },
            };
            let Some(again) = retries.after(&error, shown) else {
                yield Err(error);
                return;
            };
            tracing::debug!(%error, ?again, "trying again");
            yield Ok(Chunk::Retrying {
                attempt: again.attempt,
                wait: again.wait,
                why: error.to_string(),
            });
            tokio::time::sleep(again.wait).await;
        }
    }
    .boxed()
}

impl<P: Protocol> Endpoint<P> {
    /// The body of the request, encoded once for all tries.
    fn prepare(
        &self,
        request: &Request,
        repairs: &mut Vec<String>,
    ) -> Result<Bytes, ProviderError> {
        let valid = validate(&request.messages)
            .map_err(|reason| ProviderError::InvalidRequest { reason })?;
        *repairs = valid.repairs;
        let body = self.protocol.encode(request, &valid.messages);
        body.map(Bytes::from)
            .map_err(|error| ProviderError::InvalidRequest {
                reason: error.to_string(),
            })
    }

    /// Sends the body and waits for the head of a good answer.
    async fn open(&self, body: Bytes) -> Result<Reading<P::Decoder>, ProviderError> {
        let response = self
            .client
            .post(self.url.clone())
            .headers(self.headers.clone())
            .header(CONTENT_TYPE, HeaderValue::from_static("application/json"))
            .body(body)
            .send()
            .await
            .map_err(|error| self.origin.unreachable(error))?;
        if !response.status().is_success() {
            return Err(self.refusal(response).await);
        }
        let kind = response
            .headers()
            .get(CONTENT_TYPE)
            .and_then(|kind| kind.to_str().ok())
            .map(str::to_ascii_lowercase)
            .unwrap_or_default();
        if kind.starts_with("text/html") {
            return Err(self.origin.fault(Fault::Malformed(
                "a web page instead of an answer; check the base url".to_owned(),
            )));
        }
        // What was asked for does not count: some servers stream, or do not, whatever is asked.
        let body = if kind.starts_with("application/json") {
            Body::Whole(Vec::new())
        } else {
            Body::Events(SseReader::default())
        };
        Ok(Reading {
            response,
            received: 0,
            body,
            decoder: self.protocol.decoder(),
        })
    }

    async fn refusal(&self, mut response: reqwest::Response) -> ProviderError {
        let mut body = Vec::new();
        // What cannot be read of the explanation does not change the status.
        while let Ok(Some(piece)) = response.chunk().await {
            let room = MAX_ERROR_BYTES - body.len();
            body.extend_from_slice(&piece[..piece.len().min(room)]);
            if body.len() == MAX_ERROR_BYTES {
                break;
            }
        }
        self.origin
            .status(response.status().as_u16(), response.headers(), &body)
    }
}

/// An answer that is being read.
struct Reading<D> {
    response: reqwest::Response,
    received: usize,
    body: Body,
    decoder: D,
}

enum Body {
    Events(SseReader),
    Whole(Vec<u8>),
    /// The connection has nothing more.
    Read,
}

impl<D: Decoder> Reading<D> {
    /// The next chunks, at least one; `None` when the answer is complete, or has just ended.
    async fn next(&mut self, origin: &Origin) -> Result<Option<Vec<Chunk>>, ProviderError> {
        let mut chunks = Vec::new();
        while chunks.is_empty() {
            if self.decoder.is_ended() || matches!(self.body, Body::Read) {
                return Ok(None);
            }
            match self.response.chunk().await {
                Ok(Some(piece)) => self.take(&piece, &mut chunks, origin)?,
                Ok(None) => self.end(&mut chunks, origin)?,
                // Nothing that matters is lost where the connection breaks behind the answer.
                Err(_) if self.decoder.is_complete() => self.body = Body::Read,
                Err(error) => return Err(origin.broken(error)),
            }
        }
        Ok(Some(chunks))
    }

    fn take(
        &mut self,
        piece: &[u8],
        chunks: &mut Vec<Chunk>,
        origin: &Origin,
    ) -> Result<(), ProviderError> {
        self.received += piece.len();
        if self.received > MAX_ANSWER_BYTES {
            return Err(origin.too_large("an answer", MAX_ANSWER_BYTES));
        }
        match &mut self.body {
            Body::Whole(body) => body.extend_from_slice(piece),
            Body::Events(reader) => {
                let mut events = Vec::new();
                let read = reader.push(piece, &mut events);
                for event in events {
                    self.decoder
                        .event(&event, chunks)
                        .map_err(|fault| origin.fault(fault))?;
                }
                read.map_err(|_| origin.too_large("one event of a stream", MAX_EVENT_BYTES))?;
            }
            Body::Read => {}
        }
        Ok(())
    }

    /// The connection has ended: what is left in hand counts as the last event.
    fn end(&mut self, chunks: &mut Vec<Chunk>, origin: &Origin) -> Result<(), ProviderError> {
        let fault = match std::mem::replace(&mut self.body, Body::Read) {
            Body::Whole(body) => {
                let body = String::from_utf8_lossy(&body);
                self.decoder.event(&body, chunks).err()
            }
            Body::Events(reader) => reader
                .finish()
                .and_then(|event| self.decoder.event(&event, chunks).err())
                .map(|fault| match fault {
                    // An event cut short by the end of the stream.
                    Fault::Malformed(_) => Fault::Incomplete,
                    fault => fault,
                }),
            Body::Read => None,
        };
        fault.map_or(Ok(()), |fault| Err(origin.fault(fault)))
    }
}
