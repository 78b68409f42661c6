//! Putting content on the disk so that a file is always whole.
//!
//! Owns the order of steps. A new file is written beside its place and then linked in, so that it
//! appears complete or not at all. A file that exists has two things to keep: its content must
//! be whole at every moment, and its mode must survive, which a component can neither read nor
//! set. A plain rename of a new file over the old one would make every script lose its execute
//! bit; writing in place would leave half a file when the call is ended in the middle. So the
//! old file itself is kept aside under a second name, the new content takes its place, the old
//! file is filled with the same content, and then goes back to its place with mode, owner and
//! attributes. Whoever looks at the path at any time finds the old content or the new one, whole.
//!
//! What is left over when a call is ended in the middle: a hidden `.hotcell-*.tmp` beside the file,
//! and, between the last two steps only, the new content with the default mode.
//!
//! It must never know text or the session.

use hotcell_sdk::ToolError;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Temporary names tried before giving up on a directory full of left-overs.
const MAX_NAMES: u32 = 100;

/// How a file was replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replaced {
    /// With its mode, owner and attributes.
    WithMode,
    /// The file system has no hard links (or the disk got full): the mode is the default now.
    ModeLost,
}

/// Why a file was not saved. It is unchanged then.
#[derive(Debug)]
pub enum SaveError {
    /// A file has come into its place meanwhile.
    Appeared,
    /// It has this many names; the others would change with it.
    HardLinked(u64),
    /// Input or output failed.
    Io(io::Error),
}

/// The note for [`Replaced::ModeLost`].
pub const MODE_LOST: &str = "[the file system could not keep the file's mode: an execute bit, if it had one, has to be set again]";

impl SaveError {
    /// The failure in words for the model.
    pub fn explain(&self, shown: &str) -> ToolError {
        match self {
            SaveError::Appeared => ToolError::conflict(format!(
                "`{shown}` was made by somebody else meanwhile; read it first"
            )),
            SaveError::HardLinked(names) => ToolError::denied(format!(
                "`{shown}` has {names} names (hard links), and the others would change with it, also \
                 outside the workspace; make it a file of its own first: `cp {shown} {shown}.new && \
                 mv {shown}.new {shown}`"
            )),
            SaveError::Io(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                ToolError::denied(format!(
                    "`{shown}` cannot be written: it is read-only, or the sandbox protects it"
                ))
            }
            SaveError::Io(error) => ToolError::io(shown, error),
        }
    }
}

impl From<io::Error> for SaveError {
    fn from(error: io::Error) -> Self {
        SaveError::Io(error)
    }
}

/// Makes a file that is not there yet. `tag` goes into temporary names, to tell calls apart.
///
/// # Errors
/// [`SaveError::Appeared`] when there is a file after all, and input or output.
pub fn create(path: &Path, content: &[u8], tag: &str) -> Result<(), SaveError> {
    let temporary = Temporary::with(path, content, tag)?;
    match fs::hard_link(&temporary.path, path) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            return Err(SaveError::Appeared);
        }
        // No hard links here. A rename is as whole; only the look for a file in its place and
        // the taking of it are two steps.
        Err(_) if fs::symlink_metadata(path).is_ok() => return Err(SaveError::Appeared),
        Err(_) => temporary.rename_to(path)?,
    }
    sync_directory(path);
    Ok(())
}

/// Replaces the content of a regular file. `path` must not be a link.
///
/// # Errors
/// [`SaveError::HardLinked`], and input or output: a file that its mode makes read-only is refused
/// here and not replaced by way of its directory.
pub fn replace(path: &Path, content: &[u8], tag: &str) -> Result<Replaced, SaveError> {
    let mut original = OpenOptions::new().write(true).open(path)?;
    let names = count_names(&original)?;
    if names > 1 {
        return Err(SaveError::HardLinked(names));
    }
    let fresh = Temporary::with(path, content, tag)?;
    let Ok(aside) = Temporary::second_name(path, tag) else {
        fresh.rename_to(path)?;
        sync_directory(path);
        return Ok(Replaced::ModeLost);
    };
    fresh.rename_to(path)?;
    // From here on the path has the new content, whatever happens.
    let back = fill(&mut original, content).and_then(|()| aside.rename_to(path));
    sync_directory(path);
    Ok(match back {
        Ok(()) => Replaced::WithMode,
        Err(_) => Replaced::ModeLost,
    })
}

fn fill(file: &mut File, content: &[u8]) -> io::Result<()> {
    file.set_len(0)?;
    file.write_all(content)?;
    file.sync_all()
}

/// A name beside a file that goes away again, unless it was renamed.
struct Temporary {
    path: PathBuf,
    renamed: bool,
}

impl Temporary {
    /// A new file with the content, on the disk.
    fn with(beside: &Path, content: &[u8], tag: &str) -> io::Result<Self> {
        let (temporary, mut file) = Temporary::named(beside, tag, |path| {
            OpenOptions::new().write(true).create_new(true).open(path)
        })?;
        file.write_all(content)?;
        file.sync_all()?;
        Ok(temporary)
    }

