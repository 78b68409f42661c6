//! What the person and the project wrote for agents.

use crate::prompt::Instructions;
use std::fmt::Write as _;

pub(in crate::prompt) fn instructions(instructions: &Instructions) -> Option<String> {
    if instructions.files.is_empty() {
        return None;
    }
    let mut text = String::from(
        "# Instructions\nFrom the person and the project, the more general first: where two disagree, the later one holds. \
         A directory that you work in may have an AGENTS.md of its own; read it before you change anything there.",
    );
    for file in &instructions.files {
        let _ = write!(text, "\n\n## {}\n{}", file.name, file.text.trim());
    }
    Some(text)
}
