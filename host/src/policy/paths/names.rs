//! Which names a rule could end in.
//!
//! Owns a quick look that says no for nearly every name: a glob is matched against a whole path,
//! which costs more than the system call it guards, and most names end no rule. It may say yes where
//! no rule matches, never no where one does.

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};
use std::collections::HashSet;
use std::path::{Component, Path};

/// The last steps of globs, by how they are compared.
pub(super) struct Names {
    whole: HashSet<String>,
    beginnings: Vec<Box<str>>,
    /// What `whole` and `beginnings` begin with.
    first: Bytes,
    endings: Vec<Box<str>>,
    /// What `endings` end in.
    last: Bytes,
    others: GlobSet,
}

impl Names {
    /// From the last steps of globs, in lower case.
    pub fn new<'a>(steps: impl Iterator<Item = &'a str>) -> Result<Self, globset::Error> {
        let mut whole = HashSet::new();
        let mut beginnings: Vec<Box<str>> = Vec::new();
        let mut endings: Vec<Box<str>> = Vec::new();
        let mut others = GlobSetBuilder::new();
        for step in steps.flat_map(alternatives) {
            if is_plain(&step) {
                whole.insert(step);
            } else if let Some(rest) = step.strip_suffix('*').filter(|rest| is_plain(rest)) {
                beginnings.push(Box::from(rest));
            } else if let Some(rest) = step.strip_prefix('*').filter(|rest| is_plain(rest)) {
                endings.push(Box::from(rest));
            } else {
                others.add(glob(&step)?);
            }
        }
        let starts = whole.iter().map(String::as_bytes);
        let starts = starts.chain(beginnings.iter().map(|text| text.as_bytes()));
        Ok(Names {
            first: Bytes::of(starts.filter_map(|bytes| bytes.first().copied())),
            last: Bytes::of(endings.iter().filter_map(|text| text.bytes().last())),
            whole,
            beginnings,
            endings,
            others: others.build()?,
        })
    }

    /// Whether it shows without folding `name` that no rule ends in it. Most names are done with
    /// here, by two bytes and a look for what folding would change.
    pub fn pass_over(&self, name: &[u8]) -> bool {
        let (Some(first), Some(last)) = (name.first(), name.last()) else {
            return false;
        };
        !self.first.holds(first.to_ascii_lowercase())
            && !self.last.holds(last.to_ascii_lowercase())
            && !matches!(last, b'.' | b' ')
            && self.others.is_empty()
            && name.iter().all(|byte| byte.is_ascii() && *byte != b':')
    }

    /// Whether every name of `path` is passed over, and it holds nothing but names.
    pub fn pass_over_all(&self, path: &Path) -> bool {
        path.components().all(|component| match component {
            Component::CurDir => true,
            Component::Normal(name) => self.pass_over(name.as_encoded_bytes()),
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => false,
        })
    }

    /// Whether a rule could end in `name`, which is in lower case.
    pub fn may_end_a_rule(&self, name: &str) -> bool {
        // Most names are done with after their first and last byte.
        let bytes = name.as_bytes();
        let (Some(first), Some(last)) = (bytes.first(), bytes.last()) else {
            return true;
        };
        self.first.holds(*first)
            && (self.whole.contains(name) || self.beginnings.iter().any(|b| name.starts_with(&**b)))
            || self.last.holds(*last) && self.endings.iter().any(|end| name.ends_with(&**end))
            || !self.others.is_empty() && self.others.is_match(name)
    }
}

/// A set of bytes.
struct Bytes([bool; 256]);

impl Bytes {
    fn of(bytes: impl Iterator<Item = u8>) -> Self {
        let mut set = [false; 256];
        for byte in bytes {
            set[usize::from(byte)] = true;
        }
        Bytes(set)
    }

    fn holds(&self, byte: u8) -> bool {
        self.0[usize::from(byte)]
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
            "", "PLAIN", "a.KEY", "x.", "x ", "x:key", "\u{212a}ey", "x\u{200c}", ".ENV",
        ] {
            assert!(!names.pass_over(word.as_bytes()), "{word:?}");
        }
        for word in ["main.rs", "src", "x.y.z", "Block-17"] {
            assert!(names.pass_over(word.as_bytes()), "{word:?}");
        }
    }
}
