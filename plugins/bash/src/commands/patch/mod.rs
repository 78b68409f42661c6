//! `patch`, for unified diffs. It must never know which file system it works on.

mod apply;
mod options;
mod read;

use super::reason;
use apply::{Placed, apply};
use bashkit::{
    Builtin, BuiltinContext, ExecResult, FileSystem, Result, async_trait, normalize_path,
};
use options::{Options, parse};
use read::{FilePatch, Hunk, read};
use std::path::PathBuf;

/// `patch` with the options of GNU. bashkit's reads a diff from its input only, finds no file by
/// itself, and looks for a hunk at one place.
pub struct Patch;

/// Statuses: something did not fit, something went wrong.
const REJECTED: i32 = 1;
const TROUBLE: i32 = 2;

#[async_trait]
impl Builtin for Patch {
    async fn execute(&self, ctx: BuiltinContext<'_>) -> Result<ExecResult> {
        let options = match parse(ctx.args) {
            Ok(options) => options,
            Err(message) => return Ok(ExecResult::err(format!("patch: {message}\n"), TROUBLE)),
        };
        let trouble =
            |message: String| Ok(ExecResult::err(format!("patch: **** {message}\n"), TROUBLE));
        let directory = match &options.directory {
            Some(directory) => normalize_path(&ctx.cwd.join(directory)),
            None => ctx.cwd.clone(),
        };
        let diff = match options.input.as_deref() {
            None | Some("-") => ctx.stdin.map(|input| input.as_bytes().to_vec()),
            Some(file) => match ctx.fs.read_file(&directory.join(file)).await {
                Ok(diff) => Some(diff),
                Err(error) => {
                    let why = reason(&error);
                    return trouble(format!("Can't open patch file {file} : {why}"));
                }
            },
        };
        let files = match read(&diff.unwrap_or_default()) {
            Ok(files) => files,
            Err(line) => return trouble(format!("malformed patch at line {line}")),
        };
        if files.is_empty() {
            return trouble("Only garbage was found in the patch input.".to_owned());
        }
        let mut work = Work {
            fs: ctx.fs.as_ref(),
            directory,
            options,
            out: String::new(),
            err: String::new(),
            status: 0,
        };
        for file in &files {
            work.file(file).await;
        }
        Ok(ExecResult {
            exit_code: work.status,
            stdout: work.out.into(),
            stderr: work.err.into(),
            ..ExecResult::default()
        })
    }
}

/// `name` without its first directories: so many, or all of them.
fn strip(name: &str, count: Option<usize>) -> Option<String> {
    let Some(count) = count else {
        return name.rsplit('/').next().map(str::to_owned);
    };
    let mut rest = name;
    for _ in 0..count {
        rest = rest.split_once('/')?.1.trim_start_matches('/');
    }
    (!rest.is_empty()).then(|| rest.to_owned())
}

/// Whether a patch makes its file: it has no old lines.
fn creates(patch: &FilePatch, reverse: bool) -> bool {
    let old = usize::from(reverse);
    patch.hunks.len() == 1 && patch.hunks[0].side(old).is_empty() && patch.hunks[0].starts[old] == 0
}

struct Work<'a> {
    fs: &'a dyn FileSystem,
    directory: PathBuf,
    options: Options,
    out: String,
    err: String,
    status: i32,
}

/// A name as `patch` prints it.
fn quoted(name: &str) -> String {
    if name.contains([' ', '\'', '"', '$', '*', '?', '(', ')', '&', ';']) {
        format!("'{name}'")
    } else {
        name.to_owned()
    }
}

