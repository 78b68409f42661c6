//! Beginning a session, adding to it, and what a person does to one.
//!
//! Owns what is written, and when: every change is one transaction that takes its turn with those
//! of other processes. A session that is written to is locked, so that two processes never mix
//! their messages.

use super::lock::Lock;
use super::{SessionInfo, Store, StoreError, now};
use crate::config::private_directory;
use crate::protocol::{ContentBlock, Role, SessionEntry};
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// The longest title, in characters: the first line of a prompt may be a whole text.
const MOST_TITLE_CHARS: usize = 120;

/// The longest tag, in characters.
pub const MOST_TAG_CHARS: usize = 64;

/// What search reads of one result, in bytes. The head of a result says what it is; to index whole
/// files would make the index several times as large as what was said.
const SEARCHED_RESULT: usize = 8 << 10;

/// What search reads of one message, in bytes.
const SEARCHED_MESSAGE: usize = 64 << 10;

/// A run that is about to begin.
#[derive(Debug, Clone, Copy)]
pub struct NewRun<'a> {
    /// Its id, by which the undo store knows it.
    pub run: &'a str,
    /// The canonical path of the workspace.
    pub workspace: &'a Path,
    /// The vendor's model name.
    pub model: &'a str,
    /// The prompt: a new session takes its title from it.
    pub prompt: &'a str,
}

impl NewRun<'_> {
    fn workspace(&self) -> Result<&str, StoreError> {
        let text = self.workspace.to_str();
        text.ok_or_else(|| StoreError::Workspace(self.workspace.to_owned()))
    }

    /// The first line that says something.
    fn title(&self) -> String {
        let line = self
            .prompt
            .lines()
            .map(str::trim)
            .find(|line| !line.is_empty());
        let line = line.unwrap_or_default();
        match line.char_indices().nth(MOST_TITLE_CHARS) {
            Some((end, _)) => format!("{}…", line[..end].trim_end()),
            None => line.to_owned(),
        }
    }
}

/// A session that this process adds to, and no other.
#[derive(Debug)]
pub struct Session {
    store: Store,
    key: i64,
    id: String,
    /// How many messages it had when this process took it.
    had: u64,
    /// `None` in memory.
    _lock: Option<Lock>,
}

