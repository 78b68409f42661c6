//! Compiled code on disk.
//!
//! Owns a directory that only its owner can read, and the rule that nothing is loaded from it
//! which this user's hotcell did not write whole: compiled code runs natively, so a forged entry
//! would be an escape. It must never take compiled code from anywhere else, and never fail a call:
//! what cannot be read is compiled again.

use super::SandboxError;
use crate::protocol::{Digest, ToolDefinition};
use sha2::{Digest as _, Sha256};
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// Begins every entry; changes when the layout of entries does.
const MAGIC: &[u8; 16] = b"hotcell-cwasm-1\n";
const CHECKSUM_BYTES: usize = 32;
/// Larger entries are not read: no component compiles to as much.
const MAX_ENTRY_BYTES: u64 = 1 << 30;

/// The cache of one engine, or nothing where no directory is given.
pub struct CodeCache {
    directory: Option<PathBuf>,
}

impl CodeCache {
    /// Opens the cache of engines with this compatibility hash, making its directory if needed.
    ///
    /// # Errors
    /// When the directory cannot be made, belongs to another user, or others can write to it.
    pub fn open(root: Option<PathBuf>, compatibility: u64) -> Result<Self, SandboxError> {
        let Some(root) = root else {
            return Ok(CodeCache { directory: None });
        };
        let directory = root.join(format!(
            "code-{}-{compatibility:016x}",
            env!("CARGO_PKG_VERSION")
        ));
        for path in [&root, &directory] {
            private_directory(path).map_err(|reason| SandboxError::Cache {
                path: path.clone(),
                reason,
            })?;
        }
        Ok(CodeCache {
            directory: Some(directory),
        })
    }

    /// The compiled code of a component, if a whole and unharmed entry is there. A damaged one is
    /// removed.
    pub fn code(&self, digest: &Digest) -> Option<Vec<u8>> {
        let path = self.entry(digest, "cwasm")?;
        match read_checked(&path) {
            Ok(code) => code,
            Err(reason) => {
                tracing::warn!(entry = %path.display(), %reason, "removing a damaged cache entry");
                let _ = fs::remove_file(&path);
                None
            }
        }
    }

    /// Keeps the compiled code of a component. A failure is logged: the next start compiles again.
    pub fn keep_code(&self, digest: &Digest, code: &[u8]) {
        if let Some(path) = self.entry(digest, "cwasm") {
            keep(&path, code);
        }
    }

    /// Forgets the entry of a component, because the engine refused it.
    pub fn remove_code(&self, digest: &Digest) {
        if let Some(path) = self.entry(digest, "cwasm") {
            let _ = fs::remove_file(path);
        }
    }

    /// What a component described itself as, if it is kept.
    pub fn definitions(&self, digest: &Digest) -> Option<Vec<ToolDefinition>> {
        let path = self.entry(digest, "json")?;
        let bytes = read_checked(&path).ok().flatten()?;
        serde_json::from_slice(&bytes).ok()
    }

    /// Keeps what a component described itself as.
    pub fn keep_definitions(&self, digest: &Digest, definitions: &[ToolDefinition]) {
        if let (Some(path), Ok(bytes)) =
            (self.entry(digest, "json"), serde_json::to_vec(definitions))
        {
            keep(&path, &bytes);
        }
    }

    fn entry(&self, digest: &Digest, extension: &str) -> Option<PathBuf> {
        Some(
            self.directory
                .as_ref()?
                .join(format!("{digest}.{extension}")),
        )
    }
}

fn keep(path: &Path, payload: &[u8]) {
    if let Err(error) = write_checked(path, payload) {
        tracing::warn!(entry = %path.display(), %error, "cannot keep a cache entry");
    }
}

/// Writes beside the entry and renames, so that another process never reads half of it.
fn write_checked(path: &Path, payload: &[u8]) -> std::io::Result<()> {
    let directory = path.parent().unwrap_or_else(|| Path::new("."));
    let mut file = tempfile::Builder::new()
        .prefix(".writing-")
        .tempfile_in(directory)?;
    file.write_all(MAGIC)?;
    file.write_all(&seal(path, payload))?;
    file.write_all(payload)?;
    file.as_file().sync_data()?;
    file.persist(path)?;
    Ok(())
}

/// The checksum of an entry. The name is part of it, so that the whole entry of one component is
/// no entry of another.
fn seal(path: &Path, payload: &[u8]) -> [u8; CHECKSUM_BYTES] {
    let name = path.file_name().unwrap_or_default();
    let mut sealed = Sha256::new();
    sealed.update(name.as_encoded_bytes());
    sealed.update(payload);
    sealed.finalize().into()
}

