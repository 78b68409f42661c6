//! `mv`. It must never know which file system it works on.

use super::reason;
use bashkit::{
    Builtin, BuiltinContext, ExecResult, FileSystem, Result, async_trait, normalize_path,
};
use std::path::Path;

/// `mv` that keeps what it is told to keep. bashkit's takes `-n`, `-u` and `-t` for nothing, and so
/// writes over files that were to stay; and it says nothing under `-v`.
pub struct Mv;

#[derive(Default)]
struct Options {
    keep: bool,
    update: bool,
    verbose: bool,
    is_file: bool,
    directory: Option<String>,
}

#[async_trait]
impl Builtin for Mv {
    async fn execute(&self, ctx: BuiltinContext<'_>) -> Result<ExecResult> {
        let (options, mut operands) = match parse(ctx.args) {
            Ok(parsed) => parsed,
            Err(message) => return Ok(ExecResult::err(format!("mv: {message}\n"), 1)),
        };
        let fail = |message: String| Ok(ExecResult::err(format!("mv: {message}\n"), 1));
        let target = match &options.directory {
            Some(directory) => directory.clone(),
            None if operands.len() > 1 => operands.pop().unwrap_or_default(),
            None => match operands.first() {
                Some(only) => {
                    return fail(format!("missing destination file operand after '{only}'"));
                }
                None => return fail("missing file operand".to_owned()),
            },
        };
        let fs = ctx.fs.as_ref();
        let place = normalize_path(&ctx.cwd.join(&target));
        let into = !options.is_file && is_directory(fs, &place).await;
        if !into && (operands.len() > 1 || options.directory.is_some()) {
            return fail(format!("target '{target}' is not a directory"));
        }
        if !into && target.ends_with('/') && !is_directory(fs, &ctx.cwd.join(&operands[0])).await {
            return fail(format!(
                "cannot move '{}' to '{target}': Not a directory",
                operands[0]
            ));
        }
        let (mut out, mut err) = (String::new(), String::new());
        for operand in &operands {
            let from = normalize_path(&ctx.cwd.join(operand));
            let shown = match (into, from.file_name()) {
                (true, Some(name)) => {
                    format!(
                        "{}/{}",
                        target.trim_end_matches('/'),
                        name.to_string_lossy()
                    )
                }
                _ => target.clone(),
            };
            let to = normalize_path(&ctx.cwd.join(&shown));
            match rename(fs, &from, &to, &options).await {
                Ok(true) if options.verbose => {
                    out.push_str(&format!("renamed '{operand}' -> '{shown}'\n"));
                }
                Ok(_) => {}
                Err(Fault::Source(why)) => {
                    err.push_str(&format!("mv: cannot stat '{operand}': {why}\n"));
                }
                Err(Fault::Same) => {
                    err.push_str(&format!(
                        "mv: '{operand}' and '{shown}' are the same file\n"
                    ));
                }
                Err(Fault::Inside) => err.push_str(&format!(
                    "mv: cannot move '{operand}' to a subdirectory of itself, '{shown}'\n"
                )),
                Err(Fault::Move(why)) => {
                    err.push_str(&format!(
                        "mv: cannot move '{operand}' to '{shown}': {why}\n"
                    ));
                }
            }
        }
        Ok(ExecResult {
            exit_code: i32::from(!err.is_empty()),
            stdout: out.into(),
            stderr: err.into(),
            ..ExecResult::default()
        })
    }
}

enum Fault {
    Source(String),
    Same,
    Inside,
    Move(String),
}

async fn is_directory(fs: &dyn FileSystem, path: &Path) -> bool {
    let metadata = fs.stat(&normalize_path(path)).await;
    metadata.is_ok_and(|metadata| metadata.file_type.is_dir())
}

/// Whether anything was moved.
async fn rename(
    fs: &dyn FileSystem,
    from: &Path,
    to: &Path,
    options: &Options,
) -> std::result::Result<bool, Fault> {
    let source = fs.lstat(from).await;
    let source = source.map_err(|error| Fault::Source(reason(&error)))?;
    if from == to {
        return Err(Fault::Same);
    }
    if to.starts_with(from) {
        return Err(Fault::Inside);
    }
    if let Ok(there) = fs.lstat(to).await {
        if options.keep || (options.update && there.modified >= source.modified) {
            return Ok(false);
        }
        let why = match (source.file_type.is_dir(), there.file_type.is_dir()) {
            (true, false) => Some("Not a directory"),
            (false, true) => Some("Is a directory"),
            _ => None,
        };
        if let Some(why) = why {
            return Err(Fault::Move(why.to_owned()));
        }
    }
    let renamed = fs.rename(from, to).await;
    renamed
        .map(|()| true)
        .map_err(|error| Fault::Move(reason(&error)))
}

fn parse(args: &[String]) -> std::result::Result<(Options, Vec<String>), String> {
    let (mut options, mut operands) = (Options::default(), Vec::new());
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        if arg == "--" {
            operands.extend(args.by_ref().cloned());
        } else if let Some(long) = arg.strip_prefix("--") {
            match long {
                "no-clobber" | "update=none" => options.keep = true,
                "force" | "interactive" | "update=all" => options.keep = false,
                "update" | "update=older" => options.update = true,
                "verbose" => options.verbose = true,
                "no-target-directory" => options.is_file = true,
                "strip-trailing-slashes" => {}
                "target-directory" => options.directory = args.next().cloned(),
                _ => match long.strip_prefix("target-directory=") {
                    Some(directory) => options.directory = Some(directory.to_owned()),
                    None => return Err(format!("unrecognized option '{arg}'")),
                },
            }
        } else if arg.len() > 1 && arg.starts_with('-') {
            let mut letters = arg[1..].chars();
            while let Some(letter) = letters.next() {
                match letter {
                    'n' => options.keep = true,
                    // Nobody is there to be asked, and GNU goes on where there is no terminal.
                    'f' | 'i' => options.keep = false,
                    'u' => options.update = true,
                    'v' => options.verbose = true,
                    'T' => options.is_file = true,
                    't' => {
                        let rest = letters.as_str();
                        options.directory = if rest.is_empty() {
                            args.next().cloned()
                        } else {
                            Some(rest.to_owned())
                        };
                        break;
                    }
                    _ => return Err(format!("invalid option -- '{letter}'")),
                }
            }
        } else {
            operands.push(arg.clone());
        }
    }
    Ok((options, operands))
}
