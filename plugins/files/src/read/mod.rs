//! read_file: shows a text file or an image.
//!
//! Owns the tool's arguments, the single pass over a file that shows, counts and hashes it at
//! once, and the notes around the text. It must never hold a whole text in memory.

mod ask;
mod decode;
mod image;
pub mod sniff;
mod window;

use crate::locate::{Place, locate};
use crate::seen::{Fingerprint, Fingerprinting, Record};
use ask::Ask;
use decode::Decoder;
use hotcell_sdk::{Answer, Call, Capability, Deserialize, JsonSchema, ReadPath, Tool, ToolError};
use image::Unfit;
use sniff::{Encoding, HEAD, ImageFormat, Kind, sniff};
use std::fs::File;
use std::io::{self, Read};
use window::{View, Window};

/// Bytes read at once.
const PIECE: usize = 64 * 1024;
/// Larger files are not read to their end: what is asked for is shown, and the file is not recorded
/// as read. A gibibyte takes some seconds to hash.
const MAX_WHOLE: u64 = 1 << 30;

/// Reads a file of the workspace: text with line numbers, or an image (PNG, JPEG, GIF, WebP).
///
/// Each line is shown as its number, a tab and the line; notes are in brackets and have no number.
/// Up to 2,000 lines and 50 KB are shown, and 2,000 characters of a line; where something is cut, a
/// note names the call that goes on. Reading a file, even a part, allows write_file to replace it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadFile {
    /// File to read, relative to the workspace.
    path: ReadPath,
    /// First line to show, from 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    offset: u64,
    /// How many lines to show at most. Default 2000.
    #[serde(default)]
    #[schemars(with = "u64", range(min = 1))]
    limit: Option<u64>,
    /// First character to show of the first line, from 1: to go on within a very long line.
    #[serde(default)]
    #[schemars(with = "u64", range(min = 1))]
    column: Option<u64>,
}

const fn one() -> u64 {
    1
}

impl Tool for ReadFile {
    const NAME: &'static str = "read_file";
    const REQUIRES: &'static [Capability] = &[Capability::WorkspaceRead];
    const ACCEPTS: &'static [Capability] = &[Capability::SessionState];

    fn run(self, call: &Call<'_>) -> Result<Answer, ToolError> {
        if self.offset == 0 || self.limit == Some(0) || self.column == Some(0) {
            return Err(ToolError::invalid_arguments(
                "`offset`, `limit` and `column` count from 1",
            ));
        }
        let place = locate(call, self.path.as_str())?;
        let size = place.file(call)?.len();
        let failed = |error: io::Error| ToolError::io(&place.shown, &error);
        let mut file = File::open(&place.path).map_err(failed)?;
        let mut head = Vec::with_capacity(HEAD);
        // To its size and no further: to find the end would be one more call into the host. Some
        // file systems say 0 for a file that has content.
        let first = if size == 0 {
            HEAD as u64
        } else {
            size.min(HEAD as u64)
        };
        Read::by_ref(&mut file)
            .take(first)
            .read_to_end(&mut head)
            .map_err(failed)?;
        match sniff(&head) {
            Kind::Text(encoding) => self.text(call, &place, file, &head, encoding, size),
            Kind::Image(format) => show_image(call, &place, file, head, format, size),
            Kind::Binary(name) => Err(ToolError::failed(format!(
                "`{}` is not text but {name}, {size} bytes; read_file shows text and images",
                place.shown
            ))),
        }
    }
}

impl ReadFile {
    fn text(
        self,
        call: &Call<'_>,
        place: &Place,
        file: File,
        head: &[u8],
        encoding: Encoding,
        size: u64,
    ) -> Result<Answer, ToolError> {
        let shown = &place.shown;
        let ask = Ask {
            path: self.path.as_str().to_owned(),
            offset: self.offset,
            limit: self.limit,
            column: self.column,
        };
        let record = Record::of(call, shown);
        let print = record.fingerprinting();
        let pass = Pass::over(file, head, encoding, ask, print, size <= MAX_WHOLE)
            .map_err(|error| ToolError::io(shown, &error))?;
        let view = &pass.view;
        if let Some(length) = view.column_past {
            return Err(ToolError::invalid_arguments(format!(
                "line {} of `{shown}` has {length} characters; column {} is past its end",
                self.offset,
                self.column.unwrap_or(1)
            )));
        }
        if view.shown == 0 && self.offset > view.lines.max(1) {
            return Err(ToolError::invalid_arguments(format!(
                "`{shown}` has {} lines; offset {} is past its end",
                view.lines, self.offset
            )));
        }
        let mut answer = if view.shown == 0 {
            format!("[`{shown}` is empty]\n")
        } else {
            String::new()
        };
        let notes = pass.notes(encoding);
        answer.push_str(&pass.view.text);
        for note in notes {
            answer.push_str(&note);
            answer.push('\n');
        }
        match pass.print {
            Some(print) => {
                if let Some(note) = record.remember(call, print) {
                    answer.push_str(&note);
                    answer.push('\n');
                }
            }
            None => answer.push_str(
                "[the file is over 1 GiB and does not count as read: write_file will refuse to replace it]\n",
            ),
        }
        Ok(answer.into())
    }
}