/// The payload of an entry; `None` when there is no entry.
fn read_checked(path: &Path) -> Result<Option<Vec<u8>>, String> {
    let mut file = match open_own_file(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    let mut header = [0; MAGIC.len() + CHECKSUM_BYTES];
    file.read_exact(&mut header)
        .map_err(|_| "shorter than its header".to_owned())?;
    let (magic, checksum) = header.split_at(MAGIC.len());
    if magic != MAGIC {
        return Err("not an entry of this version".to_owned());
    }
    let mut payload = Vec::new();
    file.take(MAX_ENTRY_BYTES)
        .read_to_end(&mut payload)
        .map_err(|error| error.to_string())?;
    if seal(path, &payload).as_slice() != checksum {
        return Err("its checksum does not match".to_owned());
    }
    Ok(Some(payload))
}

/// Makes a directory that only its owner can use, or checks that it is one.
#[cfg(unix)]
fn private_directory(path: &Path) -> Result<(), String> {
    use std::os::unix::fs::{DirBuilderExt, MetadataExt};
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .map_err(|error| error.to_string())?;
    let metadata = fs::symlink_metadata(path).map_err(|error| error.to_string())?;
    if !metadata.is_dir() {
        return Err("it is not a directory".to_owned());
    }
    let owner = own_user(path)?;
    if metadata.uid() != owner {
        return Err(format!(
            "it belongs to user {}, not to {owner}",
            metadata.uid()
        ));
    }
    if metadata.mode() & 0o077 != 0 {
        return Err(format!(
            "its mode is {:o}, and must be 700",
            metadata.mode() & 0o777
        ));
    }
    Ok(())
}

/// The user that files made here belong to: the owner of a file just made, which needs no call
/// outside the standard library and is right under user namespaces too.
#[cfg(unix)]
fn own_user(directory: &Path) -> Result<u32, String> {
    use std::os::unix::fs::MetadataExt;
    let probe = tempfile::tempfile_in(directory).map_err(|error| error.to_string())?;
    Ok(probe.metadata().map_err(|error| error.to_string())?.uid())
}

#[cfg(not(unix))]
fn private_directory(path: &Path) -> Result<(), String> {
    // Profile directories are private to their user on Windows.
    fs::create_dir_all(path).map_err(|error| error.to_string())
}

/// Opens an entry only if it is a regular file, never through a link.
fn open_own_file(path: &Path) -> std::io::Result<File> {
    let metadata = fs::symlink_metadata(path)?;
    if !metadata.is_file() {
        return Err(std::io::Error::other("not a regular file"));
    }
    File::open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache() -> (tempfile::TempDir, CodeCache, Digest) {
        let root = tempfile::tempdir().unwrap();
        let cache = CodeCache::open(Some(root.path().join("cache")), 7).unwrap();
        (root, cache, Digest("ab12".repeat(16)))
    }

    #[test]
    fn what_was_kept_is_read_back() {
        let (_root, cache, digest) = cache();
        assert_eq!(cache.code(&digest), None);
        cache.keep_code(&digest, b"code");
        assert_eq!(cache.code(&digest), Some(b"code".to_vec()));
        cache.remove_code(&digest);
        assert_eq!(cache.code(&digest), None);
    }

    #[test]
    fn a_damaged_or_foreign_entry_is_thrown_away() {
        let (_root, cache, digest) = cache();
        cache.keep_code(&digest, b"some code");
        let path = cache.entry(&digest, "cwasm").unwrap();
        let whole = fs::read(&path).unwrap();
        let mut flipped = whole.clone();
        *flipped.last_mut().unwrap() ^= 1;
        let damages: [&[u8]; 5] = [
            b"",
            b"\x7fELF foreign",
            &whole[..20],
            &whole[..whole.len() - 1],
            &flipped,
        ];
        for damaged in damages {
            fs::write(&path, damaged).unwrap();
            assert_eq!(cache.code(&digest), None, "{damaged:?}");
            assert!(!path.exists(), "{damaged:?} was kept");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_directory_open_to_others_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("cache");
        fs::create_dir(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        let refused = CodeCache::open(Some(path.clone()), 7)
            .err()
            .map(|error| error.to_string());
        assert!(refused.is_some_and(|text| text.contains("its mode is 755")));
    }

    #[cfg(unix)]
    #[test]
    fn an_entry_that_is_a_link_is_not_followed() {
        let (root, cache, digest) = cache();
        cache.keep_code(&digest, b"code");
        let path = cache.entry(&digest, "cwasm").unwrap();
        let elsewhere = root.path().join("elsewhere");
        fs::rename(&path, &elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
        assert_eq!(cache.code(&digest), None);
    }
}
