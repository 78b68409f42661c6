//! Which lines of two texts differ.
//!
//! Owns what counts as the same line, and the choice between several shortest answers that GNU
//! makes: a run of changed lines goes as far down as it can, unless that takes it away from a run
//! of the other file. It must never know how a difference is shown.

use similar::{Algorithm, DiffTag, capture_diff_slices};
use std::collections::HashMap;
use std::ops::Range;

/// What is taken for the same.
#[derive(Default, Clone, Copy)]
pub struct Sameness {
    /// `-i`
    pub case: bool,
    /// `-w`
    pub all_space: bool,
    /// `-b`
    pub space_change: bool,
    /// `-Z`
    pub trailing_space: bool,
    /// `-B`
    pub blank_lines: bool,
    /// `--strip-trailing-cr`
    pub carriage_return: bool,
}

/// Lines of one file that are in place of lines of the other. Either range may be empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Lines of the first file, from 0.
    pub old: Range<usize>,
    /// Lines of the second file, from 0.
    pub new: Range<usize>,
}

/// Splits a text into lines, each with its line break.
pub fn split(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|byte| *byte == b'\n').collect()
}

impl Sameness {
    /// What is compared of a line.
    fn key(self, line: &[u8]) -> Vec<u8> {
        let mut line = line.to_vec();
        if self.carriage_return && line.ends_with(b"\r\n") {
            line.truncate(line.len() - 2);
            line.push(b'\n');
        }
        if self.all_space {
            // A missing line break is white space as well.
            line.retain(|byte| !byte.is_ascii_whitespace());
        } else if self.space_change || self.trailing_space {
            let end = line.trim_ascii_end().len();
            line.truncate(end);
        }
        if self.space_change {
            let mut squeezed = Vec::with_capacity(line.len());
            for byte in line {
                if !byte.is_ascii_whitespace() {
                    squeezed.push(byte);
                } else if squeezed.last() != Some(&b' ') {
                    squeezed.push(b' ');
                }
            }
            line = squeezed;
        }
        if self.case {
            line.make_ascii_lowercase();
        }
        line
    }

    /// The changes from `old` to `new`, in order.
    pub fn changes(self, old: &[&[u8]], new: &[&[u8]]) -> Vec<Change> {
        let mut numbers = HashMap::new();
        let mut number = |line: &&[u8]| {
            let next = numbers.len();
            *numbers.entry(self.key(line)).or_insert(next)
        };
        let left: Vec<usize> = old.iter().map(&mut number).collect();
        let right: Vec<usize> = new.iter().map(&mut number).collect();
        let mut marks = [Marks::new(left.len()), Marks::new(right.len())];
        for op in capture_diff_slices(Algorithm::Myers, &left, &right) {
            if op.tag() != DiffTag::Equal {
                op.old_range().for_each(|line| marks[0].set(line, true));
                op.new_range().for_each(|line| marks[1].set(line, true));
            }
        }
        let [first, second] = &mut marks;
        settle(first, second, &left);
        settle(second, first, &right);
        let mut changes = runs(first, second);
        if self.blank_lines {
            let is_blank = |line: &&[u8]| line.trim_ascii().is_empty();
            changes.retain(|change| {
                !(old[change.old.clone()].iter().all(is_blank)
                    && new[change.new.clone()].iter().all(is_blank))
            });
        }
        changes
    }
}

/// Which lines of a file are changed. Asked for a line before the first or after the last, it says
/// no.
struct Marks(Vec<bool>);

impl Marks {
    fn new(lines: usize) -> Marks {
        Marks(vec![false; lines])
    }

    fn get(&self, line: isize) -> bool {
        usize::try_from(line).is_ok_and(|line| self.0.get(line) == Some(&true))
    }

    fn set(&mut self, line: usize, changed: bool) {
        self.0[line] = changed;
    }
}

