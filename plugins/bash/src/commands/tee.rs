//! `tee`. It must never know which file system it works on.

use super::reason;
use bashkit::{
    Builtin, BuiltinContext, ExecResult, Result, StreamData, async_trait, normalize_path,
};

/// `tee` that goes on after a file it cannot write, and copies bytes that are no text. bashkit's
/// ends the script at the first such file and prints nothing.
pub struct Tee;

#[async_trait]
impl Builtin for Tee {
    async fn execute(&self, ctx: BuiltinContext<'_>) -> Result<ExecResult> {
        let (append, files) = match parse(ctx.args) {
            Ok(parsed) => parsed,
            Err(message) => return Ok(ExecResult::err(message, 1)),
        };
        let input = ctx.stdin.map_or(&[][..], StreamData::as_bytes);
        let mut err = String::new();
        for file in files {
            let path = normalize_path(&ctx.cwd.join(file));
            let written = if append {
                ctx.fs.append_file(&path, input).await
            } else {
                ctx.fs.write_file(&path, input).await
            };
            if let Err(error) = written {
                err.push_str(&format!("tee: {file}: {}\n", reason(&error)));
            }
        }
        Ok(ExecResult {
            exit_code: i32::from(!err.is_empty()),
            stdout: input.into(),
            stderr: err.into(),
            ..ExecResult::default()
        })
    }
}

/// Whether to append, and the files.
fn parse(args: &[String]) -> std::result::Result<(bool, Vec<&str>), String> {
    let (mut append, mut files) = (false, Vec::new());
    let mut args = args.iter().map(String::as_str);
    while let Some(arg) = args.next() {
        match arg {
            "--" => files.extend(args.by_ref()),
            "--append" => append = true,
            // There are no signals, and a pipe is never closed early.
            "--ignore-interrupts" => {}
            _ if arg == "--output-error" || arg.starts_with("--output-error=") => {}
            _ if arg.starts_with("--") => {
                return Err(format!("tee: unrecognized option '{arg}'\n"));
            }
            _ if arg.len() > 1 && arg.starts_with('-') => {
                for letter in arg.chars().skip(1) {
                    match letter {
                        'a' => append = true,
                        'i' | 'p' => {}
                        _ => return Err(format!("tee: invalid option -- '{letter}'\n")),
                    }
                }
            }
            _ => files.push(arg),
        }
    }
    Ok((append, files))
}
