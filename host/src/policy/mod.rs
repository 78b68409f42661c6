//! Decides what a call may touch.
//!
//! Owns [`Policy`], [`Grant`], [`decide`](Policy::decide) and [`PathRules`]. A grant is the only thing a sandbox
//! store can be built from, and only this module can construct one, so plan mode, enterprise
//! lock-down and what the user granted are one mechanism. It is pure: it must never open a file,
//! ask a person, or know how a grant is enforced.

mod grant;
mod paths;

pub use grant::{Grant, ProcessGrant};
pub use paths::{DirectoryRules, PathClass, PathRule, PathRuleError, PathRules};

use crate::protocol::{Capabilities, Capability, Limits, ToolDefinition};
use std::path::PathBuf;

/// How a run may act on the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// Tools get what they require and what they accept, as far as it was given.
    #[default]
    Act,
    /// Only read-only tools are offered, and they get read-only grants.
    Plan,
}

/// Which native programs a call may start, by the mode of the run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProcessRules {
    /// Names of the programs.
    pub programs: Vec<String>,
    /// Those that may run in plan mode, where they can change nothing. With none, plan mode gives
    /// no processes.
    pub read_only_programs: Vec<String>,
    /// Whether they see the network of the machine.
    pub network: bool,
}

/// Everything a decision depends on, fixed for a run.
#[derive(Debug, Clone)]
pub struct Policy {
    /// The mode of the run.
    pub mode: Mode,
    /// What the user and the administrator give at most.
    pub allowed: Capabilities,
    /// The workspace, canonical: mounted at `/workspace`.
    pub workspace: PathBuf,
    /// The directory of installed skills, if there is one: mounted at `/skills`, always read-only.
    pub skills: Option<PathBuf>,
    /// What is masked and protected in the workspace.
    pub paths: PathRules,
    /// Which native programs there are.
    pub processes: ProcessRules,
    /// The limits of each call.
    pub limits: Limits,
}

/// The rule by which a call was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rule {
    /// Plan mode gives read-only capabilities, and the tool requires more.
    #[error(
        "plan mode gives tools read-only capabilities and `{tool}` requires {missing}; describe the change instead, or ask for a run without --plan"
    )]
    PlanMode {
        /// The tool.
        tool: String,
        /// What plan mode withholds.
        missing: Capabilities,
    },
    /// The tool requires what nobody gave.
    #[error(
        "`{tool}` requires {missing}, which this run was not given; allow it by `capabilities` in hotcell.toml or --allow"
    )]
    NotAllowed {
        /// The tool.
        tool: String,
        /// What is missing.
        missing: Capabilities,
    },
}

/// The answer of [`Policy::decide`].
#[derive(Debug, Clone)]
pub enum Decision {
    /// The call may run with exactly this.
    Grant(Grant),
    /// The call may not run.
    Deny(Rule),
}

impl Policy {
    /// Decides about one call of `tool`. Unknown means refuse: whatever is not both asked for by
    /// the tool and allowed here is not in the grant.
    pub fn decide(&self, tool: &ToolDefinition) -> Decision {
        let allowed = self.given();
        let missing = tool.requires.difference(allowed);
        if missing.is_empty() {
            let asked = tool.requires.union(tool.accepts);
            return Decision::Grant(Grant::new(self, asked.intersection(allowed)));
        }
        let tool_name = tool.name.clone();
        let withheld = missing.intersection(self.allowed);
        Decision::Deny(if withheld.is_empty() {
            Rule::NotAllowed {
                tool: tool_name,
                missing,
            }
        } else {
            Rule::PlanMode {
                tool: tool_name,
                missing: withheld,
            }
        })
    }

    /// What a call can be given at most.
    fn given(&self) -> Capabilities {
        let process = Capabilities::from_iter([Capability::Process]);
        let mut given = match self.mode {
            Mode::Act => self.allowed,
            Mode::Plan => self
                .allowed
                .intersection(Capabilities::READ_ONLY.union(process)),
        };
        if self.mode == Mode::Plan && self.programs().is_empty() {
            given = given.difference(process);
        }
        given
    }

    /// Names of the native programs of this mode.
    fn programs(&self) -> &[String] {
        match self.mode {
            Mode::Act => &self.processes.programs,
            Mode::Plan => &self.processes.read_only_programs,
        }
    }

    /// Whether the model is shown the tool at all.
    pub fn offers(&self, tool: &ToolDefinition) -> bool {
        matches!(self.decide(tool), Decision::Grant(_))
    }

