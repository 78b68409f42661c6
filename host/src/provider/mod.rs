//! Asks a model: one request in, one stream of chunks out.
//!
//! Owns the [`Provider`] trait, what a request and an answer are, and the table of providers. A
//! provider repairs the request, encodes it for its vendor, retries, and hands the answer on as it
//! comes. Each vendor's JSON stays in that vendor's own module. This layer must never know a tool
//! runs, what an event is, or who reads the text.

mod accumulate;
mod errors;
mod scrub;
mod sse;
mod validate;

pub use errors::{ProviderError, ProviderSetupError};

use crate::protocol::{ContentBlock, Message, ToolDefinition, Usage};
use futures::stream::BoxStream;
use std::sync::Arc;
use std::time::Duration;

/// The answer to a request, piece by piece. Dropping it ends the request, whatever state it is in.
///
/// It is [`Chunk`]s in any number and then either exactly one [`Chunk::Completed`] or exactly one
/// error; nothing follows either.
pub type ChunkStream = BoxStream<'static, Result<Chunk, ProviderError>>;

/// A model behind some API.
pub trait Provider: Send + Sync {
    /// The name in the provider table, such as `anthropic`.
    fn name(&self) -> &str;

    /// Sends one request. Nothing happens before the stream is polled.
    fn send(&self, request: Request) -> ChunkStream;
}

/// One request to a model, free of any vendor's form.
#[derive(Debug, Clone)]
pub struct Request {
    /// The vendor's model name.
    pub model: String,
    /// The system prompt; blank for none.
    pub system: String,
    /// The conversation, oldest first. It should end with a user message; what a vendor would
    /// reject is repaired before it is sent, on a copy, and each repair is told by
    /// [`Chunk::Repaired`]. Shared, not copied: a provider lets go of it before the last chunk.
    pub messages: Arc<Vec<Message>>,
    /// The tools the model may call, in the order they are offered; empty for none.
    pub tools: Arc<[ToolDefinition]>,
    /// The most tokens the answer may have.
    pub max_output_tokens: u32,
    /// Whether the vendor is asked to stream. The chunks are of the same kinds either way.
    pub stream: bool,
}

/// A piece of an answer, or news about it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Chunk {
    /// A piece of the text. Never empty.
    Text(String),
    /// A piece of the thinking. Never empty.
    Thinking(String),
    /// The vendor's token counts of this request. Comes once, before [`Chunk::Completed`].
    Usage(Usage),
    /// The request was not valid and was repaired: one line for people.
    Repaired(String),
    /// A try failed and another follows after a wait. No text or thinking came before it.
    Retrying {
        /// The number of the try that follows; the first retry is 2.
        attempt: u32,
        /// How long the provider waits before it.
        wait: Duration,
        /// Why the last try failed: one line for people.
        why: String,
    },
    /// The whole answer. Always the last chunk.
    Completed(Response),
}

/// A whole answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Response {
    /// Thinking, text and calls in the order they are to be kept and replayed. It holds no blank
    /// text; it is empty when the model said nothing. The ids of its calls are unique in the
    /// conversation that was sent.
    pub content: Vec<ContentBlock>,
    /// The vendor's token counts; zero where the vendor gave none.
    pub usage: Usage,
    /// Why the model stopped.
    pub stop: StopReason,
}

/// Why a model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StopReason {
    /// It had nothing more to say.
    EndTurn,
    /// It waits for the results of its calls.
    ToolCalls,
    /// The answer reached its token limit: text is cut, and the last call may be malformed.
    MaxTokens,
    /// The vendor or the model refused to go on.
    Refused,
    /// A reason this version has no word for.
    Other,
}
