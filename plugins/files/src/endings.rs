//! How the lines of a text end.
//!
//! Owns the words for line endings and finding the one that inserted lines take. It must never
//! know why somebody asks.

/// How many lines end how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Endings {
    /// Lines that end with a line feed alone.
    pub lf: u64,
    /// Lines that end with a carriage return and a line feed.
    pub crlf: u64,
    /// Whether the last line has no ending.
    pub unfinished: bool,
}

impl Endings {
    /// Counts those of a whole text.
    pub fn of(text: &[u8]) -> Self {
        let mut endings = Endings {
            unfinished: text.last().is_some_and(|last| *last != b'\n'),
            ..Endings::default()
        };
        for at in memchr::memchr_iter(b'\n', text) {
            if at > 0 && text[at - 1] == b'\r' {
                endings.crlf += 1;
            } else {
                endings.lf += 1;
            }
        }
        endings
    }

    /// The name for people; none when no line has an ending.
    pub const fn name(self) -> Option<&'static str> {
        match (self.lf, self.crlf) {
            (0, 0) => None,
            (_, 0) => Some("LF"),
            (0, _) => Some("CRLF"),
            _ => Some("mixed LF and CRLF"),
        }
    }
}

/// Parts a line, as `split_inclusive('\n')` gives it, into its content and its ending; the last
/// line of a text may have none.
pub fn part(line: &str) -> (&str, Option<&'static str>) {
    if let Some(content) = line.strip_suffix("\r\n") {
        (content, Some("\r\n"))
    } else if let Some(content) = line.strip_suffix('\n') {
        (content, Some("\n"))
    } else {
        (line, None)
    }
}

/// The ending that lines inserted at `at` take: that of the line there, else of the line before;
/// none when the text has no line ending at all.
pub fn neighbour(text: &str, at: usize) -> Option<&'static str> {
    let ending = |newline: usize| {
        if text[..newline].ends_with('\r') {
            "\r\n"
        } else {
            "\n"
        }
    };
    let bytes = text.as_bytes();
    memchr::memchr(b'\n', &bytes[at..])
        .map(|found| at + found)
        .or_else(|| memchr::memrchr(b'\n', &bytes[..at]))
        .map(ending)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_are_counted_and_named() {
        let cases: &[(&str, u64, u64, bool, Option<&str>)] = &[
            ("", 0, 0, false, None),
            ("a", 0, 0, true, None),
            ("a\n", 1, 0, false, Some("LF")),
            ("a\r\nb", 0, 1, true, Some("CRLF")),
            ("a\r\n\n", 1, 1, false, Some("mixed LF and CRLF")),
            ("a\rb\r", 0, 0, true, None),
        ];
        for (text, lf, crlf, unfinished, name) in cases {
            let endings = Endings::of(text.as_bytes());
            let expected = Endings {
                lf: *lf,
                crlf: *crlf,
                unfinished: *unfinished,
            };
            assert_eq!(endings, expected, "{text:?}");
            assert_eq!(endings.name(), *name, "{text:?}");
        }
    }

    #[test]
    fn inserted_lines_end_like_the_line_they_are_put_at() {
        let mixed = "a\r\nb\nc";
        let cases = [(0, "\r\n"), (1, "\r\n"), (3, "\n"), (5, "\n"), (6, "\n")];
        for (at, expected) in cases {
            assert_eq!(neighbour(mixed, at), Some(expected), "at {at}");
        }
        assert_eq!(neighbour("abc", 1), None);
    }
}
