//! `rm` and `rmdir`. It must never know which file system it works on.

use super::reason;
use bashkit::{
    Builtin, BuiltinContext, Error, ExecResult, FileSystem, Result, async_trait, normalize_path,
};
use std::io;
use std::path::Path;

/// `rm` that says what it could not remove. bashkit's is silent under `-f`, whatever the fault,
/// so that a read-only workspace would answer `rm -rf build` with success.
pub struct Rm;

#[async_trait]
impl Builtin for Rm {
    async fn execute(&self, ctx: BuiltinContext<'_>) -> Result<ExecResult> {
        let (options, operands) = match parse(ctx.args) {
            Ok(parsed) => parsed,
            Err(message) => return Ok(ExecResult::err(message, 1)),
        };
        if operands.is_empty() && !options.force {
            return Ok(ExecResult::err("rm: missing operand\n", 1));
        }
        let (mut out, mut err) = (String::new(), String::new());
        for operand in operands {
            let path = normalize_path(&ctx.cwd.join(operand));
            match remove(ctx.fs.as_ref(), operand, &path, &options).await {
                Ok(true) if options.verbose => out.push_str(&format!("removed '{operand}'\n")),
                Ok(_) => {}
                Err(reason) => err.push_str(&format!("rm: {reason}\n")),
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

/// `rmdir` that says why. bashkit's calls every fault "Device or resource busy".
pub struct Rmdir;

#[async_trait]
impl Builtin for Rmdir {
    async fn execute(&self, ctx: BuiltinContext<'_>) -> Result<ExecResult> {
        let mut parents = false;
        let mut operands = Vec::new();
        for arg in ctx.args {
            match arg.as_str() {
                "-p" | "--parents" => parents = true,
                "--" => {}
                option if option.len() > 1 && option.starts_with('-') => {
                    let message = format!("rmdir: unrecognized option '{option}'\n");
                    return Ok(ExecResult::err(message, 1));
                }
                operand => operands.push(operand),
            }
        }
        if operands.is_empty() {
            return Ok(ExecResult::err("rmdir: missing operand\n", 1));
        }
        let mut err = String::new();
        for operand in operands {
            let mut directory = Path::new(operand);
            loop {
                if let Err(reason) = remove_directory(&ctx, directory).await {
                    let shown = directory.display();
                    err.push_str(&format!("rmdir: failed to remove '{shown}': {reason}\n"));
                    break;
                }
                match directory.parent() {
                    Some(parent) if parents && parent != Path::new("") => directory = parent,
                    _ => break,
                }
            }
        }
        Ok(ExecResult {
            exit_code: i32::from(!err.is_empty()),
            stderr: err.into(),
            ..ExecResult::default()
        })
    }
}

async fn remove_directory(
    ctx: &BuiltinContext<'_>,
    directory: &Path,
) -> std::result::Result<(), String> {
    let path = normalize_path(&ctx.cwd.join(directory));
    let metadata = ctx.fs.lstat(&path).await.map_err(|e| reason(&e))?;
    if !metadata.file_type.is_dir() {
        return Err("Not a directory".to_owned());
    }
    ctx.fs.remove(&path, false).await.map_err(|e| reason(&e))
}

#[derive(Default)]
struct Options {
    recursive: bool,
    force: bool,
    verbose: bool,
    directories: bool,
}

fn parse(args: &[String]) -> std::result::Result<(Options, Vec<&str>), String> {
    let (mut options, mut operands) = (Options::default(), Vec::new());
    let mut args = args.iter().map(String::as_str);
    while let Some(arg) = args.next() {
        match arg {
            "--" => operands.extend(args.by_ref()),
            "--recursive" => options.recursive = true,
            "--force" => options.force = true,
            "--verbose" => options.verbose = true,
            "--dir" => options.directories = true,
            // There is nobody to ask, one root and one file system that matters.
            "--interactive=never" | "--one-file-system" | "--preserve-root" => {}
            _ if arg.starts_with("--") => return Err(format!("rm: unrecognized option '{arg}'\n")),
            _ if arg.len() > 1 && arg.starts_with('-') => {
                for letter in arg.chars().skip(1) {
                    match letter {
                        'r' | 'R' => options.recursive = true,
                        'f' => options.force = true,
                        'v' => options.verbose = true,
                        'd' => options.directories = true,
                        'i' | 'I' => {}
                        _ => return Err(format!("rm: invalid option -- '{letter}'\n")),
                    }
                }
            }
            _ => operands.push(arg),
        }
    }
    Ok((options, operands))
}

/// Whether something was removed, or why not.
async fn remove(
    fs: &dyn FileSystem,
    operand: &str,
    path: &Path,
    options: &Options,
) -> std::result::Result<bool, String> {
    let last = operand.trim_end_matches('/').rsplit('/').next();
    if matches!(last, Some("." | "..")) {
        return Err(format!(
            "refusing to remove '.' or '..' directory: skipping '{operand}'"
        ));
    }
    let cannot = |error: Error| format!("cannot remove '{operand}': {}", reason(&error));
    let metadata = match fs.lstat(path).await {
        Ok(metadata) => metadata,
        Err(Error::Io(e)) if e.kind() == io::ErrorKind::NotFound && options.force => {
            return Ok(false);
        }
        Err(error) => return Err(cannot(error)),
    };
    if metadata.file_type.is_dir() && !options.recursive && !options.directories {
        return Err(format!("cannot remove '{operand}': Is a directory"));
    }
    let removed = fs.remove(path, options.recursive).await;
    removed.map(|()| true).map_err(cannot)
}
