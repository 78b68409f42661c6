//! What stands in a file instead of a match.
//!
//! Owns keeping what an edit does not change. An edit repeats lines around the change to say
//! where it is; those lines keep their own bytes (endings, blanks, indentation) also where the
//! match was lenient. Only lines that are really new are written, with the line ending and the
//! indentation of the place. The new text is data: nothing in it is interpreted. It must never
//! know how a match was found beyond its shift.

use super::ladder::{Match, Shift};
use super::lines::changes;
use crate::endings::{neighbour, part};
use similar::DiffOp;

/// A line of the new text has less indentation than has to be taken away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooShallow {
    /// From 1, in the new text.
    pub line: usize,
}

/// The text that replaces `found` in `body`.
///
/// # Errors
/// [`TooShallow`] when the shift of the match cannot be applied to `new`.
pub fn replacement(body: &str, found: &Match, old: &str, new: &str) -> Result<String, TooShallow> {
    let there = Lines::of(&body[found.range.clone()]);
    let (old, new) = (Lines::of(old), Lines::of(new));
    let end = neighbour(body, found.range.end);
    // The ending that a new line takes here: that of the line it replaces, else of the one before.
    let mut ending = neighbour(body, found.range.start);
    let mut out = String::new();
    for operation in changes(&old.contents, &new.contents) {
        if !matches!(operation, DiffOp::Insert { .. }) {
            ending = there.ending(operation.old_range().start).or(end).or(ending);
        }
        for (step, line) in operation.new_range().enumerate() {
            let kept = match operation {
                DiffOp::Equal { old_index, .. } => Some(old_index + step),
                _ => None,
            };
            match kept.and_then(|index| there.contents.get(index)) {
                Some(content) => out.push_str(content),
                None => shift_into(&mut out, new.contents[line], found.shift.as_ref(), line + 1)?,
            }
            if let Some(own) = new.ending(line) {
                ending = kept.and_then(|index| there.ending(index)).or(ending);
                out.push_str(ending.unwrap_or(own));
            }
        }
    }
    Ok(out)
}

/// The lines of a text, contents and endings apart.
struct Lines<'text> {
    contents: Vec<&'text str>,
    endings: Vec<Option<&'static str>>,
}

impl<'text> Lines<'text> {
    fn of(text: &'text str) -> Self {
        let (contents, endings) = text.split_inclusive('\n').map(part).unzip();
        Lines { contents, endings }
    }

    /// How a line ends; none for one without an ending, or when there is no such line.
    fn ending(&self, line: usize) -> Option<&'static str> {
        self.endings.get(line).copied().flatten()
    }
}

fn shift_into(
    out: &mut String,
    content: &str,
    shift: Option<&Shift>,
    line: usize,
) -> Result<(), TooShallow> {
    match shift {
        Some(Shift::Deeper(more)) if !content.trim().is_empty() => {
            out.push_str(more);
            out.push_str(content);
        }
        Some(Shift::Shallower(less)) if !content.trim().is_empty() => {
            out.push_str(
                content
                    .strip_prefix(less.as_str())
                    .ok_or(TooShallow { line })?,
            );
        }
        _ => out.push_str(content),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::ladder::search;
    use super::*;

    fn spliced(body: &str, old: &str, new: &str) -> Result<String, TooShallow> {
        let (_, matches) = search(body, old, false).expect("the old text is there");
        let found = &matches[0];
        let text = replacement(body, found, old, new)?;
        Ok([&body[..found.range.start], &text, &body[found.range.end..]].concat())
    }

    #[test]
    fn only_lines_that_are_new_are_written() {
        let cases: &[(&str, &str, &str, &str, &str)] = &[
            ("inside a line", "let a = 1;", "1", "2", "let a = 2;"),
            ("literal", "x", "x", r"$1 $& $` \1 \n", r"$1 $& $` \1 \n"),
            ("deletion", "a\nb\nc\n", "b\n", "", "a\nc\n"),
            (
                "CRLF kept",
                "a\r\nb\r\nc\r\n",
                "a\nb\n",
                "a\nX\nY\n",
                "a\r\nX\r\nY\r\nc\r\n",
            ),
            ("CRLF, exact", "a\r\nb\r\n", "b", "b\nc", "a\r\nb\r\nc\r\n"),
            (
                "LF file, CRLF edit",
                "a\nb\n",
                "a\r\nb\r\n",
                "a\r\nc\r\n",
                "a\nc\n",
            ),
            (
                "mixed endings",
                "a\r\nb\nc\r\n",
                "a\nb\nc",
                "a\nB\nc",
                "a\r\nB\nc\r\n",
            ),
            (
                "inserted between",
                "a\r\nb\nc\n",
                "a\nb",
                "a\nx\nb",
                "a\r\nx\r\nb\nc\n",
            ),
            ("no ending to go by", "a", "a", "a\r\nb", "a\r\nb"),
            (
                "ending of the line before",
                "x\r\na",
                "a",
                "a\nb",
                "x\r\na\r\nb",
            ),
            (
                "blanks of untouched lines",
                "a  \nb\nc\t\n",
                "a\nb\nc",
                "a\nX\nc",
                "a  \nX\nc\t\n",
            ),
            (
                "blank lines of untouched lines",
                "a\n   \nb\n",
                "a\n\nb",
                "a\n\nX",
                "a\n   \nX\n",
            ),
            (
                "deeper",
                "  if x {\n    y\n  }\n",
                "if x {\n  y\n}\n",
                "if x {\n  z\n\n  y\n}\n",
                "  if x {\n    z\n\n    y\n  }\n",
            ),
            (
                "shallower",
                "a\n  b\n",
                "    a\n      b\n",
                "    a\n      c\n    d\n",
                "a\n  c\nd\n",
            ),
            (
                "tabs",
                "\tx\r\n\ty\r\n",
                "x\ny\n",
                "x\n\tz\n",
                "\tx\r\n\t\tz\r\n",
            ),
            ("final newline added on purpose", "a", "a", "a\n", "a\n"),
            ("final newline stays away", "a\nb", "b", "c", "a\nc"),
            (
                "last line replaced by two",
                "a\nb\n",
                "b\n",
                "c\nd",
                "a\nc\nd",
            ),
        ];
        for (what, body, old, new, expected) in cases {
            let found = spliced(body, old, new);
            assert_eq!(found.as_deref(), Ok(*expected), "{what}");
        }
    }

    #[test]
    fn a_line_that_cannot_be_moved_left_is_named() {
        let refused = spliced("a\n  b\n", "    a\n      b\n", "    a\n  c\n");
        assert_eq!(refused, Err(TooShallow { line: 2 }));
    }
}
