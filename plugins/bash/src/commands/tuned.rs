//! bashkit's own commands with one thing done otherwise: what they are told, or what they say.
//!
//! Each runs as the commands of [`super::guarded`] do. It must never know which file system a
//! command works on.

use super::date::{at, format, zone};
use super::guarded::{run, run_on};
use bashkit::{Builtin, BuiltinContext, ExecResult, Result, async_trait, normalize_path};
use std::path::{Path, PathBuf};

/// `cmp` that counts bytes. bashkit's counts `char`s, as no other has it for twenty years.
pub struct Cmp;

#[async_trait]
impl Builtin for Cmp {
    async fn execute(&self, ctx: BuiltinContext<'_>) -> Result<ExecResult> {
        let mut result = run("cmp", ctx.args, 2, &ctx).await?;
        let said = String::from_utf8_lossy(result.stdout.as_bytes()).into_owned();
        if said.contains(" differ: char ") {
            let said = said.replacen(" differ: char ", " differ: byte ", 1);
            result.stdout = said.into();
        }
        Ok(result)
    }
}

/// `zcat`, which bashkit has not: it is `gzip -dc`.
pub struct Zcat;

#[async_trait]
impl Builtin for Zcat {
    async fn execute(&self, ctx: BuiltinContext<'_>) -> Result<ExecResult> {
        let args: Vec<String> = std::iter::once("-dc".to_owned())
            .chain(ctx.args.iter().cloned())
            .collect();
        run("gzip", &args, 1, &ctx).await
    }
}

/// `gzip` with `-t`, which is `-dc` without the output.
pub struct Gzip;

#[async_trait]
impl Builtin for Gzip {
    async fn execute(&self, ctx: BuiltinContext<'_>) -> Result<ExecResult> {
        let is_test = |arg: &String| matches!(arg.as_str(), "-t" | "--test" | "-tq" | "-qt");
        if !ctx.args.iter().any(is_test) {
            return run("gzip", ctx.args, 1, &ctx).await;
        }
        let args = ctx.args.iter().filter(|arg| !is_test(arg)).cloned();
        let args: Vec<String> = std::iter::once("-dc".to_owned()).chain(args).collect();
        let mut result = run("gzip", &args, 1, &ctx).await?;
        result.stdout = String::new().into();
        Ok(result)
    }
}

/// `zgrep`, which bashkit has not: `grep` over what `gzip -dc` makes of each file.
pub struct Zgrep;

#[async_trait]
impl Builtin for Zgrep {
    async fn execute(&self, ctx: BuiltinContext<'_>) -> Result<ExecResult> {
        // The pattern is the first word that is no option, unless `-e` has it.
        let has_pattern = ctx.args.iter().any(|arg| arg.starts_with("-e"));
        let is_word = |arg: &&String| !arg.starts_with('-');
        let words: Vec<&String> = ctx.args.iter().filter(is_word).collect();
        let files = words.get(usize::from(!has_pattern)..).unwrap_or_default();
        let options: Vec<String> = ctx.args[..ctx.args.len() - files.len()].to_vec();
        if files.is_empty()
            || ctx.args[options.len()..]
                .iter()
                .any(|arg| arg.starts_with('-'))
        {
            let usage = "zgrep: usage: zgrep [OPTION]... PATTERN FILE...\n";
            return Ok(ExecResult::err(usage, 2));
        }
        let (mut out, mut err, mut status) = (Vec::new(), Vec::new(), 1);
        for file in files {
            let unpack = ["-dc".to_owned(), (*file).clone()];
            let unpacked = run("gzip", &unpack, 2, &ctx).await?;
            err.extend(unpacked.stderr.as_bytes());
            if unpacked.exit_code != 0 {
                status = 2;
                continue;
            }
            let mut args = options.clone();
            if files.len() > 1 {
                args.insert(0, "-H".to_owned());
            }
            args.insert(0, format!("--label={file}"));
            let found = run_on("grep", &args, unpacked.stdout.clone(), 2, &ctx).await?;
            out.extend(found.stdout.as_bytes());
            err.extend(found.stderr.as_bytes());
            status = match (status, found.exit_code) {
                (1, 0) => 0,
                (before, 0 | 1) => before,
                (_, worse) => worse,
            };
        }
        Ok(ExecResult {
            stdout: out.into(),
            stderr: err.into(),
            exit_code: status,
            ..ExecResult::default()
        })
    }
}

/// `numfmt` with `--grouping`, which groups nothing in the C locale.
pub struct Numfmt;

