//! The vocabulary of hotcell: plain serde data that every other module speaks.
//!
//! Owns the types that cross a boundary: messages, tool calls and results, definitions,
//! capabilities, limits, usage and events. It exists so that the engine, the providers, the
//! sandbox and the renderers agree on words without importing one another. It must never know
//! tokio, wasmtime, reqwest, the file system or the environment.

mod capability;
mod cost;
mod event;
mod guard;
mod limits;
mod message;
mod session;
mod tool;

pub use capability::{Capabilities, Capability, UnknownCapability};
pub use cost::{Cost, Price};
pub use event::{DoneReason, Event, NoticeLevel, OutputStream, RunErrorKind};
pub use guard::{Reminders, RunLimits};
pub use limits::{Limit, Limits};
pub use message::{ContentBlock, ImageBlock, Message, Role, ToolCall, Usage};
pub use session::SessionEntry;
pub use tool::{CallStats, Digest, ResultContent, ToolDefinition, ToolErrorKind, ToolResult};