impl Store {
    /// Begins a session.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn begin(&self, new: &NewRun<'_>) -> Result<Session, StoreError> {
        self.create(new, None)
    }

    /// Goes on with a session, which must be of the same workspace: the caller looks at that.
    ///
    /// # Errors
    /// [`StoreError::InUse`] while another process does, [`StoreError::Unknown`] where it is gone.
    pub fn resume(&self, id: &str, run: &NewRun<'_>) -> Result<Session, StoreError> {
        let lock = self.lock(id)?;
        let found = self.with(|connection| {
            let writing = writing(connection)?;
            let found: Option<(i64, u64)> = writing
                .query_row(
                    "UPDATE sessions SET model = ?2, updated = ?3 WHERE id = ?1
                     RETURNING key, messages",
                    params![id, run.model, now()],
                    |row| Ok((row.get(0)?, row.get(1)?)),
                )
                .optional()?;
            if let Some((key, _)) = found {
                add_run(&writing, key, run.run)?;
            }
            writing.commit()?;
            Ok(found)
        })?;
        let (key, had) = found.ok_or_else(|| StoreError::Unknown(id.to_owned()))?;
        Ok(Session {
            store: self.clone(),
            key,
            id: id.to_owned(),
            had,
            _lock: lock,
        })
    }

    /// Begins a session with what another one has, up to and including message `last`. What tools
    /// keep is copied with the whole of a session only: with a part of it they would know more than
    /// was said.
    ///
    /// # Errors
    /// [`StoreError::NoMessage`] where there is none of this number.
    pub fn fork(
        &self,
        source: &SessionInfo,
        last: Option<u64>,
        new: &NewRun<'_>,
    ) -> Result<Session, StoreError> {
        if let Some(number) = last
            && !self.has_message(source, number)?
        {
            let id = source.id.clone();
            return Err(StoreError::NoMessage { id, number });
        }
        self.create(new, Some((source, last)))
    }

    fn has_message(&self, source: &SessionInfo, number: u64) -> Result<bool, StoreError> {
        let Ok(number) = i64::try_from(number) else {
            return Ok(false);
        };
        self.with(|connection| {
            connection.query_row(
                "SELECT EXISTS (SELECT 1 FROM messages WHERE session = ?1 AND number = ?2)",
                params![source.key, number],
                |row| row.get(0),
            )
        })
    }

    fn create(
        &self,
        new: &NewRun<'_>,
        source: Option<(&SessionInfo, Option<u64>)>,
    ) -> Result<Session, StoreError> {
        let workspace = new.workspace()?;
        let id = new_id();
        let lock = self.lock(&id)?;
        let title = match source {
            Some((source, _)) => source.title.clone(),
            None => new.title(),
        };
        let (key, had) = self.with(|connection| {
            let writing = writing(connection)?;
            let key: i64 = writing.query_row(
                "INSERT INTO sessions (id, workspace, title, model, forked_from, created, updated)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6) RETURNING key",
                params![
                    id,
                    workspace,
                    title,
                    new.model,
                    source.map(|(source, _)| &source.id),
                    now()
                ],
                |row| row.get(0),
            )?;
            if let Some((source, last)) = source {
                copy(&writing, source.key, key, last)?;
            }
            add_run(&writing, key, new.run)?;
            let had = writing.query_row(
                "SELECT messages FROM sessions WHERE key = ?1",
                [key],
                |row| row.get(0),
            )?;
            writing.commit()?;
            Ok((key, had))
        })?;
        Ok(Session {
            store: self.clone(),
            key,
            id,
            had,
            _lock: lock,
        })
    }

    fn lock(&self, id: &str) -> Result<Option<Lock>, StoreError> {
        let Some(path) = self.lock_path(id) else {
            return Ok(None);
        };
        let failed = |error: std::io::Error| StoreError::File {
            path: path.clone(),
            reason: error.to_string(),
        };
        if let Some(parent) = path.parent() {
            private_directory(parent).map_err(failed)?;
        }
        match Lock::take(&path).map_err(failed)? {
            Some(lock) => Ok(Some(lock)),
            None => Err(StoreError::InUse(id.to_owned())),
        }
    }

    /// Gives a session tags, and takes others away.
    ///
    /// # Errors
    /// [`StoreError::Tag`] where a text cannot be one.
    pub fn tag(
        &self,
        session: &SessionInfo,
        add: &[String],
        remove: &[String],
    ) -> Result<(), StoreError> {
        if let Some(wrong) = add.iter().find(|tag| !is_tag(tag)) {
            return Err(StoreError::Tag(wrong.clone()));
        }
        self.with(|connection| {
            let writing = writing(connection)?;
            for tag in remove {
                writing.execute(
                    "DELETE FROM tags WHERE session = ?1 AND tag = ?2",
                    params![session.key, tag],
                )?;
            }
            for tag in add {
                writing.execute(
                    "INSERT OR IGNORE INTO tags (session, tag) VALUES (?1, ?2)",
                    params![session.key, tag],
                )?;
            }
            writing.commit()
        })
    }

    /// Removes a session with all that belongs to it. The bytes are overwritten, in the journal as
    /// soon as no other process reads.
    ///
    /// # Errors
    /// [`StoreError::InUse`] while a process adds to it.
    pub fn remove(&self, session: &SessionInfo) -> Result<(), StoreError> {
        let _lock = self.lock(&session.id)?;
        self.with(|connection| {
            let writing = writing(connection)?;
            writing.execute("DELETE FROM sessions WHERE key = ?1", [session.key])?;
            writing.commit()?;
            connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |_| Ok(()))
        })
    }
}

impl Session {
    /// The id by which people and tools know it.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// How many messages it had when this process took it.
    pub const fn had(&self) -> u64 {
        self.had
    }

    /// Adds one piece. When this returns, it is there for whoever comes after this process.
    ///
    /// # Errors
    /// When it could not be written; then nothing of it is there.
    pub fn append(&self, entry: &SessionEntry) -> Result<(), StoreError> {
        let (content, usage, fuel) = match entry {
            SessionEntry::User(content) => (json(content), None, 0),
            SessionEntry::Answer { content, usage } => (json(content), Some(usage), 0),
            SessionEntry::Result(result) => {
                let block = ContentBlock::ToolResult(result.clone());
                (json(&[block]), None, result.stats.fuel)
            }
        };
        let role = role(entry.role());
        let searched = searched(entry);
        let says = !matches!(entry, SessionEntry::Answer { content, .. } if content.is_empty());
        let spent = usage.copied().unwrap_or_default();
        let usage = usage.map(|usage| serde_json::to_string(usage).unwrap_or_default());
        let sum = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        self.store.with(|connection| {
            let writing = writing(connection)?;
            if says {
                writing
                    .prepare_cached(
                        "INSERT INTO messages (session, number, role, content, usage, said, searched)
                         SELECT ?1, coalesce(max(number), 0) + 1, ?2, ?3, ?4, ?5, ?6
                         FROM messages WHERE session = ?1",
                    )?
                    .execute(params![self.key, role, content, usage, now(), searched])?;
            }
            writing
                .prepare_cached(
                    "UPDATE sessions SET updated = ?2, messages = messages + ?3,
                         input_tokens = input_tokens + ?4, output_tokens = output_tokens + ?5,
                         cache_read_tokens = cache_read_tokens + ?6,
                         cache_write_tokens = cache_write_tokens + ?7, fuel = fuel + ?8
                     WHERE key = ?1",
                )?
                .execute(params![
                    self.key,
                    now(),
                    says,
                    sum(spent.input_tokens),
                    sum(spent.output_tokens),
                    sum(spent.cache_read_tokens),
                    sum(spent.cache_write_tokens),
                    sum(fuel)
                ])?;
            writing.commit()
        })
    }
}

