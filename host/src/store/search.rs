//! Finding what was said.
//!
//! Owns the meaning of a search: every term must be in one message, as it is typed, in any case. A
//! term is any part of a text, not a word: that serves languages without spaces and the names in
//! code. The index knows three characters in a row and more; shorter terms are looked for one
//! message after the other.

use super::read::SessionInfo;
use super::{Store, StoreError};
use crate::protocol::Role;
use rusqlite::{ToSql, params_from_iter};
use serde::Serialize;
use std::collections::HashMap;
use std::path::Path;

/// The fewest characters that the index can look for.
const INDEXED_CHARS: usize = 3;

/// Characters that are shown on each side of what was found.
const AROUND: usize = 48;

/// A message that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Found {
    /// The session.
    pub session: SessionInfo,
    /// The number of the message in it.
    pub number: u64,
    /// Who speaks.
    pub role: Role,
    /// What was found with what is around it, on one line.
    pub excerpt: String,
}

impl Store {
    /// The messages that hold all `terms`, of one workspace or of all; the newest first, at most
    /// `most`.
    ///
    /// # Errors
    /// [`StoreError::EmptySearch`] without a term.
    pub fn search(
        &self,
        workspace: Option<&Path>,
        terms: &[String],
        most: usize,
    ) -> Result<Vec<Found>, StoreError> {
        let terms: Vec<&str> = terms
            .iter()
            .map(|term| term.trim())
            .filter(|term| !term.is_empty())
            .collect();
        if terms.is_empty() {
            return Err(StoreError::EmptySearch);
        }
        let (indexed, short): (Vec<&str>, Vec<&str>) = terms
            .iter()
            .partition(|term| term.chars().count() >= INDEXED_CHARS);
        let mut sql = "SELECT m.session, m.number, m.role, m.searched FROM messages m
                JOIN sessions s ON s.key = m.session WHERE true"
            .to_owned();
        let mut values: Vec<Box<dyn ToSql>> = Vec::new();
        if let Some(workspace) = workspace {
            sql.push_str(" AND s.workspace = ?");
            values.push(Box::new(workspace.to_string_lossy().into_owned()));
        }
        if !indexed.is_empty() {
            sql.push_str(" AND m.key IN (SELECT rowid FROM search WHERE search MATCH ?)");
            values.push(Box::new(phrases(&indexed)));
        }
        for term in &short {
            sql.push_str(" AND m.searched LIKE ? ESCAPE '\\'");
            values.push(Box::new(format!("%{}%", escaped(term))));
        }
        sql.push_str(" ORDER BY m.said DESC, m.key DESC LIMIT ?");
        values.push(Box::new(i64::try_from(most).unwrap_or(i64::MAX)));
        let rows: Vec<(i64, u64, String, String)> = self.with(|connection| {
            let mut query = connection.prepare_cached(&sql)?;
            let row =
                |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?));
            query.query_map(params_from_iter(&values), row)?.collect()
        })?;
        let sessions = self.list(workspace, None)?.into_iter();
        let sessions: HashMap<i64, SessionInfo> =
            sessions.map(|session| (session.key, session)).collect();
        let found = rows.into_iter().filter_map(|(key, number, role, text)| {
            Some(Found {
                session: sessions.get(&key)?.clone(),
                number,
                role: if role == "assistant" {
                    Role::Assistant
                } else {
                    Role::User
                },
                excerpt: excerpt(&text, terms[0]),
            })
        });
        Ok(found.collect())
    }
}

/// The terms in the language of the index: each in quotes is taken as it is, and all must be there.
fn phrases(terms: &[&str]) -> String {
    let quoted: Vec<String> = terms
        .iter()
        .map(|term| format!("\"{}\"", term.replace('"', "\"\"")))
        .collect();
    quoted.join(" AND ")
}

/// A term in which `LIKE` sees nothing special.
fn escaped(term: &str) -> String {
    let mut escaped = String::with_capacity(term.len());
    for c in term.chars() {
        if matches!(c, '%' | '_' | '\\') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

/// What is around the first place of `term`, with runs of space as one.
fn excerpt(text: &str, term: &str) -> String {
    let chars: Vec<char> = text
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .chars()
        .collect();
    let folded = |c: &char| c.to_lowercase().next().unwrap_or(*c);
    let wanted: Vec<char> = term.chars().map(|c| folded(&c)).collect();
    let place = chars
        .windows(wanted.len().max(1))
        .position(|window| window.iter().map(folded).eq(wanted.iter().copied()))
        .unwrap_or(0);
    let start = place.saturating_sub(AROUND);
    let end = (place + wanted.len() + AROUND).min(chars.len());
    let mut excerpt: String = chars[start..end].iter().collect();
    if start > 0 {
        excerpt.insert(0, '…');
    }
    if end < chars.len() {
        excerpt.push('…');
    }
    excerpt
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_shows_the_place_and_what_is_around_it() {
        assert_eq!(excerpt("one\n  two", "TWO"), "one two");
        let long = format!("{}needle{}", "a ".repeat(100), " b".repeat(100));
        let shown = excerpt(&long, "needle");
        assert!(shown.starts_with('…') && shown.ends_with('…'), "{shown}");
        assert_eq!(shown.chars().count(), 2 * AROUND + "needle".len() + 2);
        assert_eq!(excerpt("", "x"), "");
    }
}
