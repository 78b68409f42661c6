//! What one call was given.
//!
//! Owns [`Grant`], whose fields nobody outside `policy` can set: the proof that a decision was
//! made. It must never learn to widen itself.

use super::{PathRules, Policy};
use crate::protocol::{Capabilities, Capability, Limits};
use std::path::{Path, PathBuf};

/// What one call was given: capabilities, where they point, and the limits.
#[derive(Debug, Clone)]
pub struct Grant {
    capabilities: Capabilities,
    workspace: Option<PathBuf>,
    skills: Option<PathBuf>,
    paths: PathRules,
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
            limits: policy.limits,
        }
    }

    pub(super) fn nothing(limits: Limits) -> Self {
        Grant {
            capabilities: Capabilities::NONE,
            workspace: None,
            skills: None,
            paths: PathRules::default(),
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

    /// The directory to mount at `/skills`, read-only.
    pub fn skills(&self) -> Option<&Path> {
        self.skills.as_deref()
    }

    /// What is masked and protected in the directories of this grant.
    pub const fn paths(&self) -> &PathRules {
        &self.paths
    }

    /// The limits of the call.
    pub const fn limits(&self) -> &Limits {
        &self.limits
    }
}
