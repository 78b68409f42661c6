//! What a file is, told from its first bytes.
//!
//! Owns the decision between text (in which encoding), image and other binary. It exists so that
//! a name is never trusted: HTML saved as `x.jpg` is text, a PNG called `notes.txt` is an image.
//! It must never know the file's name or open anything.

/// How many first bytes decide. Git and ripgrep look at as much.
pub const HEAD: usize = 8 * 1024;

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Text in this encoding.
    Text(Encoding),
    /// One of the image formats that models take, by its signature alone.
    Image(ImageFormat),
    /// Anything else, with a name for people.
    Binary(&'static str),
}

/// How text is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8, or close enough to show with replacement characters.
    Utf8 {
        /// Whether it starts with a byte order mark.
        bom: bool,
    },
    /// UTF-16, little endian.
    Utf16Le {
        /// Whether it starts with a byte order mark.
        bom: bool,
    },
    /// UTF-16, big endian.
    Utf16Be {
        /// Whether it starts with a byte order mark.
        bom: bool,
    },
}

impl Encoding {
    /// Bytes of the byte order mark, 0 without one.
    pub const fn bom_len(self) -> usize {
        match self {
            Encoding::Utf8 { bom: true } => UTF8_BOM.len(),
            Encoding::Utf16Le { bom: true } | Encoding::Utf16Be { bom: true } => 2,
            _ => 0,
        }
    }

    /// The name for people.
    pub const fn name(self) -> &'static str {
        match self {
            Encoding::Utf8 { .. } => "UTF-8",
            Encoding::Utf16Le { .. } => "UTF-16LE",
            Encoding::Utf16Be { .. } => "UTF-16BE",
        }
    }
}

/// The byte order mark of UTF-8.
pub const UTF8_BOM: &[u8] = b"\xEF\xBB\xBF";

/// The image formats that models take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImageFormat {
    /// Portable Network Graphics.
    Png,
    /// JPEG, in any container.
    Jpeg,
    /// GIF 87a or 89a.
    Gif,
    /// WebP.
    WebP,
}

impl ImageFormat {
    /// The media type that goes to the model.
    pub const fn media_type(self) -> &'static str {
        match self {
            ImageFormat::Png => "image/png",
            ImageFormat::Jpeg => "image/jpeg",
            ImageFormat::Gif => "image/gif",
            ImageFormat::WebP => "image/webp",
        }
    }
}

/// Decides by the first bytes of a file: up to [`HEAD`] of them, all if it has fewer.
pub fn sniff(head: &[u8]) -> Kind {
    let head = &head[..head.len().min(HEAD)];
    if let Some(format) = image_format(head) {
        return Kind::Image(format);
    }
    if head.starts_with(UTF8_BOM) {
        return Kind::Text(Encoding::Utf8 { bom: true });
    }
    if head.starts_with(b"\xFF\xFE\0\0") || head.starts_with(b"\0\0\xFE\xFF") {
        return Kind::Binary("UTF-32 text");
    }
    if head.starts_with(b"\xFF\xFE") {
        return Kind::Text(Encoding::Utf16Le { bom: true });
    }
    if head.starts_with(b"\xFE\xFF") {
        return Kind::Text(Encoding::Utf16Be { bom: true });
    }
    if head.starts_with(b"%PDF-") {
        return Kind::Binary("PDF document");
    }
    if head.contains(&0) {
        return match utf16_by_nul_parity(head) {
            Some(encoding) => Kind::Text(encoding),
            None => Kind::Binary(binary_name(head)),
        };
    }
    if mostly_not_text(head) {
        return Kind::Binary(binary_name(head));
    }
    Kind::Text(Encoding::Utf8 { bom: false })
}

fn image_format(head: &[u8]) -> Option<ImageFormat> {
    if head.starts_with(b"\x89PNG\r\n\x1a\n") {
        Some(ImageFormat::Png)
    } else if head.starts_with(b"\xFF\xD8\xFF") {
        Some(ImageFormat::Jpeg)
    } else if head.starts_with(b"GIF87a") || head.starts_with(b"GIF89a") {
        Some(ImageFormat::Gif)
    } else if head.starts_with(b"RIFF") && head.get(8..12) == Some(b"WEBP") {
        Some(ImageFormat::WebP)
    } else {
        None
    }
}

