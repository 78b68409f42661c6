//! The tools of a run, and what surrounds each call.
//!
//! Owns the registry of tools ([`Toolbox`]) and the way of a call: the name, the policy, the
//! arguments, the path locks, then the sandbox. Whatever goes wrong on that way is an observation
//! for the model, never an error of the run. It must never run a tool natively, widen a grant, or
//! know what a turn is.

mod builtin;
mod call;
mod definition;
mod listing;
mod locks;
mod observation;
mod registry;
mod schema;
#[cfg(test)]
mod tests;

pub use builtin::{BUILTINS, Builtin};
pub use call::{Admitted, CallWatcher};
pub use definition::{DefinitionError, MAX_DESCRIPTION_BYTES};
pub use listing::ToolListing;
pub use locks::{PathLock, PathLocks};
pub use registry::{MAX_COMPONENT_BYTES, MAX_TOOLS, Source, Toolbox, ToolboxError};
pub use schema::{Access, MAX_SCHEMA_BYTES, PathClaim, Schema, SchemaError};
