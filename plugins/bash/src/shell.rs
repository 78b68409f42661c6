//! One command line, from text to exit status.
//!
//! Owns the bashkit shell: its file systems, its limits, its clock and its end. It must never know
//! about arguments, sessions or how an answer is worded.
//!
//! The shell is one future on one thread. It gives way after every 64 commands and at every file
//! operation, and looks at the clock at each command, so a time limit holds for a busy loop as for
//! a sleep.

use crate::commands::{NotFound, Reading, is_kept, program, replacements};
use crate::fs::DirFs;
use crate::pace::Pace;
use crate::programs::{Desk, Programs, desk};
use crate::scratch::{HOME, Scratch};
use crate::transcript::{Stream, Transcript};
use bashkit::hooks::HookAction;
use bashkit::{
    Bash, Error, ExecOptions, ExecResult, ExecutionLimits, FileSystem, LimitExceeded, MemoryLimits,
    SessionLimits, StreamData,
};
use std::convert::Infallible;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

/// Where the workspace is in the shell.
pub const WORKSPACE: &str = "/workspace";
/// Where skills are in the shell.
pub const SKILLS: &str = "/skills";
/// Where the private directory of the session is in the shell.
pub const TEMPORARY: &str = "/tmp";
/// Who the user is in the shell.
pub const USER: &str = "user";

/// Bytes that bashkit may hold between commands, of the 512 MiB a call has by default.
const LIVE_BYTES: u64 = 192 << 20;

/// Output that a script with background commands may print. bashkit keeps it more than once.
const KEPT_BYTES: usize = 16 << 20;

/// How long background commands go on after the shell has come to its end. Time for one that is
/// just done, too short to wait for.
const AFTER_END: Duration = Duration::from_millis(250);

/// What a shell starts with.
pub struct Start<'a> {
    /// The directory that is mounted at [`WORKSPACE`].
    pub workspace: &'a Path,
    /// Whether the workspace can be changed.
    pub writable: bool,
    /// The directory that is mounted at [`TEMPORARY`]; without one that is memory.
    pub temporary: Option<&'a Path>,
    /// The directory that is mounted at [`SKILLS`], read-only.
    pub skills: Option<&'a Path>,
    /// Native programs, which are commands of the shell by their names.
    pub programs: &'a Programs<'a>,
    /// Working directory, in the shell's terms.
    pub directory: &'a str,
    /// Time after which it is ended.
    pub timeout: Duration,
}

/// How a command line ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// By itself, with a status.
    Exited(i32),
    /// By itself, with a status; what it had started in the background was ended with it.
    LeftBackground(i32),
    /// It was ended when its time was over.
    TimedOut,
    /// The shell gave up: one of its own limits.
    Stopped(String),
}

/// What is left of a shell.
pub struct End {
    /// How it ended.
    pub ending: Ending,
    /// Whether the directory asked for was not there any more.
    pub started_elsewhere: bool,
    /// Working directory at the end. None when it was cut short.
    pub directory: Option<String>,
    /// Whether a file mode was set that did not reach the disk.
    pub modes_changed: bool,
}

/// Where output goes, shared with the shell.
pub type Output = Arc<Mutex<Transcript<'static>>>;

/// Runs `script` and hands what it prints to `output`.
///
/// # Errors
/// Only when the clock of the component does not start.
pub fn run(script: &str, start: &Start<'_>, output: &Output) -> std::io::Result<End> {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .map(|runtime| runtime.block_on(start_and_end(script, start, output)))
}

async fn start_and_end(script: &str, start: &Start<'_>, output: &Output) -> End {
    let pace = Arc::new(Pace::default());
    let files = Arc::new(DirFs::new(
        start.workspace,
        !start.writable,
        Arc::clone(&pace),
    ));
    let exited = Arc::new(OnceLock::new());
    let (desk, requests) = desk(start.temporary.is_some());
    let mut bash = build(start, &pace, &files, &desk, &exited);
    let serving = start.programs.serve(requests);
    let started_elsewhere = pace.drive(enter(&mut bash, start), || {}).await;
    let ending = if has_background(script) {
        // So that the end of the foreground can be seen: bashkit itself waits for every job.
        let script = format!("{script}\nexit");
        let whole = alongside(whole(&mut bash, &script, output), serving);
        let whole = pace.drive(whole, || {});
        tokio::select! {
            biased;
            result = whole => ending(result, &script, output),
            status = end_of_foreground(&exited) => Ending::LeftBackground(status),
        }
    } else {
        let live = alongside(live(&mut bash, script, output), serving);
        let result = pace.drive(live, || lock(output).round()).await;
        ending(result, script, output)
    };
    let in_order = matches!(ending, Ending::Exited(_) | Ending::LeftBackground(_));
    End {
        directory: in_order.then(|| bash.shell_state_view().cwd.to_string_lossy().into_owned()),
        ending,
        started_elsewhere,
        modes_changed: files.modes_changed(),
    }
}