impl Work<'_> {
    fn path(&self, name: &str) -> PathBuf {
        normalize_path(&self.directory.join(name))
    }

    fn say(&mut self, line: &str) {
        self.out.push_str(line);
        self.out.push('\n');
    }

    fn fail(&mut self, status: i32) {
        self.status = self.status.max(status);
    }

    /// The file that is to be changed, if one can be told.
    async fn target(&mut self, patch: &FilePatch) -> Option<String> {
        if let Some(file) = &self.options.file {
            return Some(file.clone());
        }
        let mut names = patch.names.clone();
        if self.options.reverse {
            names.reverse();
        }
        let stripped = |name: &Option<String>| strip(name.as_deref()?, self.options.strip);
        let mut candidates: Vec<String> = names.iter().filter_map(stripped).collect();
        candidates.dedup();
        let is_outside =
            |name: &String| name.starts_with('/') || name.split('/').any(|part| part == "..");
        if let Some(name) = candidates.iter().find(|name| is_outside(name)) {
            self.out.push_str(&format!(
                "Ignoring potentially dangerous file name {name}\n"
            ));
            candidates.retain(|name| !is_outside(name));
        }
        let mut there = Vec::new();
        for name in &candidates {
            if self.fs.stat(&self.path(name)).await.is_ok() {
                there.push(name.clone());
            }
        }
        // The one with the fewest parts, then the shortest.
        there.sort_by_key(|name| (name.split('/').count(), name.len()));
        let creates = names[0].is_none() || creates(patch, self.options.reverse);
        match there.into_iter().next() {
            None if creates => stripped(&names[1]).filter(|name| !is_outside(name)),
            found => found,
        }
    }

    async fn file(&mut self, patch: &FilePatch) {
        let hunks: Vec<Hunk> = match self.options.reverse {
            true => patch.hunks.iter().map(Hunk::reversed).collect(),
            false => patch.hunks.clone(),
        };
        let Some(name) = self.target(patch).await else {
            return self.nowhere(patch, hunks.len());
        };
        let path = self.path(&name);
        let (text, was_there) = match self.fs.read_file(&path).await {
            Ok(text) => (text, true),
            Err(_) if self.fs.exists(&path).await.unwrap_or(false) => {
                self.err
                    .push_str(&format!("patch: **** Can't open file {name}\n"));
                return self.fail(TROUBLE);
            }
            Err(_) => (Vec::new(), false),
        };
        if !self.options.silent {
            let verb = if self.options.dry_run {
                "checking"
            } else {
                "patching"
            };
            self.say(&format!("{verb} file {}", quoted(&name)));
        }
        let Options { fuzz, blanks, .. } = self.options;
        let (mut new, mut placed) = apply(&text, &hunks, fuzz, blanks);
        let mut hunks = hunks;
        if placed[0].line.is_none() {
            let back: Vec<Hunk> = hunks.iter().map(Hunk::reversed).collect();
            let (old, undone) = apply(&text, &back, fuzz, blanks);
            let already = undone.iter().all(|placed| placed.line.is_some());
            if already && !self.options.force && !self.options.batch {
                return self.already(&name, &hunks).await;
            }
            if already && self.options.batch {
                self.say("Reversed (or previously applied) patch detected!  Assuming -R.");
                (new, placed, hunks) = (old, undone, back);
            }
        }
        self.report(&hunks, &placed);
        let failed: Vec<&Hunk> = hunks
            .iter()
            .zip(&placed)
            .filter(|(_, placed)| placed.line.is_none())
            .map(|(hunk, _)| hunk)
            .collect();
        let changed = failed.len() < hunks.len();
        let is_exact = placed
            .iter()
            .all(|p| p.line.is_some() && p.offset == 0 && p.fuzz == 0);
        if changed && !self.options.dry_run {
            let backs_up = self.options.backup || (!is_exact && !self.options.no_mismatch_backup);
            if was_there && backs_up && self.options.output.is_none() {
                let suffix = self.options.suffix.clone();
                self.write(&format!("{name}{suffix}"), &text).await;
            }
            let names = if self.options.reverse { [1, 0] } else { [0, 1] };
            let vanishes = patch.names[names[1]].is_none() || self.options.remove_empty;
            if new.is_empty() && vanishes && self.options.output.is_none() {
                if let Err(error) = self.fs.remove(&path, false).await {
                    self.err.push_str(&format!(
                        "patch: **** Can't remove file {name} : {}\n",
                        reason(&error)
                    ));
                    self.fail(TROUBLE);
                }
            } else {
                let to = self.options.output.clone().unwrap_or(name.clone());
                self.write(&to, &new).await;
            }
        }
        if !failed.is_empty() {
            self.reject(&name, &failed, hunks.len(), "FAILED").await;
        }
    }

    /// Says of hunks what GNU says.
    fn report(&mut self, hunks: &[Hunk], placed: &[Placed]) {
        for (number, (hunk, placed)) in hunks.iter().zip(placed).enumerate() {
            let number = number + 1;
            let Placed { line, offset, fuzz } = placed;
            let Some(line) = line else {
                let at = hunk.starts[0].max(1);
                self.say(&format!("Hunk #{number} FAILED at {at}."));
                continue;
            };
            if self.options.silent || (*offset == 0 && *fuzz == 0) {
                continue;
            }
            let mut text = format!("Hunk #{number} succeeded at {line}");
            if *fuzz > 0 {
                text.push_str(&format!(" with fuzz {fuzz}"));
            }
            if *offset != 0 {
                let lines = if offset.abs() == 1 { "line" } else { "lines" };
                text.push_str(&format!(" (offset {offset} {lines})"));
            }
            text.push('.');
            self.say(&text);
        }
    }

    /// A patch that was applied before. Nobody is there to answer the questions.
    async fn already(&mut self, name: &str, hunks: &[Hunk]) {
        if self.options.forward {
            self.say("Reversed (or previously applied) patch detected!  Skipping patch.");
        } else {
            self.say("Reversed (or previously applied) patch detected!  Assume -R? [n] ");
            self.say("Apply anyway? [n] ");
            self.say("Skipping patch.");
        }
        let all: Vec<&Hunk> = hunks.iter().collect();
        self.reject(name, &all, hunks.len(), "ignored").await;
    }

    /// No file fits.
    fn nowhere(&mut self, patch: &FilePatch, hunks: usize) {
        self.say(&format!(
            "can't find file to patch at input line {}",
            patch.line + 1
        ));
        self.say(if self.options.strip.is_some() {
            "Perhaps you used the wrong -p or --strip option?"
        } else {
            "Perhaps you should have used the -p or --strip option?"
        });
        self.say("The text leading up to this was:\n--------------------------");
        for line in &patch.head {
            self.say(&format!("|{line}"));
        }
        self.say("--------------------------\nFile to patch: \nSkip this patch? [y] ");
        self.say("Skipping patch.");
        let plural = if hunks == 1 { "hunk" } else { "hunks" };
        self.say(&format!("{hunks} out of {hunks} {plural} ignored"));
        self.fail(REJECTED);
    }

    async fn reject(&mut self, name: &str, failed: &[&Hunk], of: usize, how: &str) {
        let plural = if of == 1 { "hunk" } else { "hunks" };
        let many = failed.len();
        let line = format!("{many} out of {of} {plural} {how}");
        self.fail(REJECTED);
        if self.options.dry_run {
            return self.say(&line);
        }
        let file = format!("{name}.rej");
        self.say(&format!(
            "{line} -- saving rejects to file {}",
            quoted(&file)
        ));
        let mut text = format!("--- {name}\n+++ {name}\n").into_bytes();
        for hunk in failed {
            hunk.write(&mut text);
        }
        self.write(&file, &text).await;
    }

    async fn write(&mut self, name: &str, text: &[u8]) {
        let path = self.path(name);
        if let Some(parent) = path.parent() {
            // Whether it is there is seen when the file is written.
            let _ = self.fs.mkdir(parent, true).await;
        }
        if let Err(error) = self.fs.write_file(&path, text).await {
            let why = reason(&error);
            self.err
                .push_str(&format!("patch: **** Can't create file {name} : {why}\n"));
            self.fail(TROUBLE);
        }
    }
}
