//! Native programs of a call, while the shell goes on.
//!
//! Owns the running processes: the shell's commands ask for one through a [`Desk`], and
//! [`Programs::serve`] starts it and carries bytes to it and from it. They are apart because a
//! command of bashkit may not borrow anything, and a process belongs to the call. Nothing here waits
//! for one process: two ends of a pipe, the clock of the shell and a background command all go on.
//!
//! It must never know what a command line said, or where output goes.

use crate::shell::{TEMPORARY, WORKSPACE};
use hotcell_sdk::{Call, Capability, Command, Exit, Piece, Process, Stream, ToolError};
use std::convert::Infallible;
use std::future::pending;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{self, error::TryRecvError};
use tokio::sync::oneshot;

/// Pieces on their way between a command and its process, in each direction. A piece of input is
/// what bashkit's pipes hold, 4 KiB; one of output at most 64 KiB.
const PIECES: usize = 4;

/// Bounds of a pause while no process moves: see [`pause`].
const SHORTEST_PAUSE: Duration = Duration::from_micros(100);
/// See [`SHORTEST_PAUSE`].
const LONGEST_PAUSE: Duration = Duration::from_millis(5);

/// What a call can start.
pub struct Programs<'a> {
    call: &'a Call<'a>,
    /// By name; `None` when the call may start nothing at all.
    names: Option<Vec<String>>,
}

impl<'a> Programs<'a> {
    /// Those of `call`.
    pub fn of(call: &'a Call<'a>) -> Programs<'a> {
        Programs {
            call,
            names: call.granted(Capability::Process).then(|| call.programs()),
        }
    }

    /// Their names; `None` when the call was not given the capability.
    pub fn names(&self) -> Option<&[String]> {
        self.names.as_deref()
    }

    /// Starts what is asked for and keeps it going, for ever. What still runs when this is dropped
    /// is ended.
    pub async fn serve(&self, mut requests: Requests) -> Infallible {
        let mut running: Vec<Running> = Vec::new();
        let mut moved_at = Instant::now();
        loop {
            if running.is_empty() {
                match requests.0.recv().await {
                    Some(request) => running.extend(self.start(request)),
                    // Nobody is left who could ask.
                    None => pending().await,
                }
                moved_at = Instant::now();
            }
            let mut has_moved = false;
            while let Ok(request) = requests.0.try_recv() {
                running.extend(self.start(request));
                has_moved = true;
            }
            running.retain_mut(|process| {
                let turn = process.turn();
                has_moved |= turn != Turn::Quiet;
                turn != Turn::Over
            });
            if has_moved {
                moved_at = Instant::now();
                tokio::task::yield_now().await;
                continue;
            }
            let pause = pause(moved_at.elapsed());
            if pause < Duration::from_millis(1) {
                // Shorter than the clock of the shell can tell.
                std::thread::sleep(pause);
                tokio::task::yield_now().await;
            } else {
                tokio::select! {
                    biased;
                    request = requests.0.recv() => {
                        running.extend(request.and_then(|request| self.start(request)));
                        moved_at = Instant::now();
                    }
                    () = tokio::time::sleep(pause) => {}
                }
            }
        }
    }

    /// Starts a process. None where it does not start: then the request was answered.
    fn start(&self, request: Request) -> Option<Running> {
        let directory = match &request.place {
            Place::Workspace(below) => self.call.workspace().join(below),
            Place::Temporary(below) => Path::new(TEMPORARY).join(below),
        };
        match self.call.start(&request.command.directory(directory)) {
            Ok(process) => Some(Running {
                process,
                input: Some(request.input),
                piece: Vec::new(),
                output: request.output,
                is_open: [true, true],
                end: Some(request.end),
            }),
            Err(error) => {
                // Who asked may be gone already.
                let _ = request.end.send(Err(error));
                None
            }
        }
    }
}

/// How long to look away when nothing has moved for `quiet`: an eighth of it, so that waiting adds
/// little to what a short program takes, and a long one costs little to watch. A pollable of the
/// host would do better for one process, and keep everything else from going on.
fn pause(quiet: Duration) -> Duration {
    (quiet / 8).clamp(SHORTEST_PAUSE, LONGEST_PAUSE)
}

/// Where commands ask for processes.
#[derive(Clone)]
pub struct Desk {
    requests: mpsc::UnboundedSender<Request>,
    /// Whether `/tmp` is the same for programs.
    has_temporary: bool,
}

/// What was asked for at a [`Desk`].
pub struct Requests(mpsc::UnboundedReceiver<Request>);

/// A desk, and what is asked for there. `has_temporary` says whether programs see the shell's `/tmp`.
pub fn desk(has_temporary: bool) -> (Desk, Requests) {
    // As many as there are commands that wait for the answer: bashkit bounds those.
    let (ask, requests) = mpsc::unbounded_channel();
    let desk = Desk {
        requests: ask,
        has_temporary,
    };
    (desk, Requests(requests))
}

