//! Sessions as they are listed, found and read.
//!
//! Owns the way back from rows. A row that cannot be read is left out and counted: one damaged
//! message must not take the conversation with it.

use super::{Store, StoreError};
use crate::protocol::{ContentBlock, Message, Role, Usage};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row, params};
use serde::Serialize;
use serde_json::Value;
use std::path::Path;

/// A session, as it is listed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SessionInfo {
    #[serde(skip)]
    pub(super) key: i64,
    /// Its id.
    pub id: String,
    /// The canonical path of the workspace it belongs to.
    pub workspace: String,
    /// The first line of its first prompt.
    pub title: String,
    /// The model of its last run.
    pub model: String,
    /// Sorted.
    pub tags: Vec<String>,
    /// The session it began as a copy of.
    pub forked_from: Option<String>,
    /// Seconds since 1970.
    pub created: u64,
    /// When it changed last, in seconds since 1970.
    pub updated: u64,
    /// How many messages it has: each prompt, each answer, and each result of a call.
    pub messages: u64,
    /// The tokens of all its runs, as the vendor counted.
    pub usage: Usage,
    /// The fuel of all its calls.
    pub fuel: u64,
}

/// A message, as it was kept.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KeptMessage {
    /// Its number in the session, from 1.
    pub number: u64,
    /// Who speaks. Each result of a call is a message of its own here.
    pub role: Role,
    /// When, in seconds since 1970.
    pub said: u64,
    /// What is said.
    pub content: Vec<ContentBlock>,
    /// The tokens of the request it answers; of the model's messages only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
}

/// What a session holds.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct KeptSession {
    /// In the order in which they were said.
    pub messages: Vec<KeptMessage>,
    /// The numbers of those that cannot be read.
    pub lost: Vec<u64>,
}

impl KeptSession {
    /// The conversation as a model reads it: the results of a turn, and what the person says behind
    /// them, are one message. Calls may still be without a result.
    pub fn into_messages(self) -> Vec<Message> {
        let mut messages: Vec<Message> = Vec::with_capacity(self.messages.len());
        for kept in self.messages {
            match messages.last_mut() {
                Some(last) if (last.role, kept.role) == (Role::User, Role::User) => {
                    last.content.extend(kept.content);
                }
                _ => messages.push(Message {
                    role: kept.role,
                    content: kept.content,
                }),
            }
        }
        messages
    }
}

const COLUMNS: &str = "key, id, workspace, title, model, forked_from, created, updated, messages,
    input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, fuel,
    (SELECT group_concat(tag, ',' ORDER BY tag) FROM tags WHERE tags.session = sessions.key)";

impl Store {
    /// The sessions that say something, of one workspace or of all, with this tag or any; the one
    /// that changed last is the last.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn list(
        &self,
        workspace: Option<&Path>,
        tag: Option<&str>,
    ) -> Result<Vec<SessionInfo>, StoreError> {
        let workspace = workspace.map(|path| path.to_string_lossy().into_owned());
        self.with(|connection| {
            let mut query = connection.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM sessions
                 WHERE messages > 0 AND (?1 IS NULL OR workspace = ?1) AND
                     (?2 IS NULL OR EXISTS
                         (SELECT 1 FROM tags WHERE session = key AND tags.tag = ?2))
                 ORDER BY updated, key"
            ))?;
            query.query_map(params![workspace, tag], info)?.collect()
        })
    }

    /// The session of a workspace that changed last.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn last(&self, workspace: &Path) -> Result<Option<SessionInfo>, StoreError> {
        let workspace = workspace.to_string_lossy();
        self.with(|connection| {
            let mut query = connection.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM sessions WHERE messages > 0 AND workspace = ?1
                 ORDER BY updated DESC, key DESC LIMIT 1"
            ))?;
            query.query_map([&workspace], info)?.next().transpose()
        })
    }

    /// The session with this id, or the one whose id begins so.
    ///
    /// # Errors
    /// [`StoreError::Unknown`] and [`StoreError::Ambiguous`].
    pub fn find(&self, id: &str) -> Result<SessionInfo, StoreError> {
        let unknown = || StoreError::Unknown(id.to_owned());
        if id.is_empty() || !id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(unknown());
        }
        let prefix = id.to_ascii_lowercase();
        let mut found = self.with(|connection| {
            let mut query = connection.prepare_cached(&format!(
                // `g` comes behind every digit.
                "SELECT {COLUMNS} FROM sessions WHERE id >= ?1 AND id < ?1 || 'g'
                 ORDER BY id LIMIT 2"
            ))?;
            let found: rusqlite::Result<Vec<_>> = query.query_map([&prefix], info)?.collect();
            found
        })?;
        let is_exact = found.first().is_some_and(|session| session.id == prefix);
        match found.len() {
            0 => Err(unknown()),
            2 if !is_exact => Err(StoreError::Ambiguous(id.to_owned())),
            _ => Ok(found.swap_remove(0)),
        }
    }

    /// Everything that was said in a session.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn read(&self, session: &SessionInfo) -> Result<KeptSession, StoreError> {
        self.read_by_key(session.key)
    }

    pub(super) fn read_by_key(&self, key: i64) -> Result<KeptSession, StoreError> {
        self.with(|connection| {
            let mut query = connection.prepare_cached(
                "SELECT number, role, said, content, usage FROM messages
                 WHERE session = ?1 ORDER BY number",
            )?;
            let mut rows = query.query([key])?;
            let mut kept = KeptSession::default();
            while let Some(row) = rows.next()? {
                let number: u64 = row.get(0)?;
                match message(row, number)? {
                    Some(message) => kept.messages.push(message),
                    None => kept.lost.push(number),
                }
            }
            Ok(kept)
        })
    }

    /// The runs of a session, the first first: the undo store knows them by these ids.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn runs(&self, session: &SessionInfo) -> Result<Vec<String>, StoreError> {
        self.with(|connection| {
            let mut query = connection
                .prepare_cached("SELECT run FROM runs WHERE session = ?1 ORDER BY started, run")?;
            query.query_map([session.key], |row| row.get(0))?.collect()
        })
    }

    /// The to-do list of a session, as JSON, if a tool keeps one.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn todos(&self, session: &SessionInfo) -> Result<Option<Value>, StoreError> {
        let kept = self.with(|connection| newest_state(connection, session.key, "todos"))?;
        Ok(kept
            .and_then(|kept| serde_json::from_slice(&kept).ok())
            .filter(Value::is_array))
    }
}

