//! A prompt that begins with the name of a skill: `/release 1.2`.

use super::front::divided;
use super::{Skill, SkillIndex};
use std::io::{self, Read as _};

/// Where a body wants the words after the name, as the format's other readers have it.
const ARGUMENTS: &str = "$ARGUMENTS";

/// The most bytes of a body, as `use_skill` loads it.
const MOST_BODY: u64 = 256 << 10;

impl SkillIndex {
    /// The prompt that `typed` stands for: where it begins with `/` and the name of a skill, that
    /// skill's instructions with the rest as its arguments. Anything else stands for itself, since
    /// a path may begin a prompt as well.
    ///
    /// # Errors
    /// When the file of the skill cannot be read. Blocks on it.
    pub fn expand(&self, typed: &str) -> io::Result<String> {
        let Some((skill, arguments)) = self.named(typed) else {
            return Ok(typed.to_owned());
        };
        let mut bytes = Vec::new();
        std::fs::File::open(skill.home.join("SKILL.md"))?
            .take(MOST_BODY)
            .read_to_end(&mut bytes)?;
        let text = String::from_utf8_lossy(&bytes);
        let body = divided(&text).map_or("", |(_, body)| body).trim();
        let name = &skill.name;
        let mut prompt = format!("Follow the skill `{name}`. Its files are in /skills/{name}.\n\n");
        if body.contains(ARGUMENTS) {
            prompt.push_str(&body.replace(ARGUMENTS, arguments));
        } else {
            prompt.push_str(body);
            if !arguments.is_empty() {
                prompt.push_str("\n\nArguments: ");
                prompt.push_str(arguments);
            }
        }
        Ok(prompt)
    }

    fn named<'a>(&'a self, typed: &'a str) -> Option<(&'a Skill, &'a str)> {
        let rest = typed.trim().strip_prefix('/')?;
        let (name, arguments) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let skill = self.skills.iter().find(|skill| skill.name == name)?;
        Some((skill, arguments.trim()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_of_prompts() {
        let root = tempfile::tempdir().expect("a temporary directory");
        for (name, body) in [
            ("plain", "Do it well.\n"),
            ("slots", "Fix $ARGUMENTS. Then test $ARGUMENTS.\n"),
        ] {
            let home = root.path().join(name);
            std::fs::create_dir(&home).expect("the skill");
            let text = format!("---\nname: {name}\ndescription: d\n---\n\n{body}");
            std::fs::write(home.join("SKILL.md"), text).expect("the file");
        }
        let index = SkillIndex::read(&[root.path().to_owned()]);
        let begin =
            |name: &str| format!("Follow the skill `{name}`. Its files are in /skills/{name}.\n\n");
        for (typed, expected) in [
            ("/plain", begin("plain") + "Do it well."),
            (
                " /plain 1.2\nnow ",
                begin("plain") + "Do it well.\n\nArguments: 1.2\nnow",
            ),
            (
                "/slots a $1 \\1",
                begin("slots") + "Fix a $1 \\1. Then test a $1 \\1.",
            ),
            ("/slots", begin("slots") + "Fix . Then test ."),
            ("/plainer x", "/plainer x".to_owned()),
            ("/etc/hosts is wrong", "/etc/hosts is wrong".to_owned()),
            ("use /plain", "use /plain".to_owned()),
            ("/", "/".to_owned()),
        ] {
            assert_eq!(
                index.expand(typed).expect("it reads"),
                expected,
                "{typed:?}"
            );
        }
    }
}
