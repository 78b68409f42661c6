//! What one call was given.
//!
//! Owns [`Grant`], whose fields nobody outside `policy` can set: the proof that a decision was
//! made. It must never learn to widen itself.

use super::{Mode, PathRules, Policy};
use crate::protocol::{Capabilities, Capability, Limits};
use std::path::{Path, PathBuf};

/// What a call may start natively, where it may start anything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessGrant {
    /// Names of the programs.
    pub programs: Vec<String>,
    /// Whether they may change the workspace.
    pub writable: bool,
    /// Whether they see the network of the machine.
    pub network: bool,
}

/// What one call was given: capabilities, where they point, and the limits.
#[derive(Debug, Clone)]
pub struct Grant {
    capabilities: Capabilities,
    workspace: Option<PathBuf>,
    skills: Option<PathBuf>,
    paths: PathRules,
    processes: Option<ProcessGrant>,
    limits: Limits,
}

impl Grant {
    pub(super) fn new(policy: &Policy, capabilities: Capabilities) -> Self {
        let sees_workspace = capabilities.contains(Capability::WorkspaceRead)
            || capabilities.contains(Capability::WorkspaceWrite);
        Grant {
            capabilities,
            workspace: sees_workspace.then(|| policy.workspace.clone()),
            skills: policy
                .skills
                .clone()
                .filter(|_| capabilities.contains(Capability::Skills)),
            paths: policy.paths.clone(),
            processes: capabilities
                .contains(Capability::Process)
                .then(|| processes(policy, capabilities)),
            limits: policy.limits,
        }
    }

    pub(super) fn nothing(limits: Limits) -> Self {
        Grant {
            capabilities: Capabilities::NONE,
            workspace: None,
            skills: None,
            paths: PathRules::default(),
            processes: None,
            limits,
        }
    }

    /// The capabilities given.
    pub const fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    /// The directory to mount at `/workspace`, and whether it may be changed.
    pub fn workspace(&self) -> Option<(&Path, bool)> {
        let writable = self.capabilities.contains(Capability::WorkspaceWrite);
        self.workspace.as_deref().map(|path| (path, writable))
    }

    /// Whether the call has the private directory of the session at `/tmp`: only with the right to
    /// change something at all, because what is put there stays for later calls.
    pub const fn temporary(&self) -> bool {
        self.capabilities.contains(Capability::WorkspaceWrite)
    }

    /// The directory to mount at `/skills`, read-only.
    pub fn skills(&self) -> Option<&Path> {
        self.skills.as_deref()
    }

    /// What is masked and protected in the directories of this grant.
    pub const fn paths(&self) -> &PathRules {
        &self.paths
    }

    /// What the call may start natively; `None` without the `process` capability.
    pub const fn processes(&self) -> Option<&ProcessGrant> {
        self.processes.as_ref()
    }

    /// The limits of the call.
    pub const fn limits(&self) -> &Limits {
        &self.limits
    }
}

fn processes(policy: &Policy, capabilities: Capabilities) -> ProcessGrant {
    ProcessGrant {
        programs: policy.programs().to_vec(),
        writable: policy.mode == Mode::Act && capabilities.contains(Capability::WorkspaceWrite),
        network: policy.processes.network,
    }
}
