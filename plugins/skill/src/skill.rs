//! One installed skill on disk: a directory with a SKILL.md and files that belong to it.
//!
//! Owns which names are a skill and which paths are inside it. Links are not followed and nothing
//! but regular files is opened, so a skill cannot show another's files, nor hang a call on a pipe.

use hotcell_sdk::ToolError;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Component, Path, PathBuf};

/// The file with the instructions.
pub const MAIN_FILE: &str = "SKILL.md";

/// Bytes of a file that are loaded. Far more than a skill should have; what is longer is cut.
const MAX_BYTES: u64 = 256 * 1024;
/// Files that the listing of a skill names.
const MAX_LISTED: usize = 50;
/// Entries of directories that are looked at for the listing.
const MAX_SEEN: usize = 2_000;
/// Directories inside each other that the listing goes down.
const MAX_DEPTH: usize = 8;
/// Skills that an error names.
const MAX_NAMED: usize = 30;
/// Characters of a name, which the Agent Skills format allows.
const MAX_NAME: usize = 64;

/// A skill that is there.
#[derive(Debug)]
pub struct Skill<'name> {
    name: &'name str,
    directory: PathBuf,
}

/// A file of a skill.
#[derive(Debug, PartialEq, Eq)]
pub struct Text {
    /// The text, cut to what is loaded.
    pub text: String,
    /// Size of the whole file, without a byte order mark.
    pub bytes: u64,
}

/// The files of a skill besides its instructions.
#[derive(Debug, PartialEq, Eq)]
pub struct Listing {
    /// Paths relative to the skill, sorted.
    pub files: Vec<String>,
    /// Whether there are more.
    pub more: bool,
}

impl<'name> Skill<'name> {
    /// Finds the skill `name` below `root`.
    pub fn open(root: &Path, name: &'name str) -> Result<Self, ToolError> {
        if let Some(fault) = name_fault(name) {
            let shown: String = name.chars().take(MAX_NAME).collect();
            return Err(ToolError::invalid_arguments(format!(
                "`{}` is not the name of a skill: {fault}",
                shown.escape_debug()
            )));
        }
        let directory = root.join(name);
        match fs::symlink_metadata(&directory) {
            Ok(found) if found.is_dir() => Ok(Skill { name, directory }),
            Ok(found) if found.is_symlink() => Err(ToolError::denied(format!(
                "skill `{name}` is a link, and links are not followed; install the skill itself"
            ))),
            Ok(_) => Err(not_installed(root, name)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(not_installed(root, name)),
            Err(error) => Err(ToolError::io(name, &error)),
        }
    }

    /// The name, which is also the directory's.
    pub fn name(&self) -> &'name str {
        self.name
    }

    /// Loads the file at `path`, relative to the skill's directory.
    pub fn file(&self, path: &str) -> Result<Text, ToolError> {
        let shown = path.escape_debug();
        let mut file = self.directory.clone();
        let mut any = false;
        for component in Path::new(path).components() {
            match component {
                Component::Normal(part) if !path.contains(['\\', '\0']) => file.push(part),
                Component::CurDir => continue,
                _ => {
                    return Err(ToolError::denied(format!(
                        "`{shown}` is not inside the skill `{}`; give a path relative to its \
                         directory, without `..`",
                        self.name
                    )));
                }
            }
            any = true;
            let found = fs::symlink_metadata(&file).map_err(|error| self.missing(path, &error))?;
            if found.is_symlink() {
                return Err(ToolError::denied(format!(
                    "`{shown}` goes through a link, and links inside a skill are not followed"
                )));
            }
        }
        if !any {
            return Err(ToolError::invalid_arguments(
                "`path` is empty; leave it out to load the instructions",
            ));
        }
        let found = fs::symlink_metadata(&file).map_err(|error| self.missing(path, &error))?;
        if found.is_dir() {
            return Err(ToolError::invalid_arguments(format!(
                "`{shown}` is a directory; {}",
                self.known_files()
            )));
        }
        if !found.is_file() {
            return Err(ToolError::invalid_arguments(format!(
                "`{shown}` is not a regular file"
            )));
        }
        load(&file, found.len()).map_err(|fault| match fault {
            LoadFault::Io(error) => ToolError::io(path, &error),
            LoadFault::Binary => ToolError::invalid_arguments(format!(
                "`{shown}` is not text ({} bytes); only text files of a skill can be loaded",
                found.len()
            )),
        })
    }

    /// What else is in the skill's directory.
    pub fn listing(&self) -> Listing {
        let mut listing = Listing {
            files: Vec::new(),
            more: false,
        };
        let mut seen = 0;
        // A file that cannot be listed cannot be loaded either, and the error then says why.
        let _ = list(&self.directory, "", 0, &mut seen, &mut listing);
        listing.files.retain(|file| file != MAIN_FILE);
        listing.files.sort();
        listing
    }

    fn missing(&self, path: &str, error: &io::Error) -> ToolError {
        if error.kind() != io::ErrorKind::NotFound {
            return ToolError::io(path, error);
        }
        if path == MAIN_FILE {
            return ToolError::not_found(format!(
                "skill `{}` has no {MAIN_FILE}: it is not a skill",
                self.name
            ));
        }
        ToolError::not_found(format!(
            "skill `{}` has no file `{}`; {}",
            self.name,
            path.escape_debug(),
            self.known_files()
        ))
    }

    fn known_files(&self) -> String {
        let listing = self.listing();
        if listing.files.is_empty() {
            return format!("it has none but {MAIN_FILE}");
        }
        let more = if listing.more { " and more" } else { "" };
        format!("its files are {}{more}", listing.files.join(", "))
    }
}

