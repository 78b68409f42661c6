//! bashkit's own commands, kept from ending the script.
//!
//! bashkit ends a whole script when one of its commands hands on the error of a file system. Most
//! of them report it themselves; those in [`GUARDED`] do not, at some place of theirs. Each of
//! these runs in a shell of its own over the same files, where its end is the end of nothing else.
//! That is the one way: bashkit gives a command of its own to nobody.
//!
//! It must never know what a command does, or which file system it works on.

use super::reason;
use bashkit::{
    Bash, Builtin, BuiltinContext, DirEntry, Error, ExecOptions, ExecResult, ExecutionLimits,
    FileSystem, FileSystemExt, FsLimits, FsUsage, Metadata, Result, SessionLimits, StreamData,
    async_trait, normalize_path,
};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

/// The commands, each with its status when a file cannot be had or changed.
pub const GUARDED: [(&str, i32); 14] = [
    ("bunzip2", 1),
    ("bzcat", 1),
    ("bzip2", 1),
    ("du", 1),
    ("file", 1),
    ("gunzip", 1),
    ("join", 1),
    ("less", 1),
    ("rg", 2),
    ("split", 1),
    ("tar", 2),
    ("unzip", 1),
    ("yq", 1),
    ("zip", 1),
];

/// One of [`GUARDED`].
pub struct Guarded {
    /// Its name.
    pub name: &'static str,
    /// Its status when a file fails it.
    pub status: i32,
}

#[async_trait]
impl Builtin for Guarded {
    async fn execute(&self, ctx: BuiltinContext<'_>) -> Result<ExecResult> {
        run(self.name, ctx.args, self.status, &ctx).await
    }
}

/// Runs bashkit's own command `name` in place of the one that `ctx` is for. `status` is its status
/// when a file fails it.
pub async fn run(
    name: &'static str,
    args: &[String],
    status: i32,
    ctx: &BuiltinContext<'_>,
) -> Result<ExecResult> {
    let input = ctx.stdin.cloned().unwrap_or_default();
    run_on(name, args, input, status, ctx).await
}

/// As [`run`], with `input` for its standard input.
pub async fn run_on(
    name: &'static str,
    args: &[String],
    input: StreamData,
    status: i32,
    ctx: &BuiltinContext<'_>,
) -> Result<ExecResult> {
    let limits = ctx
        .execution_extension::<ExecutionLimits>()
        .and_then(|limits| limits.try_with(Clone::clone).ok())
        .unwrap_or_default();
    let witness = Arc::new(Witness {
        files: Arc::clone(&ctx.fs),
        refused: Mutex::default(),
    });
    // Mounts and the virtual system are in the files already.
    let builder = Bash::builder()
        .fs(Arc::clone(&witness) as Arc<dyn FileSystem>)
        .rootfs(false)
        .cwd(ctx.cwd.as_path())
        .limits(limits)
        .session_limits(SessionLimits::unlimited())
        .builtin_filter(move |other| other == name);
    let mut bash = ctx
        .env
        .iter()
        .fold(builder, |builder, (name, value)| builder.env(name, value))
        // Nothing but the command itself: a stub of it in `/usr/bin` would come back here.
        .env("PATH", "")
        .build();
    let options = ExecOptions::new()
        .positional(args.iter().cloned())
        .stdin(input);
    let script = format!("{name} \"$@\"");
    match Box::pin(bash.exec_with_options(&script, options)).await {
        Ok(result) => Ok(ExecResult {
            // Copied: the bytes of that shell are counted in its budget and end with it.
            stdout: result.stdout.as_bytes().into(),
            stderr: result.stderr.as_bytes().into(),
            exit_code: result.exit_code,
            ..ExecResult::default()
        }),
        Err(error @ Error::Io(_)) => {
            let place = witness.refused().map_or_else(String::new, |path| {
                format!("{}: ", as_written(&path, args, ctx.cwd))
            });
            let message = format!("{name}: {place}{}\n", reason(&error));
            Ok(ExecResult::err(message, status))
        }
        Err(error) => Err(error),
    }
}

/// `path` as the one who wrote the command named it.
fn as_written(path: &Path, args: &[String], cwd: &Path) -> String {
    let operand = args
        .iter()
        .find(|arg| normalize_path(&cwd.join(arg)) == path);
    match (operand, path.strip_prefix(cwd)) {
        (Some(operand), _) => operand.clone(),
        (None, Ok(below)) if below != Path::new("") => below.display().to_string(),
        _ => path.display().to_string(),
    }
}

/// The files of the shell, and the last of them that was refused: an error alone does not tell.
struct Witness {
    files: Arc<dyn FileSystem>,
    refused: Mutex<Option<PathBuf>>,
}

impl Witness {
    fn refused(&self) -> Option<PathBuf> {
        let refused = self.refused.lock();
        refused.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn see<T>(&self, path: &Path, result: Result<T>) -> Result<T> {
        if matches!(result, Err(Error::Io(_))) {
            let refused = self.refused.lock();
            *refused.unwrap_or_else(PoisonError::into_inner) = Some(normalize_path(path));
        }
        result
    }
}

#[async_trait]
impl FileSystemExt for Witness {
    fn usage(&self) -> FsUsage {
        self.files.usage()
    }

    fn limits(&self) -> FsLimits {
        self.files.limits()
    }

    async fn mkfifo(&self, path: &Path, mode: u32) -> Result<()> {
        self.see(path, self.files.mkfifo(path, mode).await)
    }

    fn backend_kind(&self) -> &'static str {
        self.files.backend_kind()
    }
}

#[async_trait]
impl FileSystem for Witness {
    async fn read_file(&self, path: &Path) -> Result<Vec<u8>> {
        self.see(path, self.files.read_file(path).await)
    }

    async fn write_file(&self, path: &Path, content: &[u8]) -> Result<()> {
        self.see(path, self.files.write_file(path, content).await)
    }

    async fn append_file(&self, path: &Path, content: &[u8]) -> Result<()> {
        self.see(path, self.files.append_file(path, content).await)
    }

    async fn mkdir(&self, path: &Path, recursive: bool) -> Result<()> {
        self.see(path, self.files.mkdir(path, recursive).await)
    }

    async fn remove(&self, path: &Path, recursive: bool) -> Result<()> {
        self.see(path, self.files.remove(path, recursive).await)
    }

    /// Of a link itself: the layers of the guarding shell above this one follow it, and ask no
    /// other question.
    async fn stat(&self, path: &Path) -> Result<Metadata> {
        self.see(path, self.files.lstat(path).await)
    }

    async fn read_dir(&self, path: &Path) -> Result<Vec<DirEntry>> {
        self.see(path, self.files.read_dir(path).await)
    }

    async fn exists(&self, path: &Path) -> Result<bool> {
        self.see(path, self.files.exists(path).await)
    }

    async fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        self.see(from, self.files.rename(from, to).await)
    }

    async fn copy(&self, from: &Path, to: &Path) -> Result<()> {
        self.see(from, self.files.copy(from, to).await)
    }

    async fn symlink(&self, target: &Path, link: &Path) -> Result<()> {
        self.see(link, self.files.symlink(target, link).await)
    }

    async fn read_link(&self, path: &Path) -> Result<PathBuf> {
        self.see(path, self.files.read_link(path).await)
    }

    async fn chmod(&self, path: &Path, mode: u32) -> Result<()> {
        self.see(path, self.files.chmod(path, mode).await)
    }

    async fn set_modified_time(&self, path: &Path, time: SystemTime) -> Result<()> {
        self.see(path, self.files.set_modified_time(path, time).await)
    }
}
