//! Makes foreign text fit to be shown.
//!
//! Owns [`Scrubber`], the only way from a vendor's or the transport's words into an error: it
//! takes out the secrets it was given (whole or cut short), control characters, and length. It
//! exists because vendors echo keys in error bodies and HTTP libraries put URLs into errors. It
//! must never know where a text comes from.

use crate::config::{ProviderConfig, Secret};

/// The most characters of foreign text in one message.
const LONGEST: usize = 400;
/// A secret shorter than this is a placeholder such as `x`, and taking it out only garbles text.
const SHORTEST_SECRET: usize = 4;
/// As many bytes of a secret in a row are taken out even when the rest is missing: servers cut
/// long keys in their messages.
const SHORTEST_PREFIX: usize = 10;
/// What stands in place of a secret.
const MASK: &str = "[key]";

/// Takes secrets out of texts.
#[derive(Debug, Clone, Default)]
pub(super) struct Scrubber {
    secrets: Vec<Secret>,
}

impl Scrubber {
    /// A scrubber for these secrets; those too short to be one are left alone.
    pub(super) fn new(secrets: impl IntoIterator<Item = Secret>) -> Self {
        let mut secrets: Vec<Secret> = secrets
            .into_iter()
            .filter(|secret| secret.reveal().len() >= SHORTEST_SECRET)
            .collect();
        // Longest first, so that a secret inside another does not leave half of that one behind.
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.reveal().len()));
        Scrubber { secrets }
    }

    /// A scrubber for every secret in the settings of a provider.
    pub(super) fn of(config: &ProviderConfig) -> Self {
        let key = config.api_key.iter();
        let proxies = config.proxy.http.iter().chain(&config.proxy.https);
        let passwords = proxies.clone().filter_map(|proxy| {
            // Of `http://user:password@host` an error may hold the password alone.
            let (credentials, _) = proxy.reveal().rsplit_once('@')?;
            let (_, password) = credentials.rsplit_once(':')?;
            Some(Secret::new(password))
        });
        let trimmed = |secret: &Secret| Secret::new(secret.reveal().trim());
        Scrubber::new(key.chain(proxies).map(trimmed).chain(passwords))
    }

    /// One line without secrets and control characters, cut at 400 characters.
    pub(super) fn line(&self, text: &str) -> String {
        // Secrets go first: cutting could split one, and joining lines could hide one.
        let mut clean = text.to_owned();
        for secret in &self.secrets {
            clean = mask(&clean, secret.reveal());
        }
        let mut line = String::new();
        let mut length = 0;
        for word in clean
            .split(|c: char| c.is_control() || c.is_whitespace() || is_invisible(c))
            .filter(|word| !word.is_empty())
        {
            if !line.is_empty() {
                line.push(' ');
            }
            for c in word.chars() {
                if length == LONGEST {
                    line.push('…');
                    return line;
                }
                line.push(c);
                length += 1;
            }
        }
        line
    }
}

/// Characters that reorder or hide what follows them on a terminal.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// Replaces each place where `secret` begins, as far as it goes on, if that is all of it or a
/// telling part of it.
fn mask(text: &str, secret: &str) -> String {
    let needle = secret
        .char_indices()
        .map(|(at, c)| at + c.len_utf8())
        .find(|end| *end >= SHORTEST_PREFIX)
        .map_or(secret, |end| &secret[..end]);
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(needle) {
        out.push_str(&rest[..at]);
        out.push_str(MASK);
        let found = &rest[at..];
        let same: usize = found
            .chars()
            .zip(secret.chars())
            .take_while(|(a, b)| a == b)
            .map(|(a, _)| a.len_utf8())
            .sum();
        rest = &found[same..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn all_secrets_of_a_provider_are_taken_out() {
        let config = ProviderConfig {
            name: "openai".into(),
            model: String::new(),
            base_url: None,
            api_key: Some(Secret::new("sk-0123456789\n")),
            script: None,
            max_output_tokens: 1,
            stream: true,
            proxy: crate::config::ProxyConfig {
                http: Some(Secret::new("http://user:hunter2@proxy.test")),
                ..Default::default()
            },
        };
        let line =
            Scrubber::of(&config).line("sk-0123456789 user:hunter2 http://user:hunter2@proxy.test");
        assert_eq!(line, "[key] user:[key] [key]");
    }

    fn scrubber(secrets: &[&str]) -> Scrubber {
        Scrubber::new(secrets.iter().map(|secret| Secret::new(*secret)))
    }

    #[test]
    fn a_key_is_taken_out_whole_or_cut_short() {
        let scrubber = scrubber(&["sk-live-0123456789abcdef"]);
        for (text, clean) in [
            ("bad key sk-live-0123456789abcdef.", "bad key [key]."),
            ("bad key sk-live-012345...", "bad key [key]..."),
            (
                "sk-live-0123456789abcdefsk-live-0123456789abcdef",
                "[key][key]",
            ),
            ("sk-live is a prefix", "sk-live is a prefix"),
        ] {
            assert_eq!(scrubber.line(text), clean);
        }
    }

    #[test]
    fn a_placeholder_key_does_not_garble_the_text() {
        assert_eq!(scrubber(&["x", ""]).line("an exact text"), "an exact text");
    }

    #[test]
    fn control_characters_and_line_breaks_do_not_reach_the_terminal() {
        assert_eq!(
            scrubber(&[]).line("a\u{1b}[2K\r\nb\u{202e}c\t d"),
            "a [2K b c d"
        );
    }

    #[test]
    fn a_long_text_is_cut() {
        let line = scrubber(&[]).line(&"é".repeat(5_000));
        assert_eq!(line.chars().count(), LONGEST + 1);
        assert!(line.ends_with('…'));
    }

    proptest! {
        #[test]
        fn no_text_brings_a_secret_back(
            secret in "[a-zA-Z0-9é_-]{10,40}",
            before in ".{0,420}",
            after in ".{0,20}",
        ) {
            let line = scrubber(&[&secret]).line(&format!("{before}{secret}{after}"));
            prop_assert!(!line.contains(&secret));
        }
    }
}
