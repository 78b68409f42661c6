//! Reads server-sent events.
//!
//! Owns the bytes-to-events step of the HTML standard's event stream, for every provider. It is
//! our own because the established reader (`eventsource-stream` 0.2.3) panics on a byte order
//! mark, loses the last event of a stream that ends its lines with CR alone, copies the rest of
//! its buffer for every line, and has no bound on what one event may hold. It must never know
//! what an event says.

/// The most bytes one event may hold. Vendors send deltas of a few kilobytes, but a compatible
/// server may send a whole file as one tool call.
pub(super) const MAX_EVENT_BYTES: usize = 16 << 20;

/// The event grew past [`MAX_EVENT_BYTES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EventTooLarge;

/// Turns bytes, in pieces of any size, into the data of events.
///
/// `event`, `id` and `retry` fields are read past: both protocols repeat the kind of an event in
/// its data, and a broken stream is never resumed.
#[derive(Debug)]
pub(super) struct SseReader {
    /// The current line, without its end, when it is spread over pieces.
    line: Vec<u8>,
    /// The data lines of the current event, joined by LF.
    data: Vec<u8>,
    has_data: bool,
    /// The last piece ended with CR: an LF at the start of the next one belongs to it.
    after_cr: bool,
    first_line: bool,
    max_event_bytes: usize,
}

impl Default for SseReader {
    fn default() -> Self {
        SseReader::with_bound(MAX_EVENT_BYTES)
    }
}

impl SseReader {
    /// A reader at the start of a stream whose events may hold `max_event_bytes`.
    pub(super) fn with_bound(max_event_bytes: usize) -> Self {
        SseReader {
            line: Vec::new(),
            data: Vec::new(),
            has_data: false,
            after_cr: false,
            first_line: true,
            max_event_bytes,
        }
    }

