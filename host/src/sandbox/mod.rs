//! Runs tool components: the one boundary between a tool and the machine.
//!
//! Owns everything that names wasmtime: the engine and its allocator, compiled code and its cache,
//! one fresh store a call, what a guest may import, and the translation of traps into failures a
//! model can read. It must never know what a tool is for, who asked for the call, or how a grant
//! was decided; WIT types and wasmtime types never leave it.

mod bindings;
mod cache;
mod call;
mod component;
mod failure;
mod imports;
mod inspect;
mod lane;
mod runtime;
mod state;
mod store;

pub use call::{CallFailure, CallOutcome, CallOutput, Invocation};
pub use component::{Component, LoadError};
pub use runtime::Allocator;
pub use state::{
    MAX_KEY_BYTES, MAX_VALUE_BYTES, MemoryState, QUOTA_BYTES, SessionState, StateError, Versioned,
};

use crate::process::Processes;
use runtime::Runtime;
use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

/// The version of the contract in `wit/` that this host speaks.
pub const CONTRACT: &str = "hotcell:tool@0.1.0";

/// How a sandbox is set up, once a process.
#[derive(Clone)]
pub struct SandboxSettings {
    /// Where compiled code is kept; made with mode 0700. `None` keeps nothing on disk.
    pub cache: Option<PathBuf>,
    /// The most calls that hold an instance at once; more wait for a slot. At least 1.
    pub slots: u32,
    /// The most linear memory that the limits of any call can ask for, in bytes.
    pub max_memory_bytes: u64,
    /// Whether to reserve address space for all slots up front. Falls back by itself where the
    /// reservation fails.
    pub pooling: bool,
    /// Where the values of the `state` import live.
    pub state: Arc<dyn SessionState>,
    /// The private directory of the session: at `/tmp` of the calls whose grant has that. `None`
    /// for no `/tmp`.
    pub temporary: Option<PathBuf>,
    /// Who starts native processes; `None` where there are none.
    pub processes: Option<Processes>,
}

impl Default for SandboxSettings {
    fn default() -> Self {
        SandboxSettings {
            cache: None,
            slots: 64,
            max_memory_bytes: 4 << 30,
            pooling: true,
            state: Arc::new(MemoryState::default()),
            temporary: None,
            processes: None,
        }
    }
}

/// The sandbox could not be set up on this machine.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// wasmtime refused its settings here.
    #[error("the WebAssembly engine cannot start on this machine: {0}")]
    Engine(String),
    /// The cache directory cannot be used safely.
    #[error(
        "the cache directory {path} cannot be used: {reason}; fix its owner and mode, or name another by XDG_CACHE_HOME"
    )]
    Cache {
        /// The directory.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
}

/// The sandbox of this process. Cheap to clone.
#[derive(Clone)]
pub struct Sandbox {
    runtime: Arc<Runtime>,
}

impl Sandbox {
    /// Starts the engine and opens the cache.
    ///
    /// # Errors
    /// When wasmtime cannot run here, or the cache directory belongs to somebody else or is open
    /// to others.
    pub fn new(settings: SandboxSettings) -> Result<Self, SandboxError> {
        Ok(Sandbox {
            runtime: Arc::new(Runtime::new(settings)?),
        })
    }

    /// Takes a component by its bytes. Nothing is compiled until [`Component::prepare`],
    /// [`Component::describe`] or [`Component::call`] asks for it.
    ///
    /// # Errors
    /// When the bytes are plainly no component: empty, a core module, or something else.
    pub fn load(&self, bytes: Cow<'static, [u8]>) -> Result<Component, LoadError> {
        Component::new(Arc::clone(&self.runtime), bytes)
    }

    /// How instances get their memory here.
    pub fn allocator(&self) -> Allocator {
        self.runtime.allocator
    }
}
