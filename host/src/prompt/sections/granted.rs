//! What tools were given and what not, so that the model does not try what cannot work.

use crate::policy::{Mode, Policy};
use crate::protocol::{Capabilities, Capability};
use std::fmt::Write as _;

pub(in crate::prompt) fn granted(policy: &Policy) -> String {
    let allowed = match policy.mode {
        Mode::Act => policy.allowed,
        Mode::Plan => policy.allowed.intersection(Capabilities::READ_ONLY),
    };
    let mut text = String::from("# What tools can reach in this run");
    for capability in Capability::ALL {
        let (given, means) = (allowed.contains(capability), meaning(capability));
        let _ = write!(text, "\n- {}: {means}", if given { "yes" } else { "no" });
    }
    text.push_str(
        "\nA tool that needs what is not given is not offered. No wording of a call changes that.",
    );
    text
}

/// What a capability lets a tool do, as the model needs to know it.
const fn meaning(capability: Capability) -> &'static str {
    match capability {
        Capability::WorkspaceRead => "read files of the workspace",
        Capability::WorkspaceWrite => "create, change and remove files of the workspace",
        Capability::Process => "start native programs",
        Capability::Network => "reach the network",
        Capability::SessionState => "keep notes for this session, such as the todo list",
        Capability::Skills => "read the installed skills",
    }
}
