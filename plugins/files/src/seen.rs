//! What the session has seen of a file.
//!
//! Owns the record that a file was read or written with a certain content, so that a later write
//! over something else is refused as stale. The record is a hash of the content and not a time: a
//! change within the same second counts, and a touch without a change does not. It must never
//! know what is done with the answer.
//!
//! Every read hashes the whole file, so the hash has to be a fast one: SipHash costs a fifteenth
//! of SHA-256 in a component. It holds because it is keyed. The key is drawn for each file and
//! never leaves the session state, so nobody who writes files can aim at a collision.

use hotcell_sdk::{Call, Capability, StateError, ToolError, Versioned};
use siphasher::sip128::{Hasher128, SipHasher13};
use std::hash::{BuildHasher, Hasher, RandomState};

/// The keyed hash of a whole file, with its key. Two of one content are equal only under one key:
/// see [`Record::fingerprinting`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint {
    key: [u8; 16],
    hash: [u8; 16],
}

impl Fingerprint {
    /// As it is stored. A value of another length is from a program this one does not know: it
    /// proves nothing.
    fn from_stored(value: &[u8]) -> Option<Self> {
        let (key, hash) = value.split_first_chunk()?;
        Some(Fingerprint {
            key: *key,
            hash: hash.try_into().ok()?,
        })
    }

    fn to_stored(self) -> [u8; 32] {
        let mut value = [0; 32];
        value[..16].copy_from_slice(&self.key);
        value[16..].copy_from_slice(&self.hash);
        value
    }
}

/// Takes a file in pieces.
#[derive(Debug, Clone)]
pub struct Fingerprinting(SipHasher13);

impl Fingerprinting {
    /// Takes the next piece.
    pub fn push(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }

    /// The file has ended.
    pub fn finish(self) -> Fingerprint {
        Fingerprint {
            key: self.0.key(),
            hash: u128::from(self.0.finish128()).to_le_bytes(),
        }
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

/// What the session knew of one file when the call looked.
#[derive(Debug)]
pub struct Record {
    name: String,
    /// None: the call was not given session state.
    found: Option<Result<Found, StateError>>,
    key: [u8; 16],
}

/// What is stored, and its version.
#[derive(Debug, Clone, Copy)]
struct Found {
    print: Option<Fingerprint>,
    version: u64,
}

impl Found {
    fn look(call: &Call<'_>, name: &str) -> Result<Found, StateError> {
        Ok(match call.state_get(name)? {
            Some(Versioned { value, version }) => Found {
                print: Fingerprint::from_stored(&value),
                version,
            },
            None => Found {
                print: None,
                version: 0,
            },
        })
    }
}

impl Record {
    /// The record of the file at a workspace path. Look before the file is opened: its content is
    /// hashed under the key of the record.
    pub fn of(call: &Call<'_>, shown: &str) -> Record {
        let name = format!("seen:{shown}");
        let found = call
            .granted(Capability::SessionState)
            .then(|| Found::look(call, &name));
        let key = match found {
            Some(Ok(Found {
                print: Some(print), ..
            })) => print.key,
            _ => fresh_key(),
        };
        Record { name, found, key }
    }

    /// What the session knows of the file.
    ///
    /// # Errors
    /// The session state does not answer.
    pub fn seen(&self) -> Result<Seen, ToolError> {
        match &self.found {
            None => Ok(Seen::Unknown),
            Some(Ok(found)) => Ok(found.print.map_or(Seen::Never, Seen::As)),
            Some(Err(error)) => Err(error.clone().into()),
        }
    }

    /// Begins the fingerprint of a content that can be compared with what is recorded.
    pub fn fingerprinting(&self) -> Fingerprinting {
        Fingerprinting(SipHasher13::new_with_key(&self.key))
    }

    /// The fingerprint of a content in memory.
    pub fn fingerprint(&self, content: &[u8]) -> Fingerprint {
        let mut print = self.fingerprinting();
        print.push(content);
        print.finish()
    }

    /// Records that the session has seen the file with this content. When that is not possible the
    /// call goes on, and the answer carries the note that comes back.
    pub fn remember(self, call: &Call<'_>, print: Fingerprint) -> Option<String> {
        self.found?
            .and_then(|found| store(call, &self.name, found, print))
            .err()
            .map(|error| note(&error))
    }
}

fn store(
    call: &Call<'_>,
    name: &str,
    mut found: Found,
    print: Fingerprint,
) -> Result<(), StateError> {
    // Reads of one file may run side by side. Who loses the race looks again: usually the winner
    // has stored the very same content.
    let mut tries = 0;
    while found.print != Some(print) {
        match call.state_swap(name, &print.to_stored(), found.version) {
            Ok(_) => break,
            Err(StateError::Conflict) if tries < 8 => tries += 1,
            Err(error) => return Err(error),
        }
        found = Found::look(call, name)?;
    }
    Ok(())
}

/// A key that nobody outside the session can know: the seed of the hash maps of the standard
/// library, which the host draws for each call.
fn fresh_key() -> [u8; 16] {
    let seed = RandomState::new();
    let mut key = [0; 16];
    key[..8].copy_from_slice(&seed.hash_one(0).to_le_bytes());
    key[8..].copy_from_slice(&seed.hash_one(1).to_le_bytes());
    key
}

fn note(error: &StateError) -> String {
    format!(
        "[this read or write could not be recorded, so write_file will refuse to replace the file: {error}]"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(key: [u8; 16]) -> Record {
        Record {
            name: String::new(),
            found: None,
            key,
        }
    }

    #[test]
    fn pieces_and_the_whole_have_one_fingerprint() {
        let record = record(fresh_key());
        let mut pieces = record.fingerprinting();
        pieces.push(b"ab");
        pieces.push(b"");
        pieces.push(b"c");
        assert_eq!(pieces.finish(), record.fingerprint(b"abc"));
        assert_ne!(record.fingerprint(b"abc"), record.fingerprint(b"abd"));
        assert_ne!(record.fingerprint(b""), record.fingerprint(b"\0"));
    }

    #[test]
    fn every_file_has_a_key_of_its_own() {
        let (one, other) = (record(fresh_key()), record(fresh_key()));
        assert_ne!(one.fingerprint(b"abc").hash, other.fingerprint(b"abc").hash);
    }

    #[test]
    fn what_is_stored_reads_back_and_nothing_else_does() {
        let print = record([7; 16]).fingerprint(b"abc");
        let stored = print.to_stored();
        assert_eq!(Fingerprint::from_stored(&stored), Some(print));
        for other in [&stored[..31], &[], &[stored, stored].concat()] {
            assert_eq!(Fingerprint::from_stored(other), None);
        }
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
