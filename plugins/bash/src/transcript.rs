//! What a command printed, as much of it as a model should read.
//!
//! Owns the cut: the beginning and the end are kept, the middle is counted, and memory stays the
//! same however much comes. Escape sequences for terminals are taken out on the way in, so that a
//! cut never leaves half of one.
//!
//! It must never know who prints, or when the command ends.

use anstream::adapter::StripBytes;
use std::borrow::Cow;
use std::collections::VecDeque;
use std::io::Write;

/// Bytes kept from the beginning.
pub const HEAD_BYTES: usize = 10 << 10;
/// Bytes kept from the end, where errors and summaries are.
pub const TAIL_BYTES: usize = 20 << 10;
/// Bytes shown while the command runs. The host ends a call whose output passes its limit, so
/// this stays far below it.
const LIVE_BYTES: usize = 256 << 10;

/// Which of the two streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

/// What waits to be put in order at most, of each stream.
const WAITING_BYTES: usize = 64 << 10;

/// Output of one command, both streams in the order in which they came.
///
/// The shell hands the two streams over apart, and each a little later than it printed. What came
/// since the shell last went on belongs together: standard output first, then standard error.
pub struct Transcript<'a> {
    /// By [`Stream`].
    waiting: [Vec<u8>; 2],
    /// Whether something came since the last [`Transcript::round`].
    came: bool,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
    strip: [StripBytes; 2],
    live: Box<dyn Write + Send + 'a>,
    live_left: usize,
}

