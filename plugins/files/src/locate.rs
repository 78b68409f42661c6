//! From the path that a model writes to a file that may be opened.
//!
//! Owns following links, telling files from everything else before anything is opened (opening a
//! FIFO would wait for a writer that never comes), and messages that name the link that leads
//! astray or the name that was probably meant. The sandbox is the boundary and refuses whatever
//! leaves the workspace; this only says why in words. It must never know what a tool does with
//! the file.

use hotcell_sdk::{Call, ToolError};
use std::ffi::{OsStr, OsString};
use std::fs::{self, Metadata};
use std::io;
use std::path::{Component, Path, PathBuf};

/// Links followed for one path; as many as Linux follows.
const MAX_LINKS: usize = 40;
/// Directory entries looked at for a similar name: a read of more takes long in the sandbox.
const MAX_ENTRIES: usize = 2_000;
/// Names offered for one that is not there.
const MAX_SIMILAR: usize = 3;
/// How alike a name must be to be offered, from 0 to 1.
const SIMILAR: f64 = 0.6;

/// Where a path leads.
#[derive(Debug)]
pub struct Place {
    /// What to open: no part of it is a link.
    pub path: PathBuf,
    /// The same, as the model names it.
    pub shown: String,
    /// What is there.
    pub found: Found,
}

/// What is at a place.
#[derive(Debug)]
pub enum Found {
    /// Nothing.
    Nothing,
    /// A regular file.
    File(Metadata),
}

impl Place {
    /// The metadata of the file.
    ///
    /// # Errors
    /// Not found, with up to three similar names.
    pub fn file(&self, call: &Call<'_>) -> Result<&Metadata, ToolError> {
        match &self.found {
            Found::File(metadata) => Ok(metadata),
            Found::Nothing => Err(missing(call, &self.path, &self.shown)),
        }
    }
}

/// Follows `given` to what it names.
///
/// # Errors
/// Denied for a link that leaves the workspace; invalid arguments for a directory, a path with a
/// slash at its end, or one that goes on below a file; failed for what is no regular file.
pub fn locate(call: &Call<'_>, given: &str) -> Result<Place, ToolError> {
    let start = call.resolve(given)?;
    let (path, end) = Trail::new(call, given, &start)?.walk()?;
    let shown = call.display(&path);
    let found = match end {
        End::Nothing => Found::Nothing,
        End::Entry(metadata) if metadata.is_file() => Found::File(metadata),
        End::Directory => return Err(is_directory(&shown)),
        End::Entry(metadata) if metadata.is_dir() => return Err(is_directory(&shown)),
        End::Entry(_) => {
            return Err(ToolError::failed(format!(
                "`{shown}` is not a regular file but a FIFO, a socket or a device, and is not opened"
            )));
        }
    };
    if given.ends_with('/') || given.ends_with("/.") {
        return Err(ToolError::invalid_arguments(format!(
            "`{given}` names a directory; leave out the slash at the end to name a file"
        )));
    }
    Ok(Place { path, shown, found })
}

/// What a walk has come to.
enum End {
    Nothing,
    /// The workspace itself, or a directory reached by a `..` of a link.
    Directory,
    Entry(Metadata),
}

/// The walk along a path.
struct Trail<'call> {
    call: &'call Call<'call>,
    given: &'call str,
    /// What was walked so far, below the workspace and free of links.
    done: Vec<OsString>,
    /// What is still to walk, the next name last.
    rest: Vec<OsString>,
    links: usize,
    /// The last link that was followed, and where it leads: for messages.
    link: String,
    target: PathBuf,
}

impl<'call> Trail<'call> {
    fn new(call: &'call Call<'_>, given: &'call str, start: &Path) -> Result<Self, ToolError> {
        let below = start
            .strip_prefix(call.workspace())
            .map_err(|_| ToolError::denied(format!("`{given}` is outside the workspace")))?;
        let mut rest: Vec<OsString> = below.iter().map(OsStr::to_owned).collect();
        rest.reverse();
        Ok(Trail {
            call,
            given,
            done: Vec::new(),
            rest,
            links: 0,
            link: String::new(),
            target: PathBuf::new(),
        })
    }

    fn at(&self) -> PathBuf {
        let mut path = self.call.workspace().to_owned();
        path.extend(&self.done);
        path
    }

    fn walk(mut self) -> Result<(PathBuf, End), ToolError> {
        while let Some(name) = self.rest.pop() {
            if name == ".." {
                // Only the target of a link can say this: `resolve` has removed it elsewhere.
                if self.done.pop().is_none() {
                    return Err(self.leaves());
                }
                continue;
            }
            self.done.push(name);
            let path = self.at();
            match fs::symlink_metadata(&path) {
                Ok(metadata) if metadata.is_symlink() => self.follow(&path)?,
                Ok(metadata) if self.rest.is_empty() => return Ok((path, End::Entry(metadata))),
                Ok(metadata) if metadata.is_dir() => {}
                Ok(_) => {
                    return Err(ToolError::invalid_arguments(format!(
                        "`{}`: `{}` is a file, not a directory",
                        self.given,
                        self.call.display(&path)
                    )));
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => return self.nothing(),
                Err(error) => return Err(ToolError::io(self.given, &error)),
            }
        }
        Ok((self.at(), End::Directory))
    }

    /// Replaces the link that was just walked by what it points to.
    fn follow(&mut self, path: &Path) -> Result<(), ToolError> {
        self.link = self.call.display(path);
        self.target = PathBuf::new();
        self.links += 1;
        if self.links > MAX_LINKS {
            return Err(ToolError::failed(format!(
                "`{}`: more than {MAX_LINKS} links, which probably form a circle at `{}`",
                self.given, self.link
            )));
        }
        self.target = match fs::read_link(path) {
            Ok(target) => target,
            // The sandbox hides the target of a link that leaves it.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                return Err(self.leaves());
            }
            Err(error) => return Err(ToolError::io(self.given, &error)),
        };
        if self.target.has_root() {
            return Err(self.leaves());
        }
        self.done.pop();
        let names = self.target.components().rev();
        self.rest
            .extend(names.filter_map(|component| match component {
                Component::Normal(name) => Some(name.to_owned()),
                Component::ParentDir => Some("..".into()),
                _ => None,
            }));
        Ok(())
    }