#[async_trait]
impl Builtin for Numfmt {
    async fn execute(&self, ctx: BuiltinContext<'_>) -> Result<ExecResult> {
        let args = ctx.args.iter().filter(|arg| *arg != "--grouping").cloned();
        run("numfmt", &args.collect::<Vec<_>>(), 2, &ctx).await
    }
}

/// `mkdir` with `-v`: the directories that were not there before are named.
pub struct Mkdir;

#[async_trait]
impl Builtin for Mkdir {
    async fn execute(&self, ctx: BuiltinContext<'_>) -> Result<ExecResult> {
        let (args, verbose) = without_verbose(ctx.args);
        if !verbose {
            return run("mkdir", ctx.args, 1, &ctx).await;
        }
        let mut absent = Vec::new();
        for operand in args.iter().filter(|arg| !arg.starts_with('-')) {
            let mut shown = PathBuf::new();
            for part in Path::new(operand).components() {
                shown.push(part);
                let is_new = !absent.contains(&shown);
                if is_new
                    && ctx
                        .fs
                        .stat(&normalize_path(&ctx.cwd.join(&shown)))
                        .await
                        .is_err()
                {
                    absent.push(shown.clone());
                }
            }
        }
        let mut result = run("mkdir", &args, 1, &ctx).await?;
        let mut said = String::new();
        for path in absent {
            if ctx
                .fs
                .stat(&normalize_path(&ctx.cwd.join(&path)))
                .await
                .is_ok()
            {
                said.push_str(&format!("mkdir: created directory '{}'\n", path.display()));
            }
        }
        result.stdout = said.into();
        Ok(result)
    }
}

/// `cp` with `-v`: every file and directory that is copied is named.
pub struct Cp;

#[async_trait]
impl Builtin for Cp {
    async fn execute(&self, ctx: BuiltinContext<'_>) -> Result<ExecResult> {
        let (args, verbose) = without_verbose(ctx.args);
        if !verbose {
            return run("cp", ctx.args, 1, &ctx).await;
        }
        let operands: Vec<&String> = args.iter().filter(|arg| !arg.starts_with('-')).collect();
        let Some((target, sources)) = operands.split_last() else {
            return run("cp", &args, 1, &ctx).await;
        };
        let place = |name: &str| normalize_path(&ctx.cwd.join(name));
        let into = ctx.fs.stat(&place(target)).await;
        let into = into.is_ok_and(|metadata| metadata.file_type.is_dir());
        let mut said = String::new();
        for source in sources {
            let name = source
                .trim_end_matches('/')
                .rsplit('/')
                .next()
                .unwrap_or_default();
            let to = match into {
                true => format!("{}/{name}", target.trim_end_matches('/')),
                false => target.trim_end_matches('/').to_owned(),
            };
            let mut left = vec![(source.trim_end_matches('/').to_owned(), to)];
            while let Some((from, to)) = left.pop() {
                said.push_str(&format!("'{from}' -> '{to}'\n"));
                // A file has no entries, and what cannot be read is told by the copy.
                let entries = ctx.fs.read_dir(&place(&from)).await.unwrap_or_default();
                left.extend(entries.iter().rev().map(|entry| {
                    (
                        format!("{from}/{}", entry.name),
                        format!("{to}/{}", entry.name),
                    )
                }));
            }
        }
        let mut result = run("cp", &args, 1, &ctx).await?;
        if result.exit_code == 0 {
            result.stdout = said.into();
        }
        Ok(result)
    }
}

/// The arguments without `-v`, and whether it was there.
fn without_verbose(args: &[String]) -> (Vec<String>, bool) {
    let mut kept = Vec::new();
    let mut verbose = false;
    for arg in args {
        let is_letters = arg.len() > 1 && arg.starts_with('-') && !arg.starts_with("--");
        if arg == "--verbose" {
            verbose = true;
        } else if is_letters && arg.contains('v') {
            verbose = true;
            let rest = arg.replace('v', "");
            if rest.len() > 1 {
                kept.push(rest);
            }
        } else {
            kept.push(arg.clone());
        }
    }
    (kept, verbose)
}

/// `realpath` with `--relative-to`.
pub struct Realpath;

