//! `diff`, of files and of directories. It must never know which file system they are in.

mod lines;
mod options;
mod show;

use super::date::{at, format, zone};
use super::reason;
use bashkit::{
    Builtin, BuiltinContext, ExecResult, FileSystem, Metadata, Result, async_trait, normalize_path,
};
use lines::split;
use options::{Options, matches, parse};
use show::{Form, Texts};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// `diff` with the options of GNU. bashkit's compares two files, in two forms.
pub struct Diff;

/// Statuses: nothing differs, something does, something could not be compared.
const SAME: i32 = 0;
const DIFFER: i32 = 1;
const TROUBLE: i32 = 2;

#[async_trait]
impl Builtin for Diff {
    async fn execute(&self, ctx: BuiltinContext<'_>) -> Result<ExecResult> {
        let (options, operands) = match parse(ctx.args) {
            Ok(parsed) => parsed,
            Err(message) => return Ok(ExecResult::err(format!("diff: {message}\n"), TROUBLE)),
        };
        let stdin = ctx.stdin.map(|input| input.as_bytes().to_vec());
        let mut work = Work {
            fs: ctx.fs.as_ref(),
            cwd: ctx.cwd,
            stdin: stdin.unwrap_or_default(),
            options,
            zone: zone(ctx.env.get("TZ").map(String::as_str)),
            out: Vec::new(),
            err: String::new(),
            status: SAME,
        };
        work.operands(&operands).await;
        Ok(ExecResult {
            exit_code: work.status,
            stdout: work.out.into(),
            stderr: work.err.into(),
            ..ExecResult::default()
        })
    }
}

/// One side of a comparison.
struct Side {
    name: String,
    /// None for the standard input and for a file that is not there.
    metadata: Option<Metadata>,
}

impl Side {
    fn is_directory(&self) -> bool {
        self.metadata
            .as_ref()
            .is_some_and(|metadata| metadata.file_type.is_dir())
    }

    fn is_absent(&self) -> bool {
        self.metadata.is_none() && self.name != "-"
    }
}

/// What is left to be done in a comparison of directories.
enum Step {
    /// Two sides, and whether the user named them.
    Compare([Side; 2], bool),
    /// A line to say, of what is in one directory only.
    Only(String),
}

struct Work<'a> {
    fs: &'a dyn FileSystem,
    cwd: &'a Path,
    stdin: Vec<u8>,
    options: Options,
    zone: jiff::tz::TimeZone,
    out: Vec<u8>,
    err: String,
    status: i32,
}

