//! What a command must not reach and must not do: see the modules. Here is the place they work in.

mod faults;
mod files;
mod programs;
mod running;

use hotcell_sdk::testing::{MockHost, json};
use hotcell_sdk::{Capability, ErrorKind};
use hotcell_tool_bash::Bash;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::{Duration, Instant};

/// A workspace `ws` with a file, beside `outside` and `ws-evil` which nothing may reach.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        let place = tempfile::tempdir().expect("a temporary directory");
        for directory in ["ws/sub", "outside", "ws-evil"] {
            fs::create_dir_all(place.path().join(directory)).expect("a directory");
        }
        fs::write(place.path().join("ws/kept.txt"), "kept\n").expect("a file");
        fs::write(place.path().join("outside/secret"), "SECRET\n").expect("a file");
        fs::write(place.path().join("ws-evil/f"), "SECRET\n").expect("a file");
        Place(place)
    }

    fn workspace(&self) -> std::path::PathBuf {
        self.0.path().join("ws")
    }

    fn host(&self) -> MockHost {
        MockHost::new(self.workspace())
    }

    /// Every file outside of the workspace, with what is in it.
    fn outside(&self) -> Vec<(String, Vec<u8>)> {
        let mut files = Vec::new();
        for directory in ["outside", "ws-evil"] {
            for entry in fs::read_dir(self.0.path().join(directory)).expect("a directory") {
                let path = entry.expect("an entry").path();
                files.push((path.display().to_string(), fs::read(path).expect("a file")));
            }
        }
        files.sort();
        files
    }
}

fn run(host: &MockHost, command: &str) -> String {
    run_for(host, command, 20)
}

fn run_for(host: &MockHost, command: &str, secs: u64) -> String {
    host.call::<Bash>(json!({ "command": command, "timeout_secs": secs }))
        .expect("a command that fails is an answer")
        .to_text()
}

/// The answer without its last line, which holds the time.
fn printed(answer: &str) -> &str {
    answer.trim_end_matches(|c| c != '\n')
}

fn has_status(answer: &str, status: i32) -> bool {
    answer
        .lines()
        .last()
        .is_some_and(|l| l.starts_with(&format!("[exit status {status}, ")))
}