#[async_trait]
impl Builtin for Realpath {
    async fn execute(&self, ctx: BuiltinContext<'_>) -> Result<ExecResult> {
        let mut base = None;
        let mut args = Vec::new();
        let mut rest = ctx.args.iter();
        while let Some(arg) = rest.next() {
            if let Some(directory) = arg.strip_prefix("--relative-to=") {
                base = Some(directory.to_owned());
            } else if arg == "--relative-to" {
                base = rest.next().cloned();
            } else {
                args.push(arg.clone());
            }
        }
        let Some(base) = base else {
            return run("realpath", &args, 1, &ctx).await;
        };
        let of_base = run("realpath", &[base], 1, &ctx).await?;
        if of_base.exit_code != 0 {
            return Ok(of_base);
        }
        let base = String::from_utf8_lossy(of_base.stdout.as_bytes()).into_owned();
        let mut result = run("realpath", &args, 1, &ctx).await?;
        let found = String::from_utf8_lossy(result.stdout.as_bytes()).into_owned();
        let lines = found
            .lines()
            .map(|line| relative(line, base.trim_end()) + "\n");
        result.stdout = lines.collect::<String>().into();
        Ok(result)
    }
}

/// The way from the directory `base` to `path`, both absolute.
fn relative(path: &str, base: &str) -> String {
    let (path, base): (Vec<_>, Vec<_>) = (
        Path::new(path).components().collect(),
        Path::new(base).components().collect(),
    );
    let same = path.iter().zip(&base).take_while(|(a, b)| a == b).count();
    let up = base[same..].iter().map(|_| "..".into());
    let down = path[same..].iter().map(|part| part.as_os_str().to_owned());
    let way: PathBuf = up.chain(down).collect();
    if way.as_os_str().is_empty() {
        return ".".to_owned();
    }
    way.display().to_string()
}

/// `stat` that writes times for people: `%x`, `%y`, `%z` and `%w`.
pub struct Stat;

#[async_trait]
impl Builtin for Stat {
    async fn execute(&self, ctx: BuiltinContext<'_>) -> Result<ExecResult> {
        let at_format = ctx.args.iter().position(|arg| {
            matches!(arg.as_str(), "-c" | "--format" | "--printf")
                || arg.starts_with("--format=")
                || arg.starts_with("--printf=")
                || (arg.starts_with("-c") && arg.len() > 2)
        });
        let names_time = |text: &String| {
            ["%x", "%y", "%z", "%w"]
                .iter()
                .any(|time| text.contains(time))
        };
        let has_times = at_format.is_some_and(|at| ctx.args[at..].iter().take(2).any(names_time));
        let Some(at_format) = at_format.filter(|_| has_times) else {
            return run("stat", ctx.args, 1, &ctx).await;
        };
        let is_apart = matches!(ctx.args[at_format].as_str(), "-c" | "--format" | "--printf");
        let last = at_format + usize::from(is_apart);
        let zone = zone(ctx.env.get("TZ").map(String::as_str));
        let (mut out, mut err, mut status) = (Vec::new(), Vec::new(), 0);
        let others = ctx.args.iter().enumerate();
        let operands =
            others.filter(|(at, arg)| (*at < at_format || *at > last) && !arg.starts_with('-'));
        for (_, operand) in operands {
            let metadata = ctx.fs.stat(&normalize_path(&ctx.cwd.join(operand))).await;
            let time = metadata
                .ok()
                .and_then(|metadata| at(metadata.modified, &zone));
            let time = time.map_or("-".to_owned(), |time| format("%F %T.%N %z", &time));
            let mut args: Vec<String> = ctx.args[at_format..=last].to_vec();
            if let Some(text) = args.last_mut() {
                for name in ["%x", "%y", "%z"] {
                    *text = text.replace(name, &time);
                }
                // When a file was made is not known.
                *text = text.replace("%w", "-");
            }
            args.push(operand.clone());
            let result = run("stat", &args, 1, &ctx).await?;
            out.extend(result.stdout.as_bytes());
            err.extend(result.stderr.as_bytes());
            status = status.max(result.exit_code);
        }
        Ok(ExecResult {
            stdout: out.into(),
            stderr: err.into(),
            exit_code: status,
            ..ExecResult::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_from_a_directory_to_a_file_goes_up_and_down() {
        for (path, base, way) in [
            ("/a/b/c", "/a/d", "../b/c"),
            ("/a/b", "/a", "b"),
            ("/a", "/a", "."),
            ("/x", "/a/b", "../../x"),
        ] {
            assert_eq!(relative(path, base), way);
        }
    }

    #[test]
    fn the_option_to_be_verbose_is_taken_out() {
        let args = ["-rv", "-v", "a", "--verbose", "--", "b"].map(str::to_owned);
        let (kept, verbose) = without_verbose(&args);
        assert_eq!((kept.join(" ").as_str(), verbose), ("-r a -- b", true));
    }
}
