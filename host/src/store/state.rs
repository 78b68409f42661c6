//! What tools keep for a session.
//!
//! Owns values with a version, one namespace a component. A value is replaced only by who knows the
//! present one. It must never interpret a value, nor decide how large one may be.

use super::write::writing;
use super::{Store, StoreError, now};
use rusqlite::{Connection, OptionalExtension, params};

/// A value and how often it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateValue {
    /// The value.
    pub value: Vec<u8>,
    /// From 1.
    pub version: u64,
}

/// What became of a value that was to be stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Swapped {
    /// It is stored, as this version.
    Stored(u64),
    /// Another version is there than was expected.
    Conflict,
    /// All values of the component together would be larger than allowed.
    OverQuota,
    /// There is no such session.
    NoSession,
}

impl Store {
    /// Whether there is a session with exactly this id.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn has(&self, id: &str) -> Result<bool, StoreError> {
        Ok(self.with(|connection| key(connection, id))?.is_some())
    }

    /// What `component` keeps under `name`.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn state(
        &self,
        id: &str,
        component: &str,
        name: &str,
    ) -> Result<Option<StateValue>, StoreError> {
        self.with(|connection| {
            connection
                .prepare_cached(
                    "SELECT value, version FROM state JOIN sessions ON key = session
                     WHERE id = ?1 AND component = ?2 AND name = ?3",
                )?
                .query_row(params![id, component, name], |row| {
                    Ok(StateValue {
                        value: row.get(0)?,
                        version: row.get(1)?,
                    })
                })
                .optional()
        })
    }

    /// Stores `value` if the present version is `expected`, 0 for none. Names and values of the
    /// component together may have `quota` bytes.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn swap_state(
        &self,
        id: &str,
        component: &str,
        name: &str,
        value: &[u8],
        expected: u64,
        quota: u64,
    ) -> Result<Swapped, StoreError> {
        self.with(|connection| {
            let writing = writing(connection)?;
            let Some(session) = key(&writing, id)? else {
                return Ok(Swapped::NoSession);
            };
            let (version, others): (u64, u64) = writing
                .prepare_cached(
                    "SELECT coalesce(max(version) FILTER (WHERE name = ?3), 0),
                        coalesce(sum(octet_length(name) + octet_length(value))
                            FILTER (WHERE name <> ?3), 0)
                     FROM state WHERE session = ?1 AND component = ?2",
                )?
                .query_row(params![session, component, name], |row| {
                    Ok((row.get(0)?, row.get(1)?))
                })?;
            if version != expected {
                return Ok(Swapped::Conflict);
            }
            if others + (name.len() + value.len()) as u64 > quota {
                return Ok(Swapped::OverQuota);
            }
            writing
                .prepare_cached(
                    "INSERT INTO state (session, component, name, value, version, changed)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                     ON CONFLICT DO UPDATE SET value = ?4, version = ?5, changed = ?6",
                )?
                .execute(params![session, component, name, value, version + 1, now()])?;
            writing.commit()?;
            Ok(Swapped::Stored(version + 1))
        })
    }
}

fn key(connection: &Connection, id: &str) -> rusqlite::Result<Option<i64>> {
    connection
        .prepare_cached("SELECT key FROM sessions WHERE id = ?1")?
        .query_row([id], |row| row.get(0))
        .optional()
}
