//! A home and a workspace of their own for one test, and the binary in them.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;
use tempfile::TempDir;

/// After this a program counts as hanging. Far more than any test takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(300);

/// Where and with what the binary runs. Removed with the value.
pub struct Bench {
    root: TempDir,
    variables: Vec<(String, String)>,
}

/// What the binary did.
#[derive(Debug)]
pub struct Ended {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Bench {
    pub fn new() -> Self {
        let root = tempfile::tempdir().expect("temporary directory");
        fs::create_dir_all(root.path().join("home/.config/hotcell")).expect("home");
        fs::create_dir_all(root.path().join("work")).expect("workspace");
        Bench {
            root,
            variables: Vec::new(),
        }
    }

    pub fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Writes a file below the root of the test.
    pub fn file(self, path: &str, text: &str) -> Self {
        fs::write(self.root.path().join(path), text).expect("file");
        self
    }

    pub fn directory(self, path: &str) -> Self {
        fs::create_dir_all(self.root.path().join(path)).expect("directory");
        self
    }

    /// As a user does who knows the workspace.
    pub fn trusted(self) -> Self {
        let ended = self.run(&["trust"]);
        assert_eq!(ended.code, Some(0), "{}", ended.err);
        self
    }

    pub fn work(&self) -> PathBuf {
        self.root.path().join("work")
    }

    /// Runs the binary in the workspace, with nothing on standard input.
    pub fn run(&self, arguments: &[&str]) -> Ended {
        let mut command = self.command(arguments);
        command.stdin(Stdio::null());
        self.spawn(command).end()
    }

    /// Runs a script of these turns, without the brackets around them.
    pub fn scripted(&self, turns: &str, flags: &[&str]) -> Ended {
        let script = self.script(turns);
        let mut arguments = vec!["run", "a prompt", "--script", &script];
        arguments.extend(flags);
        self.run(&arguments)
    }

    /// A script of these turns beside the workspace.
    pub fn script(&self, turns: &str) -> String {
        let path = self.root.path().join("script.yaml");
        fs::write(&path, format!("turns: [{turns}]\n")).expect("script");
        path.display().to_string()
    }

    /// The binary with an environment of its own. Only compiled code is shared between tests.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hotcell"));
        command
            .args(arguments)
            .current_dir(self.work())
            .env_clear()
            .env("HOME", self.root.path().join("home"))
            .env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"))
            .envs(self.variables.iter().cloned())
            .stdin(Stdio::piped());
        command
    }

    pub fn spawn(&self, mut command: Command) -> Running {
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        Running {
            stdin: child.stdin.take(),
            out: child.stdout.take().map(BufReader::new),
            child,
        }
    }
}

/// The binary at work.
pub struct Running {
    /// Open until it is dropped.
    pub stdin: Option<ChildStdin>,
    /// What it says; taking it and dropping it closes the pipe.
    pub out: Option<BufReader<ChildStdout>>,
    child: Child,
}

impl Running {
    /// The lines of standard output up to the first that holds `part`.
    pub fn read_until(&mut self, part: &str) -> String {
        let out = self.out.as_mut().expect("the pipe is still open");
        let mut read = String::new();
        while !read.contains(part) {
            let count = out.read_line(&mut read).expect("text");
            assert!(count > 0, "it ended without {part:?}: {read}");
        }
        read
    }

    /// Sends SIGINT, as Ctrl+C does.
    #[cfg(unix)]
    pub fn interrupt(&self) {
        self.signal("INT");
    }

    /// Sends a signal by its name.
    #[cfg(unix)]
    pub fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let sent = Command::new("sh")
            .args(["-c", "kill -\"$0\" \"$1\"", name, &id])
            .status();
        assert!(sent.expect("a shell").success());
    }

    /// Waits for its end, with standard input as it is: open if it is open.
    pub fn end(mut self) -> Ended {
        let out = self.out.take();
        let mut err = self.child.stderr.take().expect("a pipe");
        let read_err = std::thread::spawn(move || {
            let mut text = String::new();
            err.read_to_string(&mut text).map(|_| text)
        });
        let read_out = std::thread::spawn(move || {
            let mut text = String::new();
            match out {
                Some(mut out) => out.read_to_string(&mut text).map(|_| text),
                None => Ok(text),
            }
        });
        let (sender, ended) = mpsc::channel();
        let id = self.child.id();
        std::thread::spawn(move || {
            // The test has given up when nobody receives.
            let _ = sender.send(self.child.wait());
        });
        let status = ended
            .recv_timeout(PATIENCE)
            .unwrap_or_else(|_| panic!("process {id} hangs"))
            .expect("it can be waited for");
        Ended {
            code: status.code(),
            out: read_out.join().expect("no panic").expect("text"),
            err: read_err.join().expect("no panic").expect("text"),
        }
    }
}
