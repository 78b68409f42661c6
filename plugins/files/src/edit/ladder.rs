//! Where the old text of an edit is in a file.
//!
//! Owns the ladder: exact; line endings aside; trailing blanks aside; indentation shifted as a
//! whole. The first rung with a match decides, and whether it has one match or several is the
//! caller's to judge. Nothing fuzzier is tried: a wrong place is worse than none, because the
//! model reads an error but not a misplaced edit. It must never know what is put there instead.

use memchr::memmem;
use std::ops::Range;

/// How a match was found, the strictest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rung {
    /// Byte for byte.
    Exact,
    /// CRLF and LF taken for the same.
    LineEndings,
    /// Blanks at the end of lines left aside, line endings too.
    TrailingBlanks,
    /// Whole lines, all indented more or all less than in the old text by the same blanks.
    Indentation,
}

/// How the file's indentation differs from that of the old text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shift {
    /// The file's lines have this in front.
    Deeper(String),
    /// The old text's lines have this in front.
    Shallower(String),
}

/// One place where the old text is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Match {
    /// Bytes of the file. It never parts a CRLF.
    pub range: Range<usize>,
    /// On the lowest rung only.
    pub shift: Option<Shift>,
}

/// The matches of the first rung that has any, in the order of the file; none on no rung.
///
/// With `all` the matches do not overlap, and those that differ only in line endings count as
/// exact: to replace all but those in CRLF lines would be no help. Without it a second match is
/// reported also where it overlaps the first.
pub fn search(body: &str, old: &str, all: bool) -> Option<(Rung, Vec<Match>)> {
    let returns = body.contains('\r') || old.contains('\r');
    let rungs: [(Rung, &dyn Fn() -> Vec<Match>); 4] = [
        (Rung::Exact, &|| {
            if all && returns {
                folded(body, old, Fold::Endings, all)
            } else {
                exact(body, old, all)
            }
        }),
        (Rung::LineEndings, &|| {
            if returns {
                folded(body, old, Fold::Endings, all)
            } else {
                Vec::new()
            }
        }),
        (Rung::TrailingBlanks, &|| {
            if old.trim().is_empty() {
                Vec::new()
            } else {
                folded(body, old, Fold::Blanks, all)
            }
        }),
        (Rung::Indentation, &|| shifted(body, old, all)),
    ];
    rungs.into_iter().find_map(|(rung, find)| {
        let found = find();
        (!found.is_empty()).then_some((rung, found))
    })
}

fn plain(range: Range<usize>) -> Match {
    Match { range, shift: None }
}

fn exact(body: &str, old: &str, all: bool) -> Vec<Match> {
    let parts_crlf = |at: usize| body[..at].ends_with('\r') && body[at..].starts_with('\n');
    occurrences(body, old, all)
        .filter(|range| !parts_crlf(range.start) && !parts_crlf(range.end))
        .map(plain)
        .collect()
}

