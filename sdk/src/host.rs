//! The seam to whoever runs the tool: the imports of a component, or the mock of a unit test.
//!
//! Which one is decided by the target and not by a trait object, so that a tool which never touches
//! session state or starts a program links without that import, and its component cannot even ask for it.

use crate::process::{Command, Process};
use crate::{StateError, ToolError, Versioned};

#[cfg(all(target_os = "wasi", target_env = "p2"))]
pub(crate) use crate::component::Imports as Host;
#[cfg(not(target_arch = "wasm32"))]
pub(crate) use crate::testing::MockImports as Host;

/// What the host offers to a running call.
pub(crate) trait Backend {
    fn state_get(&self, key: &str) -> Result<Option<Versioned>, StateError>;
    fn state_swap(&self, key: &str, value: &[u8], expected: u64) -> Result<u64, StateError>;
    fn report(&self, line: &str);
    fn programs(&self) -> Vec<String>;
    fn shell(&self) -> Option<String>;
    fn start(&self, command: &Command) -> Result<Process, ToolError>;
}
