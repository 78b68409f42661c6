//! Which part of a text a call wants, and the call that wants the part after it.
//!
//! Owns the words in which a cut is continued: a model copies them as they are, so they must be
//! the tool's own arguments. It must never know what is in the text.

use serde_json::json;

/// What a call asked for.
#[derive(Debug, Clone)]
pub struct Ask {
    /// The path as the next call must name it.
    pub path: String,
    /// The first line, from 1.
    pub offset: u64,
    /// How many lines at most; none: [`DEFAULT_LINES`](super::window::DEFAULT_LINES).
    pub limit: Option<u64>,
    /// The first character of the first line, from 1. When it is given, that line is shown up to
    /// [`TOTAL_BYTES`](super::window::TOTAL_BYTES) and not cut at [`LINE_CHARS`](super::window::LINE_CHARS).
    pub column: Option<u64>,
}

impl Ask {
    /// The arguments of the call that goes on at a line and a column, as the model writes them.
    pub fn at(&self, line: u64, column: u64) -> String {
        let mut arguments = json!({ "path": self.path, "offset": line });
        if column > 1 {
            arguments["column"] = column.into();
        }
        if let Some(limit) = self.limit {
            arguments["limit"] = limit.into();
        }
        format!("read_file {arguments}")
    }
}
