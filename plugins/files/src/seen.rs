//! What the session has seen of a file.
//!
//! Owns the record that a file was read or written with a certain content, so that a later write
//! over something else is refused as stale. The record is a hash of the content and not a time: a
//! change within the same second counts, and a touch without a change does not. It must never
//! know what is done with the answer.

use hotcell_sdk::{Call, Capability, StateError, ToolError};
use sha2::{Digest as _, Sha256};

/// The SHA-256 of a whole file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint([u8; 32]);

/// Takes a file in pieces.
#[derive(Debug, Clone, Default)]
pub struct Fingerprinting(Sha256);

impl Fingerprinting {
    /// Takes the next piece.
    pub fn push(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The file has ended.
    pub fn finish(self) -> Fingerprint {
        Fingerprint(self.0.finalize().into())
    }
}

impl Fingerprint {
    /// That of a file in memory.
    pub fn of(bytes: &[u8]) -> Self {
        Fingerprint(Sha256::digest(bytes).into())
    }
}

/// What the session knows of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    /// Nothing can be known: the call was not given session state.
    Unknown,
    /// It was not read or written in this session.
    Never,
    /// It was, and had this content then.
    As(Fingerprint),
}

fn key(shown: &str) -> String {
    format!("seen:{shown}")
}

/// What the session knows of the file at a workspace path.
///
/// # Errors
/// The session state does not answer.
pub fn recall(call: &Call<'_>, shown: &str) -> Result<Seen, ToolError> {
    if !call.granted(Capability::SessionState) {
        return Ok(Seen::Unknown);
    }
    let stored = call.state_get(&key(shown))?;
    // A record of another length is from a program this one does not know: it proves nothing.
    Ok(stored
        .and_then(|stored| <[u8; 32]>::try_from(stored.value).ok())
        .map_or(Seen::Never, |hash| Seen::As(Fingerprint(hash))))
}

/// Records that the session has seen the file with this content. When that is not possible the
/// call goes on, and the answer carries the note that comes back.
pub fn remember(call: &Call<'_>, shown: &str, print: Fingerprint) -> Option<String> {
    if !call.granted(Capability::SessionState) {
        return None;
    }
    store(call, &key(shown), print)
        .err()
        .map(|error| note(&error))
}

fn store(call: &Call<'_>, key: &str, print: Fingerprint) -> Result<(), StateError> {
    // Reads of one file may run side by side. Who loses the race looks again: usually the winner
    // has stored the very same hash.
    let mut tries = 0;
    loop {
        let stored = call.state_get(key)?;
        let version = match stored {
            Some(stored) if stored.value == print.0 => return Ok(()),
            Some(stored) => stored.version,
            None => 0,
        };
        match call.state_swap(key, &print.0, version) {
            Ok(_) => return Ok(()),
            Err(StateError::Conflict) if tries < 8 => tries += 1,
            Err(error) => return Err(error),
        }
    }
}

fn note(error: &StateError) -> String {
    format!(
        "[this read or write could not be recorded, so write_file will refuse to replace the file: {error}]"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_and_the_whole_have_one_fingerprint() {
        let mut pieces = Fingerprinting::default();
        pieces.push(b"ab");
        pieces.push(b"");
        pieces.push(b"c");
        assert_eq!(pieces.finish(), Fingerprint::of(b"abc"));
        assert_ne!(Fingerprint::of(b"abc"), Fingerprint::of(b"abd"));
    }

    #[test]
    fn a_full_session_state_is_named_in_the_note() {
        let note = note(&StateError::Quota(4_096));
        assert!(
            note.contains("4096") && note.contains("write_file"),
            "{note}"
        );
    }
}
