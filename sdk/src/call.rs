//! One running call, as the tool sees it: where its files are, what it was given, how long it has.
//!
//! Owns the arithmetic of paths between what a model writes and what the tool opens. That is a
//! convenience with good messages and not the boundary: the sandbox holds whatever this lets pass.

use crate::host::{Backend, Host};
use crate::process::{self, Command, Finished, Process};
use crate::{Capability, StateError, ToolError};
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, Instant};

/// Where the host mounts the workspace, and what the model may write in front of a path.
const WORKSPACE: &str = "/workspace";

/// The call that is running.
pub struct Call<'host> {
    host: &'host Host,
    facts: Facts,
    started: Instant,
}

/// What is fixed for a call when it starts.
pub(crate) struct Facts {
    pub(crate) workspace: PathBuf,
    pub(crate) temporary: Option<PathBuf>,
    pub(crate) skills: PathBuf,
    pub(crate) granted: Vec<Capability>,
    pub(crate) call_id: String,
    pub(crate) session_id: String,
    pub(crate) deadline: Duration,
}

/// A value of session state, with the version to name when it is replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Versioned {
    /// What was stored.
    pub value: Vec<u8>,
    /// Never 0, which stands for an absent value.
    pub version: u64,
}

impl<'host> Call<'host> {
    pub(crate) fn new(host: &'host Host, facts: Facts) -> Self {
        Call {
            host,
            facts,
            started: Instant::now(),
        }
    }

    /// The root of the workspace: `/workspace` in a component, a directory of the test natively.
    pub fn workspace(&self) -> &Path {
        &self.facts.workspace
    }

    /// The directory that the calls and the native programs of a session have in common: `/tmp` in
    /// a component. `None` without [`Capability::WorkspaceWrite`], or where the host has none.
    pub fn temporary(&self) -> Option<&Path> {
        // Where the host gives one, it is there.
        let path = self.facts.temporary.as_deref();
        path.filter(|path| path.is_dir())
    }

    /// The directory of installed skills: `/skills` in a component.
    pub fn skills(&self) -> &Path {
        &self.facts.skills
    }

    /// The file that `path` names: relative to the workspace, or absolute below `/workspace`. `.`
    /// and `..` are resolved by the text alone, so the result is the same whatever links there are.
    /// Nothing is opened, and the file need not exist.
    ///
    /// # Errors
    /// [`InvalidArguments`](crate::ErrorKind::InvalidArguments) for an empty path or one with a NUL
    /// character; [`Denied`](crate::ErrorKind::Denied) for a path that leaves the workspace, and for
    /// any path when the call was given no workspace.
    pub fn resolve(&self, path: &str) -> Result<PathBuf, ToolError> {
        if !self.granted(Capability::WorkspaceRead) && !self.granted(Capability::WorkspaceWrite) {
            return Err(ToolError::denied(format!(
                "`{path}`: this call was given no files; it needs the workspace-read capability"
            )));
        }
        if path.is_empty() {
            return Err(ToolError::invalid_arguments(
                "the path is empty; `.` names the workspace itself",
            ));
        }
        if path.contains('\0') {
            return Err(ToolError::invalid_arguments(format!(
                "`{}`: a path cannot hold a NUL character",
                path.escape_debug()
            )));
        }
        let outside = || {
            ToolError::denied(format!(
                "`{path}` is outside the workspace; name a path relative to it or below {WORKSPACE}"
            ))
        };
        let given = Path::new(path);
        let relative = if given.has_root() {
            given
                .strip_prefix(WORKSPACE)
                .or_else(|_| given.strip_prefix(&self.facts.workspace))
                .map_err(|_| outside())?
        } else {
            given
        };
        let mut resolved = self.facts.workspace.clone();
        let mut depth = 0_usize;
        for component in relative.components() {
            match component {
                Component::Normal(name) => {
                    resolved.push(name);
                    depth += 1;
                }
                Component::ParentDir => {
                    depth = depth.checked_sub(1).ok_or_else(outside)?;
                    resolved.pop();
                }
                Component::CurDir => {}
                Component::RootDir | Component::Prefix(_) => return Err(outside()),
            }
        }
        Ok(resolved)
    }

    /// How to show `path` to the model: relative to the workspace, with `/` between the names, and
    /// `.` for the workspace itself. Bytes that are no UTF-8 become `U+FFFD`.
    pub fn display(&self, path: &Path) -> String {
        let relative = path.strip_prefix(&self.facts.workspace).unwrap_or(path);
        if relative.as_os_str().is_empty() {
            return ".".to_owned();
        }
        let text = relative.to_string_lossy();
        if cfg!(windows) {
            text.replace('\\', "/")
        } else {
            text.into_owned()
        }
    }

    /// Whether this call has the capability. What [`Tool::REQUIRES`](crate::Tool::REQUIRES) names
    /// is always there; what [`Tool::ACCEPTS`](crate::Tool::ACCEPTS) names may not be.
    pub fn granted(&self, capability: Capability) -> bool {
        self.facts.granted.contains(&capability)
    }

    /// The id that the model gave the call.
    pub fn call_id(&self) -> &str {
        &self.facts.call_id
    }

    /// The session this call belongs to.
    pub fn session_id(&self) -> &str {
        &self.facts.session_id
    }

    /// The wall clock that the call had when it started. The host ends it then, without an answer.
    pub fn deadline(&self) -> Duration {
        self.facts.deadline
    }

