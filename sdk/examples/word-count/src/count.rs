//! Counting, over anything that can be read, in memory that does not grow with the input.

use std::io::{self, BufRead};

/// What was counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// The last one counts without a line ending too.
    pub lines: u64,
    /// What white space separates.
    pub words: u64,
    pub bytes: u64,
    /// How often the word that was asked for is there.
    pub matches: u64,
}

/// Whether everything was counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    AtTheEnd,
    Early,
}

/// Counts until the end, or until `go_on`, asked before each buffer, says no.
pub fn count(
    mut reader: impl BufRead,
    word: Option<&str>,
    go_on: impl Fn() -> bool,
) -> io::Result<(Counts, Stopped)> {
    let mut counter = Counter::new(word);
    loop {
        if !go_on() {
            return Ok((counter.finish(), Stopped::Early));
        }
        let buffer = reader.fill_buf()?;
        if buffer.is_empty() {
            return Ok((counter.finish(), Stopped::AtTheEnd));
        }
        buffer.iter().for_each(|byte| counter.push(*byte));
        let used = buffer.len();
        reader.consume(used);
    }
}

struct Counter<'word> {
    counts: Counts,
    wanted: Option<&'word [u8]>,
    /// What is still to come of the wanted word; `None` once the current word differs from it.
    rest: Option<&'word [u8]>,
    in_word: bool,
    in_line: bool,
}

impl<'word> Counter<'word> {
    fn new(word: Option<&'word str>) -> Self {
        let wanted = word.map(str::as_bytes);
        Counter {
            counts: Counts::default(),
            wanted,
            rest: wanted,
            in_word: false,
            in_line: false,
        }
    }

    fn push(&mut self, byte: u8) {
        self.counts.bytes += 1;
        self.in_line = byte != b'\n';
        if byte == b'\n' {
            self.counts.lines += 1;
        }
        if byte.is_ascii_whitespace() {
            self.end_word();
        } else {
            self.in_word = true;
            self.rest = self.rest.and_then(|rest| rest.strip_prefix(&[byte]));
        }
    }

    fn end_word(&mut self) {
        if self.in_word {
            self.counts.words += 1;
            if self.rest.is_some_and(<[u8]>::is_empty) {
                self.counts.matches += 1;
            }
        }
        self.in_word = false;
        self.rest = self.wanted;
    }

    fn finish(mut self) -> Counts {
        self.end_word();
        if self.in_line {
            self.counts.lines += 1;
        }
        self.counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    #[test]
    fn texts_are_counted_whatever_the_buffer() {
        let table: [(&[u8], [u64; 4]); 5] = [
            (b"", [0, 0, 0, 0]),
            (b"xy", [1, 1, 2, 1]),
            (b"xy  y\txy\n\n xyz\n", [3, 4, 15, 2]),
            (b"x xyxy\nxy", [2, 3, 9, 1]),
            (b"\xff xy\n", [1, 2, 5, 1]),
        ];
        for (text, [lines, words, bytes, matches]) in table {
            let counts = Counts {
                lines,
                words,
                bytes,
                matches,
            };
            for capacity in [1, 2, 4_096] {
                let reader = BufReader::with_capacity(capacity, text);
                let found = count(reader, Some("xy"), || true).expect("memory can be read");
                assert_eq!(found, (counts, Stopped::AtTheEnd), "{text:?} by {capacity}");
            }
        }
    }
}
