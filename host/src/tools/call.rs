//! The way of one call.
//!
//! Owns the order of the checks: is there such a tool, does the policy grant it, are the arguments
//! what it takes, are its paths free; then the sandbox. Every failure is a result for the model.
//! It must never build a grant of its own or keep anything from one call to the next.

use super::locks::PathLock;
use super::observation::{failure, nearest, quote, told};
use super::registry::{Tool, Toolbox, ToolboxError};
use crate::history::speaking;
use crate::policy::{Decision, Grant, Policy};
use crate::protocol::{ResultContent, ToolCall, ToolErrorKind, ToolResult};
use crate::sandbox::{CallFailure, CallOutput, Invocation};
use serde_json::Value;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

/// How long a call waits for a compilation before a person is told why nothing happens.
const PATIENCE: Duration = Duration::from_secs(1);

/// The picture types that every vendor takes, as the contract says.
const PICTURES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// Sees what a call does before it ends.
pub trait CallWatcher: CallOutput {
    /// The call waits for its component to be compiled, and it takes more than a second.
    fn compiling(&self, tool: &str);
}

/// A call that passed every check. It has its place in the queue for its paths, which dropping it
/// gives up.
pub struct Admitted {
    tool: Arc<Tool>,
    grant: Grant,
    call_id: String,
    arguments: Value,
    lock: PathLock,
}

impl Toolbox {
    /// Checks a call and takes its place in the queue for the paths it names: calls that are
    /// admitted one after the other use a path in that order.
    ///
    /// # Errors
    /// The result for the model when the call cannot run.
    pub fn admit(&self, policy: &Policy, call: &ToolCall) -> Result<Admitted, ToolResult> {
        let Some(tool) = self.tools.get(&call.name) else {
            return Err(self.unknown(policy, call));
        };
        let grant = match policy.decide(&tool.definition) {
            Decision::Grant(grant) => grant,
            Decision::Deny(rule) => {
                return Err(failure(call, ToolErrorKind::Denied, &rule.to_string()));
            }
        };
        if let Some(text) = &call.malformed {
            let message = format!(
                "the arguments of `{}` are not one JSON object: `{}`; send one",
                call.name,
                quote(text)
            );
            return Err(failure(call, ToolErrorKind::InvalidArguments, &message));
        }
        let arguments = tool.schema.check(&call.arguments).map_err(|faults| {
            let message = format!(
                "the arguments of `{}` do not fit; correct them and call again\n{faults}",
                call.name
            );
            failure(call, ToolErrorKind::InvalidArguments, &message)
        })?;
        let lock = self.locks.request(&tool.schema.paths(&arguments));
        Ok(Admitted {
            tool: Arc::clone(tool),
            grant,
            call_id: call.id.clone(),
            arguments,
            lock,
        })
    }

    /// Checks and runs one call.
    pub async fn call(
        &self,
        policy: &Policy,
        session_id: &str,
        call: &ToolCall,
        watcher: Arc<dyn CallWatcher>,
    ) -> ToolResult {
        match self.admit(policy, call) {
            Ok(admitted) => admitted.run(session_id, watcher).await,
            Err(result) => result,
        }
    }

    /// Names only tools that this run could call.
    fn unknown(&self, policy: &Policy, call: &ToolCall) -> ToolResult {
        let offered: Vec<&str> = self
            .tools
            .iter()
            .filter(|(_, tool)| policy.offers(&tool.definition))
            .map(|(name, _)| name.as_str())
            .collect();
        let near = nearest(&call.name, offered.iter().copied());
        let (lead, names) = match (near.is_empty(), offered.is_empty()) {
            (false, _) => ("did you mean ", near),
            (true, false) => ("the tools are ", offered),
            (true, true) => ("this run has no tools", Vec::new()),
        };
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        let message = format!(
            "there is no tool `{}`; {lead}{}",
            quote(&call.name),
            names.join(", ")
        );
        failure(call, ToolErrorKind::UnknownTool, &message)
    }
}

impl Admitted {
    /// The arguments as the tool gets them.
    pub const fn arguments(&self) -> &Value {
        &self.arguments
    }

    /// Waits for the component and for the paths, then runs the call in the sandbox. Dropping the
    /// future ends the call.
    pub async fn run(self, session_id: &str, watcher: Arc<dyn CallWatcher>) -> ToolResult {
        let name = &self.tool.definition.name;
        let failed = |kind, message: &str| {
            ToolResult::failure(&self.call_id, name, kind, told(kind, message))
        };
        if let Err(error) = self.ready(&*watcher).await {
            return failed(ToolErrorKind::Failed, &error.to_string());
        }
        self.lock.acquired().await;
        let invocation = Invocation {
            tool: name.clone(),
            arguments: self.arguments.to_string(),
            call_id: self.call_id.clone(),
            session_id: session_id.to_owned(),
        };
        let component = &self.tool.plugin.component;
        let outcome = component.call(&self.grant, invocation, watcher).await;
        let mut result = match outcome.result {
            Ok(content) => {
                let refused = (!outcome.refusals.is_empty()).then(|| ResultContent::Text {
                    text: outcome.refusals.join("\n"),
                });
                let content = content.into_iter().map(showable).chain(refused);
                ToolResult {
                    call_id: self.call_id.clone(),
                    name: name.clone(),
                    content: speaking(content.collect()),
                    error: None,
                    stats: outcome.stats,
                }
            }
            Err(CallFailure { kind, message }) => {
                let lines: Vec<String> = std::iter::once(message).chain(outcome.refusals).collect();
                failed(kind, &lines.join("\n"))
            }
        };
        result.stats = outcome.stats;
        result
    }

    async fn ready(&self, watcher: &dyn CallWatcher) -> Result<(), ToolboxError> {
        let plugin = &self.tool.plugin;
        if plugin.is_ready() {
            return Ok(());
        }
        let mut ready = pin!(plugin.verify());
        match tokio::time::timeout(PATIENCE, &mut ready).await {
            Ok(outcome) => outcome,
            Err(_) => {
                watcher.compiling(&self.tool.definition.name);
                ready.await
            }
        }
    }
}

/// A part of an answer that a model can be shown: one picture of another type would make vendors
/// reject every later request of the session.
fn showable(part: ResultContent) -> ResultContent {
    match part {
        ResultContent::Image(image)
            if image.data.is_empty() || !PICTURES.contains(&image.media_type.as_str()) =>
        {
            ResultContent::Text {
                text: format!(
                    "(a picture of type `{}` was left out; models take {})",
                    quote(&image.media_type),
                    PICTURES.join(", ")
                ),
            }
        }
        part => part,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::ImageBlock;

    #[test]
    fn a_picture_that_no_model_takes_becomes_words() {
        for (media_type, data, shown) in [
            ("image/png", "AA==", true),
            ("image/png", "", false),
            ("image/svg+xml", "AA==", false),
            ("text/html", "AA==", false),
        ] {
            let part = ResultContent::Image(ImageBlock {
                media_type: media_type.into(),
                data: data.into(),
            });
            assert_eq!(showable(part.clone()) == part, shown, "{media_type}");
        }
    }
}