/// All places of `needle`; overlapping ones too, unless `apart`.
fn occurrences<'text>(
    hay: &'text str,
    needle: &'text str,
    apart: bool,
) -> impl Iterator<Item = Range<usize>> + 'text {
    let finder = memmem::Finder::new(needle.as_bytes());
    let step = if apart { needle.len() } else { 1 };
    let mut from = 0;
    std::iter::from_fn(move || {
        let start = from + finder.find(hay.as_bytes().get(from..)?)?;
        from = start + step;
        Some(start..start + needle.len())
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fold {
    /// CRLF becomes LF.
    Endings,
    /// That, and blanks in front of it go.
    Blanks,
}

/// A text with parts left out, and the way back to the original.
struct Folded {
    text: String,
    /// Where in `text` something was left out, and how many bytes in all up to there.
    left_out: Vec<(usize, usize)>,
}

impl Folded {
    fn new(original: &str, fold: Fold) -> Self {
        let mut folded = Folded {
            text: String::with_capacity(original.len()),
            left_out: Vec::new(),
        };
        let mut total = 0;
        for line in original.split_inclusive('\n') {
            let (content, ending) = crate::endings::part(line);
            let kept = match fold {
                Fold::Endings => content,
                Fold::Blanks => content.trim_end_matches([' ', '\t']),
            };
            folded.text.push_str(kept);
            let dropped = line.len() - kept.len() - usize::from(ending.is_some());
            if dropped > 0 {
                total += dropped;
                folded.left_out.push((folded.text.len(), total));
            }
            if ending.is_some() {
                folded.text.push('\n');
            }
        }
        folded
    }

    /// The offset in the original. What was left out just there lies after it, so that a match
    /// that ends at a line's end leaves the blanks there alone.
    fn origin(&self, at: usize) -> usize {
        let before = self.left_out.partition_point(|(offset, _)| *offset < at);
        at + before
            .checked_sub(1)
            .map_or(0, |last| self.left_out[last].1)
    }
}

fn folded(body: &str, old: &str, fold: Fold, all: bool) -> Vec<Match> {
    // Blanks at the very end of the old text are at the end of a line only if the match is.
    let (start, last) = old.split_at(old.rfind('\n').map_or(0, |newline| newline + 1));
    let trimmed = match fold {
        Fold::Blanks if !last.trim().is_empty() => last.trim_end_matches([' ', '\t']),
        _ => last,
    };
    let to_line_end = trimmed.len() < last.len();
    let needle = Folded::new(start, fold).text + trimmed;
    if needle.is_empty() {
        return Vec::new();
    }
    let body = Folded::new(body, fold);
    occurrences(&body.text, &needle, all)
        .filter(|range| {
            !to_line_end || matches!(body.text.as_bytes().get(range.end), None | Some(b'\n'))
        })
        .map(|range| plain(body.origin(range.start)..body.origin(range.end)))
        .collect()
}

fn indent_of(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

fn shifted(body: &str, old: &str, all: bool) -> Vec<Match> {
    let wanted: Vec<&str> = old.split_inclusive('\n').collect();
    let content = |line: &str| {
        crate::endings::part(line)
            .0
            .trim_end_matches([' ', '\t'])
            .len()
    };
    let wanted: Vec<(&str, bool)> = wanted
        .into_iter()
        .map(|line| (&line[..content(line)], line.ends_with('\n')))
        .collect();
    let Some(anchor) = wanted.iter().position(|(line, _)| !line.is_empty()) else {
        return Vec::new();
    };
    let mut at = 0;
    let lines: Vec<(Range<usize>, &str)> = body
        .split_inclusive('\n')
        .map(|line| {
            let start = at;
            at += line.len();
            (start..at, &line[..content(line)])
        })
        .collect();
    let mut found = Vec::new();
    let mut free_from = 0;
    for start in 0..(lines.len() + 1).saturating_sub(wanted.len()) {
        let here = &lines[start..start + wanted.len()];
        if start < free_from || here[anchor].1.trim_start() != wanted[anchor].0.trim_start() {
            continue;
        }
        let Some(shift) = uniform_shift(here, &wanted, anchor) else {
            continue;
        };
        let (last, text) = &here[here.len() - 1];
        let end = match wanted[wanted.len() - 1] {
            (_, true) if !body[last.clone()].ends_with('\n') => continue,
            (_, true) => last.end,
            (_, false) => last.start + text.len(),
        };
        found.push(Match {
            range: here[0].0.start..end,
            shift: Some(shift),
        });
        if all {
            free_from = start + wanted.len();
        }
    }
    found
}

/// The one shift that makes every line of the old text a line of the file.
fn uniform_shift(
    here: &[(Range<usize>, &str)],
    wanted: &[(&str, bool)],
    anchor: usize,
) -> Option<Shift> {
    let (theirs, ours) = (indent_of(here[anchor].1), indent_of(wanted[anchor].0));
    let shift = if let Some(more) = theirs.strip_suffix(ours) {
        Shift::Deeper(more.to_owned())
    } else {
        Shift::Shallower(ours.strip_suffix(theirs)?.to_owned())
    };
    if theirs == ours {
        // The stricter rungs have said no to this already.
        return None;
    }
    let fits = |(file, old): (&str, &str)| match &shift {
        _ if old.is_empty() || file.is_empty() => old == file,
        Shift::Deeper(more) => file.strip_prefix(more.as_str()) == Some(old),
        Shift::Shallower(less) => old.strip_prefix(less.as_str()) == Some(file),
    };
    let pairs = here
        .iter()
        .map(|(_, line)| *line)
        .zip(wanted.iter().map(|(line, _)| *line));
    pairs.into_iter().all(fits).then_some(shift)
}

#[cfg(test)]
mod tests {
    use super::*;
    use Rung::{Exact, Indentation, LineEndings, TrailingBlanks};

    #[test]
    fn the_first_rung_with_a_match_decides() {
        type Case<'a> = (&'a str, &'a str, Option<(Rung, &'a [&'a str])>);
        let cases: &[Case<'_>] = &[
            ("a b c", "b", Some((Exact, &["b"]))),
            ("b b", "b", Some((Exact, &["b", "b"]))),
            // Overlapping: which of the two is meant nobody can say.
            ("aaa", "aa", Some((Exact, &["aa", "aa"]))),
            ("ééé", "éé", Some((Exact, &["éé", "éé"]))),
            ("x\r\ny\r\nz", "x\ny", Some((LineEndings, &["x\r\ny"]))),
            ("x\ny\n", "x\r\ny", Some((LineEndings, &["x\ny"]))),
            // A CRLF is never parted.
            ("x\r\ny", "\ny", Some((LineEndings, &["\r\ny"]))),
            ("x\r\ny", "x\r", None),
            (
                "a  \nb\t\n",
                "a\nb\n",
                Some((TrailingBlanks, &["a  \nb\t\n"])),
            ),
            ("a\nb\n", "a \nb  ", Some((TrailingBlanks, &["a\nb"]))),
            ("a  \r\nb", "a\nb", Some((TrailingBlanks, &["a  \r\nb"]))),
            ("a  \nb  \n", "a\nb", Some((TrailingBlanks, &["a  \nb"]))),
            // Blanks at the end of the old text only match at the end of a line.
            ("ab", "a ", None),
            ("a\nb  \nc", "b ", Some((Exact, &["b "]))),
            (
                "f(\n\n  x",
                "f(  \n\n  x",
                Some((TrailingBlanks, &["f(\n\n  x"])),
            ),
            (
                "  a\n    b\n",
                "a\n  b\n",
                Some((Indentation, &["  a\n    b\n"])),
            ),
            (
                "\ta\n\n\tb\n",
                "a\n\nb",
                Some((Indentation, &["\ta\n\n\tb"])),
            ),
            (
                "a\n  b\n",
                "    a\n      b\n",
                Some((Indentation, &["a\n  b\n"])),
            ),
            (
                "  a\r\n  b  \r\n",
                "a\nb\n",
                Some((Indentation, &["  a\r\n  b  \r\n"])),
            ),
            // Not uniform, or in the middle of lines.
            ("  a\n   b\n", "a\n b\n c", None),
            ("  a\n b\n", "a\nb\n", None),
            ("\ta\n    b\n", "  a\n  b\n", None),
            ("x  a\n  b\n", "a\nb\n", None),
            ("  a\n\n", "a\n  b\n", None),
            // Only white space, only quotes, only the middle differ.
            ("a\n\n\nb", "   \n", None),
            ("say “hi”", "say \"hi\"", None),
            ("begin\n  one\nend\n", "begin\n  two\nend\n", None),
            // The final newline is part of what was asked for.
            ("a\n  b", "a\n  b\n", None),
            ("  a\n  b", "a\nb\n", None),
        ];
        for (body, old, expected) in cases {
            let found = search(body, old, false);
            let found = found.map(|(rung, matches)| {
                let texts: Vec<&str> = matches.iter().map(|m| &body[m.range.clone()]).collect();
                (rung, texts)
            });
            let expected = expected.map(|(rung, texts)| (rung, texts.to_vec()));
            assert_eq!(found, expected, "{old:?} in {body:?}");
        }
    }

    #[test]
    fn two_places_that_differ_only_in_white_space_are_two() {
        let body = "if a {\n  x();  \n}\nif b {\n  x();\t\n}\n";
        let (rung, matches) = search(body, "  x(); \n}\n", false).expect("they match");
        assert_eq!((rung, matches.len()), (TrailingBlanks, 2));
        let body = "  x();\n  y();\n    x();\n    y();\n";
        let (rung, matches) = search(body, "x();\ny();\n", false).expect("they match");
        assert_eq!((rung, matches.len()), (Indentation, 2));
    }

    #[test]
    fn to_replace_all_takes_every_line_ending_and_no_overlap() {
        let (rung, matches) = search("a\nb\r\na\r\nb", "a\nb", true).expect("they match");
        let ranges: Vec<_> = matches.into_iter().map(|m| m.range).collect();
        assert_eq!((rung, ranges), (Exact, vec![0..3, 5..9]));
        let (_, matches) = search("aaaa", "aa", true).expect("they match");
        assert_eq!(matches.len(), 2);
    }
}
