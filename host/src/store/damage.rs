//! A damaged store: what can be read is brought over, the rest is told.
//!
//! Owns the way from a file that SQLite cannot trust to one that it can. The damaged file is never
//! changed: it is kept beside the new one, with its journal. Tables are read from both ends, because
//! a page that cannot be read stops a reader on its way.

use super::lock::Lock;
use super::open::{beside, connect};
use super::{StoreError, now, schema};
use crate::config::private_directory;
use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags, params_from_iter};
use std::fs::{self, File};
use std::io;
use std::path::Path;

/// The tables, those first that others point to, with the columns by which they are ordered.
const TABLES: [(&str, &[&str]); 5] = [
    ("sessions", &["key"]),
    ("runs", &["session", "run"]),
    ("tags", &["session", "tag"]),
    ("state", &["session", "component", "name"]),
    ("messages", &["key"]),
];

/// Puts a new store in the place of the damaged one, unless another process has done so, and says
/// what was lost.
pub(super) fn replace(path: &Path) -> Result<(Connection, Option<String>), StoreError> {
    let failed = |error: io::Error| StoreError::File {
        path: path.to_owned(),
        reason: format!("it is damaged, and cannot be replaced: {error}"),
    };
    let lock = Lock::wait(&beside(path, ".repair")).map_err(failed)?;
    if let Some(connection) = sound(path) {
        return Ok((connection, None));
    }
    let fresh = beside(path, ".new");
    let brought = rebuild(path, &fresh).map_err(failed)?;
    let aside = beside(path, &format!(".damaged-{}", now()));
    for ending in ["", "-wal", "-shm"] {
        match fs::rename(beside(path, ending), beside(&aside, ending)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
            _ => {}
        }
    }
    fs::rename(&fresh, path).map_err(failed)?;
    let connection = connect(path).map_err(|refused| refused.into_error(path))?;
    connection
        .pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()))
        .map_err(|error| StoreError::database(path, &error))?;
    drop(lock);
    let loss = format!(
        "the session store was damaged: {} sessions with {} messages could be read and were brought over, anything else is lost; the damaged file is kept as {}",
        brought.sessions,
        brought.messages,
        aside.display()
    );
    tracing::warn!("{loss}");
    Ok((connection, Some(loss)))
}

/// A connection to a store without damage.
fn sound(path: &Path) -> Option<Connection> {
    let connection = connect(path).ok()?;
    let check = "PRAGMA quick_check(1)";
    let said: String = connection.query_row(check, (), |row| row.get(0)).ok()?;
    (said == "ok").then_some(connection)
}

struct Brought {
    sessions: i64,
    messages: i64,
}

/// Makes a new store at `fresh` of what can be read at `path`.
fn rebuild(path: &Path, fresh: &Path) -> io::Result<Brought> {
    if let Err(error) = fs::remove_file(fresh)
        && error.kind() != io::ErrorKind::NotFound
    {
        return Err(error);
    }
    if let Some(parent) = fresh.parent() {
        private_directory(parent)?;
    }
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(fresh)?;
    let damaged = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).ok();
    fill(damaged.as_ref(), fresh).map_err(io::Error::other)
}

fn fill(damaged: Option<&Connection>, fresh: &Path) -> rusqlite::Result<Brought> {
    let mut new = Connection::open(fresh)?;
    schema::migrate(&mut new)?;
    // Rows may come without those that they point to.
    new.pragma_update(None, "foreign_keys", false)?;
    let writing = new.transaction()?;
    if let Some(damaged) = damaged {
        for (table, order) in TABLES {
            for direction in ["ASC", "DESC"] {
                if let Err(error) = bring(damaged, &writing, table, order, direction) {
                    tracing::warn!(table, direction, %error, "a part of a damaged store cannot be read");
                }
            }
        }
    }
    writing.execute_batch(
        "INSERT INTO sessions (key, id, workspace, title, model, created, updated)
             SELECT session, printf('%012x', session), '', '(recovered)', '', min(said), max(said)
             FROM messages WHERE session NOT IN (SELECT key FROM sessions) GROUP BY session;
         DELETE FROM runs WHERE session NOT IN (SELECT key FROM sessions);
         DELETE FROM tags WHERE session NOT IN (SELECT key FROM sessions);
         DELETE FROM state WHERE session NOT IN (SELECT key FROM sessions);
         UPDATE sessions SET messages =
             (SELECT count(*) FROM messages WHERE messages.session = sessions.key);",
    )?;
    let count = |table: &str| {
        writing.query_row(&format!("SELECT count(*) FROM {table}"), (), |row| {
            row.get(0)
        })
    };
    let brought = Brought {
        sessions: count("sessions")?,
        messages: count("messages")?,
    };
    writing.commit()?;
    Ok(brought)
}

/// Copies rows until one cannot be read.
fn bring(
    from: &Connection,
    to: &Connection,
    table: &str,
    order: &[&str],
    direction: &str,
) -> rusqlite::Result<()> {
    let columns = columns(to, table)?;
    let order: Vec<String> = order
        .iter()
        .map(|column| format!("{column} {direction}"))
        .collect();
    let mut read = from.prepare(&format!(
        "SELECT {} FROM {table} ORDER BY {}",
        columns.join(", "),
        order.join(", ")
    ))?;
    let mut write = to.prepare(&format!(
        "INSERT OR IGNORE INTO {table} ({}) VALUES ({})",
        columns.join(", "),
        vec!["?"; columns.len()].join(", ")
    ))?;
    let mut rows = read.query(())?;
    while let Some(row) = rows.next()? {
        let values: rusqlite::Result<Vec<Value>> =
            (0..columns.len()).map(|at| row.get(at)).collect();
        // A row that does not fit the table is damage too, and the next may be sound.
        if let Err(error) = values.and_then(|values| write.execute(params_from_iter(values))) {
            tracing::warn!(table, %error, "a row of a damaged store is left behind");
        }
    }
    Ok(())
}

fn columns(connection: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let mut columns = connection.prepare("SELECT name FROM pragma_table_info(?1)")?;
    let names = columns.query_map([table], |row| row.get(0))?;
    names.collect()
}