/// Runs `work` to its end, and `serving` as long.
async fn alongside<T>(
    work: impl Future<Output = T>,
    serving: impl Future<Output = Infallible>,
) -> T {
    tokio::select! {
        biased;
        done = work => done,
        never = serving => match never {},
    }
}

/// Runs a script without background commands: output comes while it is produced, nothing is kept,
/// and a busy loop gives way.
async fn live(bash: &mut Bash, script: &str, output: &Output) -> bashkit::Result<ExecResult> {
    let push = |stream, bytes: Vec<u8>| {
        lock(output).push(stream, &bytes);
        std::future::ready(Ok(()))
    };
    bash.execute(script)
        .options(ExecOptions::new().stdin(String::new()))
        .stdout_fn(|bytes| push(Stream::Out, bytes))
        .stderr_fn(|bytes| push(Stream::Err, bytes))
        .await
}

/// Runs a script with background commands. bashkit 0.20 loses the output of one that ends in the
/// middle of a list, unless it keeps everything to the end; so it does here, within
/// [`KEPT_BYTES`], and what the observer did not see is taken from the result.
async fn whole(bash: &mut Bash, script: &str, output: &Output) -> bashkit::Result<ExecResult> {
    let seen = Arc::new(AtomicUsize::new(0));
    let stop = bash.cancellation_token();
    let observer = {
        let (seen, output) = (Arc::clone(&seen), Arc::clone(output));
        move |out: &StreamData, err: &StreamData| {
            let mut output = lock(&output);
            output.push(Stream::Out, out.as_bytes());
            output.round();
            output.push(Stream::Err, err.as_bytes());
            let more = out.len() + err.len();
            if seen.fetch_add(more, Ordering::Relaxed) + more > KEPT_BYTES {
                stop.store(true, Ordering::Relaxed);
            }
        }
    };
    let options = ExecOptions::new()
        .stdin(String::new())
        .streaming(Box::new(observer));
    let result = bash.exec_with_options(script, options).await?;
    if result.stdout.len() + result.stderr.len() > seen.load(Ordering::Relaxed) {
        let mut output = lock(output);
        output.restart();
        output.push(Stream::Out, result.stdout.as_bytes());
        output.push(Stream::Err, result.stderr.as_bytes());
    }
    Ok(result)
}

/// Waits for the shell's `exit` and then [`AFTER_END`]. The status.
async fn end_of_foreground(exited: &OnceLock<i32>) -> i32 {
    loop {
        // The hook that tells of the end cannot wake anybody.
        tokio::time::sleep(Duration::from_millis(20)).await;
        if let Some(status) = exited.get() {
            tokio::time::sleep(AFTER_END).await;
            return *status;
        }
    }
}

/// The ending for a result of bashkit. A syntax error is printed as bash prints it.
fn ending(result: bashkit::Result<ExecResult>, script: &str, output: &Output) -> Ending {
    match result {
        Ok(result) => Ending::Exited(result.exit_code & 0xff),
        Err(Error::ResourceLimit(LimitExceeded::Timeout(_))) => Ending::TimedOut,
        Err(Error::ResourceLimit(limit)) => Ending::Stopped(limit.to_string()),
        Err(Error::Cancelled) => Ending::Stopped(format!(
            "with background commands, more than {} MiB of output",
            KEPT_BYTES >> 20
        )),
        Err(error @ Error::Parse { .. }) => {
            let report = error.syntax_report("bash", script).unwrap_or_default();
            lock(output).push(Stream::Err, report.as_bytes());
            Ending::Exited(2)
        }
        Err(error) => Ending::Stopped(error.to_string()),
    }
}

fn lock(output: &Output) -> MutexGuard<'_, Transcript<'static>> {
    output.lock().unwrap_or_else(PoisonError::into_inner)
}

