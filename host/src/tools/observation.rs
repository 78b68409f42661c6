//! How a failed call is told to the model.
//!
//! Owns the form: the kind of the failure first, then what is wrong and what to do next. It must
//! never pass on more of a hostile text than a line.

use crate::protocol::{ToolCall, ToolErrorKind, ToolResult};

/// The most characters of a text that a model or an author chose.
const MAX_QUOTE: usize = 200;

/// A failure of `call`, told as `kind: message`.
pub(super) fn failure(call: &ToolCall, kind: ToolErrorKind, message: &str) -> ToolResult {
    ToolResult::failure(
        call.id.clone(),
        call.name.clone(),
        kind,
        told(kind, message),
    )
}

/// `kind: message`.
pub(super) fn told(kind: ToolErrorKind, message: &str) -> String {
    let message = message.trim();
    let message = if message.is_empty() {
        "the tool gave no reason"
    } else {
        message
    };
    format!("{}: {message}", kind.name())
}

/// A text that a model or an author chose, on one line, without control characters, and cut.
pub(super) fn quote(text: &str) -> String {
    let mut shown = String::new();
    for (index, character) in text.chars().enumerate() {
        if index == MAX_QUOTE {
            shown.push('…');
            break;
        }
        shown.push(if character.is_control() {
            ' '
        } else {
            character
        });
    }
    shown
}

/// The names most like `name`, best first, at most three.
pub(super) fn nearest<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
    /// Below this the likeness is chance: one letter of two, two of four.
    const ALIKE: f64 = 0.5;
    let plain = |text: &str| text.to_lowercase().replace(['-', '.', ' ', ':', '/'], "_");
    let wanted: String = plain(name).chars().take(MAX_QUOTE).collect();
    let mut scored: Vec<(f64, &str)> = names
        .map(|candidate| {
            let contained = wanted.len() > 2
                && (candidate.contains(wanted.as_str()) || wanted.contains(candidate));
            let likeness = strsim::normalized_damerau_levenshtein(&wanted, candidate);
            let likeness = if contained {
                likeness.max(0.9)
            } else {
                likeness
            };
            (likeness, candidate)
        })
        .filter(|(likeness, _)| *likeness >= ALIKE)
        .collect();
    scored.sort_by(|(one, first), (other, second)| {
        other.total_cmp(one).then_with(|| first.cmp(second))
    });
    scored.into_iter().take(3).map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_names_are_offered() {
        let names = [
            "bash",
            "edit_file",
            "glob",
            "grep",
            "read_file",
            "write_file",
        ];
        for (name, expected) in [
            ("Read-File", "read_file"),
            ("readfile", "read_file"),
            ("read", "read_file"),
            ("functions.grep", "grep"),
            ("bsah", "bash"),
        ] {
            let found = nearest(name, names.into_iter());
            assert_eq!(found.first(), Some(&expected), "{name}: {found:?}");
        }
        assert!(nearest("launch_missiles", names.into_iter()).is_empty());
        assert!(nearest(&"x".repeat(1 << 20), names.into_iter()).is_empty());
    }

    #[test]
    fn a_quote_is_one_line_and_cut() {
        assert_eq!(quote("a\n\u{1b}b"), "a  b");
        assert_eq!(quote(&"ä".repeat(300)).chars().count(), MAX_QUOTE + 1);
    }
}
