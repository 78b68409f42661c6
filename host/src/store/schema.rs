//! The tables, and the way from older ones.
//!
//! Owns every statement that makes or changes a table. A version is the number of steps taken and
//! stands in `user_version`; a step that was released is never edited, the next one is added. Our
//! `application_id` keeps us from writing into the database of another program.

use rusqlite::{Connection, TransactionBehavior};

/// `hotc`, as `file` and SQLite's own tools show it.
const APPLICATION: i64 = 0x686f_7463;

/// What each version adds to the one before.
const STEPS: &[&str] = &[
    // 1. Times are milliseconds since 1970. `messages` counts rows, so that a list reads no other
    // table; so do the sums. What search reads is a column of its own: content is JSON.
    "CREATE TABLE sessions (
        key INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        workspace TEXT NOT NULL,
        title TEXT NOT NULL,
        model TEXT NOT NULL,
        forked_from TEXT,
        created INTEGER NOT NULL,
        updated INTEGER NOT NULL,
        messages INTEGER NOT NULL DEFAULT 0,
        input_tokens INTEGER NOT NULL DEFAULT 0,
        output_tokens INTEGER NOT NULL DEFAULT 0,
        cache_read_tokens INTEGER NOT NULL DEFAULT 0,
        cache_write_tokens INTEGER NOT NULL DEFAULT 0,
        fuel INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    CREATE INDEX sessions_of_workspace ON sessions (workspace, updated);

    CREATE TABLE runs (
        session INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
        run TEXT NOT NULL,
        started INTEGER NOT NULL,
        PRIMARY KEY (session, run)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE tags (
        session INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
        tag TEXT NOT NULL,
        PRIMARY KEY (session, tag)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE state (
        session INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
        component TEXT NOT NULL,
        name TEXT NOT NULL,
        value BLOB NOT NULL,
        version INTEGER NOT NULL,
        changed INTEGER NOT NULL,
        PRIMARY KEY (session, component, name)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE messages (
        key INTEGER PRIMARY KEY,
        session INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
        number INTEGER NOT NULL,
        role TEXT NOT NULL,
        content TEXT NOT NULL,
        usage TEXT,
        said INTEGER NOT NULL,
        searched TEXT NOT NULL,
        UNIQUE (session, number)
    ) STRICT;

    CREATE VIRTUAL TABLE search USING fts5 (
        searched, content = 'messages', content_rowid = 'key', tokenize = 'trigram'
    );
    INSERT INTO search (search, rank) VALUES ('secure-delete', 1);
    CREATE TRIGGER messages_in AFTER INSERT ON messages BEGIN
        INSERT INTO search (rowid, searched) VALUES (new.key, new.searched);
    END;
    CREATE TRIGGER messages_out AFTER DELETE ON messages BEGIN
        INSERT INTO search (search, rowid, searched) VALUES ('delete', old.key, old.searched);
    END;",
];

/// The version that this program reads and writes.
pub(super) const VERSION: i64 = STEPS.len() as i64;

/// What a database is to us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// Of this version.
    Current,
    /// Empty, or of an older version.
    Older,
    /// Of a version we do not know.
    Newer(i64),
    /// Not ours.
    Foreign,
}

pub(super) fn standing(connection: &Connection) -> rusqlite::Result<Standing> {
    let number = |pragma| connection.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0));
    let (application, version) = (number("application_id")?, number("user_version")?);
    if (application, version) == (0, 0) {
        let tables = "SELECT count(*) FROM sqlite_schema";
        let tables: i64 = connection.query_row(tables, (), |row| row.get(0))?;
        return Ok(if tables == 0 {
            Standing::Older
        } else {
            Standing::Foreign
        });
    }
    Ok(match version {
        _ if application != APPLICATION => Standing::Foreign,
        VERSION => Standing::Current,
        0..VERSION => Standing::Older,
        newer => Standing::Newer(newer),
    })
}

/// Takes the steps that are missing, all or none of them.
pub(super) fn migrate(connection: &mut Connection) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Exclusive)?;
    let taken: i64 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
    for step in STEPS.iter().skip(usize::try_from(taken).unwrap_or(0)) {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(None, "user_version", VERSION)?;
    transaction.commit()
}