/// What keeps `name` from being the name of a skill as the Agent Skills format has it, and one safe
/// path component on every system, if anything does. The prompt lists skills by the same rule.
fn name_fault(name: &str) -> Option<&'static str> {
    if name.is_empty() {
        Some("it is empty")
    } else if name.chars().count() > MAX_NAME {
        Some("it has more than 64 characters")
    } else if !name
        .bytes()
        .all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'))
    {
        Some("it may hold a to z, 0 to 9 and `-` only")
    } else if is_device(name) {
        Some("it is the name of a device on Windows")
    } else {
        None
    }
}

/// A checkout on Windows would open the device instead of the directory.
fn is_device(name: &str) -> bool {
    let numbered = |rest: &str| matches!(rest.as_bytes(), [b'1'..=b'9']);
    matches!(name, "con" | "prn" | "aux" | "nul")
        || name.strip_prefix("com").is_some_and(numbered)
        || name.strip_prefix("lpt").is_some_and(numbered)
}

fn not_installed(root: &Path, name: &str) -> ToolError {
    let mut names: Vec<String> = fs::read_dir(root)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name_fault(name).is_none())
        .collect();
    if names.is_empty() {
        return ToolError::not_found(format!(
            "there is no skill `{name}`; no skills are installed"
        ));
    }
    names.sort();
    let more = names.len().saturating_sub(MAX_NAMED);
    names.truncate(MAX_NAMED);
    let rest = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    ToolError::not_found(format!(
        "there is no skill `{name}`; installed are {}{rest}",
        names.join(", ")
    ))
}

enum LoadFault {
    Io(io::Error),
    Binary,
}

fn load(file: &Path, size: u64) -> Result<Text, LoadFault> {
    let mut bytes = Vec::new();
    File::open(file)
        .and_then(|file| file.take(MAX_BYTES).read_to_end(&mut bytes))
        .map_err(LoadFault::Io)?;
    let whole = size <= bytes.len() as u64;
    let (text, mark) = match bytes.strip_prefix(b"\xef\xbb\xbf") {
        Some(rest) => (rest, 3),
        None => (bytes.as_slice(), 0),
    };
    let text = match std::str::from_utf8(text) {
        Ok(text) => text,
        // The cut may have split the last character, which is then at most three bytes.
        Err(error) if !whole && text.len() - error.valid_up_to() < 4 => {
            std::str::from_utf8(&text[..error.valid_up_to()]).map_err(|_| LoadFault::Binary)?
        }
        Err(_) => return Err(LoadFault::Binary),
    };
    if text.contains('\0') {
        return Err(LoadFault::Binary);
    }
    // Whole lines, unless there is only one.
    let text = match text.rfind('\n') {
        Some(end) if !whole => &text[..=end],
        _ => text,
    };
    Ok(Text {
        text: text.to_owned(),
        bytes: size.saturating_sub(mark).max(text.len() as u64),
    })
}

fn list(
    directory: &Path,
    prefix: &str,
    depth: usize,
    seen: &mut usize,
    listing: &mut Listing,
) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        *seen += 1;
        if *seen > MAX_SEEN || listing.files.len() > MAX_LISTED {
            listing.files.truncate(MAX_LISTED);
            listing.more = true;
            return Ok(());
        }
        let Ok(name) = entry.file_name().into_string() else {
            continue;
        };
        let kind = entry.file_type()?;
        let path = format!("{prefix}{name}");
        if kind.is_file() {
            listing.files.push(path);
        } else if kind.is_dir() && name != ".git" {
            if depth < MAX_DEPTH {
                list(&entry.path(), &format!("{path}/"), depth + 1, seen, listing)?;
            } else {
                listing.more = true;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_one_safe_path_component() {
        for name in [
            "pdf",
            "a",
            "code-review",
            "go-1",
            "console",
            "com0",
            "lpt10",
        ] {
            assert_eq!(name_fault(name), None, "{name}");
        }
        let long = "x".repeat(300);
        for name in [
            "",
            ".",
            "..",
            "...",
            "a/b",
            "/",
            "/etc",
            "a\\b",
            "a\0",
            "a b",
            "ä",
            ".hidden",
            "a.",
            "con",
            "PDF",
            "nul.txt",
            "com1",
            "lpt9",
            "a_b",
            "a\n",
            "\u{202e}a",
            &long,
        ] {
            assert!(name_fault(name).is_some(), "{name:?}");
        }
    }

    #[test]
    fn a_long_file_is_cut_at_a_line_and_keeps_its_characters_whole() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let file = directory.path().join("long.md");
        let lines = "ä line\n".repeat(60_000);
        // One byte in front moves a two-byte character over the cut.
        for text in [
            lines.clone(),
            format!("x{lines}"),
            "ä".repeat(200_000),
            format!("x{}", "ä".repeat(200_000)),
        ] {
            fs::write(&file, &text).expect("writable");
            let Ok(loaded) = load(&file, text.len() as u64) else {
                panic!("not loaded");
            };
            assert!(text.starts_with(&loaded.text));
            assert!(loaded.text.len() as u64 > MAX_BYTES - 16);
            assert_eq!(loaded.bytes, text.len() as u64);
            assert_eq!(loaded.text.ends_with('\n'), text.contains('\n'));
        }
    }

    #[test]
    fn a_long_listing_is_cut() {
        let root = tempfile::tempdir().expect("a temporary directory");
        let directory = root.path().join("many");
        fs::create_dir(&directory).expect("writable");
        for n in 0..80 {
            fs::write(directory.join(format!("{n:02}.md")), "x").expect("writable");
        }
        let skill = Skill::open(root.path(), "many").expect("a skill");
        let listing = skill.listing();
        assert!(listing.more);
        assert_eq!(listing.files.len(), MAX_LISTED);
    }
}
