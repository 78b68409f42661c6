//! Where the values of the `state` import live.
//!
//! Owns the trait a session store implements and the one that keeps values in memory. Exists so
//! that a session database can stand in without the sandbox knowing it. It must never interpret a
//! value.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// The longest key, in bytes.
pub const MAX_KEY_BYTES: usize = 4 << 10;
/// The largest value, in bytes.
pub const MAX_VALUE_BYTES: usize = 256 << 10;
/// All keys and values of one component in one session, in bytes.
pub const QUOTA_BYTES: usize = 8 << 20;

/// A value and the number of times it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Versioned {
    /// The value.
    pub value: Vec<u8>,
    /// From 1; 0 stands for a value that is absent.
    pub version: u64,
}

/// Why a value was not stored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StateError {
    /// Key or value is longer than allowed; the limit in bytes.
    #[error("larger than the {0} bytes allowed")]
    TooLarge(u64),
    /// The component's quota in this session is used up; the quota in bytes.
    #[error("over the quota of {0} bytes")]
    Quota(u64),
    /// The version is not the expected one.
    #[error("changed meanwhile")]
    Conflict,
    /// The store cannot answer.
    #[error("{0}")]
    Unavailable(String),
}

impl StateError {
    /// Refuses a key or a value that is longer than any store takes.
    ///
    /// # Errors
    /// [`StateError::TooLarge`].
    pub const fn check_sizes(key: &str, value: &[u8]) -> Result<(), StateError> {
        if key.len() > MAX_KEY_BYTES {
            return Err(StateError::TooLarge(MAX_KEY_BYTES as u64));
        }
        if value.len() > MAX_VALUE_BYTES {
            return Err(StateError::TooLarge(MAX_VALUE_BYTES as u64));
        }
        Ok(())
    }
}

/// Small values that live as long as a session, one namespace a component.
pub trait SessionState: Send + Sync {
    /// The value under `key`, if there is one.
    ///
    /// # Errors
    /// [`StateError::Unavailable`] when the store cannot answer.
    fn get(
        &self,
        session: &str,
        namespace: &str,
        key: &str,
    ) -> Result<Option<Versioned>, StateError>;

    /// Stores `value` if the present version is `expected` (0: absent), and answers the new one.
    ///
    /// # Errors
    /// As the variants of [`StateError`] say.
    fn compare_and_swap(
        &self,
        session: &str,
        namespace: &str,
        key: &str,
        value: Vec<u8>,
        expected: u64,
    ) -> Result<u64, StateError>;
}

/// State that ends with the process.
#[derive(Default)]
pub struct MemoryState {
    sessions: Mutex<HashMap<(String, String), Namespace>>,
}

#[derive(Default)]
struct Namespace {
    values: HashMap<String, Versioned>,
    bytes: usize,
}

impl SessionState for MemoryState {
    fn get(
        &self,
        session: &str,
        namespace: &str,
        key: &str,
    ) -> Result<Option<Versioned>, StateError> {
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(sessions
            .get(&(session.to_owned(), namespace.to_owned()))
            .and_then(|namespace| namespace.values.get(key))
            .cloned())
    }

    fn compare_and_swap(
        &self,
        session: &str,
        namespace: &str,
        key: &str,
        value: Vec<u8>,
        expected: u64,
    ) -> Result<u64, StateError> {
        StateError::check_sizes(key, &value)?;
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let space = sessions
            .entry((session.to_owned(), namespace.to_owned()))
            .or_default();
        let (version, old_bytes) = space
            .values
            .get(key)
            .map_or((0, 0), |old| (old.version, key.len() + old.value.len()));
        if version != expected {
            return Err(StateError::Conflict);
        }
        let bytes = space.bytes - old_bytes + key.len() + value.len();
        if bytes > QUOTA_BYTES {
            return Err(StateError::Quota(QUOTA_BYTES as u64));
        }
        space.bytes = bytes;
        let version = version + 1;
        space
            .values
            .insert(key.to_owned(), Versioned { value, version });
        Ok(version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_swapped_only_on_the_expected_version() {
        let state = MemoryState::default();
        assert_eq!(state.get("s", "a", "k"), Ok(None));
        assert_eq!(
            state.compare_and_swap("s", "a", "k", b"1".to_vec(), 0),
            Ok(1)
        );
        assert_eq!(
            state.compare_and_swap("s", "a", "k", b"2".to_vec(), 0),
            Err(StateError::Conflict)
        );
        assert_eq!(
            state.compare_and_swap("s", "a", "k", b"2".to_vec(), 1),
            Ok(2)
        );
        assert_eq!(
            state.get("s", "a", "k"),
            Ok(Some(Versioned {
                value: b"2".to_vec(),
                version: 2
            }))
        );
    }

    #[test]
    fn namespaces_and_sessions_do_not_see_each_other() {
        let state = MemoryState::default();
        assert_eq!(
            state.compare_and_swap("s", "a", "k", b"1".to_vec(), 0),
            Ok(1)
        );
        assert_eq!(state.get("s", "b", "k"), Ok(None));
        assert_eq!(state.get("t", "a", "k"), Ok(None));
    }

    #[test]
    fn sizes_and_the_quota_hold_and_replacing_frees_what_was_there() {
        let state = MemoryState::default();
        let large = vec![0; MAX_VALUE_BYTES + 1];
        assert_eq!(
            state.compare_and_swap("s", "a", "k", large, 0),
            Err(StateError::TooLarge(MAX_VALUE_BYTES as u64))
        );
        let full = QUOTA_BYTES / MAX_VALUE_BYTES;
        let value = vec![0; MAX_VALUE_BYTES - 8];
        for index in 0..full {
            let key = format!("{index:08}");
            assert_eq!(
                state.compare_and_swap("s", "a", &key, value.clone(), 0),
                Ok(1)
            );
        }
        assert_eq!(
            state.compare_and_swap("s", "a", "one more", value.clone(), 0),
            Err(StateError::Quota(QUOTA_BYTES as u64))
        );
        assert_eq!(
            state.compare_and_swap("s", "a", "00000000", Vec::new(), 1),
            Ok(2)
        );
        assert_eq!(
            state.compare_and_swap("s", "a", "00000001", value, 1),
            Ok(2)
        );
    }
}