fn build(
    start: &Start<'_>,
    pace: &Arc<Pace>,
    files: &Arc<DirFs>,
    desk: &Desk,
    exited: &Arc<OnceLock<i32>>,
) -> Bash {
    let exited = Arc::clone(exited);
    let programs = offered(start.programs);
    let mut builder = Bash::builder()
        .fs(Arc::new(Scratch::new(
            &[WORKSPACE, SKILLS],
            Arc::clone(pace),
        )))
        .username(USER)
        .hostname("sandbox")
        .env("HOME", HOME)
        .env("TERM", "dumb")
        .env("PAGER", "cat")
        .cwd(WORKSPACE)
        .limits(limits(start.timeout))
        .session_limits(SessionLimits::unlimited())
        .memory_limits(memory())
        .builtin_filter(is_kept)
        .command_resolver(Arc::new(NotFound::new(programs.as_deref(), pace)))
        .on_exit(Box::new(move |event| {
            let _ = exited.set(event.code);
            HookAction::Continue(event)
        }));
    if let Some(programs) = programs.filter(|programs| !programs.is_empty()) {
        let reading = Reading::default();
        builder = builder.before_tool(reading.watch());
        for name in &programs {
            builder = builder.builtin(name, program(name, desk, &reading, pace));
        }
    }
    let bash = replacements(pace)
        .into_iter()
        .fold(builder, |builder, (name, command)| {
            builder.builtin(name, command)
        })
        .build();
    let mounted = bash
        .mount(WORKSPACE, Arc::clone(files) as Arc<dyn FileSystem>)
        .and_then(|()| match start.temporary {
            Some(directory) => bash.mount(
                TEMPORARY,
                Arc::new(DirFs::new(directory, false, Arc::clone(pace))),
            ),
            None => Ok(()),
        })
        .and_then(|()| match start.skills {
            Some(skills) => {
                bash.mount(SKILLS, Arc::new(DirFs::new(skills, true, Arc::clone(pace))))
            }
            None => Ok(()),
        });
    mounted.expect("mount points are absolute");
    bash
}

/// The programs that become commands: those of the call, without the names that the shell has
/// itself. None when the call was not given any.
fn offered(programs: &Programs<'_>) -> Option<Vec<String>> {
    let mut names = programs.names()?.to_vec();
    if !names.is_empty() {
        let bare = Bash::builder().rootfs(false).builtin_filter(is_kept);
        let own = bare.build().builtin_names();
        names.retain(|name| !own.contains(name));
    }
    Some(names)
}

/// Goes to the directory asked for. True when it is not there any more.
async fn enter(bash: &mut Bash, start: &Start<'_>) -> bool {
    if start.directory == WORKSPACE {
        return false;
    }
    let directory = PathBuf::from(start.directory);
    let is_there = bash
        .fs()
        .stat(&directory)
        .await
        .is_ok_and(|m| m.file_type.is_dir());
    if is_there {
        let mut state = bash.shell_state();
        state.cwd = directory;
        bash.restore_shell_state(&state);
    }
    !is_there
}

/// bashkit's own limits, of which few are left: the host counts fuel, memory and time, and a
/// shell that stops at 10,000 commands is of no use to a build. What guards its stack stays.
fn limits(timeout: Duration) -> ExecutionLimits {
    ExecutionLimits {
        max_work_units: u64::MAX,
        max_aggregate_input_bytes: u64::MAX,
        max_live_intermediate_bytes: LIVE_BYTES,
        timeout,
        max_parser_operations: 10_000_000,
        // Delivered to the transcript, which is bounded itself.
        max_stdout_bytes: usize::MAX,
        max_stderr_bytes: usize::MAX,
        max_history_entries: 0,
        max_word_split_fields: 2_000_000,
        max_word_split_bytes: 64 << 20,
        ..ExecutionLimits::cli()
    }
}

/// Room for variables and functions. Without it `x=$x$x` ends the component and not the command.
fn memory() -> MemoryLimits {
    MemoryLimits {
        max_variable_count: 1_000_000,
        max_total_variable_bytes: 64 << 20,
        max_array_entries: 2_000_000,
        max_function_count: 100_000,
        max_function_body_bytes: 16 << 20,
    }
}

/// Whether a `&` that starts something in the background may be in `script`. Quotes and comments
/// are not told apart: a script that is taken for one with background commands only gets an
/// `exit` at its end.
fn has_background(script: &str) -> bool {
    let bytes = script.as_bytes();
    (0..bytes.len()).any(|at| {
        let before = at.checked_sub(1).map(|before| bytes[before]);
        let after = bytes.get(at + 1).copied();
        bytes[at] == b'&'
            && !matches!(before, Some(b'&' | b'>' | b'<' | b'|' | b'\\'))
            && !matches!(after, Some(b'&' | b'>'))
    })
}