impl Work<'_> {
    fn path(&self, name: &str) -> PathBuf {
        normalize_path(&self.cwd.join(name))
    }

    fn say(&mut self, line: &str) {
        self.out.extend(line.bytes());
        self.out.push(b'\n');
    }

    fn differ(&mut self) {
        self.status = self.status.max(DIFFER);
    }

    fn trouble(&mut self, name: &str, why: &str) {
        self.err.push_str(&format!("diff: {name}: {why}\n"));
        self.status = TROUBLE;
    }

    async fn side(&self, name: &str) -> Side {
        let metadata = if name == "-" {
            None
        } else {
            self.fs.stat(&self.path(name)).await.ok()
        };
        Side {
            name: name.to_owned(),
            metadata,
        }
    }

    async fn operands(&mut self, operands: &[String; 2]) {
        let [left, right] = operands;
        let mut sides = [self.side(left).await, self.side(right).await];
        // One file and a directory: the file of that name in there.
        for (one, other) in [(0, 1), (1, 0)] {
            if sides[one].is_directory() && !sides[other].is_directory() {
                let name = sides[other].name.rsplit('/').next().unwrap_or_default();
                let name = format!("{}/{name}", sides[one].name.trim_end_matches('/'));
                sides[one] = self.side(&name).await;
            }
        }
        let absent = sides.iter().filter(|side| side.is_absent()).count();
        if absent == 2 || (absent == 1 && !self.options.new_file) {
            for side in &sides {
                if side.is_absent() {
                    self.trouble(&side.name, "No such file or directory");
                }
            }
            return;
        }
        self.pair(sides, true).await;
    }

    /// Compares two that are there, or one with nothing. Not recursive itself: a deep tree would
    /// end the component by its stack.
    async fn pair(&mut self, sides: [Side; 2], named: bool) {
        let mut left = vec![Step::Compare(sides, named)];
        while let Some(step) = left.pop() {
            let (sides, named) = match step {
                Step::Only(line) => {
                    self.say(&line);
                    self.differ();
                    continue;
                }
                Step::Compare(sides, named) => (sides, named),
            };
            let [old, new] = &sides;
            match (old.is_directory(), new.is_directory()) {
                (false, false) => self.files(&sides, named).await,
                (true, true) if !named && !self.options.recursive => {
                    let line = format!("Common subdirectories: {} and {}", old.name, new.name);
                    self.say(&line);
                }
                // One that is not there counts as empty.
                (true, is) | (is, true) if is || old.is_absent() || new.is_absent() => {
                    let mut steps = self.directories([&old.name, &new.name]).await;
                    steps.reverse();
                    left.append(&mut steps);
                }
                (old_is, _) => {
                    let kind = |is: bool| if is { "directory" } else { "regular file" };
                    let line = format!(
                        "File {} is a {} while file {} is a {}",
                        old.name,
                        kind(old_is),
                        new.name,
                        kind(!old_is)
                    );
                    self.say(&line);
                    self.differ();
                }
            }
        }
    }

    /// What is to be done for the entries of two directories, in the order of their names.
    async fn directories(&mut self, names: [&str; 2]) -> Vec<Step> {
        let mut entries = [BTreeSet::new(), BTreeSet::new()];
        for (name, entries) in names.iter().zip(&mut entries) {
            match self.fs.read_dir(&self.path(name)).await {
                Ok(found) => entries.extend(found.into_iter().map(|entry| entry.name)),
                Err(_) if self.options.new_file => {}
                Err(error) => self.trouble(name, &reason(&error)),
            }
        }
        let mut steps = Vec::new();
        for entry in &entries[0] | &entries[1] {
            if self.options.exclude.iter().any(|p| matches(p, &entry)) {
                continue;
            }
            let below = |name: &str| format!("{}/{entry}", name.trim_end_matches('/'));
            let sides = [
                self.side(&below(names[0])).await,
                self.side(&below(names[1])).await,
            ];
            let is_in = [&entries[0], &entries[1]].map(|entries| entries.contains(&entry));
            // Without -r, a directory that is only in one of them is not looked into.
            let is_compared = self.options.new_file
                && (self.options.recursive || !sides.iter().any(Side::is_directory));
            steps.push(if is_in == [true, true] || is_compared {
                Step::Compare(sides, false)
            } else {
                let name = names[usize::from(!is_in[0])];
                Step::Only(format!("Only in {name}: {entry}"))
            });
        }
        steps
    }

    async fn files(&mut self, sides: &[Side; 2], named: bool) {
        let mut texts = Vec::new();
        for side in sides {
            let text = if side.name == "-" {
                Ok(self.stdin.clone())
            } else if side.is_absent() {
                Ok(Vec::new())
            } else {
                self.fs.read_file(&self.path(&side.name)).await
            };
            match text {
                Ok(text) => texts.push(text),
                Err(error) => return self.trouble(&side.name, &reason(&error)),
            }
        }
        let [old, new] = [&texts[0], &texts[1]];
        let names = [&sides[0].name, &sides[1].name];
        let changes = if old == new {
            Vec::new()
        } else if !self.options.text && (is_binary(old) || is_binary(new)) {
            let kind = if self.options.brief {
                "Files"
            } else {
                "Binary files"
            };
            self.say(&format!("{kind} {} and {} differ", names[0], names[1]));
            return self.differ();
        } else {
            self.options.sameness.changes(&split(old), &split(new))
        };
        if changes.is_empty() && self.options.identical {
            self.say(&format!(
                "Files {} and {} are identical",
                names[0], names[1]
            ));
        }
        if !changes.is_empty() {
            self.differ();
            if self.options.brief {
                return self.say(&format!("Files {} and {} differ", names[0], names[1]));
            }
            if !named {
                let words: String = self
                    .options
                    .written
                    .iter()
                    .map(|w| format!(" {w}"))
                    .collect();
                self.say(&format!("diff{words} {} {}", names[0], names[1]));
            }
        } else if !matches!(self.options.form, Form::SideBySide(_)) {
            return;
        }
        let heads = [0, 1].map(|side| self.head(side, &sides[side]));
        let texts = Texts {
            lines: [&split(old), &split(new)],
            changes: &changes,
            heads,
            functions: self.options.functions,
            only_changes: self.options.only_changes,
        };
        texts.write(self.options.form, &mut self.out);
    }

    /// What a header says of a file: its label, or its name and time.
    fn head(&self, side: usize, file: &Side) -> String {
        if let Some(label) = self.options.labels.get(side) {
            return label.clone();
        }
        let time = match &file.metadata {
            Some(metadata) => metadata.modified,
            None if file.name == "-" => SystemTime::now(),
            None => SystemTime::UNIX_EPOCH,
        };
        let time = at(time, &self.zone).map(|time| format("%F %T.%N %z", &time));
        format!("{}\t{}", file.name, time.unwrap_or_default())
    }
}

/// As GNU decides it: a zero byte at the beginning.
fn is_binary(text: &[u8]) -> bool {
    text[..text.len().min(8 << 10)].contains(&0)
}
