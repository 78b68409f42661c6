//! How many tokens a text is likely to be.
//!
//! Owns a rule of thumb, cheap enough for every message: four characters a token, as English
//! prose and code come out near that with the tokenizers in use. It exists so that a request can
//! be sized before it is sent. It must never be taken for what a vendor bills.

use crate::protocol::{ContentBlock, Message, ResultContent, ToolResult};
use std::io;

/// Characters that make a token, about.
const CHARS_PER_TOKEN: u64 = 4;

/// Tokens around each message and block: role, separators, ids.
const OVERHEAD: u64 = 4;

/// Tokens of one picture. Vendors scale pictures down to about 1.15 megapixels, which they count
/// as some 1,500 tokens.
const IMAGE: u64 = 1_500;

/// The estimated tokens of a text, rounded up.
pub fn estimate_text(text: &str) -> u64 {
    tokens(text.chars().count())
}

/// The estimated tokens of a message with all its blocks.
pub fn estimate_message(message: &Message) -> u64 {
    OVERHEAD + message.content.iter().map(estimate_block).sum::<u64>()
}

pub(super) fn estimate_block(block: &ContentBlock) -> u64 {
    match block {
        ContentBlock::Text { text } => estimate_text(text),
        ContentBlock::Thinking {
            text,
            signature,
            redacted,
        } => {
            let sealed = signature.as_deref().or(redacted.as_deref()).unwrap_or("");
            OVERHEAD + estimate_text(text) + estimate_text(sealed)
        }
        ContentBlock::ToolCall(call) => {
            let arguments = call
                .malformed
                .as_deref()
                .map_or_else(|| json_length(&call.arguments), |text| text.chars().count());
            OVERHEAD + estimate_text(&call.name) + tokens(arguments)
        }
        ContentBlock::ToolResult(result) => OVERHEAD + result_content(result),
        ContentBlock::Image(_) => IMAGE,
    }
}

fn result_content(result: &ToolResult) -> u64 {
    result
        .content
        .iter()
        .map(|part| match part {
            ResultContent::Text { text } => estimate_text(text),
            ResultContent::Image(_) => IMAGE,
        })
        .sum()
}

/// The length of a value as JSON text, in bytes, without building the text.
fn json_length(value: &serde_json::Value) -> usize {
    struct Counter(usize);
    impl io::Write for Counter {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut counter = Counter(0);
    match serde_json::to_writer(&mut counter, value) {
        Ok(()) => counter.0,
        // Neither a `Value` nor the counter can fail.
        Err(_) => 0,
    }
}

fn tokens(chars: usize) -> u64 {
    u64::try_from(chars)
        .unwrap_or(u64::MAX)
        .div_ceil(CHARS_PER_TOKEN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::ToolCall;

    #[test]
    fn a_text_is_counted_by_characters_and_not_by_bytes() {
        for (text, expected) in [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("ääää", 1)] {
            assert_eq!(estimate_text(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_call_counts_its_name_and_its_arguments() {
        let call = |malformed: Option<&str>| {
            estimate_message(&Message::assistant(vec![ContentBlock::ToolCall(
                ToolCall {
                    id: "1".into(),
                    name: "read".into(),
                    arguments: serde_json::json!({"path": "a"}),
                    malformed: malformed.map(Into::into),
                },
            )]))
        };
        assert_eq!(call(None), 4 + 4 + 1 + 3);
        assert_eq!(call(Some("{\"path\": ")), 4 + 4 + 1 + 3);
    }
}
