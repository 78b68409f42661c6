//! A command line by the system's bash, where the user wants that.
//!
//! Owns how bash is started, and how the directory it ends in is learned. Everything else is the
//! host's: the sandbox, the limits, and the end of whatever bash leaves behind. It must never know
//! how an answer is worded.

use crate::shell::{End, Ending, Start, WORKSPACE};
use crate::transcript::{Stream, Transcript};
use hotcell_sdk::{Call, Command, Exit, Piece, Process, ToolError};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What bash is started with. Both streams are one, so that they keep their order. The script is an
/// argument, so that it needs no quoting; the last thing that bash does is to tell its directory,
/// between marks that no text holds. A script that sets a trap for its end, or closes the stream, is not followed.
const PRELUDE: &str =
    "exec 2>&1\ntrap 'printf \"\\0cwd=%s\\0\" \"$PWD\" >&2' EXIT\neval \"set --\n$1\"";

/// What comes before the directory, and after it.
const MARK: &[u8] = b"\0cwd=";
const END: u8 = 0;

/// The longest directory that is told.
const LONGEST: usize = 4_096;

/// Bounds of a pause while bash says nothing: an eighth of the quiet, so that waiting adds little
/// to a short command and a long one costs little to watch.
const SHORTEST_PAUSE: Duration = Duration::from_micros(100);
/// See [`SHORTEST_PAUSE`].
const LONGEST_PAUSE: Duration = Duration::from_millis(5);

/// Runs `script` by the program `shell`, and hands what it prints to `output`.
///
/// # Errors
/// When it does not start.
pub fn run(
    shell: &str,
    script: &str,
    call: &Call<'_>,
    start: &Start<'_>,
    output: &Arc<Mutex<Transcript<'static>>>,
) -> Result<End, ToolError> {
    let began = Instant::now();
    let place = place(call, start.directory);
    let command = Command::new(shell)
        .args(["-c", PRELUDE, "bash", script])
        .directory(place.unwrap_or_else(|| call.workspace()));
    let mut process = call.start(&command)?;
    let mut printed = Printed::default();
    let ended = follow(&mut process, began + start.timeout, |stream, bytes| {
        let shown = match stream {
            hotcell_sdk::Stream::Stdout => (Stream::Out, printed.take(bytes)),
            hotcell_sdk::Stream::Stderr => (Stream::Err, bytes.to_vec()),
        };
        let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
        output.push(shown.0, &shown.1);
        // Bash itself put it in order: nothing is waited for.
        output.round();
        output.round();
    });
    if ended.is_none() {
        process.kill();
    }
    let (rest, directory) = printed.end();
    let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
    output.push(Stream::Out, &rest);
    Ok(End {
        ending: match ended {
            Some(exit) => Ending::Exited(i32::from(exit.status())),
            None => Ending::TimedOut,
        },
        started_elsewhere: place.is_none(),
        directory: ended.and(directory),
        modes_changed: false,
    })
}

/// The directory to begin in; `None` where it is not there any more, or not for programs.
fn place<'a>(call: &'a Call<'_>, directory: &'a str) -> Option<&'a Path> {
    if directory == WORKSPACE {
        return Some(call.workspace());
    }
    let directory = Path::new(directory);
    let is_known = directory.starts_with(call.workspace())
        || call
            .temporary()
            .is_some_and(|one| directory.starts_with(one));
    (is_known && directory.is_dir()).then_some(directory)
}

/// Hands on what the program writes until it ends; `None` when the time was over first.
fn follow(
    process: &mut Process,
    until: Instant,
    mut heard: impl FnMut(hotcell_sdk::Stream, &[u8]),
) -> Option<Exit> {
    let mut moved_at = Instant::now();
    let mut is_open = [true, true];
    let mut has_input = true;
    loop {
        let now = Instant::now();
        if now >= until {
            return None;
        }
        // There is none, but its end takes its time.
        has_input = has_input && !process.close_input();
        let mut has_moved = false;
        let streams = [hotcell_sdk::Stream::Stdout, hotcell_sdk::Stream::Stderr];
        for (open, stream) in is_open.iter_mut().zip(streams).filter(|(open, _)| **open) {
            match process.take(stream) {
                Piece::Bytes(bytes) => {
                    has_moved = true;
                    heard(stream, &bytes);
                }
                Piece::NothingYet => {}
                Piece::End => *open = false,
            }
        }
        if is_open == [false, false]
            && let Some(exit) = process.exit()
        {
            return Some(exit);
        }
        if has_moved {
            moved_at = now;
        } else {
            let pause = (now - moved_at) / 8;
            std::thread::sleep(pause.clamp(SHORTEST_PAUSE, LONGEST_PAUSE));
        }
    }
}

/// What is printed, without what bash tells of its directory.
#[derive(Default)]
struct Printed {
    /// From what may be a mark on.
    held: Vec<u8>,
}

impl Printed {
    /// What can be shown of what was written so far.
    fn take(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.held.extend_from_slice(bytes);
        let from = self.mark().unwrap_or(self.held.len());
        let shown = self.held.drain(..from).collect();
        if self.held.len() > MARK.len() + LONGEST {
            return [shown, std::mem::take(&mut self.held)].concat();
        }
        shown
    }

    /// Where the last mark begins, with nothing after its end, or what may become one.
    fn mark(&self) -> Option<usize> {
        let places = || (0..self.held.len()).rev();
        let whole = places().find(|at| self.held[*at..].starts_with(MARK));
        let is_last = |at: &usize| {
            let rest = &self.held[*at + MARK.len()..];
            let end = rest.iter().position(|byte| *byte == END);
            end.is_none_or(|end| end + 1 == rest.len())
        };
        whole
            .filter(is_last)
            .or_else(|| places().find(|at| MARK.starts_with(&self.held[*at..])))
    }

    /// What is left to be shown, and the directory if it was told.
    fn end(self) -> (Vec<u8>, Option<String>) {
        let told = self
            .held
            .strip_prefix(MARK)
            .and_then(|rest| rest.strip_suffix(&[END]));
        let directory = told.and_then(|path| String::from_utf8(path.to_vec()).ok());
        match directory {
            Some(directory) if directory.starts_with('/') => (Vec::new(), Some(directory)),
            _ => (self.held, None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_directory_is_found_at_the_end_and_the_rest_is_shown() {
        let cases: [(&[&[u8]], &str, Option<&str>); 7] = [
            (&[b"\0cwd=/workspace\0"], "", Some("/workspace")),
            (&[b"an error\n\0cwd=/a b\0"], "an error\n", Some("/a b")),
            (&[b"x", b"\0", b"cwd", b"=/a", b"\0"], "x", Some("/a")),
            (
                &[b"\0cwd=/fake\0 and more\n\0cwd=/a\0"],
                "\0cwd=/fake\0 and more\n",
                Some("/a"),
            ),
            (&[b"\0cw", b"x"], "\0cwx", None),
            (&[b"\0cwd=/cut"], "\0cwd=/cut", None),
            (&[b"\0cwd=relative\0"], "\0cwd=relative\0", None),
        ];
        for (pieces, shown, directory) in cases {
            let mut printed = Printed::default();
            let mut text: Vec<u8> = pieces
                .iter()
                .flat_map(|piece| printed.take(piece))
                .collect();
            let (rest, found) = printed.end();
            text.extend(rest);
            assert_eq!(text, shown.as_bytes(), "{pieces:?}");
            assert_eq!(found.as_deref(), directory, "{pieces:?}");
        }
    }
}
