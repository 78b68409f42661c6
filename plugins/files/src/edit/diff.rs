//! A change as people and models read it.
//!
//! Owns the unified diff of an answer and its length. It must never know files.

use super::lines::changes;
use similar::udiff::UnifiedHunkHeader;
use similar::{ChangeTag, group_diff_ops};
use std::fmt::Write;

/// Lines shown around a change.
const SURROUNDINGS: usize = 3;
/// Lines of diff shown.
const MAX_LINES: usize = 400;
/// Bytes of diff shown.
const MAX_BYTES: usize = 16 * 1024;
/// Characters shown of one line.
const MAX_CHARS: usize = 500;

/// The unified diff from `old` to `new`, cut with a note when it is long. Line endings are not
/// shown.
pub fn unified(path: &str, old: &str, new: &str) -> String {
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    let mut out = format!("--- a/{path}\n+++ b/{path}\n");
    let (mut shown, mut hidden) = (0, 0);
    for hunk in group_diff_ops(changes(&old, &new), SURROUNDINGS) {
        let mut header = Some(UnifiedHunkHeader::new(&hunk));
        for change in hunk.iter().flat_map(|step| step.iter_changes(&*old, &*new)) {
            if shown >= MAX_LINES || out.len() >= MAX_BYTES {
                hidden += usize::from(change.tag() != ChangeTag::Equal);
                continue;
            }
            if let Some(header) = header.take() {
                let _ = writeln!(out, "{header}");
            }
            shown += 1;
            line(&mut out, change.tag(), change.value());
        }
    }
    if hidden > 0 {
        let _ = writeln!(out, "[{hidden} more changed lines are not shown]");
    }
    out
}

fn line(out: &mut String, tag: ChangeTag, text: &str) {
    let (content, ending) = crate::endings::part(text);
    let _ = write!(out, "{tag}");
    match content.char_indices().nth(MAX_CHARS) {
        Some((cut, _)) => {
            let more = content[cut..].chars().count();
            let _ = writeln!(out, "{} [{more} more characters]", &content[..cut]);
        }
        None => {
            let _ = writeln!(out, "{content}");
        }
    }
    if ending.is_none() {
        out.push_str("\\ No newline at end of file\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_shown_with_its_surroundings() {
        let old = "1\n2\n3\n4\n5\r\n6\n7\n8\n9";
        let new = "1\n2\n3\n4\nfive\r\n6\n7\n8\n9";
        let expected = "--- a/x\n+++ b/x\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n";
        assert_eq!(unified("x", old, new), expected);
        let expected =
            "--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n-a\n\\ No newline at end of file\n+a\n+b\n";
        assert_eq!(unified("x", "a", "a\nb\n"), expected);
    }

    #[test]
    fn a_long_diff_is_bounded_and_says_so() {
        let new: String = (0..5_000).map(|n| format!("line {n}\n")).collect();
        let diff = unified("x", "", &new);
        assert!(diff.lines().count() < MAX_LINES + 5);
        assert!(
            diff.ends_with("[4600 more changed lines are not shown]\n"),
            "{diff}"
        );
        let diff = unified("x", "", &"y".repeat(1 << 20));
        assert!(
            diff.len() < 1_000 && diff.contains("[1048076 more characters]"),
            "{diff}"
        );
    }
}
