//! The way of a call, with the built-in components in the real sandbox.

mod calling;
mod loading;
mod shell;

use super::builtin::{BUILTINS, Builtin};
use super::*;
use crate::policy::{Mode, PathRules, Policy, ProcessRules};
use crate::protocol::{
    Capabilities, Capability, Limits, OutputStream, ToolCall, ToolErrorKind, ToolResult,
};
use crate::sandbox::{CallOutput, Sandbox, SandboxSettings};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A sandbox that keeps compiled code for the next test and the next run.
fn sandbox() -> Sandbox {
    Sandbox::new(SandboxSettings {
        cache: Some(PathBuf::from(env!("OUT_DIR")).join("compiled")),
        pooling: false,
        slots: 8,
        ..SandboxSettings::default()
    })
    .expect("a sandbox")
}

fn builtin(name: &str) -> Builtin {
    *BUILTINS
        .iter()
        .find(|builtin| builtin.name == name)
        .expect("a built-in component of that name")
}

fn policy(workspace: &Path, mode: Mode) -> Policy {
    Policy {
        mode,
        allowed: Capabilities::READ_ONLY.union([Capability::WorkspaceWrite].into_iter().collect()),
        workspace: workspace.canonicalize().expect("a workspace"),
        skills: None,
        paths: PathRules::default(),
        processes: ProcessRules::default(),
        limits: Limits::default(),
    }
}

/// Sees nothing.
struct Nobody;

impl CallOutput for Nobody {
    fn output(&self, _: OutputStream, _: String) {}
}

impl CallWatcher for Nobody {
    fn compiling(&self, _: &str) {}
}

async fn call(toolbox: &Toolbox, policy: &Policy, name: &str, arguments: Value) -> ToolResult {
    let call = ToolCall {
        id: "1".to_owned(),
        name: name.to_owned(),
        arguments,
        malformed: None,
    };
    let result = toolbox
        .call(policy, "session", &call, Arc::new(Nobody))
        .await;
    assert_eq!((result.call_id.as_str(), result.name.as_str()), ("1", name));
    result
}
