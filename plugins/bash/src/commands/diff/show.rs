//! How the difference of two texts is written: normal, unified, in context, side by side.
//!
//! It must never know where the texts come from.

use super::lines::Change;
use std::ops::Range;

/// The form of the output.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// `3c3`, `<`, `>`
    Normal,
    /// `-u`, with so many lines around
    Unified(usize),
    /// `-c`, with so many lines around
    Context(usize),
    /// `-y`, in so many columns
    SideBySide(usize),
}

/// Two texts by lines, and what differs.
pub struct Texts<'a> {
    /// The lines of each, with their line breaks.
    pub lines: [&'a [&'a [u8]]; 2],
    /// What differs.
    pub changes: &'a [Change],
    /// What a header says of each file.
    pub heads: [String; 2],
    /// `-p`: the function that a hunk is in.
    pub functions: bool,
    /// `--suppress-common-lines`
    pub only_changes: bool,
}

impl Texts<'_> {
    /// Writes the difference.
    pub fn write(&self, form: Form, out: &mut Vec<u8>) {
        match form {
            Form::Normal => self.normal(out),
            Form::Unified(around) => self.unified(around, out),
            Form::Context(around) => self.context(around, out),
            Form::SideBySide(width) => self.side_by_side(width, out),
        }
    }

    fn normal(&self, out: &mut Vec<u8>) {
        for Change { old, new } in self.changes {
            let letter = match (old.is_empty(), new.is_empty()) {
                (true, _) => 'a',
                (_, true) => 'd',
                _ => 'c',
            };
            out.extend(format!("{}{letter}{}\n", span(old), span(new)).bytes());
            self.each(0, old, "< ", out);
            if letter == 'c' {
                out.extend(b"---\n");
            }
            self.each(1, new, "> ", out);
        }
    }

    fn each(&self, side: usize, lines: &Range<usize>, mark: &str, out: &mut Vec<u8>) {
        for line in &self.lines[side][lines.clone()] {
            put(mark, line, out);
        }
    }

    /// Changes that are printed together, with the lines around them of each file.
    fn hunks(&self, around: usize) -> Vec<(&[Change], [Range<usize>; 2])> {
        let mut hunks = Vec::new();
        let mut left = self.changes;
        while !left.is_empty() {
            let near = |pair: &[Change]| pair[1].old.start - pair[0].old.end <= 2 * around;
            let count = 1 + left.windows(2).take_while(|pair| near(pair)).count();
            let (together, rest) = left.split_at(count);
            let (first, last) = (&together[0], &together[count - 1]);
            let before = around.min(first.old.start).min(first.new.start);
            let after = around
                .min(self.lines[0].len() - last.old.end)
                .min(self.lines[1].len() - last.new.end);
            let old = first.old.start - before..last.old.end + after;
            let new = first.new.start - before..last.new.end + after;
            hunks.push((together, [old, new]));
            left = rest;
        }
        hunks
    }

    /// What `-p` puts behind the head of a hunk that begins at `line`.
    fn function(&self, line: usize) -> Vec<u8> {
        let begins = |line: &&&[u8]| {
            line.first()
                .is_some_and(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'$'))
        };
        let found = self.lines[0][..line].iter().rev().find(begins);
        match found.filter(|_| self.functions) {
            Some(found) => {
                let text = found.trim_ascii_end();
                [b" ", &text[..text.len().min(40)]].concat()
            }
            None => Vec::new(),
        }
    }

    fn unified(&self, around: usize, out: &mut Vec<u8>) {
        out.extend(format!("--- {}\n+++ {}\n", self.heads[0], self.heads[1]).bytes());
        for (changes, [old, new]) in self.hunks(around) {
            out.extend(format!("@@ -{} +{} @@", counted(&old), counted(&new)).bytes());
            out.extend(self.function(old.start));
            out.push(b'\n');
            let mut at = old.start;
            for change in changes {
                self.each(0, &(at..change.old.start), " ", out);
                self.each(0, &change.old, "-", out);
                self.each(1, &change.new, "+", out);
                at = change.old.end;
            }
            self.each(0, &(at..old.end), " ", out);
        }
    }

    fn context(&self, around: usize, out: &mut Vec<u8>) {
        out.extend(format!("*** {}\n--- {}\n", self.heads[0], self.heads[1]).bytes());
        for (changes, spans) in self.hunks(around) {
            out.extend(b"***************");
            out.extend(self.function(spans[0].start));
            out.push(b'\n');
            for (side, span) in spans.iter().enumerate() {
                let (open, close) = [("***", "****"), ("---", "----")][side];
                out.extend(format!("{open} {} {close}\n", from_to(span)).bytes());
                let of = |change: &Change| [change.old.clone(), change.new.clone()];
                if changes.iter().all(|change| of(change)[side].is_empty()) {
                    continue;
                }
                let mut at = span.start;
                for change in changes {
                    let [mine, other] = [&of(change)[side], &of(change)[1 - side]];
                    let mark = match (other.is_empty(), side) {
                        (false, _) => "! ",
                        (true, 0) => "- ",
                        (true, _) => "+ ",
                    };
                    self.each(side, &(at..mine.start), "  ", out);
                    self.each(side, mine, mark, out);
                    at = mine.end;
                }
                self.each(side, &(at..span.end), "  ", out);
            }
        }
    }

    fn side_by_side(&self, width: usize, out: &mut Vec<u8>) {
        let columns = Columns::of(width);
        let mut at = 0;
        let mut beside = 0;
        for Change { old, new } in self.changes {
            if !self.only_changes {
                self.pairs(&columns, at..old.start, beside..new.start, out);
            }
            let both = old.len().min(new.len());
            for n in 0..old.len().max(new.len()) {
                let left = old.clone().nth(n).map(|line| self.lines[0][line]);
                let right = new.clone().nth(n).map(|line| self.lines[1][line]);
                let mark = match left {
                    _ if n < both => b'|',
                    Some(_) => b'<',
                    None => b'>',
                };
                columns.line(left, mark, right, out);
            }
            (at, beside) = (old.end, new.end);
        }
        if !self.only_changes {
            let ends = [self.lines[0].len(), self.lines[1].len()];
            self.pairs(&columns, at..ends[0], beside..ends[1], out);
        }
    }

    fn pairs(&self, columns: &Columns, old: Range<usize>, new: Range<usize>, out: &mut Vec<u8>) {
        for (left, right) in old.zip(new) {
            columns.line(
                Some(self.lines[0][left]),
                b' ',
                Some(self.lines[1][right]),
                out,
            );
        }
    }
}

