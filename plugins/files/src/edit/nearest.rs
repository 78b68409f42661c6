//! Where the text of a failed edit was probably meant.
//!
//! Owns the guess and the words for what differs, so that the model can correct the old text
//! without reading the file again. The guess is shown and never applied. It must never know how
//! matches are made.

use crate::endings::part;
use std::collections::HashMap;
use std::fmt::Write;

/// Lines of the file shown.
const MAX_SHOWN: usize = 12;
/// Characters shown of each.
const MAX_CHARS: usize = 200;
/// Lines of the file compared by likeness, the slow way.
const MAX_COMPARED: usize = 20_000;
/// Bytes of a line that is compared by likeness.
const MAX_COMPARED_BYTES: usize = 400;
/// How alike the best line must be, from 0 to 1.
const ALIKE: f64 = 0.5;
/// Equal lines must weigh this much together: braces alone say nothing.
const MIN_WEIGHT: usize = 4;

/// Describes the lines of `body` that are most like `old`, in lines of text; empty when nothing
/// is like it.
pub fn describe(body: &str, old: &str) -> String {
    let lines: Vec<&str> = body
        .split_inclusive('\n')
        .map(|line| part(line).0)
        .collect();
    let wanted: Vec<&str> = old.split_inclusive('\n').map(|line| part(line).0).collect();
    let start = by_equal_lines(&lines, &wanted).or_else(|| by_likeness(&lines, &wanted));
    let Some(start) = start else {
        return String::new();
    };
    let here = &lines[start..lines.len().min(start + wanted.len())];
    let mut out = String::from("nearest is ");
    match here.len() {
        1 => out.push_str(&format!("line {}:\n", start + 1)),
        count => out.push_str(&format!("lines {}-{}:\n", start + 1, start + count)),
    }
    for (index, line) in here.iter().take(MAX_SHOWN).enumerate() {
        let _ = writeln!(out, "{:>6}\t{}", start + index + 1, shorten(line));
    }
    if here.len() > MAX_SHOWN {
        let _ = writeln!(out, "[{} more lines]", here.len() - MAX_SHOWN);
    }
    out.push_str(&difference(here, &wanted, start, body, old));
    out
}

/// The start at which most lines are equal but for blanks around them. Long lines count more.
fn by_equal_lines(lines: &[&str], wanted: &[&str]) -> Option<usize> {
    let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, line) in wanted.iter().enumerate() {
        let places = places.entry(line.trim()).or_default();
        // A line that is there many times tells little; this also bounds the work.
        if places.len() < 16 {
            places.push(index);
        }
    }
    places.remove("");
    let mut weights: HashMap<usize, usize> = HashMap::new();
    for (index, line) in lines.iter().enumerate() {
        for offset in places.get(line.trim()).into_iter().flatten() {
            if let Some(start) = index.checked_sub(*offset) {
                *weights.entry(start).or_default() += line.trim().len().min(40);
            }
        }
    }
    weights
        .into_iter()
        .filter(|(_, weight)| *weight >= MIN_WEIGHT)
        .max_by_key(|(start, weight)| (*weight, std::cmp::Reverse(*start)))
        .map(|(start, _)| start)
}

/// The start at which the longest line of `wanted` is like a line of the file.
fn by_likeness(lines: &[&str], wanted: &[&str]) -> Option<usize> {
    let (offset, longest) = wanted
        .iter()
        .map(|line| line.trim())
        .enumerate()
        .filter(|(_, line)| line.len() <= MAX_COMPARED_BYTES)
        .max_by_key(|(_, line)| line.len())?;
    let longest = pairs(longest);
    let mut best: Option<(f64, usize)> = None;
    for (index, line) in lines.iter().enumerate().take(MAX_COMPARED) {
        if line.len() > MAX_COMPARED_BYTES {
            continue;
        }
        let score = likeness(&longest, &pairs(line));
        if score >= ALIKE && best.is_none_or(|(high, _)| score > high) {
            best = Some((score, index));
        }
    }
    best.map(|(_, index)| index.saturating_sub(offset))
}

/// The pairs of neighbouring characters, in order. White space, case and the form of quotes do not
/// count.
fn pairs(line: &str) -> Vec<(char, char)> {
    let bare: Vec<char> = line
        .chars()
        .filter(|c| !c.is_whitespace())
        .map(plain_punctuation)
        .flat_map(char::to_lowercase)
        .collect();
    let mut pairs: Vec<(char, char)> = bare.windows(2).map(|pair| (pair[0], pair[1])).collect();
    pairs.sort_unstable();
    pairs
}

