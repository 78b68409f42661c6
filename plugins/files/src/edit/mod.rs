//! edit_file: replaces exact text in a file.
//!
//! Owns the tool's arguments and the order of its checks; the parts that decide are beside it. It
//! must never write a byte before every edit of the call is known to apply.

mod apply;
mod diff;
mod ladder;
mod lines;
mod nearest;
mod splice;

use crate::locate::locate;
use crate::read::sniff::{Encoding, Kind, UTF8_BOM, sniff};
use crate::save::{self, Replaced};
use crate::seen::{Record, Seen};
use hotcell_sdk::{Answer, Call, Capability, Deserialize, JsonSchema, Tool, ToolError, WritePath};
use std::fs;

/// Bytes of a file that is edited. Matching and the diff keep several copies in memory.
const MAX_BYTES: u64 = 16 << 20;

/// Replaces text in a file. Several edits of one file go in one call: they are made in order, each
/// on the result of the one before, and all of them or none.
///
/// `old` must be in the file exactly once, unless `replace_all` is set; give as many lines around
/// the change as that takes, with the file's own indentation and without the line numbers that
/// read_file shows. Differences in line endings, in blanks at line ends and in the indentation of
/// the whole block are bridged, nothing else. `new` is taken literally. Line endings, byte order
/// mark and everything outside the match stay as they are. Answers with a diff. Read the file
/// before; if it has changed since, the edit is refused.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EditFile {
    /// File to edit, relative to the workspace.
    path: WritePath,
    /// The edits, in order.
    #[serde(default)]
    #[schemars(skip_serializing_if = "Vec::is_empty")]
    edits: Vec<Edit>,
    /// Instead of `edits`, for a single edit: text to replace.
    #[serde(default)]
    #[schemars(with = "String")]
    old: Option<String>,
    /// With `old`: text to put in its place.
    #[serde(default)]
    #[schemars(with = "String")]
    new: Option<String>,
    /// With `old`: replace every match instead of the only one.
    #[serde(default)]
    #[schemars(with = "bool")]
    replace_all: Option<bool>,
}

/// One replacement.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Edit {
    /// Text to replace.
    old: String,
    /// Text to put in its place.
    new: String,
    /// Replace every match instead of the only one.
    #[serde(default)]
    replace_all: bool,
}

impl Tool for EditFile {
    const NAME: &'static str = "edit_file";
    const REQUIRES: &'static [Capability] =
        &[Capability::WorkspaceRead, Capability::WorkspaceWrite];
    const ACCEPTS: &'static [Capability] = &[Capability::SessionState];

    fn run(self, call: &Call<'_>) -> Result<Answer, ToolError> {
        let place = locate(call, self.path.as_str())?;
        let edits = self.edits()?;
        let shown = &place.shown;
        let size = place.file(call)?.len();
        if size > MAX_BYTES {
            return Err(ToolError::failed(format!(
                "`{shown}` has {size} bytes; edit_file takes up to {MAX_BYTES}; a stream editor such as \
                 `sed` in bash can change larger files"
            )));
        }
        let record = Record::of(call, shown);
        let bytes = fs::read(&place.path).map_err(|error| ToolError::io(shown, &error))?;
        if let Seen::As(print) = record.seen()?
            && print != record.fingerprint(&bytes)
        {
            return Err(ToolError::conflict(format!(
                "`{shown}` has changed since it was last read or written in this session; read it \
                 again with read_file, then edit what is there now"
            )));
        }
        let (mark, text) = text_of(&bytes, shown)?;
        let applied = apply::apply(text, shown, &edits)?;
        // Before the file is touched: a call that runs out of memory or time must not have written.
        let diff = diff::unified(shown, text, &applied.body);
        let content = [mark, applied.body.as_bytes()].concat();
        let saved = save::replace(&place.path, &content, call.call_id())
            .map_err(|error| error.explain(shown))?;

        let mut notes = applied.notes;
        let print = record.fingerprint(&content);
        notes.extend(record.remember(call, print));
        notes.extend((saved == Replaced::ModeLost).then(|| save::MODE_LOST.to_owned()));
        let places = match applied.places {
            1 => "1 place".to_owned(),
            many => format!("{many} places"),
        };
        let mut answer = format!("edited `{shown}` in {places}\n");
        for note in notes {
            answer.push_str(&note);
            answer.push('\n');
        }
        answer.push_str(&diff);
        Ok(answer.into())
    }
}

impl EditFile {
    fn edits(self) -> Result<Vec<Edit>, ToolError> {
        let flat = match (self.old, self.new) {
            (None, None) if self.replace_all.is_none() => None,
            (Some(old), Some(new)) => Some(Edit {
                old,
                new,
                replace_all: self.replace_all.unwrap_or_default(),
            }),
            _ => {
                return Err(ToolError::invalid_arguments(
                    "a single edit takes both `old` and `new`",
                ));
            }
        };
        match flat {
            Some(_) if !self.edits.is_empty() => Err(ToolError::invalid_arguments(
                "give either `edits` or a single `old` and `new`, not both",
            )),
            Some(edit) => Ok(vec![edit]),
            None if self.edits.is_empty() => Err(ToolError::invalid_arguments(
                "no edit given: name `old` and `new`, or a list of them in `edits`",
            )),
            None => Ok(self.edits),
        }
    }
}

/// Parts a file into its byte order mark and its text.
fn text_of<'file>(bytes: &'file [u8], shown: &str) -> Result<(&'file [u8], &'file str), ToolError> {
    let refused = |what: &str| {
        ToolError::failed(format!(
            "`{shown}` is {what}, and edit_file only edits UTF-8 text; it is unchanged"
        ))
    };
    match sniff(bytes) {
        Kind::Text(encoding @ (Encoding::Utf16Le { .. } | Encoding::Utf16Be { .. })) => {
            return Err(refused(encoding.name()));
        }
        Kind::Image(format) => return Err(refused(format.media_type())),
        Kind::Text(Encoding::Utf8 { .. }) | Kind::Binary(_) => {}
    }
    let mark = if bytes.starts_with(UTF8_BOM) {
        UTF8_BOM.len()
    } else {
        0
    };
    let (mark, text) = bytes.split_at(mark);
    match std::str::from_utf8(text) {
        Ok(text) => Ok((mark, text)),
        Err(error) => {
            let line = memchr::memchr_iter(b'\n', &text[..error.valid_up_to()]).count() + 1;
            Err(refused(&format!("not valid UTF-8 (first at line {line})")))
        }
    }
}
