//! Events as JSON lines, for programs.
//!
//! The JSON is that of serde; only characters that would drive a terminal are written as `\u`
//! escapes, which every parser reads back as the same text.

use super::{Renderer, escape};
use crate::protocol::Event;
use serde::Serialize;
use std::io::{self, Write};

/// Writes one event a line.
#[derive(Debug)]
pub struct JsonRenderer<W> {
    out: W,
}

impl<W: Write> JsonRenderer<W> {
    /// A renderer to `out`.
    pub const fn new(out: W) -> Self {
        JsonRenderer { out }
    }
}

impl<W: Write> Renderer for JsonRenderer<W> {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        write_json(&mut self.out, event)?;
        self.out.flush()
    }
}

/// Writes `value` as one line of JSON.
///
/// # Errors
/// That of the stream.
pub fn write_json<W: Write, T: Serialize>(out: &mut W, value: &T) -> io::Result<()> {
    // One write a line: a reader never sees half an event because two streams meet.
    let mut line = terminal_safe(&serde_json::to_string(value)?);
    line.push('\n');
    out.write_all(line.as_bytes())
}

/// Writes `value` as JSON for people: indented, over several lines.
///
/// # Errors
/// That of the stream.
pub fn write_json_pretty<W: Write, T: Serialize>(out: &mut W, value: &T) -> io::Result<()> {
    let mut text = terminal_safe(&serde_json::to_string_pretty(value)?);
    text.push('\n');
    out.write_all(text.as_bytes())
}

/// Replaces what would drive a terminal. In JSON text such a character can only be part of a
/// string, where an escape means the same; line feeds are layout, those of strings being escaped.
fn terminal_safe(json: &str) -> String {
    let mut safe = String::with_capacity(json.len() + 1);
    for c in json.chars() {
        if escape::is_unsafe(c) && c != '\n' {
            for unit in c.encode_utf16(&mut [0; 2]) {
                safe.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            safe.push(c);
        }
    }
    safe
}
