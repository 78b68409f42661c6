//! Glob patterns over paths relative to where a search starts.

use globset::{GlobBuilder, GlobMatcher};
use std::path::Path;

/// Characters of a pattern. Longer ones are mistakes, or attacks on the compiler of patterns.
const MAX_LENGTH: usize = 1_000;

/// A pattern that compiled.
#[derive(Debug)]
pub struct Pattern {
    matcher: GlobMatcher,
    directories: bool,
    negated: bool,
}

impl Pattern {
    /// Compiles `text`; otherwise says what is wrong with it.
    pub fn new(text: &str) -> Result<Self, String> {
        if text.starts_with('!') {
            return Err("a pattern cannot start with `!` here; use `[!]` for the character".into());
        }
        compile(text, false)
    }

    /// Like [`new`](Pattern::new), but `!` in front turns the pattern around.
    pub fn filter(text: &str) -> Result<Self, String> {
        match text.strip_prefix('!') {
            Some(text) => compile(text, true),
            None => compile(text, false),
        }
    }

    /// Whether the pattern asks for directories.
    pub const fn directories(&self) -> bool {
        self.directories
    }

    /// Whether it names this path, which is relative to where the search starts.
    pub fn matches(&self, relative: &Path) -> bool {
        self.matcher.is_match(relative) != self.negated
    }
}

fn compile(text: &str, negated: bool) -> Result<Pattern, String> {
    let length = text.chars().count();
    if length > MAX_LENGTH {
        return Err(format!("it has {length} characters, over {MAX_LENGTH}"));
    }
    let body = text.trim_end_matches('/');
    if body.is_empty() {
        return Err("it is empty".into());
    }
    if text.starts_with('/') || body.split('/').any(|part| part == "..") {
        return Err("it is relative to `path`; name another directory there".into());
    }
    let anchored = body.contains('/');
    let body = body.trim_start_matches("./");
    let whole = if anchored {
        body.to_owned()
    } else {
        format!("**/{body}")
    };
    let matcher = GlobBuilder::new(&whole)
        .literal_separator(true)
        .backslash_escape(true)
        .empty_alternates(true)
        .build()
        .map_err(|error| error.kind().to_string())?
        .compile_matcher();
    Ok(Pattern {
        matcher,
        directories: text.ends_with('/'),
        negated,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_documented() {
        let table: [(&str, &[&str], &[&str]); 12] = [
            (
                "*.rs",
                &["a.rs", "src/a.rs", "a/b/.rs"],
                &["a.rs/x", "a.rsx"],
            ),
            ("*", &["a", "a/b", ".a"], &[]),
            ("./*", &["a", ".a"], &["a/b"]),
            (
                "src/*.rs",
                &["src/a.rs"],
                &["a.rs", "src/a/b.rs", "x/src/a.rs"],
            ),
            ("./src/*.rs", &["src/a.rs"], &["x/src/a.rs"]),
            ("src/**/*.rs", &["src/a.rs", "src/a/b/c.rs"], &["a.rs"]),
            (
                "**/test/**",
                &["test/a", "a/test/b/c"],
                &["tests/a", "test"],
            ),
            ("*.{js,ts}", &["a.js", "b/c.ts"], &["a.jsx"]),
            ("a{,b}", &["a", "ab"], &["abc"]),
            ("[a-c]?", &["ax", "x/bz"], &["dx", "a"]),
            (r"\*", &["*"], &["a"]),
            ("ä*", &["äx"], &["ax"]),
        ];
        for (text, yes, no) in table {
            let pattern = Pattern::new(text).expect(text);
            let turned = Pattern::filter(&format!("!{text}")).expect(text);
            for (paths, expected) in [(yes, true), (no, false)] {
                for path in paths {
                    assert_eq!(pattern.matches(Path::new(path)), expected, "{text} {path}");
                    assert_eq!(turned.matches(Path::new(path)), !expected, "!{text} {path}");
                }
            }
        }
        assert!(Pattern::new("src/*/").expect("a pattern").directories());
    }

    #[test]
    fn bad_patterns_say_what_is_wrong() {
        let long = "a".repeat(1_001);
        let table = [
            ("", "empty"),
            ("/", "empty"),
            ("/etc/*", "relative to `path`"),
            ("../*", "relative to `path`"),
            ("a/../../b", "relative to `path`"),
            ("[a", "unclosed character class"),
            ("{a,b", "unclosed alternate"),
            ("!a", "cannot start with `!`"),
            (&long, "1001 characters"),
        ];
        for (text, message) in table {
            let error = Pattern::new(text).expect_err(text);
            assert!(error.contains(message), "{text:?}: {error}");
        }
    }
}
