//! Makes foreign text safe to show.
//!
//! A model, a file or a tool can write control characters that move the cursor, retitle or
//! reprogram a terminal, and invisible ones that reorder or hide what a person is about to
//! approve. All of them are shown as the escapes a programmer would type (`\u{1b}`, `\r`).

use std::borrow::Cow;

/// Text of several lines: line feeds and tabs stay.
pub fn text(foreign: &str) -> Cow<'_, str> {
    replace(foreign, |c| is_unsafe(c) && c != '\n' && c != '\t')
}

/// Text that must stay on one line: line feeds and tabs are escaped as well.
pub fn line(foreign: &str) -> Cow<'_, str> {
    replace(foreign, is_unsafe)
}

/// Whether a terminal would act on `c`, or a person would not see it.
pub fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c,
            // Soft hyphen; marks, embeddings, overrides and isolates of direction.
            '\u{ad}' | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
            // Separators of lines and paragraphs, spaces without width, invisible operators.
            // Joiners (200c, 200d) stay: several scripts and most emoji need them.
            | '\u{2028}' | '\u{2029}' | '\u{200b}' | '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}' | '\u{feff}'
            // Annotations, and tags, which can spell whole sentences unseen.
            | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

fn replace(foreign: &str, escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !foreign.contains(&escaped) {
        return Cow::Borrowed(foreign);
    }
    let mut safe = String::with_capacity(foreign.len() + 16);
    for c in foreign.chars() {
        if escaped(c) {
            safe.extend(c.escape_default());
        } else {
            safe.push(c);
        }
    }
    Cow::Owned(safe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_drives_or_fools_a_terminal_is_shown_escaped() {
        for (foreign, shown) in [
            ("plain ünï 漢字 👩‍👩‍👧", "plain ünï 漢字 👩‍👩‍👧"),
            (
                "\u{1b}[2K\u{1b}]0;title\u{7}",
                "\\u{1b}[2K\\u{1b}]0;title\\u{7}",
            ),
            ("safe\rrm -rf", "safe\\rrm -rf"),
            ("\u{9b}2J\u{7f}", "\\u{9b}2J\\u{7f}"),
            ("a\u{202e}b\u{2066}c", "a\\u{202e}b\\u{2066}c"),
            ("a\u{200b}b\u{feff}", "a\\u{200b}b\\u{feff}"),
            ("\u{e0041}", "\\u{e0041}"),
            ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        ] {
            assert_eq!(text(foreign), shown);
        }
        assert_eq!(line("two\nlines\tand"), "two\\nlines\\tand");
    }
}
