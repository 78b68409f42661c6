//! The part of a text that one read shows.
//!
//! Owns the limits of a read (lines, characters a line, bytes in all), the line numbers, and the
//! cuts: each names the call that goes on from there, and that call makes progress, also within
//! one endless line. Text comes in pieces of any size and only what is shown is kept. It must
//! never know files, encodings or the sandbox.

use super::ask::Ask;
use crate::endings::Endings;
use memchr::memchr;
use std::fmt::Write;

/// Lines shown when the call does not say. As many as other agents show.
pub const DEFAULT_LINES: u64 = 2_000;
/// Characters shown of a line that is not read by column.
pub const LINE_CHARS: u64 = 2_000;
/// Bytes shown in all, line numbers included: about 12,000 tokens.
pub const TOTAL_BYTES: usize = 50 * 1024;

/// What a read has come to.
#[derive(Debug, PartialEq, Eq)]
pub struct View {
    /// Numbered lines and the notes on them; each ends with a newline.
    pub text: String,
    /// How many lines are shown, whole or in part.
    pub shown: u64,
    /// How many lines the text has, as far as it was looked at.
    pub lines: u64,
    /// Characters of the asked line, when the asked column lies past them.
    pub column_past: Option<u64>,
    /// Line endings, as far as it was looked at.
    pub endings: Endings,
}

/// Takes text in pieces and keeps what is shown.
#[derive(Debug)]
pub struct Window {
    ask: Ask,
    text: String,
    shown: u64,
    /// Where the next call goes on, once this one shows no more.
    next: Option<(u64, u64)>,
    column_past: Option<u64>,
    endings: Endings,
    /// The line that is being read, from 1.
    line: u64,
    /// What is shown of it.
    excerpt: String,
    excerpt_chars: u64,
    /// There is more of it than is shown.
    full: bool,
    /// How many characters it has so far.
    chars: u64,
    /// It has begun: there is a character of it.
    open: bool,
    /// A carriage return came last; if a line feed follows it belongs to the ending.
    held_return: bool,
}

impl Window {
    /// Nothing read yet.
    pub fn new(ask: Ask) -> Self {
        Window {
            ask,
            text: String::new(),
            shown: 0,
            next: None,
            column_past: None,
            endings: Endings::default(),
            line: 1,
            excerpt: String::new(),
            excerpt_chars: 0,
            full: false,
            chars: 0,
            open: false,
            held_return: false,
        }
    }

    /// Takes the next piece.
    pub fn push(&mut self, piece: &str) {
        if memchr(0, piece.as_bytes()).is_some() {
            // Providers refuse NUL in text.
            return self.push(&piece.replace('\0', "\u{2400}"));
        }
        let mut rest = piece;
        while let Some(at) = memchr(b'\n', rest.as_bytes()) {
            self.part(&rest[..at]);
            if std::mem::take(&mut self.held_return) {
                self.endings.crlf += 1;
            } else {
                self.endings.lf += 1;
            }
            self.end_line();
            rest = &rest[at + 1..];
        }
        self.part(rest);
    }

    /// Whether more text would only be counted, not shown.
    pub const fn is_full(&self) -> bool {
        self.next.is_some() || self.full
    }

    /// The text has ended.
    pub fn finish(mut self) -> View {
        if std::mem::take(&mut self.held_return) {
            self.take("\r");
        }
        self.endings.unfinished = self.open;
        if self.open {
            self.end_line();
        }
        let lines = self.line - 1;
        let more = self.next.is_some_and(|(line, _)| line <= lines);
        self.close(more, Some(lines))
    }

    /// There is more text, but nobody will look at it.
    pub fn break_off(mut self) -> View {
        if self.next.is_none() {
            // In the middle of a line too long to be read to its end.
            let first = self.column();
            let after = first + self.excerpt_chars;
            self.show();
            self.next = Some((self.line, after));
        }
        self.close(true, None)
    }

    /// Adds the closing note.
    fn close(mut self, more: bool, lines: Option<u64>) -> View {
        let first = self.ask.offset;
        let last = (first + self.shown).saturating_sub(1);
        let of = lines.map_or(String::new(), |lines| format!(" of {lines}"));
        match self.next {
            Some((line, column)) if more => {
                let call = self.ask.at(line, column);
                let _ = writeln!(
                    self.text,
                    "[lines {first}-{last}{of}; continue with {call}]"
                );
            }
            _ if self.shown > 0 && (first > 1 || self.ask.column.is_some()) => {
                let _ = writeln!(self.text, "[lines {first}-{last}{of}, the end of the file]");
            }
            _ => {}
        }
        View {
            text: self.text,
            shown: self.shown,
            lines: self.line - 1,
            column_past: self.column_past,
            endings: self.endings,
        }
    }

    /// The column at which the current line is shown from.
    fn column(&self) -> u64 {
        match self.ask.column {
            Some(column) if self.line == self.ask.offset => column.max(1),
            _ => 1,
        }
    }

    /// Whether the current line is the one that is read by column.
    const fn by_column(&self) -> bool {
        self.ask.column.is_some() && self.line == self.ask.offset
    }

