//! Values as their source spells them, whatever the source.
//!
//! Owns how a text becomes a number, a switch, a choice, a list or an address, and what is said where
//! it does not. It must never know which setting a value is for.

use super::quantity::{InvalidQuantity, parse_count};
use std::path::{Path, PathBuf};

/// A value as its source spells it.
#[derive(Debug, Clone)]
pub(super) enum Raw {
    Text(String),
    Number(String),
    Switch(bool),
    List(Vec<String>),
    /// Files, where the source need not be text.
    Paths(Vec<PathBuf>),
    /// Something no setting takes, by its name.
    Other(&'static str),
}

/// What a relative path starts from.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Base<'a> {
    pub directory: Option<&'a Path>,
    pub home: Option<&'a Path>,
}

impl Base<'_> {
    pub(super) fn path(&self, written: &Path) -> PathBuf {
        match (written.strip_prefix("~"), self.home, self.directory) {
            (Ok(rest), Some(home), _) => home.join(rest),
            (_, _, Some(directory)) => directory.join(written),
            _ => written.to_owned(),
        }
    }
}

impl Raw {
    pub(super) fn name(&self) -> &'static str {
        match self {
            Raw::Text(_) => "text",
            Raw::Number(_) => "a number",
            Raw::Switch(_) => "true or false",
            Raw::List(_) | Raw::Paths(_) => "a list",
            Raw::Other(name) => name,
        }
    }

    pub(super) fn not(&self, wanted: &str) -> String {
        format!("takes {wanted}, not {}", self.name())
    }

    pub(super) fn text(self) -> Result<String, String> {
        match self {
            Raw::Text(text) if text.trim().is_empty() => Err("is empty".to_owned()),
            Raw::Text(text) => Ok(text),
            other => Err(other.not("text in quotes")),
        }
    }

    /// One file or directory.
    pub(super) fn path(self) -> Result<PathBuf, String> {
        match self {
            Raw::Paths(one) => Ok(one.into_iter().collect()),
            other => Ok(PathBuf::from(other.text()?)),
        }
    }

    pub(super) fn number(self) -> Result<String, String> {
        match self {
            Raw::Number(text) | Raw::Text(text) => Ok(text),
            other => Err(other.not("a number")),
        }
    }

    pub(super) fn count(self, least: u32) -> Result<u32, String> {
        let count =
            parse_count(&self.number()?, u64::from(least), u64::from(u32::MAX)).map_err(wrong)?;
        u32::try_from(count).map_err(|error| error.to_string())
    }

    pub(super) fn switch(self) -> Result<bool, String> {
        match self {
            Raw::Switch(on) => Ok(on),
            Raw::Text(text) => match text.as_str() {
                "true" | "1" => Ok(true),
                "false" | "0" => Ok(false),
                _ => Err(format!("takes true or false, not `{text}`")),
            },
            other => Err(other.not("true or false")),
        }
    }

    pub(super) fn choice<T: Copy>(self, choices: &[(&'static str, T)]) -> Result<T, String> {
        let names: Vec<_> = choices.iter().map(|(name, _)| *name).collect();
        let text = match self {
            Raw::Text(text) => text,
            other => return Err(other.not(&format!("one of {}", names.join(", ")))),
        };
        choices
            .iter()
            .find(|(name, _)| *name == text)
            .map(|(_, value)| *value)
            .ok_or_else(|| format!("takes one of {}, not `{text}`", names.join(", ")))
    }

    pub(super) fn list(self) -> Result<Vec<String>, String> {
        match self {
            Raw::List(items) => Ok(items),
            other => Err(other.not("a list such as [\"one\", \"two\"]")),
        }
    }
}

pub(super) fn wrong(error: InvalidQuantity) -> String {
    format!("is wrong: {error}")
}

/// Checks a base URL as far as a mistake would send the key somewhere else. The provider parses it.
pub(super) fn base_url(text: &str) -> Result<String, String> {
    let trimmed = text.trim().trim_end_matches('/');
    let rest = trimmed
        .strip_prefix("https://")
        .or_else(|| trimmed.strip_prefix("http://"))
        .ok_or("must begin with http:// or https://")?;
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.is_empty() {
        return Err("names no host".to_owned());
    }
    if authority.contains('@') {
        return Err(
            "holds a user name or password; put the key into a variable and name it by `api_key_env`"
                .to_owned(),
        );
    }
    if trimmed.contains(|c: char| c.is_whitespace() || c.is_control() || c == '?' || c == '#') {
        return Err("may not hold a query, a fragment or spaces".to_owned());
    }
    Ok(trimmed.to_owned())
}

/// A variable's name. The message does not repeat it: it may be a key put into the wrong place.
pub(super) fn variable_name(text: String) -> Result<String, String> {
    let fits = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if fits {
        Ok(text)
    } else {
        Err(
            "takes the name of a variable, such as ANTHROPIC_API_KEY, not the key itself"
                .to_owned(),
        )
    }
}