fn put(mark: &str, line: &[u8], out: &mut Vec<u8>) {
    out.extend(mark.bytes());
    out.extend(line);
    if !line.ends_with(b"\n") {
        out.extend(b"\n\\ No newline at end of file\n");
    }
}

/// Lines in the normal form: `3`, `3,5`, or the line before where there are none.
fn span(lines: &Range<usize>) -> String {
    match lines.len() {
        0 => lines.start.to_string(),
        1 => (lines.start + 1).to_string(),
        _ => format!("{},{}", lines.start + 1, lines.end),
    }
}

/// Lines in the unified form: the first and how many.
fn counted(lines: &Range<usize>) -> String {
    match lines.len() {
        0 => format!("{},0", lines.start),
        1 => (lines.start + 1).to_string(),
        many => format!("{},{many}", lines.start + 1),
    }
}

/// Lines in the form with context: the first and the last.
fn from_to(lines: &Range<usize>) -> String {
    match lines.len() {
        0 | 1 => lines.end.to_string(),
        _ => format!("{},{}", lines.start + 1, lines.end),
    }
}

/// Columns of a tab.
const TAB: usize = 8;

/// Where the halves of a line are.
struct Columns {
    half: usize,
    second: usize,
}

impl Columns {
    /// As GNU lays out `width` columns: halves that begin at a tab, three columns between them.
    fn of(width: usize) -> Columns {
        let offset = (width + TAB + 3) / (2 * TAB) * TAB;
        let half = offset.saturating_sub(3).min(width.saturating_sub(offset));
        let second = if half > 0 { offset } else { width };
        Columns { half, second }
    }

    fn line(&self, left: Option<&[u8]>, mark: u8, right: Option<&[u8]>, out: &mut Vec<u8>) {
        let mut column = 0;
        if let Some(left) = left {
            column = self.half_line(left, 0, out);
        }
        if mark != b' ' {
            column = tab_to(column, (self.half + self.second - 1) / 2, out) + 1;
            out.push(mark);
        }
        if let Some(right) = right.filter(|line| *line != b"\n") {
            let column = tab_to(column, self.second, out);
            self.half_line(right, column, out);
        }
        out.push(b'\n');
    }

    /// Writes what fits of a line that begins at `indent`. The column where it ends.
    fn half_line(&self, line: &[u8], indent: usize, out: &mut Vec<u8>) -> usize {
        let text = String::from_utf8_lossy(line.strip_suffix(b"\n").unwrap_or(line)).into_owned();
        let mut column = 0;
        for letter in text.chars() {
            let wide = if letter == '\t' {
                TAB - column % TAB
            } else {
                1
            };
            if column + wide > self.half {
                break;
            }
            let mut bytes = [0; 4];
            out.extend(letter.encode_utf8(&mut bytes).bytes());
            column += wide;
        }
        indent + column
    }
}

/// Goes to a column by tabs, and by spaces where a tab would go too far.
fn tab_to(mut from: usize, to: usize, out: &mut Vec<u8>) -> usize {
    loop {
        let next = from + TAB - from % TAB;
        if next > to {
            break;
        }
        out.push(b'\t');
        from = next;
    }
    out.extend(std::iter::repeat_n(b' ', to.saturating_sub(from)));
    to.max(from)
}