impl<'a> Transcript<'a> {
    /// Empty. What comes is also written to `live`, for the person who watches, up to a limit;
    /// that nobody reads there is no fault.
    pub fn new(live: impl Write + Send + 'a) -> Transcript<'a> {
        Transcript {
            waiting: Default::default(),
            came: false,
            head: Vec::new(),
            tail: VecDeque::new(),
            total: 0,
            strip: Default::default(),
            live: Box::new(live),
            live_left: LIVE_BYTES,
        }
    }

    /// Takes what `stream` printed next.
    pub fn push(&mut self, stream: Stream, bytes: &[u8]) {
        self.came = true;
        let waiting = &mut self.waiting[stream as usize];
        waiting.extend_from_slice(bytes);
        if waiting.len() > WAITING_BYTES {
            self.settle();
        }
    }

    /// Says that every part of the shell had its turn. When nothing came in this one, the shell
    /// waits, and what came before is complete.
    pub fn round(&mut self) {
        if !std::mem::take(&mut self.came) {
            self.settle();
        }
    }

    /// Forgets all of it but what was shown live.
    pub fn restart(&mut self) {
        self.waiting = Default::default();
        self.head.clear();
        self.tail.clear();
        self.total = 0;
        self.strip = Default::default();
    }

    fn settle(&mut self) {
        for stream in [Stream::Out, Stream::Err] {
            let mut waiting = std::mem::take(&mut self.waiting[stream as usize]);
            self.take(stream, &waiting);
            waiting.clear();
            self.waiting[stream as usize] = waiting;
        }
    }

    fn take(&mut self, stream: Stream, bytes: &[u8]) {
        let strip = &mut self.strip[stream as usize];
        for text in strip.strip_next(bytes) {
            self.total += text.len() as u64;
            let (head, rest) = text.split_at(text.len().min(HEAD_BYTES - self.head.len()));
            self.head.extend_from_slice(head);
            // Only the last of a large chunk can stay.
            let rest = &rest[rest.len().saturating_sub(TAIL_BYTES)..];
            self.tail.extend(rest);
            let excess = self.tail.len().saturating_sub(TAIL_BYTES);
            self.tail.drain(..excess);
        }
        let shown = &bytes[..bytes.len().min(self.live_left)];
        self.live_left -= shown.len();
        if !shown.is_empty() && self.live.write_all(shown).and(self.live.flush()).is_err() {
            self.live_left = 0;
        }
    }

    /// The text for the model. Bytes that are no UTF-8 are gone or become U+FFFD. Where the middle
    /// is missing a line says how much, followed by `hint`. Ends with a line break unless it is
    /// empty.
    pub fn render(&mut self, hint: &str) -> String {
        self.settle();
        let (front, back) = self.tail.as_slices();
        let tail = [front, back].concat();
        let kept = (self.head.len() + tail.len()) as u64;
        let mut text = if kept == self.total {
            let whole = [self.head.as_slice(), &tail].concat();
            String::from_utf8_lossy(&whole).into_owned()
        } else {
            let (head, tail) = (trim_end(&self.head), trim_start(&tail));
            let cut = self.total - (head.len() + tail.len()) as u64;
            let mut text = lossy(head).into_owned();
            if !text.ends_with('\n') {
                text.push('\n');
            }
            text.push_str(&format!("[{cut} bytes cut here; {hint}]\n"));
            text.push_str(&lossy(tail));
            text
        };
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text
    }
}

fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

/// Up to the end of the last whole line if that is in the second half, else of the last character.
fn trim_end(bytes: &[u8]) -> &[u8] {
    match bytes.iter().rposition(|byte| *byte == b'\n') {
        Some(at) if at >= bytes.len() / 2 => &bytes[..=at],
        _ => {
            let start = bytes.iter().rposition(|byte| byte & 0xc0 != 0x80);
            &bytes[..start.unwrap_or(bytes.len())]
        }
    }
}

/// From the start of the first whole line if that is in the first half, else of the first character.
fn trim_start(bytes: &[u8]) -> &[u8] {
    match bytes.iter().position(|byte| *byte == b'\n') {
        Some(at) if at < bytes.len() / 2 => &bytes[at + 1..],
        _ => {
            let start = bytes.iter().position(|byte| byte & 0xc0 != 0x80);
            &bytes[start.unwrap_or(0)..]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transcript(chunks: &[(Stream, &[u8])]) -> String {
        let mut transcript = Transcript::new(std::io::sink());
        for (stream, bytes) in chunks {
            transcript.push(*stream, bytes);
            transcript.round();
            transcript.round();
        }
        transcript.render("hint")
    }

    #[test]
    fn short_output_is_kept_as_it_is() {
        assert_eq!(transcript(&[]), "");
        assert_eq!(transcript(&[(Stream::Out, b"a\nb")]), "a\nb\n");
        assert_eq!(
            transcript(&[(Stream::Out, b"out\n"), (Stream::Err, b"err\n")]),
            "out\nerr\n"
        );
    }

    #[test]
    fn what_came_while_the_shell_went_on_is_put_in_order() {
        let mut transcript = Transcript::new(std::io::sink());
        transcript.push(Stream::Err, b"err 1\n");
        transcript.round();
        transcript.push(Stream::Out, b"out 1\n");
        transcript.round();
        transcript.round();
        transcript.push(Stream::Err, b"err 2\n");
        transcript.round();
        transcript.round();
        transcript.push(Stream::Out, b"out 2\n");
        assert_eq!(transcript.render("hint"), "out 1\nerr 1\nerr 2\nout 2\n");
    }

    #[test]
    fn escape_sequences_go_even_when_split_between_chunks_and_streams() {
        let chunks: [(Stream, &[u8]); 5] = [
            (Stream::Out, b"\x1b[1;3"),
            (Stream::Err, b"\x1b[0mplain "),
            (Stream::Out, b"1mred\x1b"),
            (Stream::Out, b"[0m\x1b]8;;http://example.org\x07link"),
            (Stream::Out, b"\x1b]8;;\x07\n"),
        ];
        assert_eq!(transcript(&chunks), "plain redlink\n");
    }

    #[test]
    fn bytes_that_are_no_text_go_and_text_around_them_stays() {
        assert_eq!(transcript(&[(Stream::Out, b"a\xff\xfe\0b\n")]), "ab\n");
        let latin = transcript(&[(Stream::Out, b"caf\xe9, the\n")]);
        assert!(
            latin.starts_with("caf") && latin.ends_with("the\n"),
            "{latin}"
        );
        // A character split between chunks is whole again.
        assert_eq!(
            transcript(&[(Stream::Out, b"\xc3"), (Stream::Out, b"\xa4\n")]),
            "ä\n"
        );
    }

    #[test]
    fn a_flood_keeps_the_beginning_and_the_end_in_the_same_memory() {
        let mut transcript = Transcript::new(std::io::sink());
        let line = |n: u64| format!("line {n}\n");
        let mut total = 0;
        for n in 0..2_000_000 {
            let line = line(n);
            total += line.len();
            transcript.push(Stream::Out, line.as_bytes());
        }
        assert!(transcript.head.capacity() <= 2 * HEAD_BYTES);
        assert!(transcript.tail.capacity() <= 4 * TAIL_BYTES);
        let text = transcript.render("hint");
        assert!(text.starts_with("line 0\nline 1\n"));
        assert!(text.ends_with("line 1999998\nline 1999999\n"));
        assert!(text.len() <= HEAD_BYTES + TAIL_BYTES + 100);
        // Whole lines on both sides, and every byte accounted for.
        let mark = text.lines().find(|l| l.starts_with('[')).expect("the cut");
        let cut = mark[1..]
            .split(' ')
            .next()
            .and_then(|n| n.parse::<usize>().ok());
        assert_eq!(cut, Some(total - (text.len() - mark.len() - 1)));
        assert!(text.lines().all(|l| l == mark || l.starts_with("line ")));
    }

    #[test]
    fn one_endless_line_is_cut_between_characters() {
        let text = transcript(&[(Stream::Out, "ä".repeat(100_000).as_bytes())]);
        assert!(!text.contains('\u{fffd}'));
        assert!(text.contains("bytes cut here; hint]\n"));
    }

    #[test]
    fn what_is_shown_live_is_bounded() {
        let mut shown = Vec::new();
        let mut transcript = Transcript::new(&mut shown);
        for _ in 0..1_000 {
            transcript.push(Stream::Out, &[b'x'; 1_000]);
        }
        transcript.render("hint");
        drop(transcript);
        assert_eq!(shown.len(), LIVE_BYTES);
    }
}
