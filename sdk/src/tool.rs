//! The trait an author implements, and the capabilities a tool can ask for.
//!
//! Owns the words of the contract's `capability` flags on the author's side. It must never know
//! what a capability opens: the host mounts, links and refuses.

use crate::{Answer, Call, ToolError};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt;

/// One tool: the struct is its arguments, its doc comment is what the model reads about it, and the
/// doc comments of its fields describe the arguments.
///
/// Put `#[serde(deny_unknown_fields)]` on the struct: a misspelt argument is then an error that the
/// model sees and corrects, where it would otherwise be dropped in silence.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a hotcell tool",
    label = "does not implement `hotcell_sdk::Tool`",
    note = "derive `Deserialize` and `JsonSchema` for the struct of its arguments and implement `hotcell_sdk::Tool`"
)]
pub trait Tool: DeserializeOwned + JsonSchema {
    /// The name by which the model calls it: `[a-z][a-z0-9_]{0,63}`, checked by
    /// [`export!`](crate::export!) when the component is compiled.
    const NAME: &'static str;

    /// Without all of these the tool is not offered. If they are all read-only
    /// ([`WorkspaceRead`](Capability::WorkspaceRead), [`SessionState`](Capability::SessionState),
    /// [`Skills`](Capability::Skills)) the tool is offered in plan mode too, and then given nothing
    /// else.
    const REQUIRES: &'static [Capability];

    /// Used when given; without them the tool does less and says so in its answer. Ask with
    /// [`Call::granted`].
    const ACCEPTS: &'static [Capability] = &[];

    /// Runs one call. Each call gets an instance of its own, so nothing kept in a static survives:
    /// what must, goes through [`Call::state_swap`].
    ///
    /// # Errors
    /// Whatever the model should read and act on. A panic is a crash of the tool: the host reports
    /// its message, but cannot say what to do about it.
    fn run(self, call: &Call<'_>) -> Result<Answer, ToolError>;
}

/// What a tool can be given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Capability {
    /// See files below the workspace, mounted at [`Call::workspace`].
    WorkspaceRead,
    /// Create, change and remove files below the workspace.
    WorkspaceWrite,
    /// Start native processes.
    Process,
    /// Open outgoing HTTP requests.
    Network,
    /// Keep small values for the session: [`Call::state_get`] and [`Call::state_swap`].
    SessionState,
    /// See installed skills, mounted at [`Call::skills`].
    Skills,
}

impl Capability {
    /// The name in configuration and messages, such as `workspace-read`.
    pub const fn name(self) -> &'static str {
        match self {
            Capability::WorkspaceRead => "workspace-read",
            Capability::WorkspaceWrite => "workspace-write",
            Capability::Process => "process",
            Capability::Network => "network",
            Capability::SessionState => "session-state",
            Capability::Skills => "skills",
        }
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
