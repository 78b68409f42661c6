//! Contents by their digest.
//!
//! Owns the files of the store: each written apart and then put in its place whole, so that what
//! has the name of a digest has its content, and read with a check of it. Private to the user: an
//! earlier version of a file may hold what the file was changed for.

use crate::config::private_directory;
use crate::protocol::Digest;
use sha2::{Digest as _, Sha256};
use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// An object younger than this is never removed: its line may not be written yet.
pub(super) const GRACE: Duration = Duration::from_secs(60 * 60);

/// What has fewer bytes is read before anything is written: most of it is there already.
const SMALL: u64 = 256 << 10;

#[derive(Debug, Clone)]
pub(super) struct Objects {
    directory: PathBuf,
}

impl Objects {
    pub(super) const fn new(directory: PathBuf) -> Self {
        Objects { directory }
    }

    /// Keeps what `from` has, and answers its digest and its length.
    pub(super) fn keep(&self, from: &mut File) -> io::Result<(Digest, u64)> {
        let mut start = Vec::new();
        (&mut *from).take(SMALL).read_to_end(&mut start)?;
        if (start.len() as u64) < SMALL {
            let digest = Digest::of_bytes(&Sha256::digest(&start));
            if self.refresh(&digest)? {
                return Ok((digest, start.len() as u64));
            }
        }
        self.write(&mut start.as_slice().chain(from))
    }

    /// Whether there is content with this digest.
    pub(super) fn has(&self, digest: &Digest) -> bool {
        self.place(digest).is_file()
    }

    /// The digests of all contents.
    pub(super) fn digests(&self) -> io::Result<HashSet<Digest>> {
        let mut found = HashSet::new();
        self.each(|digest, _, _| {
            found.insert(digest);
        })?;
        Ok(found)
    }

    /// Makes what is there already young again, so that nobody removes it before its line is
    /// written. False where it is not there.
    fn refresh(&self, digest: &Digest) -> io::Result<bool> {
        match File::options().write(true).open(self.place(digest)) {
            Ok(file) => file.set_modified(SystemTime::now()).map(|()| true),
            Err(_) => Ok(false),
        }
    }

    fn write(&self, from: &mut impl Read) -> io::Result<(Digest, u64)> {
        private_directory(&self.directory)?;
        let mut temporary = tempfile::NamedTempFile::new_in(&self.directory)?;
        let (digest, size) = copy(from, temporary.as_file_mut())?;
        let place = self.place(&digest);
        if let Some(parent) = place.parent() {
            private_directory(parent)?;
        }
        if !self.refresh(&digest)? {
            temporary.persist(&place).map_err(|error| error.error)?;
        }
        Ok((digest, size))
    }

    /// The content with this digest.
    ///
    /// # Errors
    /// When it is not there or is not what its name says.
    pub(super) fn read(&self, digest: &Digest) -> io::Result<Vec<u8>> {
        let is_digest = digest.0.len() == 64 && digest.0.bytes().all(|b| b.is_ascii_hexdigit());
        let bytes = if is_digest {
            fs::read(self.place(digest))?
        } else {
            Vec::new()
        };
        if Digest::of_bytes(&Sha256::digest(&bytes)) == *digest {
            Ok(bytes)
        } else {
            Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!("the kept content {digest} is damaged"),
            ))
        }
    }

    /// The bytes of all objects.
    pub(super) fn size(&self) -> io::Result<u64> {
        let mut size = 0;
        self.each(|_, metadata, _| size += metadata.len())?;
        Ok(size)
    }

    /// Removes what is in no log any more.
    pub(super) fn sweep(&self, wanted: &HashSet<Digest>) -> io::Result<()> {
        let now = SystemTime::now();
        self.each(|digest, metadata, path| {
            let old = metadata
                .modified()
                .ok()
                .and_then(|modified| now.duration_since(modified).ok())
                .is_some_and(|age| age > GRACE);
            if old && !wanted.contains(&digest) {
                // Another process may have been first.
                let _ = fs::remove_file(path);
            }
        })
    }

    fn each(&self, mut see: impl FnMut(Digest, fs::Metadata, &Path)) -> io::Result<()> {
        for half in entries(&self.directory)? {
            if !half.is_dir() {
                continue;
            }
            for path in entries(&half)? {
                let name = |path: &Path| path.file_name().map(|n| n.to_string_lossy().into_owned());
                if let (Some(first), Some(rest), Ok(metadata)) =
                    (name(&half), name(&path), fs::symlink_metadata(&path))
                {
                    see(Digest(first + &rest), metadata, &path);
                }
            }
        }
        Ok(())
    }

    fn place(&self, digest: &Digest) -> PathBuf {
        let (first, rest) = digest.0.split_at_checked(2).unwrap_or(("", &digest.0));
        self.directory.join(first).join(rest)
    }
}

/// The digest and the length of what `from` has.
pub(super) fn digest(from: &mut File) -> io::Result<(Digest, u64)> {
    copy(from, &mut io::sink())
}

fn copy(from: &mut impl Read, to: &mut impl Write) -> io::Result<(Digest, u64)> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 64 << 10];
    let mut size = 0;
    loop {
        let read = match from.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        hasher.update(&buffer[..read]);
        to.write_all(&buffer[..read])?;
        size += read as u64;
    }
    Ok((Digest::of_bytes(&hasher.finalize()), size))
}

/// The paths in a directory; none where there is no directory.
pub(super) fn entries(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    entries.map(|entry| Ok(entry?.path())).collect()
}
