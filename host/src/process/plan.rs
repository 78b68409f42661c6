//! What the host tells the launcher, and what the launcher tells back.
//!
//! Owns the plan of one process as plain data, and the reports about it. Both ends are the same
//! binary, so that there is no version to agree on. It must never hold a decision: whatever is in
//! a plan was decided by the host.

use super::child::Exit;
use super::layers::Layer;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What the processes of one spawn may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessLimits {
    /// Processes and threads at once, the first included.
    pub processes: u64,
    /// Bytes of the largest file a process can write.
    pub file_bytes: u64,
    /// Bytes of address space of each process. Reservations count, so this is far more than what
    /// is resident: runtimes of JavaScript and Go reserve gigabytes.
    pub address_space_bytes: u64,
    /// Descriptors each process can have open.
    pub open_files: u64,
}

impl Default for ProcessLimits {
    /// Room for a parallel build, and an end to a fork bomb or a runaway log.
    fn default() -> Self {
        ProcessLimits {
            processes: 512,
            file_bytes: 4 << 30,
            address_space_bytes: 64 << 30,
            open_files: 4_096,
        }
    }
}

/// What a launcher does.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Plan {
    pub limits: ProcessLimits,
    /// What the process sees. `None` only where the user asked for no sandbox.
    pub view: Option<View>,
    /// The program; without one the sandbox is built and left, which tells whether it can be.
    pub program: Option<Start>,
}

/// A program to start.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Start {
    /// The real path.
    pub program: PathBuf,
    /// As it was found; what a program that goes by its own name looks at.
    pub name: String,
    pub arguments: Vec<String>,
    pub environment: Vec<(String, String)>,
    pub directory: PathBuf,
}

/// What a process sees and may.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct View {
    pub workspace: Workspace,
    /// The directory that becomes `/tmp`; without one `/tmp` is empty, and gone after the process.
    pub temporary: Option<PathBuf>,
    /// The directory that becomes the home directory.
    pub home: PathBuf,
    /// Directories that are at the same place inside, before others below them.
    pub mounts: Vec<PathBuf>,
    /// Links that are at the same place inside, with what they hold.
    pub links: Vec<(PathBuf, PathBuf)>,
    /// What may be read and run, as paths inside.
    pub readable: Vec<PathBuf>,
    /// Whether the network of the machine is there.
    pub network: bool,
}

/// The workspace as a process sees it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Workspace {
    pub path: PathBuf,
    /// Where it is inside as well, beside its own path.
    pub mount: PathBuf,
    pub writable: bool,
    pub exceptions: Vec<Exception>,
}

/// A path in the workspace that is not like the others, parents before children.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Exception {
    /// Below the workspace.
    pub path: PathBuf,
    pub kind: ExceptionKind,
    pub is_directory: bool,
}

/// What is different about a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum ExceptionKind {
    /// It cannot be renamed, so that what it holds stays protected.
    Pinned,
    /// It cannot be changed.
    Protected,
    /// It is there, and empty.
    Masked,
}

/// What a launcher tells, one JSON line each.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Report {
    /// The program runs, or for a plan without one, every layer was built.
    Started,
    /// A layer could not be built; nothing was started.
    Lacking { layer: Layer, why: String },
    /// The program could not be started in the sandbox.
    NotStarted { why: String },
    /// The program has ended.
    Ended(Exit),
    /// The processes were ended, because there were too many.
    TooMany(u64),
}
