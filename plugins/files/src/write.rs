//! write_file: makes a file or replaces all of it.
//!
//! Owns the rule that what the session has not read is not overwritten, and what is kept of the
//! old file: its byte order mark and its mode. It must never look at the content beyond that.

use crate::endings::Endings;
use crate::locate::{Found, Place, locate};
use crate::read::sniff::UTF8_BOM;
use crate::save::{self, Replaced};
use crate::seen::{Fingerprint, Record, Seen};
use hotcell_sdk::{Answer, Call, Capability, Deserialize, JsonSchema, Tool, ToolError, WritePath};
use std::fs::{self, File};
use std::io::{self, Read};

/// Bytes read at once.
const PIECE: usize = 64 * 1024;

/// Makes a file with exactly this content, or replaces the whole content of one. Directories on the
/// way are made. A file that exists must have been read in this session and not have changed since;
/// to change a part of it edit_file is better.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WriteFile {
    /// File to write, relative to the workspace.
    path: WritePath,
    /// All of the new content.
    content: String,
}

impl Tool for WriteFile {
    const NAME: &'static str = "write_file";
    const REQUIRES: &'static [Capability] =
        &[Capability::WorkspaceRead, Capability::WorkspaceWrite];
    // Without it nothing is known to have been read, so only new files are written.
    const ACCEPTS: &'static [Capability] = &[Capability::SessionState];

    fn run(self, call: &Call<'_>) -> Result<Answer, ToolError> {
        let place = locate(call, self.path.as_str())?;
        match place.found {
            Found::Nothing => self.create(call, &place),
            Found::File(_) => self.replace(call, &place),
        }
    }
}

impl WriteFile {
    fn create(self, call: &Call<'_>, place: &Place) -> Result<Answer, ToolError> {
        let shown = &place.shown;
        if let Some(parent) = place.path.parent() {
            fs::create_dir_all(parent).map_err(|error| ToolError::io(shown, &error))?;
        }
        let content = self.content.as_bytes();
        save::create(&place.path, content, call.call_id()).map_err(|error| error.explain(shown))?;
        let mut answer = format!("created `{shown}` ({} bytes)", content.len());
        let record = Record::of(call, shown);
        let print = record.fingerprint(content);
        if let Some(note) = record.remember(call, print) {
            answer.push('\n');
            answer.push_str(&note);
        }
        Ok(answer.into())
    }

    fn replace(self, call: &Call<'_>, place: &Place) -> Result<Answer, ToolError> {
        let shown = &place.shown;
        let record = Record::of(call, shown);
        let seen = may_overwrite(record.seen()?, shown)?;
        let old = Old::read(place, &record).map_err(|error| ToolError::io(shown, &error))?;
        if old.print != seen {
            return Err(ToolError::conflict(format!(
                "`{shown}` has changed since it was last read or written in this session; read it \
                 again with read_file, then write"
            )));
        }
        let mut notes = Vec::new();
        let mut content = self.content.into_bytes();
        if old.mark && !content.starts_with(UTF8_BOM) {
            content.splice(0..0, UTF8_BOM.iter().copied());
            notes.push("[the byte order mark of the file was kept]".to_owned());
        }
        notes.extend(endings_note(old.endings, Endings::of(&content)));
        let saved = save::replace(&place.path, &content, call.call_id())
            .map_err(|error| error.explain(shown))?;
        notes.extend((saved == Replaced::ModeLost).then(|| save::MODE_LOST.to_owned()));
        let print = record.fingerprint(&content);
        notes.extend(record.remember(call, print));

        let mut answer = format!(
            "replaced `{shown}` ({} bytes, before {})",
            content.len(),
            old.size
        );
        for note in notes {
            answer.push('\n');
            answer.push_str(&note);
        }
        Ok(answer.into())
    }
}

/// The content that the file must still have, or why it is not overwritten.
fn may_overwrite(seen: Seen, shown: &str) -> Result<Fingerprint, ToolError> {
    match seen {
        Seen::As(print) => Ok(print),
        Seen::Never => Err(ToolError::conflict(format!(
            "`{shown}` exists and was not read in this session; read it first with read_file, or \
             write to another path"
        ))),
        Seen::Unknown => Err(ToolError::denied(format!(
            "`{shown}` exists, and without the session-state capability it is not known whether it \
             was read; only new files can be written"
        ))),
    }
}

fn endings_note(old: Endings, new: Endings) -> Option<String> {
    let (old, new) = (old.name()?, new.name()?);
    (old != new).then(|| format!("[line endings were {old} and are {new} now]"))
}

/// What matters of the content that is replaced. The content itself is not kept in memory.
struct Old {
    print: Fingerprint,
    size: u64,
    mark: bool,
    endings: Endings,
}

impl Old {
    fn read(place: &Place, record: &Record) -> io::Result<Old> {
        let mut file = File::open(&place.path)?;
        let mut print = record.fingerprinting();
        let mut size = 0;
        let mut mark = false;
        let mut endings = Endings::default();
        let mut piece = vec![0; PIECE];
        let mut filled = 0;
        loop {
            // One byte of the piece before stays in front, so that a CRLF is seen across pieces.
            let count = file.read(&mut piece[filled..])?;
            if count == 0 {
                break;
            }
            let fresh = &piece[filled..filled + count];
            print.push(fresh);
            if size == 0 {
                mark = fresh.starts_with(UTF8_BOM);
            }
            let more = Endings::of(&piece[..filled + count]);
            let repeated = u64::from(filled == 1 && piece[0] == b'\n');
            endings.crlf += more.crlf;
            endings.lf += more.lf - repeated;
            size += count as u64;
            piece[0] = piece[filled + count - 1];
            filled = 1;
        }
        Ok(Old {
            print: print.finish(),
            size,
            mark,
            endings,
        })
    }
}