    const fn in_view(&self) -> bool {
        self.next.is_none() && self.line >= self.ask.offset
    }

    /// Takes text without a line feed.
    fn part(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.open = true;
        if std::mem::take(&mut self.held_return) {
            self.take("\r");
        }
        let body = text.strip_suffix('\r').unwrap_or(text);
        self.held_return = body.len() < text.len();
        self.take(body);
    }

    fn take(&mut self, text: &str) {
        if !self.in_view() {
            return;
        }
        let count = text.chars().count() as u64;
        if !self.full {
            let skip = (self.column() - 1).saturating_sub(self.chars);
            let text = &text[offset_of(text, count, skip)..];
            let count = count.saturating_sub(skip);
            let (end, room) = if self.by_column() {
                let end = text.floor_char_boundary(TOTAL_BYTES - self.excerpt.len());
                (end, text[..end].chars().count() as u64)
            } else {
                let room = LINE_CHARS - self.excerpt_chars;
                (offset_of(text, count, room), room)
            };
            self.full = end < text.len();
            self.excerpt.push_str(&text[..end]);
            self.excerpt_chars += count.min(room);
        }
        self.chars += count;
    }

    fn end_line(&mut self) {
        if self.in_view() {
            self.end_shown_line();
        }
        self.line += 1;
        self.chars = 0;
        self.excerpt.clear();
        self.excerpt_chars = 0;
        self.full = false;
        self.open = false;
    }

    fn end_shown_line(&mut self) {
        let column = self.column();
        if column > self.chars.max(1) {
            self.column_past = Some(self.chars);
            self.next = Some((self.line, 1));
            return;
        }
        let after = column + self.excerpt_chars;
        let cut = after <= self.chars;
        let number = self.line;
        if self.shown > 0 && self.text.len() + self.excerpt.len() > TOTAL_BYTES {
            self.next = Some((number, 1));
            return;
        }
        self.show();
        if cut {
            let last = after - 1;
            let _ = write!(
                self.text,
                "[line {number} is cut: characters {column} to {last} of {}",
                self.chars
            );
            if self.by_column() {
                self.text.push_str("]\n");
                self.next = Some((number, after));
                return;
            }
            let call = self.ask.at(number, after);
            let _ = writeln!(self.text, "; the rest with {call}]");
        }
        if self.shown >= self.ask.limit.unwrap_or(DEFAULT_LINES) {
            self.next = Some((number + 1, 1));
        }
    }

    fn show(&mut self) {
        number_into(&mut self.text, self.line);
        self.text.push('\t');
        self.text.push_str(&self.excerpt);
        self.text.push('\n');
        self.shown += 1;
    }
}

/// Writes `{number:>6}`, several times as fast as `format!`: it is done for every line shown.
fn number_into(out: &mut String, number: u64) {
    let mut digits = [b' '; 20];
    let mut at = digits.len();
    let mut rest = number;
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    let shown = &digits[at.min(digits.len() - 6)..];
    out.push_str(std::str::from_utf8(shown).expect("blanks and digits are text"));
}

