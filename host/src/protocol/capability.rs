//! What a tool can be given: the capability words of `wit/tool.wit` as data.
//!
//! Owns the set type and its names. It must never know how a capability is enforced: that is
//! the sandbox, by way of a grant that only `policy` can make.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// One thing a tool can be given. The names are those of the WIT flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Capability {
    /// See files below the workspace, mounted at `/workspace`.
    WorkspaceRead,
    /// Create, change and remove files below the workspace.
    WorkspaceWrite,
    /// Start native processes.
    Process,
    /// Open outgoing HTTP requests.
    Network,
    /// Keep small values for the session.
    SessionState,
    /// See installed skills, mounted at `/skills`.
    Skills,
}

impl Capability {
    /// Every capability, in the order of the WIT flags.
    pub const ALL: [Capability; 6] = [
        Capability::WorkspaceRead,
        Capability::WorkspaceWrite,
        Capability::Process,
        Capability::Network,
        Capability::SessionState,
        Capability::Skills,
    ];

    /// The name in WIT, configuration and messages, such as `workspace-read`.
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

    /// Whether a tool that holds it can only look: such tools are offered in plan mode.
    pub const fn is_read_only(self) -> bool {
        matches!(
            self,
            Capability::WorkspaceRead | Capability::SessionState | Capability::Skills
        )
    }

    const fn bit(self) -> u8 {
        1 << self as u8
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The text names no capability.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a capability; the capabilities are workspace-read, workspace-write, process, network, session-state, skills"
)]
pub struct UnknownCapability(pub String);

impl FromStr for Capability {
    type Err = UnknownCapability;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Capability::ALL
            .into_iter()
            .find(|capability| capability.name() == text)
            .ok_or_else(|| UnknownCapability(text.to_owned()))
    }
}

/// A set of capabilities. Serialised as a list of names.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(from = "Vec<Capability>", into = "Vec<Capability>")]
pub struct Capabilities(u8);

impl Capabilities {
    /// Nothing at all.
    pub const NONE: Capabilities = Capabilities(0);
    /// Everything the contract can name.
    pub const ALL: Capabilities = Capabilities(0b11_1111);
    /// The capabilities with which a tool can only look.
    pub const READ_ONLY: Capabilities = Capabilities(
        Capability::WorkspaceRead.bit() | Capability::SessionState.bit() | Capability::Skills.bit(),
    );

    /// Whether `capability` is in the set.
    pub const fn contains(self, capability: Capability) -> bool {
        self.0 & capability.bit() != 0
    }

    /// Whether every capability of `other` is in the set.
    pub const fn contains_all(self, other: Capabilities) -> bool {
        self.0 & other.0 == other.0
    }

    /// Both sets together.
    #[must_use]
    pub const fn union(self, other: Capabilities) -> Capabilities {
        Capabilities(self.0 | other.0)
    }

    /// What is in both sets.
    #[must_use]
    pub const fn intersection(self, other: Capabilities) -> Capabilities {
        Capabilities(self.0 & other.0)
    }

    /// What is here and not in `other`.
    #[must_use]
    pub const fn difference(self, other: Capabilities) -> Capabilities {
        Capabilities(self.0 & !other.0)
    }

    /// Whether nothing is in the set.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether a holder of the whole set can only look.
    pub const fn is_read_only(self) -> bool {
        Capabilities::READ_ONLY.contains_all(self)
    }

    /// The members, in the order of the WIT flags.
    pub fn iter(self) -> impl Iterator<Item = Capability> {
        Capability::ALL
            .into_iter()
            .filter(move |capability| self.contains(*capability))
    }
}

impl FromIterator<Capability> for Capabilities {
    fn from_iter<I: IntoIterator<Item = Capability>>(items: I) -> Self {
        items.into_iter().fold(Capabilities::NONE, |set, item| {
            Capabilities(set.0 | item.bit())
        })
    }
}

impl From<Vec<Capability>> for Capabilities {
    fn from(items: Vec<Capability>) -> Self {
        items.into_iter().collect()
    }
}

impl From<Capabilities> for Vec<Capability> {
    fn from(set: Capabilities) -> Self {
        set.iter().collect()
    }
}

impl fmt::Display for Capabilities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("none");
        }
        for (index, capability) in self.iter().enumerate() {
            if index > 0 {
                f.write_str(", ")?;
            }
            f.write_str(capability.name())?;
        }
        Ok(())
    }
}

impl fmt::Debug for Capabilities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{{self}}}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back_as_the_same_capability() {
        for capability in Capability::ALL {
            assert_eq!(capability.name().parse(), Ok(capability));
        }
        assert!("workspace_read".parse::<Capability>().is_err());
    }

    #[test]
    fn the_whole_set_holds_exactly_the_named_ones() {
        let all: Capabilities = Capability::ALL.into_iter().collect();
        assert_eq!(all, Capabilities::ALL);
        let read_only: Capabilities = Capability::ALL
            .into_iter()
            .filter(|capability| capability.is_read_only())
            .collect();
        assert_eq!(read_only, Capabilities::READ_ONLY);
    }
}