/// UTF-16 without a mark: in text of mostly Western letters every second byte is NUL, and always
/// the same second. Chinese text without a single NUL is not recognised; nothing could tell it
/// from other binary data.
fn utf16_by_nul_parity(head: &[u8]) -> Option<Encoding> {
    let whole = &head[..head.len() & !1];
    let units = whole.len() / 2;
    let nuls = |parity: usize| {
        whole
            .iter()
            .skip(parity)
            .step_by(2)
            .filter(|b| **b == 0)
            .count()
    };
    let (even, odd) = (nuls(0), nuls(1));
    let (encoding, many, few) = if odd > even {
        (Encoding::Utf16Le { bom: false }, odd, even)
    } else {
        (Encoding::Utf16Be { bom: false }, even, odd)
    };
    if units < 2 || many * 10 < units * 6 || few > 0 {
        return None;
    }
    let as_unit = |pair: &[u8]| match encoding {
        Encoding::Utf16Le { .. } => u16::from_le_bytes([pair[0], pair[1]]),
        _ => u16::from_be_bytes([pair[0], pair[1]]),
    };
    let mut decoded = char::decode_utf16(whole.chunks_exact(2).map(as_unit)).peekable();
    while let Some(unit) = decoded.next() {
        let fits = match unit {
            Ok(c) => !c.is_control() || c.is_ascii_whitespace() || c == '\x1b' || c == '\x08',
            // The head may end in the middle of a pair.
            Err(_) => decoded.peek().is_none(),
        };
        if !fits {
            return None;
        }
    }
    Some(encoding)
}

/// More than three bytes in ten are neither UTF-8 nor usual control characters. A few stray bytes
/// (a Latin-1 comment, terminal colours) are still worth reading.
fn mostly_not_text(head: &[u8]) -> bool {
    let odd = outside_utf8(head) + unusual_controls(head);
    odd * 10 > head.len() * 3
}

/// Bytes that are not UTF-8. A character that the end of a full head cuts counts as whole.
fn outside_utf8(head: &[u8]) -> usize {
    // Takes ASCII a word at a time, where `utf8_chunks` looks at every byte.
    let Err(error) = std::str::from_utf8(head) else {
        return 0;
    };
    if error.error_len().is_none() && head.len() == HEAD {
        return 0;
    }
    let mut odd = 0;
    let mut seen = 0;
    for chunk in head.utf8_chunks() {
        seen += chunk.valid().len() + chunk.invalid().len();
        if seen < head.len() || head.len() < HEAD {
            odd += chunk.invalid().len();
        }
    }
    odd
}

/// Control characters other than blanks, escape and backspace.
fn unusual_controls(head: &[u8]) -> usize {
    let is_unusual = |b: &&u8| **b < 0x20 && !b.is_ascii_whitespace() && **b != 0x1b && **b != 0x08;
    let (words, rest) = head.as_chunks();
    let mut count = rest.iter().filter(is_unusual).count();
    for word in words {
        if has_control(*word) {
            count += word.iter().filter(is_unusual).count();
        }
    }
    count
}

/// Whether a byte is below 0x20: the borrow of subtracting 0x20 from each, in one go for all.
const fn has_control(bytes: [u8; 8]) -> bool {
    const EACH: u64 = u64::from_ne_bytes([1; 8]);
    let word = u64::from_ne_bytes(bytes);
    word.wrapping_sub(EACH * 0x20) & !word & (EACH * 0x80) != 0
}

