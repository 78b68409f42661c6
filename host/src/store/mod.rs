//! Sessions on disk: what was said, as it is said, and what tools keep.
//!
//! Owns the database of sessions: one SQLite file that many processes share, private to its user.
//! Each piece of a conversation is in it before the run goes on, so that a process that is killed
//! loses at most the piece it was writing. A damaged file is replaced by what can be read of it. It
//! must never know who runs, what a valid request is, or how a session is shown, and the system
//! prompt is never in it. Calls block for about a millisecond, and longer while others write.

mod damage;
mod lock;
mod open;
mod read;
mod schema;
mod search;
mod state;
#[cfg(test)]
mod tests;
mod write;

pub use read::{KeptMessage, KeptSession, SessionInfo};
pub use search::Found;
pub use state::{StateValue, Swapped};
pub use write::{MOST_TAG_CHARS, NewRun, Session};

use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// Why the store did not do what it was asked to. One line for people.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// There is no directory to keep anything in.
    #[error(
        "there is no data directory to keep sessions in; set XDG_DATA_HOME or HOME to an absolute path, or name a file by --db"
    )]
    NoPlace,
    /// The file is not one that the store can use.
    #[error("cannot keep sessions in {}: {reason}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// The file is of a version that this program does not know.
    #[error(
        "{} is of schema {found}, and this hotcell knows up to {}; use the newer hotcell, or another file by --db",
        .path.display(), schema::VERSION
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: i64,
    },
    /// The file is a database, and not one of sessions.
    #[error("{} is a database of another program; name another file by --db", .0.display())]
    Foreign(PathBuf),
    /// The database does not answer.
    #[error("the session store at {}: {reason}", .path.display())]
    Database {
        /// The file.
        path: PathBuf,
        /// What SQLite says.
        reason: String,
    },
    /// The path of the workspace is not text.
    #[error("sessions belong to a workspace, and the path {} is not UTF-8", .0.display())]
    Workspace(PathBuf),
    /// No session has this id.
    #[error("no session is `{0}`; `hotcell sessions list --all` shows them")]
    Unknown(String),
    /// Several sessions begin so.
    #[error("several sessions begin with `{0}`; type more of the id")]
    Ambiguous(String),
    /// Another process works on it.
    #[error(
        "session {0} is in use by a hotcell that is still running; wait for it, or go on in a copy by --fork {0}"
    )]
    InUse(String),
    /// The session has no message of this number.
    #[error("session {id} has no message {number}; `hotcell sessions show {id}` numbers them")]
    NoMessage {
        /// The session.
        id: String,
        /// What was asked for.
        number: u64,
    },
    /// It cannot be a tag.
    #[error(
        "`{0}` is no tag: a tag has 1 to {MOST_TAG_CHARS} characters, none of them a space, a comma or a control character"
    )]
    Tag(String),
    /// There is nothing to search for.
    #[error("the search is empty; name a word, or a part of one")]
    EmptySearch,
}

impl StoreError {
    fn database(path: &Path, error: &rusqlite::Error) -> StoreError {
        StoreError::Database {
            path: path.to_owned(),
            reason: error.to_string(),
        }
    }
}

/// The sessions of a user. Cheap to clone; clones share one connection.
#[derive(Debug, Clone)]
pub struct Store {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    /// `None` for a store that ends with the process.
    path: Option<PathBuf>,
    connection: Mutex<Connection>,
    losses: Mutex<Vec<String>>,
}

impl Store {
    /// Opens the store in this file, an absolute path. It is made if it is not there, readable for
    /// its owner alone. A damaged one is replaced, see [`Store::losses`].
    ///
    /// # Errors
    /// When the file cannot be used: [`StoreError::File`], [`StoreError::Newer`],
    /// [`StoreError::Foreign`], [`StoreError::Database`].
    pub fn open(path: &Path) -> Result<Store, StoreError> {
        let (connection, loss) = open::open(path)?;
        Ok(Store::of(connection, Some(path.to_owned()), loss))
    }

    /// A store that ends with the process.
    ///
    /// # Errors
    /// [`StoreError::Database`] when SQLite has no memory.
    pub fn in_memory() -> Result<Store, StoreError> {
        let connection = open::in_memory()
            .map_err(|error| StoreError::database(Path::new(":memory:"), &error))?;
        Ok(Store::of(connection, None, None))
    }

    fn of(connection: Connection, path: Option<PathBuf>, loss: Option<String>) -> Store {
        Store {
            shared: Arc::new(Shared {
                path,
                connection: Mutex::new(connection),
                losses: Mutex::new(loss.into_iter().collect()),
            }),
        }
    }

    /// What was found damaged since this was asked last, one line for people each.
    pub fn losses(&self) -> Vec<String> {
        std::mem::take(&mut *self.shared.losses())
    }

    /// Does something with the database. Where that finds damage, the file is replaced and it is
    /// tried once more.
    fn with<T>(
        &self,
        work: impl Fn(&mut Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let shared = &*self.shared;
        let mut connection = shared
            .connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let failed = |error: &rusqlite::Error| {
            let path = shared.path.as_deref().unwrap_or(Path::new(":memory:"));
            StoreError::database(path, error)
        };
        match (work(&mut connection), &shared.path) {
            (Ok(done), _) => Ok(done),
            (Err(error), Some(path)) if open::is_damage(&error) => {
                tracing::warn!(path = %path.display(), %error, "the session store is damaged");
                // Nobody may hold the damaged file open while it is looked at.
                *connection = Connection::open_in_memory().map_err(|error| failed(&error))?;
                let (fresh, loss) = damage::replace(path)?;
                *connection = fresh;
                shared.losses().extend(loss);
                work(&mut connection).map_err(|error| failed(&error))
            }
            (Err(error), _) => Err(failed(&error)),
        }
    }

    /// Where the lock of a session is; `None` where no other process can see the session.
    fn lock_path(&self, id: &str) -> Option<PathBuf> {
        let locks = open::beside(self.shared.path.as_deref()?, ".locks");
        Some(locks.join(id))
    }
}

impl Shared {
    fn losses(&self) -> std::sync::MutexGuard<'_, Vec<String>> {
        self.losses.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Milliseconds since 1970.
fn now() -> i64 {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH);
    elapsed.map_or(0, |elapsed| {
        i64::try_from(elapsed.as_millis()).unwrap_or(i64::MAX)
    })
}
