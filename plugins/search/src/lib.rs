//! The component of glob and grep: arguments and documentation for the model.
//!
//! What is searched is in `walk`, patterns in `pattern`, the two answers in `glob` and `grep`. It
//! must never open anything but regular files, and never follow a link.

mod deadline;
mod glob;
mod grep;
mod pattern;
mod walk;

use hotcell_sdk::{Answer, Call, Capability, Deserialize, JsonSchema, ReadPath, Tool, ToolError};
use std::fs::{self, FileType};
use std::path::PathBuf;

/// Finds files by name. Use it when you know a part of a file's name, and to see how a project is
/// laid out. To search inside files, use grep.
///
/// In a pattern `*` and `?` match within one name, `**` any number of directories, `{a,b}` either,
/// `[a-z]` one character. A pattern without `/` matches names at any depth: `*.rs`, or `*` for every
/// file. One with `/` starts at `path`: `src/**/*.rs`, or `./*` for the files directly in it. One
/// that ends with `/` finds directories: `src/*/`.
///
/// Hidden files are found too, but not `.git`, and not what `.gitignore` and `.ignore` files leave
/// out; to see that, give the directory itself as `path`. Links are not followed.
///
/// Answers with at most 500 paths relative to the workspace, one a line, and how many there are.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Glob {
    /// The pattern, such as `*.toml` or `src/**/*.{js,ts}`.
    pattern: String,
    /// Directory to search below. Without it, the whole workspace.
    #[serde(default)]
    path: Option<ReadPath>,
    /// Order of the answer: by `path`, or the last `modified` first. Without it, by path.
    #[serde(default)]
    sort: glob::Sort,
}

impl Tool for Glob {
    const NAME: &'static str = "glob";
    const REQUIRES: &'static [Capability] = &[Capability::WorkspaceRead];

    fn run(self, call: &Call<'_>) -> Result<Answer, ToolError> {
        let base = Base::find(call, self.path.as_ref())?;
        if !base.kind.is_dir() {
            return Err(ToolError::invalid_arguments(format!(
                "`{}` is a file; `path` must be a directory",
                base.shown
            )));
        }
        glob::find(call, &base, &self.pattern, self.sort).map(Answer::from)
    }
}

/// Searches the contents of files for a regular expression, line by line. Use it to find where
/// something is defined, used or said, before you read whole files. To find files by name, use glob.
///
/// The syntax is that of Rust and ripgrep: `fn \w+\(`, `TODO|FIXME`, `^use `, `\bid\b`. There is no
/// look-around and no back-reference, and a match is within one line. Escape `( ) [ ] { } . * + ? |
/// ^ $ \` with a backslash to search for them as they are.
///
/// Hidden files are searched too, but not `.git`, binary files, and what `.gitignore` and `.ignore`
/// files leave out; to search that, give the file or directory itself as `path`. Links are not
/// followed.
///
/// Answers with lines `path:line: text`, in order of path, and with counts. With `context`, the
/// lines around a match are `path-line- text`. Long lines are cut around the match.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Grep {
    /// The regular expression.
    pattern: String,
    /// File or directory to search. Without it, the whole workspace.
    #[serde(default)]
    path: Option<ReadPath>,
    /// Only files that match this glob, such as `*.rs` or `src/**/*.{js,ts}`; with `!` in front,
    /// only files that do not. As in the glob tool, a pattern with `/` starts at `path`.
    #[serde(default)]
    glob: Option<String>,
    /// Whether upper and lower case are the same.
    #[serde(default)]
    ignore_case: bool,
    /// How many lines to show before and after each match.
    #[serde(default)]
    #[schemars(range(max = 20))]
    context: u32,
    /// How many matching lines to show at most.
    #[serde(default = "grep::default_limit")]
    #[schemars(range(min = 1, max = 1000))]
    limit: u32,
}

impl Tool for Grep {
    const NAME: &'static str = "grep";
    const REQUIRES: &'static [Capability] = &[Capability::WorkspaceRead];

    fn run(self, call: &Call<'_>) -> Result<Answer, ToolError> {
        let base = Base::find(call, self.path.as_ref())?;
        let query = grep::Query {
            pattern: &self.pattern,
            glob: self.glob.as_deref(),
            ignore_case: self.ignore_case,
            context: self.context,
            limit: self.limit,
        };
        grep::search(call, &base, &query).map(Answer::from)
    }
}

/// Where a search starts.
struct Base {
    path: PathBuf,
    /// As the model reads it.
    shown: String,
    kind: FileType,
}

impl Base {
    fn find(call: &Call<'_>, path: Option<&ReadPath>) -> Result<Self, ToolError> {
        let given = path.map_or(".", ReadPath::as_str);
        let path = call.resolve(given)?;
        let kind = fs::symlink_metadata(&path)
            .map_err(|error| ToolError::io(given, &error))?
            .file_type();
        let shown = call.display(&path);
        if kind.is_symlink() {
            return Err(ToolError::invalid_arguments(format!(
                "`{shown}` is a link, and a search does not follow links; give what it points to{}",
                fs::read_link(&path)
                    .map(|target| format!(" (`{}`)", target.display()))
                    .unwrap_or_default()
            )));
        }
        if !kind.is_dir() && !kind.is_file() {
            return Err(ToolError::invalid_arguments(format!(
                "`{shown}` is neither a directory nor a regular file"
            )));
        }
        Ok(Base { path, shown, kind })
    }
}

hotcell_sdk::export!(Glob, Grep);

#[cfg(test)]
mod tests;
