//! How native processes are set up, once a process of hotcell.
//!
//! Owns the plain values that everything else here is made from. They come from the settings, the
//! wiring and tests. It must never hold what a single call may: that is its grant.

use super::layers::Layers;
use super::plan::ProcessLimits;
use super::private::PrivateDirectory;
use std::path::PathBuf;
use std::sync::Arc;

/// How native processes are set up.
#[derive(Debug, Clone, Default)]
pub struct ProcessSettings {
    /// The binary that builds the sandbox: hotcell itself, by an absolute path.
    pub launcher: PathBuf,
    /// The workspace, canonical. No program is taken from it.
    pub workspace: PathBuf,
    /// Names of programs, for acting and for looking.
    pub programs: Vec<String>,
    /// Where programs are looked for.
    pub search_path: Vec<PathBuf>,
    /// What processes can read and run beside the system's own directories: toolchains.
    pub read_paths: Vec<PathBuf>,
    /// The user's cargo home. Its downloaded sources can be read, and nothing else of it.
    pub cargo_home: Option<PathBuf>,
    /// Variables that every process gets.
    pub environment: Vec<(String, String)>,
    /// The program that the user wants command lines to be run by, where it is not the tool's own.
    pub shell: Option<String>,
    /// What the processes of one spawn may use.
    pub limits: ProcessLimits,
    /// What the machine gives; found out before the first process where it is not known.
    pub layers: Option<Layers>,
    /// The private directory of the session. Without one, processes have one of their own.
    pub private: Option<Arc<PrivateDirectory>>,
    /// No sandbox at all: the user asked for that, and is told in every run.
    pub without_sandbox: bool,
}
