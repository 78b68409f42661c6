//! The system prompt.
//!
//! Owns what the model is told about itself, its tools and its place, as small sections in an
//! order that keeps the beginning the same from run to run, so that vendors can cache it. It is
//! built anew for each run and never stored. It must never look up the date, the platform or the
//! environment: those are inputs.

mod instructions;
mod sections;
mod skills;

pub use instructions::{InstructionFile, Instructions};
pub use skills::{Skill, SkillIndex, SkillNotice};

use crate::policy::Policy;
use crate::protocol::ToolDefinition;

/// Where and when a run takes place, as the model is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Surroundings {
    /// The workspace as the person knows it.
    pub workspace: String,
    /// The operating system and architecture, such as `linux x86_64`.
    pub platform: String,
    /// The date, such as `2026-03-14`.
    pub date: String,
}

/// What the model is told beside what holds in every run and what the policy says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Briefing {
    /// The skills it can use.
    pub skills: SkillIndex,
    /// What the person and the project wrote for agents.
    pub instructions: Instructions,
    /// Where and when the run takes place.
    pub surroundings: Surroundings,
}

/// The system prompt of a run, from what changes least to what changes most.
pub fn system(policy: &Policy, briefing: &Briefing) -> String {
    join([
        Some(sections::IDENTITY.to_owned()),
        Some(sections::RULES.to_owned()),
        Some(sections::TOOL_USE.to_owned()),
        sections::instructions(&briefing.instructions),
        sections::skills(&briefing.skills),
        Some(sections::granted(policy)),
        sections::plan(policy.mode),
        Some(sections::surroundings(&briefing.surroundings)),
    ])
}

/// The system prompt of a request that may only think: `system` with the tools told in prose,
/// since the request itself carries none.
pub fn thinking(system: &str, tools: &[ToolDefinition]) -> String {
    join([
        Some(system.to_owned()),
        sections::tools_in_prose(tools),
        Some(sections::THINK.to_owned()),
    ])
}

fn join<const N: usize>(sections: [Option<String>; N]) -> String {
    let present: Vec<String> = sections
        .into_iter()
        .flatten()
        .map(|section| section.trim_end().to_owned())
        .collect();
    present.join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{Mode, PathRules, ProcessRules};
    use crate::protocol::{Capabilities, Capability, Limits};
    use serde_json::json;

    fn policy(mode: Mode, allowed: Capabilities) -> Policy {
        Policy {
            mode,
            allowed,
            workspace: "/w".into(),
            skills: None,
            paths: PathRules::default(),
            processes: ProcessRules::default(),
            limits: Limits::default(),
        }
    }

    fn briefing(date: &str) -> Briefing {
        Briefing {
            skills: SkillIndex::default(),
            instructions: Instructions::default(),
            surroundings: Surroundings {
                workspace: "/home/ada/project".into(),
                platform: "linux x86_64".into(),
                date: date.into(),
            },
        }
    }

    fn tool() -> ToolDefinition {
        ToolDefinition {
            name: "read_file".into(),
            description: "Reads a file.\nAnswers its lines.".into(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "path": {"type": "string", "description": "File to read."},
                    "limit": {"type": ["integer", "null"]},
                },
                "required": ["path"],
            }),
            requires: Capabilities::NONE,
            accepts: Capabilities::NONE,
        }
    }

    #[test]
    fn the_prompt_of_a_run() {
        let file = |name: &str, text: &str| InstructionFile {
            name: name.into(),
            text: text.into(),
        };
        let told = Briefing {
            skills: SkillIndex {
                skills: vec![Skill {
                    name: "release".into(),
                    description: "How releases are made here".into(),
                    home: "/home/ada/.config/hotcell/skills/release".into(),
                }],
                notices: Vec::new(),
            },
            instructions: Instructions {
                files: vec![
                    file("AGENTS.md", "Tabs, not spaces.\n"),
                    file("web/AGENTS.md", "\nSpaces here.\n\n- Two of them.\n"),
                ],
                notices: Vec::new(),
            },
            ..briefing("2026-03-14")
        };
        let allowed =
            Capabilities::READ_ONLY.union([Capability::WorkspaceWrite].into_iter().collect());
        insta::assert_snapshot!(system(&policy(Mode::Plan, allowed), &told));
    }

    #[test]
    fn the_tools_in_prose() {
        let prompt = thinking("SYSTEM", &[tool()]);
        insta::assert_snapshot!(prompt);
    }

    #[test]
    fn another_date_changes_only_the_end() {
        let policy = policy(Mode::Act, Capabilities::ALL);
        let build = |date| system(&policy, &briefing(date));
        let (first, second) = (build("2026-03-14"), build("2026-03-15"));
        let same = first
            .bytes()
            .zip(second.bytes())
            .take_while(|(one, other)| one == other)
            .count();
        assert!(
            first.len() - same < 12,
            "differs at {same} of {}",
            first.len()
        );
    }

    #[test]
    fn plan_mode_is_told_and_act_mode_is_not() {
        let told = |mode| {
            let policy = policy(mode, Capabilities::ALL);
            system(&policy, &briefing("2026-03-14")).contains("# Plan mode")
        };
        assert!(told(Mode::Plan));
        assert!(!told(Mode::Act));
    }
}