/// What a component keeps under a name; where several do, the one that changed it last. A component
/// that was built anew is another one.
fn newest_state(
    connection: &Connection,
    session: i64,
    name: &str,
) -> rusqlite::Result<Option<Vec<u8>>> {
    let mut query = connection.prepare_cached(
        "SELECT value FROM state WHERE session = ?1 AND name = ?2 ORDER BY changed DESC LIMIT 1",
    )?;
    query
        .query_map(params![session, name], |row| row.get(0))?
        .next()
        .transpose()
}

pub(super) fn info(row: &Row<'_>) -> rusqlite::Result<SessionInfo> {
    let tags = text(row, 14)?.unwrap_or_default();
    Ok(SessionInfo {
        key: row.get(0)?,
        id: text(row, 1)?.unwrap_or_default(),
        workspace: text(row, 2)?.unwrap_or_default(),
        title: text(row, 3)?.unwrap_or_default(),
        model: text(row, 4)?.unwrap_or_default(),
        forked_from: text(row, 5)?,
        created: seconds(row.get(6)?),
        updated: seconds(row.get(7)?),
        messages: row.get(8)?,
        usage: Usage {
            input_tokens: row.get(9)?,
            output_tokens: row.get(10)?,
            cache_read_tokens: row.get(11)?,
            cache_write_tokens: row.get(12)?,
        },
        fuel: row.get(13)?,
        tags: tags
            .split(',')
            .filter(|tag| !tag.is_empty())
            .map(str::to_owned)
            .collect(),
    })
}

/// `None` where the row holds something else than a message.
fn message(row: &Row<'_>, number: u64) -> rusqlite::Result<Option<KeptMessage>> {
    let role = match row.get_ref(1)?.as_str() {
        Ok("user") => Role::User,
        Ok("assistant") => Role::Assistant,
        _ => return Ok(None),
    };
    let Ok(content) = serde_json::from_slice(bytes(row.get_ref(3)?)) else {
        return Ok(None);
    };
    Ok(Some(KeptMessage {
        number,
        role,
        said: seconds(row.get(2)?),
        content,
        // Counts that cannot be read are no reason to lose what was said.
        usage: serde_json::from_slice(bytes(row.get_ref(4)?)).ok(),
    }))
}

fn bytes(value: ValueRef<'_>) -> &[u8] {
    match value {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes,
        _ => &[],
    }
}

/// A text that a list shows, whatever is in it.
fn text(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<String>> {
    Ok(match row.get_ref(column)? {
        ValueRef::Null => None,
        value => Some(String::from_utf8_lossy(bytes(value)).into_owned()),
    })
}

fn seconds(milliseconds: i64) -> u64 {
    u64::try_from(milliseconds / 1_000).unwrap_or_default()
}
