//! The component of use_skill: arguments, documentation for the model, and the answer's text.
//!
//! How a skill lies on disk is in `skill`, its front matter in `front_matter`. It must never look
//! anywhere but below the mount of skills, and never into the workspace.

mod front_matter;
mod skill;

use front_matter::Body;
use hotcell_sdk::{Answer, Call, Capability, Deserialize, JsonSchema, Tool, ToolError};
use skill::{MAIN_FILE, Skill, Text};
use std::fmt::Write as _;

/// Loads a skill: instructions for one kind of work, written by the user or their organisation.
/// The system prompt lists the skills that are installed, with what each is for. When one fits the
/// work, load it before you start, and follow it.
///
/// Answers with the instructions and the names of the skill's other files. Load one of those by
/// calling again with its `path`, when the instructions refer to it.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UseSkill {
    /// Name of the skill, as the system prompt lists it.
    name: String,
    /// A file of the skill to load instead of its instructions, relative to the skill's own
    /// directory: `references/schema.md`.
    #[serde(default)]
    path: Option<String>,
}

impl Tool for UseSkill {
    const NAME: &'static str = "use_skill";
    const REQUIRES: &'static [Capability] = &[Capability::Skills];

    fn run(self, call: &Call<'_>) -> Result<Answer, ToolError> {
        let skill = Skill::open(call.skills(), &self.name)?;
        match self.path.as_deref() {
            Some(path) => Ok(file(&skill.file(path)?).into()),
            None => instructions(&skill).map(Answer::from),
        }
    }
}

fn instructions(skill: &Skill<'_>) -> Result<String, ToolError> {
    let main = skill.file(MAIN_FILE)?;
    let Body { text, notices } = front_matter::read(&main.text, skill.name());
    let mut out = format!("skill `{}`\n", skill.name());
    for notice in notices {
        // The model passes it on: a skill that loads wrongly must not stay unseen.
        let _ = writeln!(out, "notice, tell the user: {MAIN_FILE}: {notice}");
    }
    let _ = write!(out, "\n{}", text.trim_start_matches(['\r', '\n']));
    end_line(&mut out);
    cut_note(&mut out, &main);
    let listing = skill.listing();
    if !listing.files.is_empty() {
        out.push_str("\nother files of this skill, to load with `path`:\n");
        for file in &listing.files {
            let _ = writeln!(out, "{file}");
        }
        if listing.more {
            out.push_str("(and more, not listed)\n");
        }
    }
    Ok(out)
}

fn file(content: &Text) -> String {
    if content.text.is_empty() {
        return "(the file is empty)".to_owned();
    }
    let mut out = content.text.clone();
    if content.bytes > content.text.len() as u64 {
        end_line(&mut out);
        cut_note(&mut out, content);
    }
    out
}

fn cut_note(out: &mut String, content: &Text) {
    let shown = content.text.len() as u64;
    if content.bytes > shown {
        let _ = writeln!(
            out,
            "(cut: the first {shown} of {} bytes are shown)",
            content.bytes
        );
    }
}

fn end_line(out: &mut String) {
    if !out.ends_with('\n') {
        out.push('\n');
    }
}

hotcell_sdk::export!(UseSkill);

#[cfg(test)]
mod tests;
