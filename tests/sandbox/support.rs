//! What the tests of the sandbox share: a sandbox, grants, and ears for what guests say.
//!
//! Must never know what a guest does.

use hotcell::policy::{Decision, Grant, Mode, PathRules, Policy, ProcessRules};
use hotcell::protocol::{
    Capabilities, Capability, Limits, OutputStream, ResultContent, ToolDefinition, ToolErrorKind,
};
use hotcell::sandbox::{
    CallFailure, CallOutcome, CallOutput, Component, Invocation, LoadError, Sandbox,
    SandboxSettings,
};
use hotcell_test_artifacts::Guest;
use std::borrow::Cow;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::mpsc;

/// Limits that no well-behaved guest reaches, and every hostile one soon does.
pub const LIMITS: Limits = Limits {
    fuel: 2_000_000_000,
    deadline_ms: 60_000,
    memory_bytes: 64 << 20,
    table_elements: 10_000,
    resources: 100,
    host_calls: 200_000,
    output_bytes: 1 << 20,
};

/// Both ways to get memory for an instance, by the setting that chooses.
pub const POOLING: [bool; 2] = [true, false];

/// A sandbox of a few slots, without a cache.
pub fn sandbox(pooling: bool) -> Sandbox {
    Sandbox::new(settings(pooling)).expect("the engine starts")
}

/// The settings of [`sandbox`].
pub fn settings(pooling: bool) -> SandboxSettings {
    SandboxSettings {
        slots: 8,
        max_memory_bytes: 256 << 20,
        pooling,
        ..SandboxSettings::default()
    }
}

/// Loads a guest that at least begins like a component.
pub fn load(sandbox: &Sandbox, guest: Guest) -> Component {
    try_load(sandbox, guest.bytes()).expect("it begins like a component")
}

/// Loads a guest with a custom section of its own: it behaves the same and has another digest, so
/// it is another component.
pub fn load_distinct(sandbox: &Sandbox, guest: Guest, name: &str) -> Component {
    let mut bytes = guest.bytes();
    let length = u8::try_from(name.len()).expect("a short name");
    // Section 0, its size, then the name with its length; sizes below 128 are one byte.
    bytes.extend([0, length + 1, length]);
    bytes.extend(name.as_bytes());
    try_load(sandbox, bytes).expect("it begins like a component")
}

/// Loads any bytes.
pub fn try_load(sandbox: &Sandbox, bytes: Vec<u8>) -> Result<Component, LoadError> {
    sandbox.load(Cow::Owned(bytes))
}

/// Decides as the policy of a run would, for a tool that requires exactly `capabilities`.
pub fn grant_on(workspace: &Path, capabilities: &[Capability], limits: Limits) -> Grant {
    grant_with_skills(workspace, None, capabilities, limits)
}

/// As [`grant_on`], with a directory of skills.
pub fn grant_with_skills(
    workspace: &Path,
    skills: Option<&Path>,
    capabilities: &[Capability],
    limits: Limits,
) -> Grant {
    let policy = Policy {
        mode: Mode::Act,
        allowed: Capabilities::ALL,
        workspace: workspace.to_owned(),
        skills: skills.map(Path::to_owned),
        paths: PathRules::default(),
        processes: ProcessRules::default(),
        limits,
    };
    let tool = ToolDefinition {
        name: "guest".to_owned(),
        description: String::new(),
        input_schema: serde_json::json!({"type": "object"}),
        requires: capabilities.iter().copied().collect(),
        accepts: Capabilities::NONE,
    };
    match policy.decide(&tool) {
        Decision::Grant(grant) => grant,
        Decision::Deny(rule) => panic!("everything is allowed, and yet: {rule}"),
    }
}

/// A grant of nothing but limits.
pub fn nothing(limits: Limits) -> Grant {
    grant_on(Path::new("/nowhere"), &[], limits)
}

/// A call of the session `session`.
pub fn invocation(arguments: &str) -> Invocation {
    Invocation {
        tool: "guest".to_owned(),
        arguments: arguments.to_owned(),
        call_id: "call-1".to_owned(),
        session_id: "session".to_owned(),
    }
}

/// Calls a guest and drops what it says meanwhile.
pub async fn call(component: &Component, grant: &Grant, arguments: &str) -> CallOutcome {
    let output = Arc::new(Heard::default());
    component.call(grant, invocation(arguments), output).await
}

/// The one text that a call answered.
pub fn text(outcome: &CallOutcome) -> &str {
    match outcome.result.as_deref() {
        Ok([ResultContent::Text { text }]) => text,
        other => panic!("expected one text: {other:?}"),
    }
}

/// How a call failed.
pub fn failure(outcome: &CallOutcome) -> (ToolErrorKind, &str) {
    match &outcome.result {
        Err(CallFailure { kind, message }) => (*kind, message),
        Ok(content) => panic!("expected a failure: {content:?}"),
    }
}

/// Keeps what a guest says.
#[derive(Default)]
pub struct Heard(Mutex<Vec<(OutputStream, String)>>);

impl Heard {
    /// Everything said on one stream.
    pub fn on(&self, wanted: OutputStream) -> String {
        let heard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let pieces = heard.iter().filter(|(stream, _)| *stream == wanted);
        pieces.map(|(_, text)| text.as_str()).collect()
    }
}

impl CallOutput for Heard {
    fn output(&self, stream: OutputStream, text: String) {
        let mut heard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        heard.push((stream, text));
    }
}

/// Passes on what a guest says while the call runs. The receiver ends when the call's store is
/// gone, because the store holds the only sender.
pub struct Relay(mpsc::UnboundedSender<String>);

impl Relay {
    /// The two ends.
    pub fn new() -> (Arc<Relay>, mpsc::UnboundedReceiver<String>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        (Arc::new(Relay(sender)), receiver)
    }
}

impl CallOutput for Relay {
    fn output(&self, _stream: OutputStream, text: String) {
        // A test that has heard enough drops the receiver.
        let _ = self.0.send(text);
    }
}
