//! The tool inside a component: WIT types on one side, the author's on the other.
//!
//! The only file that names WIT types. Everything here is for the expansion of `export!`; it is no
//! public interface.

use crate::call::Facts;
use crate::host::Backend;
use crate::{Call, Capability, Content, ErrorKind, StateError, Tool, ToolError, Versioned};
use std::time::Duration;

wit_bindgen::generate!({
    path: "../wit",
    world: "tool-component-with-process",
    generate_all,
    pub_export_macro: true,
    export_macro_name: "export_component",
    default_bindings_module: "hotcell_sdk::component",
});

pub use exports::hotcell::tool::tool::Guest;
pub use hotcell::tool::types as wire;

use hotcell::tool::{progress, state};

/// The imports that the host links.
pub(crate) struct Imports;

impl Backend for Imports {
    fn state_get(&self, key: &str) -> Result<Option<Versioned>, StateError> {
        let found = state::get(key).map_err(state_error)?;
        Ok(found.map(|state::Versioned { value, version }| Versioned { value, version }))
    }

    fn state_swap(&self, key: &str, value: &[u8], expected: u64) -> Result<u64, StateError> {
        state::compare_and_swap(key, value, expected).map_err(state_error)
    }

    fn report(&self, line: &str) {
        progress::report(line);
    }
}

fn state_error(error: state::StateError) -> StateError {
    match error {
        state::StateError::TooLarge(limit) => StateError::TooLarge(limit),
        state::StateError::Quota(limit) => StateError::Quota(limit),
        state::StateError::Conflict => StateError::Conflict,
        state::StateError::Unavailable(why) => StateError::Unavailable(why),
    }
}

pub fn describe<T: Tool>() -> wire::Definition {
    let definition = crate::definition::<T>();
    wire::Definition {
        name: definition.name,
        description: definition.description,
        input_schema: definition.input_schema.to_string(),
        requires: flags(&definition.requires),
        accepts: flags(&definition.accepts),
    }
}

pub fn invoke<T: Tool>(call: wire::Invocation) -> Result<Vec<wire::Content>, wire::CallError> {
    let facts = Facts {
        workspace: "/workspace".into(),
        skills: "/skills".into(),
        granted: CAPABILITIES
            .iter()
            .filter(|(_, flag)| call.granted.contains(*flag))
            .map(|(capability, _)| *capability)
            .collect(),
        call_id: call.call_id,
        session_id: call.session_id,
        deadline: Duration::from_millis(call.deadline_ms),
    };
    crate::invoke::run::<T>(&call.arguments, &Call::new(&Imports, facts))
        .map(|answer| answer.into_parts().into_iter().map(content).collect())
        .map_err(call_error)
}

/// The host calls only what `describe` listed, so this is a fault of the host or of a stale cache.
pub fn unknown_tool(name: &str) -> wire::CallError {
    call_error(ToolError::not_found(format!(
        "this component has no tool `{name}`"
    )))
}

fn content(part: Content) -> wire::Content {
    match part {
        Content::Text(text) => wire::Content::Text(text),
        Content::Image { media_type, data } => {
            wire::Content::Image(wire::Image { media_type, data })
        }
    }
}

fn call_error(error: ToolError) -> wire::CallError {
    let kind = match error.kind() {
        ErrorKind::InvalidArguments => wire::ErrorKind::InvalidArguments,
        ErrorKind::NotFound => wire::ErrorKind::NotFound,
        ErrorKind::Denied => wire::ErrorKind::Denied,
        ErrorKind::Conflict => wire::ErrorKind::Conflict,
        ErrorKind::Failed => wire::ErrorKind::Failed,
    };
    wire::CallError {
        kind,
        message: error.message().to_owned(),
    }
}

const CAPABILITIES: [(Capability, wire::Capability); 6] = [
    (Capability::WorkspaceRead, wire::Capability::WORKSPACE_READ),
    (
        Capability::WorkspaceWrite,
        wire::Capability::WORKSPACE_WRITE,
    ),
    (Capability::Process, wire::Capability::PROCESS),
    (Capability::Network, wire::Capability::NETWORK),
    (Capability::SessionState, wire::Capability::SESSION_STATE),
    (Capability::Skills, wire::Capability::SKILLS),
];

fn flags(capabilities: &[Capability]) -> wire::Capability {
    CAPABILITIES
        .iter()
        .filter(|(capability, _)| capabilities.contains(capability))
        .fold(wire::Capability::empty(), |set, (_, flag)| set | *flag)
}
