//! Waiting for the end, and bringing it about.
//!
//! Owns the two watches: the launcher's over the first process of the namespace, and that one's
//! over the program. Each ends when what is above it has gone, whatever the program does. It must
//! never wait for anything but an end.

use super::{Failure, end, watch_end};
use crate::process::child::Exit;
use crate::process::plan::Report;
use crate::process::wire;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, waitpid};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::Path;

/// How often the first process of a namespace takes in orphans that have ended.
const ROUND: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 100_000_000,
};

/// Makes the first process end with the launcher.
pub(super) fn end_with_launcher(launcher_alive: impl AsFd) -> Result<(), Failure> {
    let failed = |error: Errno| Failure::NotStarted(format!("cannot follow the launcher: {error}"));
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).map_err(failed)?;
    // It may have gone before the line above: then the other end of its pipe is closed.
    let mut pipe = [PollFd::new(&launcher_alive, PollFlags::IN)];
    let at_once = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    match poll(&mut pipe, Some(&at_once)).map_err(failed)? {
        0 => Ok(()),
        _ => Err(failed(Errno::PIPE)),
    }
}

/// The launcher: waits for the first process, or for the host to hang up, and ends it then.
pub(super) fn watch(control: &UnixStream, first: Pid) {
    match watch_end(first) {
        Ok(ended) => wait_for_either(control, &ended),
        Err(_) => end(first),
    }
    end(first);
    // Returns when everything in the namespace is gone.
    let _ = wait(first);
}

fn wait_for_either(control: &UnixStream, ended: impl AsFd) {
    let mut either = [
        PollFd::new(control, PollFlags::IN | PollFlags::RDHUP),
        PollFd::new(&ended, PollFlags::IN),
    ];
    while let Err(Errno::INTR) = poll(&mut either, None) {}
}

/// The first process: waits for the program, takes in orphans, and counts where it must.
pub(super) fn first_process(control: &UnixStream, program: Pid, most: Option<u64>) -> Option<Exit> {
    let ended = watch_end(program).ok()?;
    loop {
        let mut program_ended = [PollFd::new(&ended, PollFlags::IN)];
        match poll(&mut program_ended, Some(&ROUND)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => return None,
        }
        // Whoever has ended: the program, or one that it left behind.
        while let Some((process, status)) = waitpid(None, WaitOptions::NOHANG).ok()? {
            if process == program {
                return exit(status);
            }
        }
        if let Some(most) = most
            && count(Path::new("/proc")) > most
        {
            wire::report(control, &Report::TooMany(most));
            return None;
        }
    }
}

/// Without a namespace: the launcher waits for the program itself.
pub(super) fn without_namespace(control: &UnixStream, program: Pid) -> Option<Exit> {
    let ended = watch_end(program).ok()?;
    wait_for_either(control, &ended);
    match waitpid(Some(program), WaitOptions::NOHANG) {
        Ok(Some((_, status))) => exit(status),
        _ => None,
    }
}

/// Ends all children of this process, which adopts theirs, until there are none.
pub(super) fn end_children() {
    loop {
        let own = rustix::process::getpid().as_raw_nonzero();
        let list = std::fs::read_to_string(format!("/proc/self/task/{own}/children"));
        let children = list.unwrap_or_default();
        for child in children.split_whitespace() {
            if let Some(child) = child.parse().ok().and_then(Pid::from_raw) {
                end(child);
            }
        }
        match rustix::process::wait(WaitOptions::empty()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => return,
        }
    }
}

fn wait(process: Pid) -> Option<Exit> {
    loop {
        match waitpid(Some(process), WaitOptions::empty()) {
            Ok(Some((_, status))) => return exit(status),
            Err(Errno::INTR) => {}
            Ok(None) | Err(_) => return None,
        }
    }
}

fn exit(status: WaitStatus) -> Option<Exit> {
    let byte = |number: i32| u8::try_from(number).ok();
    status
        .exit_status()
        .and_then(byte)
        .map(Exit::Code)
        .or_else(|| status.terminating_signal().and_then(byte).map(Exit::Signal))
}

/// Threads and processes that `proc` shows.
fn count(proc: &Path) -> u64 {
    let processes = std::fs::read_dir(proc).into_iter().flatten().flatten();
    processes
        .filter(|entry| {
            let name = entry.file_name();
            name.as_encoded_bytes()
                .first()
                .is_some_and(u8::is_ascii_digit)
        })
        .map(|process| {
            std::fs::read_dir(process.path().join("task"))
                .map_or(1, |threads| threads.count() as u64)
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_and_their_threads_are_counted() {
        let temp = tempfile::tempdir().expect("temporary directory");
        for path in ["1/task/1", "27/task/27", "27/task/28", "sys/kernel", "self"] {
            std::fs::create_dir_all(temp.path().join(path)).expect("directory");
        }
        std::fs::create_dir(temp.path().join("300")).expect("directory");
        assert_eq!(count(temp.path()), 4);
    }
}