/// A transaction that waits for its turn when it begins: one that began by reading could find
/// later that it read too early.
pub(super) fn writing(connection: &mut Connection) -> rusqlite::Result<Transaction<'_>> {
    connection.transaction_with_behavior(TransactionBehavior::Immediate)
}

fn add_run(writing: &Transaction<'_>, key: i64, run: &str) -> rusqlite::Result<()> {
    writing.execute(
        "INSERT OR IGNORE INTO runs (session, run, started) VALUES (?1, ?2, ?3)",
        params![key, run, now()],
    )?;
    Ok(())
}

fn copy(
    writing: &Transaction<'_>,
    source: i64,
    target: i64,
    last: Option<u64>,
) -> rusqlite::Result<()> {
    let until = last.and_then(|last| i64::try_from(last).ok());
    writing.execute(
        "INSERT INTO messages (session, number, role, content, usage, said, searched)
         SELECT ?2, number, role, content, usage, said, searched FROM messages
         WHERE session = ?1 AND number <= coalesce(?3, number) ORDER BY number",
        params![source, target, until],
    )?;
    writing.execute(
        "UPDATE sessions SET messages = (SELECT count(*) FROM messages WHERE session = ?1)
         WHERE key = ?1",
        [target],
    )?;
    if last.is_none() {
        writing.execute(
            "INSERT INTO state (session, component, name, value, version, changed)
             SELECT ?2, component, name, value, version, changed FROM state WHERE session = ?1",
            params![source, target],
        )?;
    }
    Ok(())
}

fn json(content: &[ContentBlock]) -> String {
    // Plain data with text as keys cannot fail.
    serde_json::to_string(content).unwrap_or_default()
}

pub(super) const fn role(role: Role) -> &'static str {
    match role {
        Role::User => "user",
        Role::Assistant => "assistant",
    }
}

fn is_tag(tag: &str) -> bool {
    (1..=MOST_TAG_CHARS).contains(&tag.chars().count())
        && !tag.contains(|c: char| c.is_whitespace() || c.is_control() || c == ',')
}

/// Twelve hexadecimal digits of the moment and the process. They are spread over all there are, so
/// that the first few name a session; the table refuses one that is there already.
fn new_id() -> String {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH);
    let mut hasher = Sha256::new();
    hasher.update(elapsed.unwrap_or_default().as_nanos().to_le_bytes());
    hasher.update(std::process::id().to_le_bytes());
    let digest = hasher.finalize();
    digest[..6]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// What search reads of a piece: what was said, the names and arguments of calls, and the head of
/// each result.
fn searched(entry: &SessionEntry) -> String {
    let mut text = String::new();
    match entry {
        SessionEntry::User(content) | SessionEntry::Answer { content, .. } => {
            for block in content {
                match block {
                    ContentBlock::Text { text: said } => line(&mut text, said),
                    ContentBlock::ToolCall(call) => {
                        line(&mut text, &call.name);
                        texts(&mut text, &call.arguments);
                    }
                    _ => {}
                }
            }
        }
        SessionEntry::Result(result) => {
            let whole = result.text();
            line(
                &mut text,
                &whole[..whole.floor_char_boundary(SEARCHED_RESULT)],
            );
        }
    }
    text.truncate(text.floor_char_boundary(SEARCHED_MESSAGE));
    // Ends a text for SQLite's functions.
    text.replace('\0', " ")
}

fn line(text: &mut String, more: &str) {
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(more);
}

/// Every text in a JSON value.
fn texts(text: &mut String, value: &Value) {
    match value {
        Value::String(said) => line(text, said),
        Value::Array(items) => items.iter().for_each(|item| texts(text, item)),
        Value::Object(members) => members.values().for_each(|member| texts(text, member)),
        _ => {}
    }
}