/// The Sørensen-Dice coefficient: the share of pairs that both have, from 0 to 1.
fn likeness(left: &[(char, char)], right: &[(char, char)]) -> f64 {
    let (mut i, mut j, mut both) = (0, 0, 0_u32);
    while i < left.len() && j < right.len() {
        match left[i].cmp(&right[j]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => {
                both += 1;
                i += 1;
                j += 1;
            }
        }
    }
    // Lines are short here, so the lengths are exact as floats.
    f64::from(2 * both) / (left.len() + right.len()).max(1) as f64
}

/// One line on what differs first.
fn difference(here: &[&str], wanted: &[&str], start: usize, body: &str, old: &str) -> String {
    let first = (0..wanted.len()).find(|index| {
        here.get(*index).map(|line| line.trim_end()) != Some(wanted[*index].trim_end())
    });
    let Some(index) = first else {
        return if old.ends_with('\n') && !body.ends_with('\n') {
            "the file has no newline at its end, `old` has".to_owned()
        } else {
            String::new()
        };
    };
    let Some(there) = here.get(index) else {
        return format!("the file ends before line {} of `old`", index + 1);
    };
    let (there, wanted) = (there.trim_end(), wanted[index].trim_end());
    let bare = |text: &str| text.split_whitespace().collect::<String>();
    let plain = |text: &str| text.chars().map(plain_punctuation).collect::<String>();
    let what = if bare(there) == bare(wanted) {
        "only in white space"
    } else if plain(there) == plain(wanted) {
        "only in the form of quotes, dashes or spaces; copy them from the file"
    } else if there.to_lowercase() == wanted.to_lowercase() {
        "only in upper and lower case"
    } else {
        return format!("line {} differs from `old`", start + index + 1);
    };
    format!("line {} differs {what}", start + index + 1)
}

/// What a keyboard would type.
const fn plain_punctuation(c: char) -> char {
    match c {
        '\u{2018}' | '\u{2019}' | '\u{201A}' | '\u{2032}' => '\'',
        '\u{201C}' | '\u{201D}' | '\u{201E}' | '\u{2033}' => '"',
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        '\u{A0}' | '\u{2007}' | '\u{202F}' => ' ',
        other => other,
    }
}

fn shorten(line: &str) -> String {
    match line.char_indices().nth(MAX_CHARS) {
        Some((cut, _)) => format!("{}…", &line[..cut]),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_likely_place_is_shown_with_what_differs() {
        let file = "fn a() {\n    one();\n}\n\nfn b() {\n    let x = “hi”;\n    two();\n}\n";
        let cases: &[(&str, &str)] = &[
            (
                "fn b() {\n    let x = 1;\n    two();\n}",
                "nearest is lines 5-8:\n     5\tfn b() {\n     6\t    let x = “hi”;\n     7\t    two();\n     8\t}\nline 6 differs from `old`",
            ),
            (
                "    let x = \"hi\";\n",
                "nearest is line 6:\n     6\t    let x = “hi”;\nline 6 differs only in the form of quotes, dashes or spaces; copy them from the file",
            ),
            (
                "Fn A() {",
                "nearest is line 1:\n     1\tfn a() {\nline 1 differs only in upper and lower case",
            ),
            (
                "fn a() {\n  one();\n}",
                "nearest is lines 1-3:\n     1\tfn a() {\n     2\t    one();\n     3\t}\nline 2 differs only in white space",
            ),
            (
                "    two();\n}\nmore",
                "nearest is lines 7-8:\n     7\t    two();\n     8\t}\nthe file ends before line 3 of `old`",
            ),
            ("}", ""),
            ("nothing like this at all, however long", ""),
        ];
        for (old, expected) in cases {
            assert_eq!(describe(file, old), *expected, "{old:?}");
        }
        let no_newline = describe("alpha\nbeta", "beta\n");
        assert!(
            no_newline.ends_with("the file has no newline at its end, `old` has"),
            "{no_newline}"
        );
    }

    #[test]
    fn long_candidates_are_cut() {
        let file = format!("start here\n{}", "x".repeat(300) + "\n").repeat(20);
        let shown = describe(&file, &file[..file.len() - 2]);
        assert!(
            shown.contains("[28 more lines]") && shown.contains('…'),
            "{shown}"
        );
    }
}