/// One pass over a text.
struct Pass {
    view: View,
    invalid: bool,
    /// None when the file was not read to its end.
    print: Option<Fingerprint>,
}

impl Pass {
    fn over(
        mut file: File,
        head: &[u8],
        encoding: Encoding,
        ask: Ask,
        mut print: Fingerprinting,
        whole: bool,
    ) -> io::Result<Pass> {
        let mut window = Window::new(ask);
        let mut decoder = Decoder::new(encoding);
        print.push(head);
        decoder.push(&head[encoding.bom_len()..], &mut |text| window.push(text));
        if head.len() == HEAD {
            let mut piece = vec![0; PIECE];
            loop {
                if !whole && window.is_full() {
                    return Ok(Pass {
                        view: window.break_off(),
                        invalid: decoder.saw_invalid(),
                        print: None,
                    });
                }
                let count = file.read(&mut piece)?;
                if count == 0 {
                    break;
                }
                print.push(&piece[..count]);
                decoder.push(&piece[..count], &mut |text| window.push(text));
            }
        }
        decoder.finish(&mut |text| window.push(text));
        Ok(Pass {
            view: window.finish(),
            invalid: decoder.saw_invalid(),
            print: Some(print.finish()),
        })
    }

    /// What is not visible in the lines.
    fn notes(&self, encoding: Encoding) -> Vec<String> {
        let mut notes = Vec::new();
        let utf8 = matches!(encoding, Encoding::Utf8 { .. });
        if !utf8 {
            notes.push(format!(
                "[the file is {}, shown as UTF-8; edit_file refuses it]",
                encoding.name()
            ));
        } else if encoding.bom_len() > 0 {
            notes.push(
                "[the file starts with a byte order mark, which edit_file and write_file keep]"
                    .into(),
            );
        }
        if self.invalid {
            notes.push(format!(
                "[the file is not valid {}: bad bytes are shown as \u{FFFD}; edit_file refuses it]",
                encoding.name()
            ));
        }
        match self.view.endings.name() {
            Some("LF") | None => {}
            Some(name) => notes.push(format!("[line endings: {name}; edit_file keeps them]")),
        }
        if self.view.endings.unfinished && self.print.is_some() {
            notes.push("[no newline at the end of the file]".into());
        }
        notes
    }
}

fn show_image(
    call: &Call<'_>,
    place: &Place,
    file: File,
    head: Vec<u8>,
    format: ImageFormat,
    size: u64,
) -> Result<Answer, ToolError> {
    let shown = &place.shown;
    let media_type = format.media_type();
    let too_large = |size: u64| {
        ToolError::failed(format!(
            "`{shown}` is {media_type} of {size} bytes; models take up to {} (5 MiB in base64): make it \
             smaller first",
            image::MAX_BYTES
        ))
    };
    if size > image::MAX_BYTES {
        return Err(too_large(size));
    }
    let mut bytes = head;
    // One byte more than allowed: the file may have grown since its size was asked.
    file.take(image::MAX_BYTES + 1 - bytes.len() as u64)
        .read_to_end(&mut bytes)
        .map_err(|error| ToolError::io(shown, &error))?;
    if bytes.len() as u64 > image::MAX_BYTES {
        return Err(too_large(bytes.len() as u64));
    }
    let size = match image::check(format, &bytes) {
        Ok(size) => size,
        Err(Unfit::Damaged) => {
            return Err(ToolError::failed(format!(
                "`{shown}` starts like {media_type} but is damaged or cut off ({} bytes), and a model \
                 would refuse it",
                bytes.len()
            )));
        }
        Err(Unfit::Side(size)) => {
            return Err(ToolError::failed(format!(
                "`{shown}` is {media_type} of {} x {} pixels; models take 1 to {} a side",
                size.width,
                size.height,
                image::MAX_SIDE
            )));
        }
    };
    let record = Record::of(call, shown);
    let print = record.fingerprint(&bytes);
    let note = record.remember(call, print);
    let mut text = format!(
        "[`{shown}`: {media_type}, {} x {} pixels, {} bytes]",
        size.width,
        size.height,
        bytes.len()
    );
    if let Some(note) = note {
        text.push('\n');
        text.push_str(&note);
    }
    Ok(Answer::text(text).and_image(media_type, bytes))
}