/// Moves every run of changed lines in `marks` where GNU has it; `lines` are the numbers of that
/// file. `at` and `beside` are the same place in the two files throughout.
fn settle(marks: &mut Marks, other: &Marks, lines: &[usize]) {
    let end = lines.len();
    let (mut at, mut beside) = (0, 0_isize);
    loop {
        while at < end && !marks.0[at] {
            while other.get(beside) {
                beside += 1;
            }
            beside += 1;
            at += 1;
        }
        if at == end {
            return;
        }
        let mut start = at;
        while at < end && marks.0[at] {
            at += 1;
        }
        while other.get(beside) {
            beside += 1;
        }
        let mut corresponding;
        loop {
            let length = at - start;
            // Up, as far as it goes: that joins it with runs above.
            while start > 0 && lines[start - 1] == lines[at - 1] {
                start -= 1;
                at -= 1;
                marks.0[start] = true;
                marks.0[at] = false;
                while start > 0 && marks.0[start - 1] {
                    start -= 1;
                }
                beside -= 1;
                while other.get(beside) {
                    beside -= 1;
                }
            }
            corresponding = if other.get(beside - 1) { at } else { end };
            // Then down, and so with runs below.
            while at < end && lines[start] == lines[at] {
                marks.0[start] = false;
                marks.0[at] = true;
                start += 1;
                at += 1;
                while at < end && marks.0[at] {
                    at += 1;
                }
                beside += 1;
                while other.get(beside) {
                    corresponding = at;
                    beside += 1;
                }
            }
            if length == at - start {
                break;
            }
        }
        // Back up to where the other file is changed as well.
        while corresponding < at {
            start -= 1;
            at -= 1;
            marks.0[start] = true;
            marks.0[at] = false;
            beside -= 1;
            while other.get(beside) {
                beside -= 1;
            }
        }
    }
}

/// The changes that the marks of two files make.
fn runs(old: &Marks, new: &Marks) -> Vec<Change> {
    let mut changes = Vec::new();
    let (mut left, mut right) = (0, 0);
    while left < old.0.len() || right < new.0.len() {
        let from = (left, right);
        while left < old.0.len() && old.0[left] {
            left += 1;
        }
        while right < new.0.len() && new.0[right] {
            right += 1;
        }
        if (left, right) == from {
            left += 1;
            right += 1;
        } else {
            changes.push(Change {
                old: from.0..left,
                new: from.1..right,
            });
        }
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changes(sameness: Sameness, old: &str, new: &str) -> String {
        let changes = sameness.changes(&split(old.as_bytes()), &split(new.as_bytes()));
        let one = |c: &Change| format!("{:?}/{:?}", c.old, c.new);
        changes.iter().map(one).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_change_is_as_far_down_as_it_can_be() {
        let exact = Sameness::default();
        let cases = [
            ("", "", ""),
            ("a\n", "a\n", ""),
            ("a\n", "b\n", "0..1/0..1"),
            ("a\na\nb\n", "a\nb\n", "1..2/1..1"),
            ("a\nb\n", "a\na\nb\n", "1..1/1..2"),
            ("x\n\ny\n", "x\n\nz\n\ny\n", "2..2/2..4"),
            ("a\nb", "a\nb\n", "1..2/1..2"),
        ];
        for (old, new, expected) in cases {
            assert_eq!(changes(exact, old, new), expected, "{old:?} {new:?}");
        }
    }

    #[test]
    fn what_is_to_be_ignored_is_no_change() {
        let none = Sameness::default();
        let cases = [
            (Sameness { case: true, ..none }, "A\n", "a\n"),
            (
                Sameness {
                    all_space: true,
                    ..none
                },
                "a b\n",
                "ab \n",
            ),
            (
                Sameness {
                    space_change: true,
                    ..none
                },
                "a  b \n",
                "a b\n",
            ),
            (
                Sameness {
                    trailing_space: true,
                    ..none
                },
                "a \n",
                "a\n",
            ),
            (
                Sameness {
                    blank_lines: true,
                    ..none
                },
                "a\n\nb\n",
                "a\nb\n",
            ),
            (
                Sameness {
                    carriage_return: true,
                    ..none
                },
                "a\r\n",
                "a\n",
            ),
        ];
        for (sameness, old, new) in cases {
            assert_ne!(changes(none, old, new), "", "{old:?}");
            assert_eq!(changes(sameness, old, new), "", "{old:?}");
        }
    }
}