/// A directory that programs see as well.
enum Place {
    Workspace(PathBuf),
    Temporary(PathBuf),
}

struct Request {
    command: Command,
    place: Place,
    input: mpsc::Receiver<Vec<u8>>,
    output: mpsc::Sender<(Stream, Vec<u8>)>,
    end: oneshot::Sender<Result<Exit, ToolError>>,
}

/// The command's side of a process. Dropping it ends the process.
pub struct Ends {
    /// Takes its input; dropping this is the end of it.
    pub input: mpsc::Sender<Vec<u8>>,
    /// Brings its output, until it has ended.
    pub output: mpsc::Receiver<(Stream, Vec<u8>)>,
    /// How it ended, or why it did not start.
    pub end: oneshot::Receiver<Result<Exit, ToolError>>,
}

impl Desk {
    /// Asks for a process in `directory`, a path of the shell.
    ///
    /// # Errors
    /// When the directory is not below the workspace: there is none like it for a process.
    pub fn ask(&self, command: Command, directory: &Path) -> Result<Ends, OutsideWorkspace> {
        let below = |mount: &str| directory.strip_prefix(mount).ok().map(Path::to_owned);
        let place = below(WORKSPACE)
            .map(Place::Workspace)
            .or_else(|| {
                below(TEMPORARY)
                    .filter(|_| self.has_temporary)
                    .map(Place::Temporary)
            })
            .ok_or(OutsideWorkspace)?;
        let (input, to_process) = mpsc::channel(PIECES);
        let (from_process, output) = mpsc::channel(PIECES);
        let (answer, end) = oneshot::channel();
        let request = Request {
            command,
            place,
            input: to_process,
            output: from_process,
            end: answer,
        };
        // Where nobody serves any more, `end` says so.
        let _ = self.requests.send(request);
        Ok(Ends { input, output, end })
    }
}

/// The directory of a shell that no process can work in.
#[derive(Debug)]
pub struct OutsideWorkspace;

/// A process, with what is on its way to it.
struct Running {
    process: Process,
    /// None when it takes or gets no more.
    input: Option<mpsc::Receiver<Vec<u8>>>,
    /// What was taken from `input` and not passed on yet.
    piece: Vec<u8>,
    output: mpsc::Sender<(Stream, Vec<u8>)>,
    is_open: [bool; 2],
    /// None once it was told.
    end: Option<oneshot::Sender<Result<Exit, ToolError>>>,
}

/// What came of looking at a process.
#[derive(PartialEq, Eq)]
enum Turn {
    /// Nothing.
    Quiet,
    /// Bytes went one way or the other.
    Moved,
    /// It is at its end, or nobody waits for it.
    Over,
}

impl Running {
    fn turn(&mut self) -> Turn {
        if self.output.is_closed() {
            return Turn::Over;
        }
        let mut has_moved = self.feed();
        has_moved |= self.hear();
        if self.is_open == [false, false]
            && let Some(exit) = self.process.exit()
        {
            if let Some(end) = self.end.take() {
                let _ = end.send(Ok(exit));
            }
            return Turn::Over;
        }
        if has_moved { Turn::Moved } else { Turn::Quiet }
    }

    /// Passes input on while there is some and room for it. Whether anything moved.
    fn feed(&mut self) -> bool {
        let mut has_moved = false;
        while let Some(input) = &mut self.input {
            if self.piece.is_empty() {
                match input.try_recv() {
                    Ok(piece) => self.piece = piece,
                    Err(TryRecvError::Empty) => break,
                    Err(TryRecvError::Disconnected) => {
                        if !self.process.close_input() {
                            break;
                        }
                        self.input = None;
                        return true;
                    }
                }
            }
            match self.process.offer(&self.piece) {
                Some(0) => break,
                Some(taken) => {
                    self.piece.drain(..taken);
                }
                None => {
                    self.piece.clear();
                    self.input = None;
                    self.process.close_input();
                }
            }
            has_moved = true;
        }
        has_moved
    }

    /// Takes output while somebody has room for it. Whether anything moved.
    fn hear(&mut self) -> bool {
        let mut has_moved = false;
        for (index, stream) in [Stream::Stdout, Stream::Stderr].into_iter().enumerate() {
            while self.is_open[index] {
                let Ok(room) = self.output.try_reserve() else {
                    break;
                };
                match self.process.take(stream) {
                    Piece::Bytes(bytes) => room.send((stream, bytes)),
                    Piece::NothingYet => break,
                    Piece::End => self.is_open[index] = false,
                }
                has_moved = true;
            }
        }
        has_moved
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_grows_with_the_quiet_and_stays_short() {
        let cases = [
            (0, 100),
            (400, 100),
            (1_600, 200),
            (8_000, 1_000),
            (60_000_000, 5_000),
        ];
        for (quiet, expected) in cases {
            let pause = pause(Duration::from_micros(quiet));
            assert_eq!(pause.as_micros(), expected, "{quiet}");
        }
    }
}