    /// The grant under which a component describes itself: nothing.
    pub fn describe_grant(limits: Limits) -> Grant {
        Grant::nothing(limits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Capability;
    use crate::protocol::Capability::{
        Network, Process, SessionState, Skills, WorkspaceRead, WorkspaceWrite,
    };

    fn set(items: &[Capability]) -> Capabilities {
        items.iter().copied().collect()
    }

    fn decide(
        mode: Mode,
        allowed: &[Capability],
        requires: &[Capability],
        accepts: &[Capability],
    ) -> Result<Capabilities, &'static str> {
        let policy = Policy {
            mode,
            allowed: set(allowed),
            workspace: PathBuf::from("/w"),
            skills: None,
            paths: PathRules::default(),
            processes: ProcessRules::default(),
            limits: Limits::default(),
        };
        let tool = ToolDefinition {
            name: "t".into(),
            description: String::new(),
            input_schema: serde_json::json!({"type": "object"}),
            requires: set(requires),
            accepts: set(accepts),
        };
        match policy.decide(&tool) {
            Decision::Grant(grant) => Ok(grant.capabilities()),
            Decision::Deny(Rule::PlanMode { .. }) => Err("plan"),
            Decision::Deny(Rule::NotAllowed { .. }) => Err("not allowed"),
        }
    }

    #[test]
    fn a_table_of_decisions() {
        let everything = &Capability::ALL[..];
        type Case<'a> = (
            Mode,
            &'a [Capability],
            &'a [Capability],
            &'a [Capability],
            Result<&'a [Capability], &'static str>,
        );
        let cases: &[Case<'_>] = &[
            (Mode::Act, everything, &[], &[], Ok(&[])),
            (
                Mode::Act,
                everything,
                &[WorkspaceRead],
                &[],
                Ok(&[WorkspaceRead]),
            ),
            (Mode::Act, &[], &[WorkspaceRead], &[], Err("not allowed")),
            (
                Mode::Act,
                &[WorkspaceRead],
                &[WorkspaceRead],
                &[WorkspaceWrite, Network],
                Ok(&[WorkspaceRead]),
            ),
            (
                Mode::Act,
                everything,
                &[WorkspaceRead],
                &[WorkspaceWrite],
                Ok(&[WorkspaceRead, WorkspaceWrite]),
            ),
            (
                Mode::Plan,
                everything,
                &[WorkspaceRead],
                &[WorkspaceWrite],
                Ok(&[WorkspaceRead]),
            ),
            (Mode::Plan, everything, &[WorkspaceWrite], &[], Err("plan")),
            (Mode::Plan, everything, &[Process], &[], Err("plan")),
            (Mode::Plan, everything, &[Network], &[], Err("plan")),
            (
                Mode::Plan,
                &[WorkspaceRead],
                &[WorkspaceWrite],
                &[],
                Err("not allowed"),
            ),
            (
                Mode::Plan,
                everything,
                &[SessionState, Skills],
                &[Process],
                Ok(&[SessionState, Skills]),
            ),
        ];
        for (mode, allowed, requires, accepts, expected) in cases {
            assert_eq!(
                decide(*mode, allowed, requires, accepts),
                expected.map(set),
                "{mode:?} allowed {allowed:?} requires {requires:?} accepts {accepts:?}"
            );
        }
    }

    #[test]
    fn plan_mode_never_grants_more_than_reading() {
        for bits in 0..64_usize {
            let chosen: Vec<Capability> = Capability::ALL
                .into_iter()
                .enumerate()
                .filter(|(index, _)| bits & (1 << index) != 0)
                .map(|(_, capability)| capability)
                .collect();
            if let Ok(granted) = decide(Mode::Plan, &Capability::ALL, &[], &chosen) {
                assert!(granted.is_read_only(), "{granted}");
            }
        }
    }

    #[test]
    fn plan_mode_gives_processes_only_with_programs_that_look() {
        let tool = ToolDefinition {
            name: "t".into(),
            description: String::new(),
            input_schema: serde_json::json!({"type": "object"}),
            requires: set(&[WorkspaceRead]),
            accepts: Capabilities::ALL,
        };
        let processes = |mode, read_only: &[&str], allowed: Capabilities| {
            let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
            let policy = Policy {
                mode,
                allowed,
                workspace: PathBuf::from("/w"),
                skills: None,
                paths: PathRules::default(),
                processes: ProcessRules {
                    programs: names(&["git", "sh"]),
                    read_only_programs: names(read_only),
                    network: false,
                },
                limits: Limits::default(),
            };
            match policy.decide(&tool) {
                Decision::Grant(grant) => grant
                    .processes()
                    .map(|one| (one.programs.join(" "), one.writable)),
                Decision::Deny(rule) => panic!("{rule}"),
            }
        };
        let all = Capabilities::ALL;
        let looking = set(&[WorkspaceRead, Process]);
        let given = |programs: &str, writable| Some((programs.to_owned(), writable));
        assert_eq!(processes(Mode::Act, &[], all), given("git sh", true));
        assert_eq!(processes(Mode::Act, &[], looking), given("git sh", false));
        assert_eq!(processes(Mode::Act, &[], set(&[WorkspaceRead])), None);
        assert_eq!(processes(Mode::Plan, &[], all), None);
        assert_eq!(processes(Mode::Plan, &["git"], all), given("git", false));
    }
}