    /// What is left of [`deadline`](Call::deadline). A tool that can stop early with a partial
    /// answer should do so while there is still something left to write it with.
    pub fn time_left(&self) -> Duration {
        self.facts.deadline.saturating_sub(self.started.elapsed())
    }

    /// The value stored under `key`, if there is one. Needs [`Capability::SessionState`]. Keys are
    /// the component's own: no other component sees them.
    ///
    /// # Errors
    /// [`StateError::Unavailable`] when the capability was not given or the store does not answer.
    pub fn state_get(&self, key: &str) -> Result<Option<Versioned>, StateError> {
        self.host.state_get(key)
    }

    /// Stores `value` under `key` if the version there is still `expected` (0: nothing is stored),
    /// and answers with the new version. Needs [`Capability::SessionState`].
    ///
    /// # Errors
    /// [`StateError::Conflict`] when another call was faster; the other variants when the host does
    /// not take the value.
    pub fn state_swap(&self, key: &str, value: &[u8], expected: u64) -> Result<u64, StateError> {
        self.host.state_swap(key, value, expected)
    }

    /// The native programs that this call can start, by name. None without
    /// [`Capability::Process`].
    pub fn programs(&self) -> Vec<String> {
        self.host.programs()
    }

    /// The program by which the user wants command lines to be run; `None` where they are the
    /// tool's own matter. For a tool that runs command lines.
    pub fn shell(&self) -> Option<String> {
        self.host.shell()
    }

    /// Starts a native program in the sandbox of the host. Needs [`Capability::Process`]. It ends
    /// with the call at the latest.
    ///
    /// # Errors
    /// [`Denied`](crate::ErrorKind::Denied) when the capability was not given, or a rule forbids
    /// the program, its directory or a variable; [`NotFound`](crate::ErrorKind::NotFound) when it
    /// is not installed; [`Failed`](crate::ErrorKind::Failed) when the system cannot start it.
    pub fn start(&self, command: &Command) -> Result<Process, ToolError> {
        self.host.start(command)
    }

    /// Runs a native program to its end, with `input` as its standard input. It is ended when it
    /// writes more than `most` bytes, both streams together.
    ///
    /// # Errors
    /// Those of [`start`](Call::start); [`Failed`](crate::ErrorKind::Failed) when the program wrote
    /// too much. An exit status other than 0 is no error.
    pub fn run(&self, command: &Command, input: &[u8], most: usize) -> Result<Finished, ToolError> {
        process::run(self.start(command)?, input, most)
    }

    /// Shows one line to the person who watches, while the call still runs. The model does not see
    /// it. The host may drop lines when there are too many.
    pub fn report(&self, line: &str) {
        self.host.report(line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    fn call_with<'host>(host: &'host Host, granted: &[Capability]) -> Call<'host> {
        Call::new(
            host,
            Facts {
                temporary: None,
                workspace: PathBuf::from("/tmp/ws"),
                skills: PathBuf::from("/skills"),
                granted: granted.to_vec(),
                call_id: String::new(),
                session_id: String::new(),
                deadline: Duration::from_secs(1),
            },
        )
    }

    #[test]
    fn paths_below_the_workspace_resolve_and_read_back() {
        let host = Host::default();
        let call = call_with(&host, &[Capability::WorkspaceRead]);
        let table = [
            ("a.txt", "/tmp/ws/a.txt", "a.txt"),
            ("./src//lib.rs", "/tmp/ws/src/lib.rs", "src/lib.rs"),
            ("src/../a.txt", "/tmp/ws/a.txt", "a.txt"),
            ("src/", "/tmp/ws/src", "src"),
            (".", "/tmp/ws", "."),
            ("/workspace", "/tmp/ws", "."),
            ("/workspace/a b", "/tmp/ws/a b", "a b"),
            ("/tmp/ws/a", "/tmp/ws/a", "a"),
            ("..a/...", "/tmp/ws/..a/...", "..a/..."),
        ];
        for (path, resolved, shown) in table {
            let found = call.resolve(path).expect(path);
            assert_eq!(found, Path::new(resolved), "{path}");
            assert_eq!(call.display(&found), shown, "{path}");
        }
    }

    #[test]
    fn paths_that_leave_the_workspace_are_refused() {
        let host = Host::default();
        let call = call_with(&host, &[Capability::WorkspaceWrite]);
        for path in [
            "..",
            "../ws-evil/f",
            "a/../../ws/a",
            "/",
            "/etc/passwd",
            "/workspace-evil/f",
            "/workspace/../etc/passwd",
            "/tmp/ws2",
        ] {
            let error = call.resolve(path).expect_err(path);
            assert_eq!(error.kind(), ErrorKind::Denied, "{path}");
            assert!(error.message().contains(path), "{error}");
        }
        for path in ["", "a\0b"] {
            let error = call.resolve(path).expect_err("refused");
            assert_eq!(error.kind(), ErrorKind::InvalidArguments, "{path:?}");
        }
    }

    #[test]
    fn without_a_workspace_the_missing_capability_is_named() {
        let host = Host::default();
        let call = call_with(&host, &[Capability::Skills]);
        let error = call.resolve("a").expect_err("refused");
        assert_eq!(error.kind(), ErrorKind::Denied);
        assert!(error.message().contains("workspace-read"), "{error}");
    }
}