/// The byte at which a character starts, counted from 0, in a text of `count` characters.
fn offset_of(text: &str, count: u64, character: u64) -> usize {
    if character >= count {
        text.len()
    } else if count == text.len() as u64 {
        // ASCII: the usual case, and the fast one for a line without end.
        character as usize
    } else {
        let mut starts = text.char_indices();
        starts
            .nth(character as usize)
            .map_or(text.len(), |(at, _)| at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ask(offset: u64, limit: Option<u64>, column: Option<u64>) -> Ask {
        Ask {
            path: "a.txt".into(),
            offset,
            limit,
            column,
        }
    }

    fn view(text: &str, ask: Ask) -> View {
        let mut window = Window::new(ask);
        window.push(text);
        window.finish()
    }

    #[test]
    fn lines_are_numbered_and_a_cut_names_the_next_call() {
        let cases: &[(&str, Ask, &str)] = &[
            ("a\nb\n", ask(1, None, None), "     1\ta\n     2\tb\n"),
            ("a\r\nb", ask(1, None, None), "     1\ta\n     2\tb\n"),
            ("a\rb\r", ask(1, None, None), "     1\ta\rb\r\n"),
            ("\n\n", ask(1, None, None), "     1\t\n     2\t\n"),
            ("a\0b\n", ask(1, None, None), "     1\ta\u{2400}b\n"),
            (
                "a\nb\nc\n",
                ask(1, Some(2), None),
                "     1\ta\n     2\tb\n[lines 1-2 of 3; continue with read_file {\"path\":\"a.txt\",\"offset\":3,\"limit\":2}]\n",
            ),
            (
                "a\nb\nc\n",
                ask(2, Some(2), None),
                "     2\tb\n     3\tc\n[lines 2-3 of 3, the end of the file]\n",
            ),
            ("a\nb\n", ask(1, Some(2), None), "     1\ta\n     2\tb\n"),
            (
                "héllo\nb\n",
                ask(1, None, Some(3)),
                "     1\tllo\n     2\tb\n[lines 1-2 of 2, the end of the file]\n",
            ),
            ("a\n", ask(5, None, None), ""),
        ];
        for (text, ask, expected) in cases {
            assert_eq!(view(text, ask.clone()).text, *expected, "{text:?} {ask:?}");
        }
    }

    #[test]
    fn numbers_are_aligned_to_six_places() {
        for number in [0, 1, 10, 99_999, 123_456, 1_234_567, u64::MAX] {
            let mut out = String::new();
            number_into(&mut out, number);
            assert_eq!(out, format!("{number:>6}"));
        }
    }

    #[test]
    fn a_long_line_is_cut_with_a_mark_and_the_following_lines_are_still_shown() {
        let text = format!("{}\nnext\n", "x".repeat(100_000));
        let shown = view(&text, ask(1, None, None)).text;
        let mark = "\n[line 1 is cut: characters 1 to 2000 of 100000; the rest with read_file {\"path\":\"a.txt\",\"offset\":1,\"column\":2001}]\n     2\tnext\n";
        assert!(shown.ends_with(mark), "{}", &shown[2_000..]);
    }

    #[test]
    fn a_column_past_the_line_is_told_with_its_length() {
        assert_eq!(view("abc\n", ask(1, None, Some(4))).column_past, Some(3));
        assert_eq!(view("abc\n", ask(1, None, Some(3))).column_past, None);
        assert_eq!(view("\n", ask(1, None, Some(1))).column_past, None);
        assert_eq!(view("\n", ask(1, None, Some(2))).column_past, Some(0));
    }

    #[test]
    fn a_text_nobody_looks_at_to_its_end_still_goes_on_from_the_cut() {
        let mut window = Window::new(ask(1, None, None));
        window.push(&"y".repeat(5_000));
        assert!(window.is_full());
        let shown = window.break_off().text;
        assert!(
            shown.ends_with("[lines 1-1; continue with read_file {\"path\":\"a.txt\",\"offset\":1,\"column\":2001}]\n"),
            "{shown}"
        );
    }

    /// The line and the column of the call that a note names after `words`.
    fn named_call(note: &str, words: &str) -> Option<(u64, Option<u64>)> {
        let (_, call) = note.strip_suffix(']')?.split_once(words)?;
        let call: serde_json::Value = serde_json::from_str(call).expect("the named call is JSON");
        let line = call["offset"].as_u64().expect("an offset");
        Some((line, call["column"].as_u64()))
    }

    fn next_call(text: &str) -> Option<(u64, Option<u64>)> {
        named_call(text.lines().last()?, "continue with read_file ")
    }

    #[test]
    fn one_line_of_32_megabytes_is_read_on_by_the_named_calls() {
        let text = "äb".repeat(11 << 20);
        let mut at = (1, None);
        let mut columns = Vec::new();
        for _ in 0..3 {
            let shown = view(&text, ask(at.0, None, at.1)).text;
            let cut = shown.lines().nth(1).expect("a note on the cut");
            at = named_call(cut, "the rest with read_file ")
                .or_else(|| next_call(&shown))
                .expect("a call that goes on");
            assert_eq!(at.0, 1);
            columns.push(at.1.expect("a column"));
        }
        assert_eq!(columns[0], LINE_CHARS + 1);
        assert!(columns[1] > columns[0] + 30_000 && columns[2] > columns[1] + 30_000);
        let end = view(&text, ask(1, None, Some((22 << 20) - 5)));
        assert!(
            end.text
                .ends_with("[lines 1-1 of 1, the end of the file]\n")
        );
    }

    /// Follows every call that the views name, as a patient model would, and joins what is shown.
    fn read_all(text: &str, limit: Option<u64>) -> String {
        let mut whole = String::new();
        let mut at = (1, None);
        loop {
            let shown = view(text, ask(at.0, limit, at.1)).text;
            for line in shown.lines() {
                if let Some((number, content)) = line.split_once('\t') {
                    let number: u64 = number.trim().parse().expect("a line number");
                    if number > 1 && (number, at.1.is_some()) != (at.0, true) {
                        whole.push('\n');
                    }
                    whole.push_str(content);
                } else if let Some(mut rest) = named_call(line, "; the rest with read_file ") {
                    let number = rest.0;
                    while rest.0 == number && rest.1.is_some() {
                        let more = view(text, ask(number, Some(1), rest.1)).text;
                        let line = more.lines().next().expect("a line is shown");
                        whole.push_str(line.split_once('\t').expect("a number").1);
                        rest = next_call(&more).unwrap_or((number + 1, None));
                    }
                }
            }
            match next_call(&shown) {
                Some(next) => {
                    assert!(next > at, "no progress from {at:?}");
                    at = next;
                }
                None => return whole,
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn following_the_named_calls_shows_every_character_once(
            lines in prop::collection::vec("[aé ]{0,9}", 0..40),
            place in 0usize..40,
            long in 0usize..3,
            limit in prop::option::of(1u64..50),
        ) {
            let mut lines = lines;
            lines.insert(place.min(lines.len()), "é".repeat(long * 30_000));
            let text = lines.join("\n") + "\n";
            prop_assert_eq!(read_all(&text, limit) + "\n", text);
        }
    }
}
