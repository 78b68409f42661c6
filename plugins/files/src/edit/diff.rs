//! A change as people and models read it.
//!
//! Owns the unified diff of an answer and its length. It must never know files.

use super::lines::changes;
use similar::{ChangeTag, DiffOp, group_diff_ops};
use std::fmt::Write;
use std::ops::Range;

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
    let (before, after) = common(old, new);
    let skipped = memchr::memchr_iter(b'\n', &old.as_bytes()[..before]).count();
    let middle = |text: &'_ str| before..text.len() - after;
    let old: Vec<&str> = old[middle(old)].split_inclusive('\n').collect();
    let new: Vec<&str> = new[middle(new)].split_inclusive('\n').collect();
    let mut out = format!("--- a/{path}\n+++ b/{path}\n");
    let (mut shown, mut hidden) = (0, 0);
    for hunk in group_diff_ops(changes(&old, &new), SURROUNDINGS) {
        let mut header = Some(header(&hunk, skipped));
        for change in hunk.iter().flat_map(|step| step.iter_changes(&*old, &*new)) {
            if shown >= MAX_LINES || out.len() >= MAX_BYTES {
                hidden += usize::from(change.tag() != ChangeTag::Equal);
                continue;
            }
            out.extend(header.take());
            shown += 1;
            line(&mut out, change.tag(), change.value());
        }
    }
    if hidden > 0 {
        let _ = writeln!(out, "[{hidden} more changed lines are not shown]");
    }
    out
}

/// How many bytes at the start and at the end are the same and need not be looked at: whole lines,
/// less those shown around a change. An edit leaves most of a file alone, and to diff a million
/// lines for one takes seconds.
fn common(old: &str, new: &str) -> (usize, usize) {
    let (old, new) = (old.as_bytes(), new.as_bytes());
    let same =
        |pairs: &mut dyn Iterator<Item = (&u8, &u8)>| pairs.take_while(|(a, b)| a == b).count();
    let prefix = same(&mut old.iter().zip(new));
    let before = memchr::memrchr_iter(b'\n', &old[..prefix])
        .nth(SURROUNDINGS)
        .map_or(0, |newline| newline + 1);
    let suffix = same(&mut old[before..].iter().rev().zip(new[before..].iter().rev()));
    let tail = &old[old.len() - suffix..];
    let after = memchr::memchr_iter(b'\n', tail)
        .nth(SURROUNDINGS)
        .map_or(0, |newline| tail.len() - newline - 1);
    (before, after)
}

/// `@@ -first,count +first,count @@`; an empty range is named by the line before it.
fn header(hunk: &[DiffOp], skipped: usize) -> String {
    let span = |range: fn(&DiffOp) -> Range<usize>| {
        let start = hunk.first().map_or(0, |step| range(step).start);
        let end = hunk.last().map_or(0, |step| range(step).end);
        match end - start {
            1 => format!("{}", skipped + start + 1),
            0 => format!("{},0", skipped + start),
            count => format!("{},{count}", skipped + start + 1),
        }
    };
    format!(
        "@@ -{} +{} @@\n",
        span(DiffOp::old_range),
        span(DiffOp::new_range)
    )
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
    use proptest::prelude::*;

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

    proptest! {
        #[test]
        fn what_is_left_out_before_the_diff_does_not_change_it(
            old in prop::collection::vec("[ab]{0,2}\r?\n", 0..20),
            at in 0usize..20,
            gone in 0usize..3,
            new in prop::collection::vec("[ab]{0,2}\n", 0..3),
            last in prop::option::of("[ab]"),
        ) {
            let at = at.min(old.len());
            let mut lines = old.clone();
            lines.splice(at..(at + gone).min(old.len()), new);
            let last = last.unwrap_or_default();
            let (old, new) = (old.concat() + &last, lines.concat() + &last);
            let diff = unified("x", &old, &new);
            prop_assert_eq!(patched(&old, &diff), without_returns(&new));
        }
    }

    /// The lines without their endings, and whether the last one has one.
    fn without_returns(text: &str) -> (Vec<String>, bool) {
        let lines = text
            .split_inclusive('\n')
            .map(|line| crate::endings::part(line).0.to_owned());
        (lines.collect(), text.is_empty() || text.ends_with('\n'))
    }

    /// Applies a diff by its line numbers, as `patch` would, and checks what it says is there.
    fn patched(old: &str, diff: &str) -> (Vec<String>, bool) {
        let (old, mut finished) = without_returns(old);
        let (mut out, mut at) = (Vec::new(), 0);
        let mut tag = ' ';
        for line in diff.lines().skip(2) {
            if let Some(header) = line.strip_prefix("@@ -") {
                let (range, _) = header.split_once(' ').expect("a range");
                let (start, count) = range.split_once(',').unwrap_or((range, "1"));
                let start: usize = start.parse().expect("a number");
                let start = if count == "0" { start } else { start - 1 };
                out.extend_from_slice(&old[at..start]);
                at = start;
                continue;
            }
            if line.starts_with('\\') {
                finished = tag == '-';
                continue;
            }
            tag = line.chars().next().expect("a tag");
            if tag != '+' {
                assert_eq!(old[at], line[1..]);
                at += 1;
            }
            if tag != '-' {
                out.push(line[1..].to_owned());
            }
        }
        out.extend_from_slice(&old[at..]);
        (out, finished)
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
