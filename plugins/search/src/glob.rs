//! glob: the paths that match a pattern.

use crate::Base;
use crate::deadline::Deadline;
use crate::pattern::Pattern;
use crate::walk::{Kind, Walk};
use hotcell_sdk::{Call, Deserialize, JsonSchema, ToolError};
use std::cmp::Reverse;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Paths in an answer: some 20 KB of text.
pub const LIMIT: usize = 500;

// No docs on the variants: with them the schema is a list of alternatives instead of two words. The
// field's doc says what they are.
/// Order of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Sort {
    #[default]
    Path,
    Modified,
}

/// Runs the tool and renders its answer.
pub fn find(call: &Call<'_>, base: &Base, text: &str, sort: Sort) -> Result<String, ToolError> {
    let pattern = Pattern::new(text)
        .map_err(|fault| ToolError::invalid_arguments(format!("`pattern` `{text}`: {fault}")))?;
    let wanted = if pattern.directories() {
        Kind::Directory
    } else {
        Kind::File
    };

    let mut walk = Walk::new(call.workspace(), &base.path, Deadline::of(call));
    let mut found = Selection::new(sort);
    let mut looked_at = 0_u64;
    for (path, kind) in &mut walk {
        looked_at += 1;
        let relative = path.strip_prefix(&base.path).unwrap_or(&path);
        if kind == wanted && pattern.matches(relative) {
            found.add(path);
        }
    }

    let (paths, total) = found.finish();
    let noun = match (wanted, total) {
        (Kind::File, 1) => "file",
        (Kind::File, _) => "files",
        (Kind::Directory, 1) => "directory",
        (Kind::Directory, _) => "directories",
    };
    let mut out = String::new();
    for path in &paths {
        let _ = write!(out, "{}", call.display(path));
        out.push_str(if wanted == Kind::Directory {
            "/\n"
        } else {
            "\n"
        });
    }
    if !out.is_empty() {
        out.push('\n');
    }
    if total == 0 {
        let _ = write!(
            out,
            "no {noun} match `{text}` below `{}` ({looked_at} entries looked at)",
            base.shown
        );
    } else if total > paths.len() {
        let _ = write!(
            out,
            "the first {} of {total} {noun}; narrow `pattern` or `path` to see the others",
            paths.len()
        );
    } else {
        let _ = write!(out, "{total} {noun}");
    }
    notes(&mut out, &walk);
    Ok(out)
}

/// What the walk could not do, said under either tool's answer.
pub fn notes(out: &mut String, walk: &Walk<'_>) {
    if walk.stopped() {
        out.push_str(
            "\nthe time of the call was up before everything was searched: the answer is \
             incomplete; narrow `path`",
        );
    }
    if walk.unreadable() > 0 {
        let _ = write!(
            out,
            "\ndirectories that could not be read: {}",
            walk.unreadable()
        );
    }
    if walk.rules_skipped() > 0 {
        let _ = write!(
            out,
            "\nfiles of ignore rules that were not applied (too large or not readable): {}",
            walk.rules_skipped()
        );
    }
}

/// The best matches by the order, in memory that does not grow with how many there are.
struct Selection {
    sort: Sort,
    paths: Vec<(SystemTime, PathBuf)>,
    total: usize,
}

impl Selection {
    const fn new(sort: Sort) -> Self {
        Selection {
            sort,
            paths: Vec::new(),
            total: 0,
        }
    }

    /// Takes the next match in order of path.
    fn add(&mut self, path: PathBuf) {
        self.total += 1;
        match self.sort {
            Sort::Path if self.paths.len() < LIMIT => {
                self.paths.push((SystemTime::UNIX_EPOCH, path));
            }
            Sort::Path => {}
            Sort::Modified => {
                self.paths.push((modified(&path), path));
                if self.paths.len() > LIMIT * 4 {
                    self.cut();
                }
            }
        }
    }

    fn cut(&mut self) {
        // Stable: among equals the order of path stays.
        self.paths.sort_by_key(|(time, _)| Reverse(*time));
        self.paths.truncate(LIMIT);
    }

    fn finish(mut self) -> (Vec<PathBuf>, usize) {
        self.cut();
        let paths = self.paths.into_iter().map(|(_, path)| path).collect();
        (paths, self.total)
    }
}

fn modified(path: &Path) -> SystemTime {
    fs::symlink_metadata(path)
        .and_then(|found| found.modified())
        .unwrap_or(SystemTime::UNIX_EPOCH)
}
