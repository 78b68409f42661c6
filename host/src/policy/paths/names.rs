//! Which names a rule could end in.
//!
//! Owns a quick look that says no for nearly every name: a glob is matched against a whole path,
//! which costs more than the system call it guards, and most names end no rule. It may say yes where
//! no rule matches, never no where one does.

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};
use std::path::{Component, Path};

/// The last steps of globs, by how they are compared.
pub(super) struct Names {
    /// Whole names and beginnings, by their first byte.
    starts: ByByte<Start>,
    /// Endings, by their last byte.
    ends: ByByte<Box<str>>,
    others: GlobSet,
}

struct Start {
    text: Box<str>,
    is_whole: bool,
}

impl Start {
    fn fits(&self, name: &[u8]) -> bool {
        let text = self.text.as_bytes();
        match name.get(..text.len()) {
            Some(start) => start.eq_ignore_ascii_case(text) && (!self.is_whole || name == start),
            None => false,
        }
    }
}

impl Names {
    /// From the last steps of globs, in lower case.
    pub fn new<'a>(steps: impl Iterator<Item = &'a str>) -> Result<Self, globset::Error> {
        let mut starts = ByByte::default();
        let mut ends = ByByte::default();
        let mut others = GlobSetBuilder::new();
        for step in steps.flat_map(alternatives) {
            let (is_whole, start) = match step.strip_suffix('*') {
                None => (true, step.as_str()),
                Some(rest) => (false, rest),
            };
            if is_plain(start) {
                let text = Box::from(start);
                starts.put(start.bytes().next(), Start { text, is_whole });
            } else if let Some(rest) = step.strip_prefix('*').filter(|rest| is_plain(rest)) {
                ends.put(rest.bytes().last(), Box::from(rest));
            } else {
                others.add(glob(&step)?);
            }
        }
        Ok(Names {
            starts,
            ends,
            others: others.build()?,
        })
    }

    /// Whether it shows without folding `name` that no rule ends in it.
    pub fn pass_over(&self, name: &[u8]) -> bool {
        let folds_to_its_lower_case = name.iter().all(|byte| byte.is_ascii() && *byte != b':')
            && !matches!(name.last(), None | Some(b'.' | b' '));
        folds_to_its_lower_case && self.others.is_empty() && !self.fits(name)
    }

    /// Whether every name of `path` is passed over, and it holds nothing but names.
    pub fn pass_over_all(&self, path: &Path) -> bool {
        path.components().all(|component| match component {
            Component::CurDir => true,
            Component::Normal(name) => self.pass_over(name.as_encoded_bytes()),
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => false,
        })
    }

    /// Whether a rule could end in `name`, which is folded.
    pub fn may_end_a_rule(&self, name: &str) -> bool {
        name.is_empty()
            || self.fits(name.as_bytes())
            || !self.others.is_empty() && self.others.is_match(name)
    }

    /// Whether one of the plain steps is for this name, whatever the case of its letters.
    fn fits(&self, name: &[u8]) -> bool {
        let ends_in = |end: &str| {
            let rest = name.len().checked_sub(end.len());
            rest.is_some_and(|rest| name[rest..].eq_ignore_ascii_case(end.as_bytes()))
        };
        let (starts, ends) = (self.starts.of(name.first()), self.ends.of(name.last()));
        starts.iter().any(|start| start.fits(name)) || ends.iter().any(|end| ends_in(end))
    }
}

/// Texts in drawers, by a byte in lower case: most drawers are empty, so most names are done with
/// after two looks.
struct ByByte<T>(Box<[Vec<T>]>);

impl<T> Default for ByByte<T> {
    fn default() -> Self {
        ByByte((0..=u8::MAX).map(|_| Vec::new()).collect())
    }
}

impl<T> ByByte<T> {
    fn put(&mut self, byte: Option<u8>, text: T) {
        if let Some(byte) = byte {
            self.0[usize::from(byte)].push(text);
        }
    }

    fn of(&self, byte: Option<&u8>) -> &[T] {
        byte.map_or(&[], |byte| &self.0[usize::from(byte.to_ascii_lowercase())])
    }
}

fn glob(step: &str) -> Result<Glob, globset::Error> {
    GlobBuilder::new(step)
        .literal_separator(true)
        .backslash_escape(true)
        .empty_alternates(true)
        .build()
}

fn is_plain(step: &str) -> bool {
    !step.is_empty() && !step.contains(['*', '?', '[', ']', '{', '}', '\\'])
}

/// A step with one group of plain alternatives in braces as one step each; any other as it is.
fn alternatives(step: &str) -> Vec<String> {
    let group = step
        .split_once('{')
        .and_then(|(before, rest)| Some((before, rest.split_once('}')?)));
    match group {
        Some((before, (inside, after)))
            if is_plain(inside) && !before.contains(['[', '\\']) && !after.contains('{') =>
        {
            inside
                .split(',')
                .map(|choice| format!("{before}{choice}{after}"))
                .collect()
        }
        _ => vec![step.to_owned()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_that_a_step_matches_is_missed() {
        let steps = [
            ".env*",
            "*.{pem,key}",
            "id_{rsa,dsa}*",
            "plain",
            "a?c",
            "[xy]z",
            "{a,b}{c,d}",
            "q\\{r\\}",
            "*mid*",
            ".{n,}vim{rc,.lua}",
            "{,x}y",
        ];
        let names = Names::new(steps.into_iter()).expect("globs");
        let words = [
            ".env",
            ".environment",
            "k.pem",
            "k.key",
            "pem",
            "id_rsa",
            "id_rsa.pub",
            "id_x",
            "plain",
            "plainer",
            "abc",
            "ac",
            "xz",
            "ac",
            "bd",
            "q{r}",
            "amidb",
            ".nvimrc",
            ".vim.lua",
            ".vim",
            "y",
            "xy",
            "main.rs",
            "",
        ];
        for word in words {
            let is_matched = steps
                .iter()
                .any(|step| glob(step).expect("a glob").compile_matcher().is_match(word));
            if is_matched {
                assert!(names.may_end_a_rule(word), "{word:?}");
                assert!(!names.pass_over(word.as_bytes()), "{word:?}");
            }
        }
        for word in ["main.rs", "src", "plainer", "pem", ".vim"] {
            assert!(!names.may_end_a_rule(word), "{word:?}");
        }
    }

    #[test]
    fn what_folding_would_change_is_not_passed_over() {
        let names = Names::new([".env*", "*.key", "plain"].into_iter()).expect("globs");
        for word in [
            "",
            "PLAIN",
            "a.KEY",
            "x.",
            "x ",
            "x:key",
            "\u{212a}ey",
            "x\u{200c}",
            ".ENV",
        ] {
            assert!(!names.pass_over(word.as_bytes()), "{word:?}");
        }
        for word in ["main.rs", "src", "x.y.z", "Block-17"] {
            assert!(names.pass_over(word.as_bytes()), "{word:?}");
        }
    }
}
