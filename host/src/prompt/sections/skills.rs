//! Which skills there are, by name and description. Their bodies are loaded when they are used.

use crate::prompt::SkillIndex;
use std::fmt::Write as _;

pub(in crate::prompt) fn skills(index: &SkillIndex) -> Option<String> {
    if index.skills.is_empty() {
        return None;
    }
    let mut text = String::from(
        "# Skills\nInstructions for special work, one a line. When one fits, load it with use_skill before you begin.",
    );
    for skill in &index.skills {
        let _ = write!(text, "\n- {}: {}", skill.name, skill.description);
    }
    Some(text)
}
