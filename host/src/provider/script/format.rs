//! The format of a script.
//!
//! Owns the keys, their meaning and what is refused when a script is read. `docs/script.md`
//! describes the same for people.

use super::super::StopReason;
use crate::protocol::{ToolErrorKind, Usage};
use serde::Deserialize;
use serde::de::{self, Deserializer, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::fmt;
use std::num::NonZeroUsize;

/// A whole script.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Script {
    /// One a request, in order.
    pub(super) turns: Vec<Turn>,
}

/// What is demanded of one request, and the answer to it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[derive(Default)]
pub(super) struct Turn {
    pub(super) expect: Expect,
    pub(super) thinking: Option<String>,
    pub(super) text: Option<String>,
    pub(super) calls: Vec<Call>,
    pub(super) usage: Option<Tokens>,
    pub(super) stop: Option<Stop>,
    /// Characters a piece when the answer is streamed; words when not given.
    pub(super) chunk: Option<NonZeroUsize>,
    /// The answer ends in this error, behind its text.
    pub(super) error: Option<Fault>,
    /// The answer never ends, behind its text.
    pub(super) hang: bool,
}

/// Demands on a request; all of them must be met.
#[derive(Debug, Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Expect {
    /// Parts of the last text that the user said.
    pub(super) user_contains: Texts,
    /// Parts of the system prompt.
    pub(super) system_contains: Texts,
    /// Tools that are offered, perhaps with others.
    pub(super) tools: Vec<String>,
    /// Tools that are not offered.
    pub(super) tools_absent: Vec<String>,
    /// Whether any tool is offered at all.
    pub(super) any_tools: Option<bool>,
    /// How many messages the conversation has.
    pub(super) messages: Option<usize>,
    /// Results that are in the conversation.
    pub(super) results: Vec<ExpectResult>,
}

/// Demands on the result of one call.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ExpectResult {
    /// The id of the call.
    pub(super) call: String,
    #[serde(default)]
    pub(super) contains: Texts,
    #[serde(default)]
    pub(super) lacks: Texts,
    pub(super) is_error: Option<bool>,
    pub(super) error: Option<ToolErrorKind>,
}

/// One text or a list of them.
#[derive(Debug, Default)]
pub(super) struct Texts(pub(super) Vec<String>);

impl<'de> Deserialize<'de> for Texts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // By hand, because an untagged enum cannot say what was wrong.
        struct Visit;

        impl<'de> Visitor<'de> for Visit {
            type Value = Texts;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text or a list of texts; put quotes around numbers")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Texts, E> {
                Ok(Texts(vec![text.to_owned()]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut texts: A) -> Result<Texts, A::Error> {
                let mut all = Vec::new();
                while let Some(text) = texts.next_element()? {
                    all.push(text);
                }
                Ok(Texts(all))
            }
        }

        deserializer.deserialize_any(Visit)
    }
}

/// A call of a tool.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Call {
    pub(super) name: String,
    /// `call_<turn>_<place>`, both from 1, when not given.
    pub(super) id: Option<String>,
    pub(super) arguments: Option<Map<String, Value>>,
    /// Arguments as a model may garble them, sent as they are.
    pub(super) raw_arguments: Option<String>,
}

impl Call {
    pub(super) fn arguments_text(&self) -> String {
        match (&self.raw_arguments, &self.arguments) {
            (Some(raw), _) => raw.clone(),
            (None, Some(arguments)) => Value::Object(arguments.clone()).to_string(),
            (None, None) => String::new(),
        }
    }
}

/// Token counts.
#[derive(Debug, Clone, Copy, Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Tokens {
    input_tokens: u64,
    output_tokens: u64,
    cache_read_tokens: u64,
    cache_write_tokens: u64,
}

impl From<Tokens> for Usage {
    fn from(tokens: Tokens) -> Self {
        Usage {
            input_tokens: tokens.input_tokens,
            output_tokens: tokens.output_tokens,
            cache_read_tokens: tokens.cache_read_tokens,
            cache_write_tokens: tokens.cache_write_tokens,
        }
    }
}

/// Why the model stops.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Stop {
    EndTurn,
    ToolCalls,
    MaxTokens,
    Refused,
}

impl From<Stop> for StopReason {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::EndTurn => StopReason::EndTurn,
            Stop::ToolCalls => StopReason::ToolCalls,
            Stop::MaxTokens => StopReason::MaxTokens,
            Stop::Refused => StopReason::Refused,
        }
    }
}

/// How a request fails.
#[derive(Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Fault {
    Connect {
        message: Option<String>,
    },
    Broken {
        message: Option<String>,
    },
    RateLimited {
        message: Option<String>,
        wait_seconds: Option<u32>,
    },
    Server {
        message: Option<String>,
        #[serde(default = "server_status")]
        status: u16,
    },
    Rejected {
        message: Option<String>,
        #[serde(default = "rejected_status")]
        status: u16,
    },
    Malformed {
        message: Option<String>,
    },
}

const fn server_status() -> u16 {
    500
}

const fn rejected_status() -> u16 {
    400
}

impl Fault {
    pub(super) fn message(&self) -> &str {
        let (Fault::Connect { message }
        | Fault::Broken { message }
        | Fault::RateLimited { message, .. }
        | Fault::Server { message, .. }
        | Fault::Rejected { message, .. }
        | Fault::Malformed { message }) = self;
        message.as_deref().unwrap_or("the script says so")
    }
}

impl Script {
    /// Reads YAML, of which JSON is a part.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let options = serde_saphyr::options! {
            // As YAML 1.2 and JSON have it: `y` and `no` are texts.
            strict_booleans: true,
            // A message is one line.
            with_snippet: false,
        };
        let script: Script = serde_saphyr::from_str_with_options(text, options)
            .map_err(|error| one_line(&error.to_string()))?;
        if script.turns.is_empty() {
            return Err("it has no turns".to_owned());
        }
        for (at, turn) in script.turns.iter().enumerate() {
            turn.check()
                .map_err(|fault| format!("turn {}: {fault}", at + 1))?;
        }
        Ok(script)
    }
}

/// The parser may say more than one thing, each on a line.
fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ")
}

impl Turn {
    /// What the types do not say.
    fn check(&self) -> Result<(), &'static str> {
        let ends_badly = self.error.is_some() || self.hang;
        if self.error.is_some() && self.hang {
            return Err("it cannot both hang and end in an error");
        }
        if ends_badly && (!self.calls.is_empty() || self.usage.is_some() || self.stop.is_some()) {
            return Err(
                "calls, usage and stop come with the end of an answer, and this one has none",
            );
        }
        for call in &self.calls {
            if call.name.trim().is_empty() {
                return Err("a call has no name");
            }
            if call.arguments.is_some() && call.raw_arguments.is_some() {
                return Err("a call has either `arguments` or `raw_arguments`");
            }
        }
        Ok(())
    }
}
