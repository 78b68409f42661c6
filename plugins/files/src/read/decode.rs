//! Bytes of a text file to characters, piece by piece.
//!
//! Owns decoding across the borders of read buffers, so that a file of any size is shown with
//! one buffer in memory. It must never know where bytes come from or what is shown of them.

use super::sniff::Encoding;
use std::borrow::Cow;

/// Decodes a stream. Bytes that are no text become U+FFFD and are remembered.
#[derive(Debug)]
pub struct Decoder {
    encoding: Encoding,
    /// The start of a character whose rest has not come yet: at most three bytes.
    pending: Vec<u8>,
    invalid: bool,
}

impl Decoder {
    /// A decoder for the bytes after the byte order mark.
    pub const fn new(encoding: Encoding) -> Self {
        Decoder {
            encoding,
            pending: Vec::new(),
            invalid: false,
        }
    }

    /// Whether anything so far was not valid in the encoding.
    pub const fn saw_invalid(&self) -> bool {
        self.invalid
    }

    /// Decodes more bytes and hands the text to `out`, possibly in several pieces.
    pub fn push(&mut self, bytes: &[u8], out: &mut impl FnMut(&str)) {
        let bytes = if self.pending.is_empty() {
            Cow::Borrowed(bytes)
        } else {
            let mut joined = std::mem::take(&mut self.pending);
            joined.extend_from_slice(bytes);
            Cow::Owned(joined)
        };
        match self.encoding {
            Encoding::Utf8 { .. } => self.utf8(&bytes, out),
            Encoding::Utf16Le { .. } => self.utf16(&bytes, u16::from_le_bytes, out),
            Encoding::Utf16Be { .. } => self.utf16(&bytes, u16::from_be_bytes, out),
        }
    }

    /// The stream has ended: what was waiting for its rest will not get it.
    pub fn finish(&mut self, out: &mut impl FnMut(&str)) {
        if !self.pending.is_empty() {
            self.pending.clear();
            self.replace(out);
        }
    }

    fn replace(&mut self, out: &mut impl FnMut(&str)) {
        self.invalid = true;
        out("\u{FFFD}");
    }

    fn utf8(&mut self, bytes: &[u8], out: &mut impl FnMut(&str)) {
        let mut rest = bytes;
        loop {
            // Takes ASCII a word at a time, where `utf8_chunks` looks at every byte.
            let error = match std::str::from_utf8(rest) {
                Ok(text) => return out(text),
                Err(error) => error,
            };
            let (good, bad) = rest.split_at(error.valid_up_to());
            out(&String::from_utf8_lossy(good));
            let Some(length) = error.error_len() else {
                self.pending = bad.to_vec();
                return;
            };
            self.replace(out);
            rest = &bad[length..];
        }
    }

    fn utf16(&mut self, bytes: &[u8], unit: fn([u8; 2]) -> u16, out: &mut impl FnMut(&str)) {
        let mut whole = bytes.len() & !1;
        let at = |i: usize| unit([bytes[i], bytes[i + 1]]);
        if whole >= 2 && (0xD800..0xDC00).contains(&at(whole - 2)) {
            whole -= 2;
        }
        self.pending = bytes[whole..].to_vec();
        let mut text = String::with_capacity(whole);
        for decoded in char::decode_utf16((0..whole).step_by(2).map(at)) {
            self.invalid |= decoded.is_err();
            text.push(decoded.unwrap_or('\u{FFFD}'));
        }
        out(&text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decode(encoding: Encoding, bytes: &[u8], piece: usize) -> (String, bool) {
        let mut decoder = Decoder::new(encoding);
        let mut text = String::new();
        for part in bytes.chunks(piece) {
            decoder.push(part, &mut |t| text.push_str(t));
        }
        decoder.finish(&mut |t| text.push_str(t));
        (text, decoder.saw_invalid())
    }

    proptest! {
        #[test]
        fn utf8_is_the_same_however_it_is_cut(
            bytes in prop::collection::vec(any::<u8>(), 0..64),
            piece in 1usize..9,
        ) {
            let (text, invalid) = decode(Encoding::Utf8 { bom: false }, &bytes, piece);
            prop_assert_eq!(&text, &*String::from_utf8_lossy(&bytes));
            prop_assert_eq!(invalid, std::str::from_utf8(&bytes).is_err());
        }

        #[test]
        fn utf16_is_the_same_however_it_is_cut(text in "\\PC{0,40}", piece in 1usize..9) {
            let le: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
            let be: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
            prop_assert_eq!(decode(Encoding::Utf16Le { bom: false }, &le, piece), (text.clone(), false));
            prop_assert_eq!(decode(Encoding::Utf16Be { bom: false }, &be, piece), (text, false));
        }
    }

    #[test]
    fn half_a_unit_at_the_end_is_shown_as_damage() {
        let (text, invalid) = decode(Encoding::Utf16Le { bom: false }, b"a\0b", 3);
        assert_eq!((text.as_str(), invalid), ("a\u{FFFD}", true));
    }
}
