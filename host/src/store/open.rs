//! From a path to a connection that can be used.
//!
//! Owns where the file may be and who can read it, how a connection is set up, and what happens to
//! a database that is new, old, too new or somebody else's. What is damaged goes to `damage`.

use super::lock::Lock;
use super::schema::{self, Standing};
use super::{StoreError, damage};
use crate::config::private_directory;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a write waits for other processes. Each of them writes for about a millisecond.
const PATIENCE: Duration = Duration::from_secs(15);

/// Why a database cannot be used as it is.
pub(super) enum Refused {
    /// What SQLite says; it may be that it is damaged.
    Sql(rusqlite::Error),
    /// What we say.
    Store(StoreError),
}

impl From<rusqlite::Error> for Refused {
    fn from(error: rusqlite::Error) -> Self {
        Refused::Sql(error)
    }
}

impl Refused {
    pub(super) fn into_error(self, path: &Path) -> StoreError {
        match self {
            Refused::Sql(error) => StoreError::database(path, &error),
            Refused::Store(error) => error,
        }
    }
}

/// Opens the database, which is made if it is not there, and what was lost with a damaged one.
pub(super) fn open(path: &Path) -> Result<(Connection, Option<String>), StoreError> {
    prepare(path).map_err(|reason| StoreError::File {
        path: path.to_owned(),
        reason,
    })?;
    match connect(path) {
        Ok(connection) => Ok((connection, None)),
        Err(Refused::Sql(error)) if is_damage(&error) => damage::replace(path),
        Err(refused) => Err(refused.into_error(path)),
    }
}

/// Opens a database that has a file.
pub(super) fn connect(path: &Path) -> Result<Connection, Refused> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    set_up(&connection)?;
    match schema::standing(&connection)? {
        Standing::Current => {}
        Standing::Older => {
            // Several processes may be the first, and only one can switch the journal.
            let lock = beside(path, ".lock");
            let _lock = Lock::wait(&lock).map_err(|error| {
                Refused::Store(StoreError::File {
                    reason: error.to_string(),
                    path: lock,
                })
            })?;
            // A file system without shared memory keeps its journal, which works as well.
            connection.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()))?;
            schema::migrate(&mut connection)?;
        }
        Standing::Newer(found) => {
            return Err(Refused::Store(StoreError::Newer {
                path: path.to_owned(),
                found,
            }));
        }
        Standing::Foreign => return Err(Refused::Store(StoreError::Foreign(path.to_owned()))),
    }
    Ok(connection)
}

/// A store that ends with the process.
pub(super) fn in_memory() -> rusqlite::Result<Connection> {
    let mut connection = Connection::open_in_memory()?;
    set_up(&connection)?;
    schema::migrate(&mut connection)?;
    Ok(connection)
}

fn set_up(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(PATIENCE)?;
    // A file that somebody else wrote runs nothing of theirs.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    // What a process wrote is safe when the process is killed. It is not synchronised with the disk
    // each time: when the machine loses power the last messages may be missing, nothing else.
    // What is removed is overwritten: conversations hold secrets.
    connection.execute_batch(
        "PRAGMA synchronous = NORMAL;
         PRAGMA foreign_keys = ON;
         PRAGMA secure_delete = ON;
         PRAGMA cell_size_check = ON;
         PRAGMA temp_store = MEMORY;",
    )
}

/// Whether the file is to blame.
pub(super) fn is_damage(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)
    )
}

/// `path` with something behind its name.
pub(super) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.file_name().map(OsString::from).unwrap_or_default();
    name.push(ending);
    path.with_file_name(name)
}

/// Makes sure that the file is there and that only its owner reads it. Directories that have to be
/// made are private as well; those that are there are left as they are.
fn prepare(path: &Path) -> Result<(), String> {
    let told = |error: io::Error| error.to_string();
    if let Some(parent) = path.parent() {
        private_directory(parent).map_err(told)?;
    }
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    // A pipe would keep us waiting for its other end.
    match fs::metadata(path) {
        Ok(there) if !there.is_file() => return Err("it is not a regular file".to_owned()),
        _ => {}
    }
    let file = options.open(path).map_err(told)?;
    let metadata = file.metadata().map_err(told)?;
    if !metadata.is_file() {
        return Err("it is not a regular file".to_owned());
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, PermissionsExt};
        if metadata.mode() & 0o077 != 0 {
            // Only its owner can.
            file.set_permissions(fs::Permissions::from_mode(0o600))
                .map_err(|error| {
                    format!(
                        "others can read it, and its mode cannot be changed to 600 ({error}); name another file by --db"
                    )
                })?;
        }
    }
    Ok(())
}
