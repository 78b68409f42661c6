//! The launcher: hotcell started again, to build a sandbox around one program.
//!
//! Owns the order in which the layers are built, and what runs in which process. It is a process
//! of its own because namespaces and limits hold for a whole process, and it has one thread, so
//! that forking it is safe. Three processes make one sandbox: the launcher outside, the first
//! process of the new process namespace, and the program. The kernel ends the namespace with its
//! first process, and that one ends with the launcher. It must never run as anything but a
//! launcher: no settings, no runtime, no logging.

mod calls;
mod files;
mod limits;
mod namespaces;
mod privileges;
mod root;
mod supervise;

use super::child::Exit;
use super::layers::Layer;
use super::plan::{Plan, Report, Start, View};
use super::wire::{self, Streams};
use rustix::process::{Pid, Signal};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode, Stdio};

/// A layer that could not be built, or a program that could not be started.
enum Failure {
    Lacking(Layer, String),
    NotStarted(String),
}

/// For a step of building `layer`.
fn at<E: std::fmt::Display>(layer: Layer, step: &'static str) -> impl FnOnce(E) -> Failure {
    move |error| Failure::Lacking(layer, format!("{step}: {error}"))
}

impl From<Failure> for Report {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Lacking(layer, why) => Report::Lacking { layer, why },
            Failure::NotStarted(why) => Report::NotStarted { why },
        }
    }
}

/// Runs this process as a launcher. Must be called before any thread is started.
pub fn launch() -> ExitCode {
    let Ok(control) = std::io::stdin().as_fd().try_clone_to_owned() else {
        return ExitCode::FAILURE;
    };
    let control = UnixStream::from(control);
    // Away from the terminal, and from the signals it sends to the host.
    let _ = rustix::process::setsid();
    let Ok((plan, streams)) = wire::receive(&control) else {
        return ExitCode::FAILURE;
    };
    let done = match &plan.view {
        Some(view) => in_sandbox(&plan, view, streams, &control),
        None => without_sandbox(&plan, streams, &control),
    };
    if let Err(failure) = done {
        wire::report(&control, &failure.into());
    }
    ExitCode::SUCCESS
}

/// Everything in namespaces of its own.
fn in_sandbox(
    plan: &Plan,
    view: &View,
    streams: Streams,
    control: &UnixStream,
) -> Result<(), Failure> {
    // Compiled here, where nothing has been taken away yet.
    let calls = calls::compile(view.network)?;
    namespaces::enter(view.network)?;
    let (alive, launcher_end) = std::io::pipe()
        .map_err(|error| Failure::NotStarted(format!("cannot make a pipe: {error}")))?;
    match fork()? {
        Some(first) => {
            drop((streams, alive));
            supervise::watch(control, first);
            drop(launcher_end);
            Ok(())
        }
        None => {
            drop(launcher_end);
            let ended = first_process(plan, view, streams, control, &calls, alive.as_fd());
            if let Err(failure) = ended {
                wire::report(control, &failure.into());
            }
            // Ends the namespace.
            std::process::exit(0);
        }
    }
}

/// What the first process of the namespace does.
fn first_process(
    plan: &Plan,
    view: &View,
    streams: Streams,
    control: &UnixStream,
    calls: &calls::Programs,
    launcher_alive: impl AsFd,
) -> Result<(), Failure> {
    supervise::end_with_launcher(launcher_alive)?;
    root::build(view)?;
    let counts = limits::of_namespace(&plan.limits)?;
    let files = files::ruleset(view)?;
    privileges::drop_all()?;
    let Some(start) = &plan.program else {
        // The last two layers are tried where they can hold nobody up.
        limits::of_process(&plan.limits).map_err(at(Layer::ResourceLimits, "set them"))?;
        files::restrict(files).map_err(at(Layer::Landlock, "restrict this process"))?;
        calls
            .apply()
            .map_err(at(Layer::SystemCalls, "install the filter"))?;
        wire::report(control, &Report::Started);
        return Ok(());
    };
    let mut command = command(start, streams);
    let process_limits = plan.limits;
    let calls = calls.clone();
    let mut files = Some(files);
    let confine = move || {
        limits::of_process(&process_limits)?;
        if let Some(files) = files.take() {
            files::restrict(files)?;
        }
        calls.apply()
    };
    // SAFETY: the closure runs in a copy of this process, which has one thread, so that no lock of
    // the allocator or of anything else can be held there.
    unsafe { command.pre_exec(confine) };
    let most = counts.then_some(plan.limits.processes);
    run(command, start, control, |program| {
        supervise::first_process(control, program, most)
    })
}

/// Starts the program without any sandbox, because the user said so. It ends with the call all the
/// same, as far as that can be done from here.
fn without_sandbox(plan: &Plan, streams: Streams, control: &UnixStream) -> Result<(), Failure> {
    let Some(start) = &plan.program else {
        return Ok(());
    };
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
        .map_err(|error| Failure::NotStarted(format!("cannot adopt orphans: {error}")))?;
    let mut command = command(start, streams);
    let process_limits = plan.limits;
    // SAFETY: as above.
    unsafe { command.pre_exec(move || limits::without_namespace(&process_limits)) };
    run(command, start, control, |program| {
        let exit = supervise::without_namespace(control, program);
        supervise::end_children();
        exit
    })
}

fn command(start: &Start, [stdin, stdout, stderr]: Streams) -> Command {
    let mut command = Command::new(&start.program);
    command
        .arg0(&start.name)
        .args(&start.arguments)
        .env_clear()
        .envs(start.environment.iter().map(|(name, value)| (name, value)))
        .current_dir(&start.directory)
        .stdin(Stdio::from(stdin))
        .stdout(Stdio::from(stdout))
        .stderr(Stdio::from(stderr));
    command
}

fn run(
    mut command: Command,
    start: &Start,
    control: &UnixStream,
    supervise: impl FnOnce(Pid) -> Option<Exit>,
) -> Result<(), Failure> {
    let spawned = command.spawn();
    // The streams go with it: the program alone holds them.
    drop(command);
    let child = spawned.map_err(|error| {
        Failure::NotStarted(format!(
            "cannot start `{}` in `{}`: {error}",
            start.program.display(),
            start.directory.display()
        ))
    })?;
    let program = Pid::from_child(&child);
    wire::report(control, &Report::Started);
    if let Some(exit) = supervise(program) {
        wire::report(control, &Report::Ended(exit));
    }
    Ok(())
}

/// Makes the first process of the new process namespace; `None` in it.
fn fork() -> Result<Option<Pid>, Failure> {
    // SAFETY: this process has one thread, so that the child is a whole copy of it.
    let child = unsafe { libc::fork() };
    match child {
        0 => Ok(None),
        child if child > 0 => Ok(Pid::from_raw(child)),
        _ => Err(at(Layer::ProcessNamespace, "make its first process")(
            std::io::Error::last_os_error(),
        )),
    }
}

/// Ends a process; it may have ended already.
fn end(process: Pid) {
    let _ = rustix::process::kill_process(process, Signal::KILL);
}

/// A descriptor that becomes readable when the process has ended.
fn watch_end(process: Pid) -> rustix::io::Result<OwnedFd> {
    rustix::process::pidfd_open(process, rustix::process::PidfdFlags::empty())
}