    /// A second name for the file itself.
    fn second_name(of: &Path, tag: &str) -> io::Result<Self> {
        let (temporary, ()) = Temporary::named(of, tag, |path| fs::hard_link(of, path))?;
        Ok(temporary)
    }

    fn named<T>(
        beside: &Path,
        tag: &str,
        mut make: impl FnMut(&Path) -> io::Result<T>,
    ) -> io::Result<(Self, T)> {
        let tag: String = tag
            .chars()
            .filter(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
            .take(40)
            .collect();
        for number in 0..MAX_NAMES {
            let path = beside.with_file_name(format!(".hotcell-{tag}-{number}.tmp"));
            match make(&path) {
                Ok(made) => {
                    let renamed = false;
                    return Ok((Temporary { path, renamed }, made));
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::other(format!(
            "{MAX_NAMES} temporary files `.hotcell-{tag}-*.tmp` are left over in the directory"
        )))
    }

    fn rename_to(mut self, path: &Path) -> io::Result<()> {
        fs::rename(&self.path, path)?;
        self.renamed = true;
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.renamed {
            // Best effort: the call has an answer or an error already.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Makes the names durable as well. Not every system can; the content is on the disk already.
fn sync_directory(of: &Path) {
    if let Some(directory) = of.parent() {
        let _ = File::open(directory).and_then(|directory| directory.sync_all());
    }
}

/// How many names a file has.
#[cfg(unix)]
fn count_names(file: &File) -> io::Result<u64> {
    use std::os::unix::fs::MetadataExt;
    Ok(file.metadata()?.nlink())
}

/// How many names a file has.
#[cfg(target_os = "wasi")]
fn count_names(file: &File) -> io::Result<u64> {
    use std::os::fd::AsRawFd;
    // std knows the count, but only shows it on nightly.
    let mut stat = std::mem::MaybeUninit::<libc::stat>::uninit();
    // SAFETY: the descriptor is open as long as `file` lives, and `stat` has room for the answer.
    if unsafe { libc::fstat(file.as_raw_fd(), stat.as_mut_ptr()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: fstat answered 0, so it has filled the structure.
    Ok(unsafe { stat.assume_init() }.st_nlink)
}

#[cfg(not(any(unix, target_os = "wasi")))]
fn count_names(_: &File) -> io::Result<u64> {
    Ok(1)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn names(directory: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(directory)
            .expect("a directory")
            .map(|entry| {
                entry
                    .expect("an entry")
                    .file_name()
                    .to_string_lossy()
                    .into_owned()
            })
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_replaced_file_keeps_its_mode_and_is_the_same_file() {
        use std::os::unix::fs::MetadataExt;
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("run.sh");
        fs::write(&path, "old and longer").expect("a file");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o751)).expect("a mode");
        let before = fs::metadata(&path).expect("metadata");
        let replaced = replace(&path, b"new", "call").expect("it is replaced");
        let after = fs::metadata(&path).expect("metadata");
        assert_eq!(replaced, Replaced::WithMode);
        assert_eq!(fs::read(&path).expect("content"), b"new");
        assert_eq!(after.permissions().mode() & 0o7777, 0o751);
        assert_eq!(after.ino(), before.ino());
        assert_eq!(names(directory.path()), ["run.sh"]);
    }

    #[test]
    fn a_new_file_never_takes_the_place_of_another() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("a");
        create(&path, b"one", "call").expect("it is made");
        let again = create(&path, b"two", "call");
        assert!(matches!(again, Err(SaveError::Appeared)), "{again:?}");
        assert_eq!(fs::read(&path).expect("content"), b"one");
        assert_eq!(names(directory.path()), ["a"]);
    }

    #[test]
    fn a_file_with_a_second_name_is_left_alone() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let elsewhere = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("a");
        fs::write(elsewhere.path().join("precious"), "old").expect("a file");
        fs::hard_link(elsewhere.path().join("precious"), &path).expect("a second name");
        let refused = replace(&path, b"new", "call");
        assert!(
            matches!(refused, Err(SaveError::HardLinked(2))),
            "{refused:?}"
        );
        assert_eq!(fs::read(&path).expect("content"), b"old");
        assert_eq!(names(directory.path()), ["a"]);
    }

    #[test]
    fn left_overs_of_an_ended_call_are_neither_used_nor_removed() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let left = directory.path().join(".hotcell-ab-0.tmp");
        fs::write(&left, "left over").expect("a file");
        let path = directory.path().join("a");
        fs::write(&path, "old").expect("a file");
        replace(&path, b"new", "a/b").expect("it is replaced");
        assert_eq!(fs::read(&left).expect("content"), b"left over");
        assert_eq!(names(directory.path()), [".hotcell-ab-0.tmp", "a"]);
    }

    #[test]
    fn nothing_is_left_behind_when_the_file_cannot_be_replaced() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("a");
        fs::create_dir(&path).expect("a directory in its place");
        assert!(replace(&path, b"new", "call").is_err());
        assert!(create(&path, b"new", "call").is_err());
        assert_eq!(names(directory.path()), ["a"]);
    }
}