    /// Takes the next piece and appends the data of the events it completes to `events`.
    pub(super) fn push(
        &mut self,
        mut bytes: &[u8],
        events: &mut Vec<String>,
    ) -> Result<(), EventTooLarge> {
        if std::mem::take(&mut self.after_cr) {
            if bytes.is_empty() {
                self.after_cr = true;
            }
            bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
        }
        while let Some(end) = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            let rest = &bytes[end + 1..];
            if self.line.is_empty() {
                self.end_line(&bytes[..end], events)?;
            } else {
                self.grow_line(&bytes[..end])?;
                let mut line = std::mem::take(&mut self.line);
                self.end_line(&line, events)?;
                line.clear();
                self.line = line;
            }
            bytes = match (bytes[end], rest.split_first()) {
                (b'\r', Some((b'\n', rest))) => rest,
                (b'\r', None) => {
                    self.after_cr = true;
                    rest
                }
                _ => rest,
            };
        }
        self.grow_line(bytes)
    }

    /// The stream has ended: the data of an event that lacks only its line ends, if there is one.
    ///
    /// The standard drops such an event. Some servers leave the last blank line out, and what is
    /// cut short does not parse as JSON, so nothing wrong comes of handing it on.
    pub(super) fn finish(mut self) -> Option<String> {
        let mut events = Vec::new();
        let line = std::mem::take(&mut self.line);
        self.end_line(&line, &mut events).ok()?;
        self.end_line(b"", &mut events).ok()?;
        events.pop()
    }

    fn grow_line(&mut self, bytes: &[u8]) -> Result<(), EventTooLarge> {
        if self.line.len() + self.data.len() + bytes.len() > self.max_event_bytes {
            return Err(EventTooLarge);
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn end_line(&mut self, line: &[u8], events: &mut Vec<String>) -> Result<(), EventTooLarge> {
        let line = if std::mem::take(&mut self.first_line) {
            line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line)
        } else {
            line
        };
        if line.is_empty() {
            if std::mem::take(&mut self.has_data) {
                // Decoding whole events only, so a character split over pieces is whole again.
                events.push(String::from_utf8_lossy(&self.data).into_owned());
                self.data.clear();
            }
            return Ok(());
        }
        let (field, value) = match line.iter().position(|byte| *byte == b':') {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &b""[..]),
        };
        if field != b"data" {
            return Ok(());
        }
        let value = value.strip_prefix(b" ").unwrap_or(value);
        if self.data.len() + value.len() + 1 > self.max_event_bytes {
            return Err(EventTooLarge);
        }
        if self.has_data {
            self.data.push(b'\n');
        }
        self.has_data = true;
        self.data.extend_from_slice(value);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<String> {
        let mut reader = SseReader::default();
        let mut events = Vec::new();
        for piece in pieces {
            reader.push(piece, &mut events).expect("events are small");
        }
        events.extend(reader.finish());
        events
    }

    #[test]
    fn events_are_read_as_the_standard_says() {
        for (stream, events) in [
            ("data: one\n\ndata: two\n\n", vec!["one", "two"]),
            ("data:one\n\n", vec!["one"]),
            ("data:  two spaces\n\n", vec![" two spaces"]),
            ("data: a\ndata: b\n\n", vec!["a\nb"]),
            ("data\n\n", vec![""]),
            ("data:\ndata:\n\n", vec!["\n"]),
            (
                ": a comment\n\n:\n\ndata: x\n: inside\ndata: y\n\n",
                vec!["x\ny"],
            ),
            (
                "event: message_stop\nid: 7\nretry: 10\ndata: x\n\n",
                vec!["x"],
            ),
            ("event: ping\n\n", vec![]),
            ("database: no\n Data: no\n\n", vec![]),
            ("\n\n\n\ndata: x\n\n\n\n", vec!["x"]),
            ("\u{feff}data: marked\n\n", vec!["marked"]),
            ("\u{feff}\u{feff}data: twice\n\n", vec![]),
            ("data: {\"a\":\"x: y\"}\n\n", vec!["{\"a\":\"x: y\"}"]),
            ("data: no blank line\n", vec!["no blank line"]),
            ("data: no end at all", vec!["no end at all"]),
            ("", vec![]),
        ] {
            for line_end in ["\n", "\r\n", "\r"] {
                let stream = stream.replace('\n', line_end);
                assert_eq!(read([stream.as_bytes()]), events, "{stream:?}");
                assert_eq!(read(stream.as_bytes().chunks(1)), events, "{stream:?}");
            }
        }
    }

    #[test]
    fn an_event_ended_by_a_lone_cr_is_there_at_once() {
        let mut reader = SseReader::default();
        let mut events = Vec::new();
        reader.push(b"data: x\r\r", &mut events).expect("small");
        assert_eq!(events, ["x"]);
        reader.push(b"", &mut events).expect("small");
        reader
            .push(b"\ndata: y\r\n\r\n", &mut events)
            .expect("small");
        assert_eq!(events, ["x", "y"]);
    }

    #[test]
    fn bytes_that_are_no_utf8_are_replaced() {
        assert_eq!(read([&b"data: a\xffb\n\n"[..]]), ["a\u{fffd}b"]);
    }

    #[test]
    fn an_event_past_the_bound_is_refused_however_it_comes() {
        let long_line = format!("data: {}", "x".repeat(100));
        let many_lines = "data: 0123456789\n".repeat(10);
        let comment = format!(":{}", "x".repeat(100));
        for stream in [long_line, many_lines, comment] {
            for size in [1, 7, 1_000] {
                let mut reader = SseReader::with_bound(64);
                let mut events = Vec::new();
                let refused = stream
                    .as_bytes()
                    .chunks(size)
                    .any(|piece| reader.push(piece, &mut events).is_err());
                assert!(refused, "{size} bytes at a time: {stream}");
                assert_eq!(events, Vec::<String>::new());
            }
        }
    }

    #[test]
    fn the_bound_is_on_one_event_not_on_the_stream() {
        let mut reader = SseReader::with_bound(64);
        let mut events = Vec::new();
        for _ in 0..100 {
            reader
                .push(b"data: 0123456789\n\n", &mut events)
                .expect("each event is small");
        }
        assert_eq!(events.len(), 100);
    }

    fn lines() -> impl Strategy<Value = Vec<String>> {
        let line = prop_oneof![
            Just(String::new()),
            ".{0,12}".prop_map(|text| format!("data: {}", text.replace(['\r', '\n'], ""))),
            ".{0,12}".prop_map(|text| format!("data:{}", text.replace(['\r', '\n'], ""))),
            ".{0,12}".prop_map(|text| format!(":{}", text.replace(['\r', '\n'], ""))),
            "[a-z]{1,5}(: ?[a-z é漢]{0,5})?",
        ];
        prop::collection::vec(line, 0..20)
    }

    proptest! {
        #[test]
        fn events_do_not_depend_on_line_ends_or_splitting(
            lines in lines(),
            ends in prop::collection::vec(0..3_usize, 20),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
        ) {
            let plain: String = lines.iter().map(|line| format!("{line}\n")).collect();
            let mut mixed = String::new();
            for (line, end) in lines.iter().zip(ends) {
                // A lone CR before an empty line ended by LF would read as one CRLF.
                let glued = line.is_empty() && mixed.ends_with('\r') && end == 0;
                mixed.push_str(line);
                mixed.push_str(if glued { "\r\n" } else { ["\n", "\r\n", "\r"][end] });
            }
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(mixed.len() + 1)).collect();
            cuts.extend([0, mixed.len()]);
            cuts.sort_unstable();
            let pieces = cuts.windows(2).map(|pair| &mixed.as_bytes()[pair[0]..pair[1]]);
            prop_assert_eq!(read(pieces), read([plain.as_bytes()]));
        }
    }
}
