//! The front matter of a SKILL.md, and the body after it.

use crate::prompt::sections::one_line;
use serde::Deserialize;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

/// The most bytes of a `SKILL.md` that are searched for the end of its front matter.
const MAX_FRONT_MATTER: u64 = 64 << 10;

/// What a `SKILL.md` begins with, as far as it is used.
#[derive(Debug, Deserialize)]
pub(super) struct FrontMatter {
    pub(super) name: String,
    pub(super) description: String,
}

impl FrontMatter {
    /// Reads that of `file`, or says what is wrong with it.
    pub(super) fn read(file: &Path) -> Result<FrontMatter, String> {
        let mut bytes = Vec::new();
        File::open(file)
            .and_then(|file| file.take(MAX_FRONT_MATTER).read_to_end(&mut bytes))
            .map_err(|error| format!("its SKILL.md cannot be read: {error}"))?;
        // The body may be cut in the middle of a character; the front matter may not be.
        let text = match std::str::from_utf8(&bytes) {
            Ok(text) => text,
            Err(error) => std::str::from_utf8(&bytes[..error.valid_up_to()])
                .expect("the bytes before the first invalid one are valid"),
        };
        let (yaml, _) = divided(text).ok_or(
            "its SKILL.md does not begin with front matter: a line `---`, `name: …`, `description: …`, a line `---`",
        )?;
        serde_saphyr::from_str(yaml).map_err(|error| {
            format!(
                "the front matter of its SKILL.md is not valid: {}",
                one_line(&error.to_string())
            )
        })
    }
}

/// The text between a first line `---` and the next such line, and the text after that.
pub(super) fn divided(text: &str) -> Option<(&str, &str)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.split_inclusive('\n');
    let first = lines.next().filter(|line| line.trim_end() == "---")?;
    let start = first.len();
    let mut end = start;
    for line in lines {
        if line.trim_end() == "---" {
            return Some((&text[start..end], &text[end + line.len()..]));
        }
        end += line.len();
    }
    None
}