/// A name for what is not text. Only a help for the reader, so the table is short.
fn binary_name(head: &[u8]) -> &'static str {
    const SIGNATURES: &[(&[u8], &str)] = &[
        (b"\x7FELF", "ELF executable"),
        (b"MZ", "Windows executable"),
        (b"\xCF\xFA\xED\xFE", "Mach-O executable"),
        (b"\xCA\xFE\xBA\xBE", "Java class or Mach-O executable"),
        (b"\0asm", "WebAssembly binary"),
        (b"PK\x03\x04", "ZIP archive (or a format based on it)"),
        (b"\x1F\x8B", "gzip data"),
        (b"BZh", "bzip2 data"),
        (b"\xFD7zXZ\0", "xz data"),
        (b"\x28\xB5\x2F\xFD", "Zstandard data"),
        (b"7z\xBC\xAF\x27\x1C", "7z archive"),
        (b"SQLite format 3\0", "SQLite database"),
        (b"BM", "BMP image"),
        (b"II*\0", "TIFF image"),
        (b"MM\0*", "TIFF image"),
        (b"\0\0\x01\0", "icon"),
        (b"ID3", "MP3 audio"),
        (b"OggS", "Ogg media"),
        (b"RIFF", "RIFF media"),
        (b"fLaC", "FLAC audio"),
        (b"!<arch>\n", "static library"),
        (b"wOFF", "web font"),
        (b"wOF2", "web font"),
    ];
    if head.get(4..8) == Some(b"ftyp") {
        return "MP4, HEIF or AVIF media";
    }
    if head.get(257..262) == Some(b"ustar") {
        return "tar archive";
    }
    SIGNATURES
        .iter()
        .find(|(signature, _)| head.starts_with(signature))
        .map_or("binary data", |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utf16le(text: &str) -> Vec<u8> {
        text.encode_utf16().flat_map(u16::to_le_bytes).collect()
    }

    #[test]
    fn the_first_bytes_decide_and_never_the_name() {
        let utf8 = Kind::Text(Encoding::Utf8 { bom: false });
        let mut latin1_in_english = b"a caf\xE9 in a long enough English sentence".to_vec();
        latin1_in_english.extend(b" and more");
        let cases: &[(&str, Vec<u8>, Kind)] = &[
            ("empty", vec![], utf8),
            (
                "html that may be called x.jpg",
                b"<!doctype html><p>".to_vec(),
                utf8,
            ),
            ("terminal colours", b"\x1b[31mred\x1b[0m".to_vec(), utf8),
            ("some Latin-1", latin1_in_english, utf8),
            (
                "UTF-8 mark",
                b"\xEF\xBB\xBFhi".to_vec(),
                Kind::Text(Encoding::Utf8 { bom: true }),
            ),
            (
                "UTF-16LE mark",
                b"\xFF\xFEh\0i\0".to_vec(),
                Kind::Text(Encoding::Utf16Le { bom: true }),
            ),
            (
                "UTF-16BE mark",
                b"\xFE\xFF\0h\0i".to_vec(),
                Kind::Text(Encoding::Utf16Be { bom: true }),
            ),
            (
                "UTF-16LE by parity",
                utf16le("hello, wörld\r\n"),
                Kind::Text(Encoding::Utf16Le { bom: false }),
            ),
            (
                "UTF-32",
                b"\xFF\xFE\0\0h\0\0\0".to_vec(),
                Kind::Binary("UTF-32 text"),
            ),
            (
                "one NUL among letters",
                b"abc\0def".to_vec(),
                Kind::Binary("binary data"),
            ),
            (
                "little numbers as u16",
                vec![1, 0, 2, 0, 3, 0, 4, 0],
                Kind::Binary("binary data"),
            ),
            (
                "PNG",
                b"\x89PNG\r\n\x1a\n\0\0".to_vec(),
                Kind::Image(ImageFormat::Png),
            ),
            (
                "JPEG",
                b"\xFF\xD8\xFF\xE0\0".to_vec(),
                Kind::Image(ImageFormat::Jpeg),
            ),
            (
                "GIF",
                b"GIF89a\x01\0".to_vec(),
                Kind::Image(ImageFormat::Gif),
            ),
            (
                "WebP",
                b"RIFF\x10\0\0\0WEBPVP8 ".to_vec(),
                Kind::Image(ImageFormat::WebP),
            ),
            (
                "other RIFF",
                b"RIFF\x10\0\0\0WAVEfmt ".to_vec(),
                Kind::Binary("RIFF media"),
            ),
            (
                "PDF without a NUL",
                b"%PDF-1.7\n".to_vec(),
                Kind::Binary("PDF document"),
            ),
            (
                "ELF",
                b"\x7FELF\x02\x01\x01\0".to_vec(),
                Kind::Binary("ELF executable"),
            ),
            (
                "high bytes only",
                vec![0xC0; 100],
                Kind::Binary("binary data"),
            ),
        ];
        for (what, bytes, expected) in cases {
            assert_eq!(sniff(bytes), *expected, "{what}");
        }
    }

    #[test]
    fn controls_are_found_wherever_they_are() {
        for at in 0..20 {
            for byte in 0..=u8::MAX {
                let mut head = [b'x'; 20];
                head[at] = byte;
                let unusual = byte < 0x20 && !b"\t\n\x0c\r\x1b\x08".contains(&byte);
                assert_eq!(
                    unusual_controls(&head),
                    usize::from(unusual),
                    "{byte} at {at}"
                );
            }
        }
    }

    #[test]
    fn a_character_cut_by_the_end_of_the_head_is_still_text() {
        for pad in 0..4 {
            let mut text = "x".repeat(pad);
            while text.len() < HEAD + 8 {
                text.push('字');
            }
            let kind = sniff(text.as_bytes());
            assert_eq!(kind, Kind::Text(Encoding::Utf8 { bom: false }), "pad {pad}");
        }
    }
}