    fn leaves(&self) -> ToolError {
        let target = if self.target.as_os_str().is_empty() {
            String::new()
        } else {
            format!(" to `{}`", self.target.display())
        };
        ToolError::denied(format!(
            "`{}` leaves the workspace: `{}` is a link{target}; only relative links that stay in \
             the workspace are followed",
            self.given, self.link
        ))
    }

    /// There is nothing where the walk has come to: the rest of the names is taken as it is.
    fn nothing(mut self) -> Result<(PathBuf, End), ToolError> {
        if self.rest.iter().any(|name| name == "..") {
            return Err(ToolError::not_found(format!(
                "`{}`: the link `{}` leads through `{}`, which does not exist",
                self.given,
                self.link,
                self.call.display(&self.at())
            )));
        }
        self.done
            .extend(std::mem::take(&mut self.rest).into_iter().rev());
        Ok((self.at(), End::Nothing))
    }
}

fn is_directory(shown: &str) -> ToolError {
    ToolError::invalid_arguments(format!(
        "`{shown}` is a directory; list it with glob (`{}*`) or `ls`",
        if shown == "." {
            String::new()
        } else {
            format!("{shown}/")
        }
    ))
}

/// The error for a file that is not there: names the first part of the path that is missing and
/// what is there instead.
fn missing(call: &Call<'_>, path: &Path, shown: &str) -> ToolError {
    let mut absent = path;
    while let Some(parent) = absent.parent() {
        if parent == call.workspace() || parent.is_dir() {
            break;
        }
        absent = parent;
    }
    let mut message = format!("`{shown}` does not exist");
    if absent != path {
        let directory = call.display(absent);
        message.push_str(&format!(": there is no directory `{directory}`"));
    }
    let similar = similar(absent);
    if similar.is_empty() {
        message.push_str("; glob finds files by name");
    } else {
        let names: Vec<String> = similar
            .iter()
            .map(|path| format!("`{}`", call.display(path)))
            .collect();
        message.push_str(&format!("; similar: {}", names.join(", ")));
    }
    ToolError::not_found(message)
}

/// Up to three neighbours of `path` whose names are like its own, the most alike first.
fn similar(path: &Path) -> Vec<PathBuf> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Vec::new();
    };
    let Ok(entries) = fs::read_dir(parent) else {
        return Vec::new();
    };
    let wanted = name.to_string_lossy().to_lowercase();
    let mut found: Vec<(f64, OsString)> = entries
        .take(MAX_ENTRIES)
        .filter_map(Result::ok)
        .map(|entry| {
            let name = entry.file_name();
            let other = name.to_string_lossy().to_lowercase();
            (likeness(&wanted, &other), name)
        })
        .filter(|(score, _)| *score >= SIMILAR)
        .collect();
    found.sort_by(|left, right| right.0.total_cmp(&left.0).then(left.1.cmp(&right.1)));
    found.truncate(MAX_SIMILAR);
    found
        .into_iter()
        .map(|(_, name)| parent.join(name))
        .collect()
}

/// From 0 to 1. A name with another extension, or with more behind it, is alike however short.
fn likeness(wanted: &str, other: &str) -> f64 {
    let stem = |name: &str| match name.rsplit_once('.') {
        Some((stem, _)) if !stem.is_empty() => stem.to_owned(),
        _ => name.to_owned(),
    };
    let edits = strsim::normalized_damerau_levenshtein(wanted, other);
    if stem(wanted) == stem(other) {
        edits.max(0.9)
    } else {
        edits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_were_probably_meant_come_first() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        for name in [
            "main.rs",
            "Main.py",
            "man.rs",
            "maintain.md",
            "zebra",
            "mian.rs.bak",
        ] {
            fs::write(directory.path().join(name), "").expect("a file");
        }
        let cases: &[(&str, &[&str])] = &[
            ("mian.rs", &["main.rs", "mian.rs.bak", "man.rs"]),
            ("main.txt", &["main.rs", "Main.py"]),
            ("qqq", &[]),
        ];
        for (wanted, expected) in cases {
            let found: Vec<String> = similar(&directory.path().join(wanted))
                .iter()
                .filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned()))
                .take(expected.len().max(1))
                .collect();
            let found: Vec<&str> = found.iter().map(String::as_str).collect();
            if expected.is_empty() {
                assert!(found.is_empty(), "{wanted}: {found:?}");
            } else {
                for name in *expected {
                    assert!(found.contains(name), "{wanted}: {found:?}");
                }
            }
        }
    }
}
