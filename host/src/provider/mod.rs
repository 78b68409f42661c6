//! Asks a model: one request in, one stream of chunks out.
//!
//! Owns the [`Provider`] trait, what a request and an answer are, and the table of providers. A
//! provider repairs the request, encodes it for its vendor, retries, and hands the answer on as it
//! comes. Each vendor's JSON stays in that vendor's own module. This layer must never know a tool
//! runs, what an event is, or who reads the text.

mod accumulate;
mod anthropic;
mod encode;
mod errors;
mod exchange;
mod failure;
mod http;
mod openai;
mod retry;
mod script;
mod scrub;
mod sse;
mod validate;

pub use errors::{ProviderError, ProviderSetupError};
pub use retry::{Budget, RetrySettings};
pub use script::ScriptProvider;

use crate::config::ProviderConfig;
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

impl Response {
    /// The most tokens that are believed, so that sums of counts cannot overflow.
    const MOST_TOKENS: u64 = 1 << 40;

    /// An answer without what could not be replayed: blank text, thinking that says nothing, and
    /// thinking that nothing follows. Whether the model waits for calls is taken from the calls:
    /// some servers say `stop` to calls, and some say `tool_calls` to none.
    fn new(mut content: Vec<ContentBlock>, usage: Usage, stop: StopReason) -> Self {
        content.retain(|block| match block {
            ContentBlock::Thinking {
                text,
                signature,
                redacted,
            } => {
                let is_sealed = redacted.is_some()
                    || signature
                        .as_ref()
                        .is_some_and(|seal| !seal.starts_with(encode::FIELD_SEAL));
                is_sealed || !text.trim().is_empty()
            }
            block => !block.is_blank_text(),
        });
        while matches!(content.last(), Some(ContentBlock::Thinking { .. })) {
            content.pop();
        }
        let mut blocks = content.iter();
        let has_calls = blocks.any(|block| matches!(block, ContentBlock::ToolCall(_)));
        let stop = match stop {
            StopReason::MaxTokens | StopReason::Refused => stop,
            _ if has_calls => StopReason::ToolCalls,
            StopReason::ToolCalls => StopReason::EndTurn,
            StopReason::EndTurn | StopReason::Other => stop,
        };
        let believed = |tokens: u64| tokens.min(Self::MOST_TOKENS);
        Response {
            content,
            usage: Usage {
                input_tokens: believed(usage.input_tokens),
                output_tokens: believed(usage.output_tokens),
                cache_read_tokens: believed(usage.cache_read_tokens),
                cache_write_tokens: believed(usage.cache_write_tokens),
            },
            stop,
        }
    }
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

type Connect = fn(&ProviderConfig, RetrySettings) -> Result<Arc<dyn Provider>, ProviderSetupError>;

/// A line of the provider table.
#[derive(Debug, Clone, Copy)]
pub struct ProviderEntry {
    /// The name by which it is chosen.
    pub name: &'static str,
    /// Where the vendor's own API is; `None` when nothing is sent anywhere.
    pub base_url: Option<&'static str>,
    /// The environment variable that usually holds the key; `None` when there is no key.
    pub key_variable: Option<&'static str>,
    connect: Connect,
}

/// Every provider there is.
pub const PROVIDERS: [ProviderEntry; 3] = [
    ProviderEntry {
        name: openai::NAME,
        base_url: Some(openai::BASE_URL),
        key_variable: Some(openai::KEY_VARIABLE),
        connect: openai::connect,
    },
    ProviderEntry {
        name: anthropic::NAME,
        base_url: Some(anthropic::BASE_URL),
        key_variable: Some(anthropic::KEY_VARIABLE),
        connect: anthropic::connect,
    },
    ProviderEntry {
        name: script::NAME,
        base_url: None,
        key_variable: None,
        connect: script::connect,
    },
];

/// The line of the table with this name.
pub fn find(name: &str) -> Option<&'static ProviderEntry> {
    const { &PROVIDERS }.iter().find(|entry| entry.name == name)
}

/// Sets up the provider that `config` names. Nothing is sent.
///
/// # Errors
/// When the name is not in the table, or its settings cannot be used.
pub fn connect(config: &ProviderConfig) -> Result<Arc<dyn Provider>, ProviderSetupError> {
    connect_with(config, RetrySettings::default())
}

/// [`connect`] with other budgets for retries.
///
/// # Errors
/// As [`connect`].
pub fn connect_with(
    config: &ProviderConfig,
    retry: RetrySettings,
) -> Result<Arc<dyn Provider>, ProviderSetupError> {
    match find(&config.name) {
        Some(entry) => (entry.connect)(config, retry),
        None => Err(ProviderSetupError::Unknown {
            name: config.name.clone(),
            nearest: nearest(&config.name),
            known: PROVIDERS.map(|entry| entry.name).join(", "),
        }),
    }
}

/// The name in the table that was probably meant.
fn nearest(name: &str) -> Option<String> {
    PROVIDERS
        .iter()
        .map(|entry| (strsim::damerau_levenshtein(name, entry.name), entry.name))
        .min()
        .filter(|(distance, nearest)| *distance <= nearest.len() / 3)
        .map(|(_, nearest)| nearest.to_owned())
}
