//! The index of installed skills.
//!
//! Owns finding skills and reading their front matter in the Agent Skills format: a directory a
//! skill, with a `SKILL.md` that begins with `name` and `description`. A skill that cannot be
//! listed gives a notice, never silence. It must never load the body of a skill: the `use_skill`
//! tool does, when the model asks.

use super::sections::one_line;
use serde::Deserialize;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The most skills listed in a prompt, so that a full directory cannot crowd out the task.
const MAX_SKILLS: usize = 200;
/// The most bytes of a `SKILL.md` that are searched for the end of its front matter.
const MAX_FRONT_MATTER: u64 = 64 << 10;
/// The most characters of a name, as the Agent Skills format says.
const MAX_NAME: usize = 64;
/// The most characters of a description, as the Agent Skills format says.
const MAX_DESCRIPTION: usize = 1_024;

/// A skill as the prompt lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skill {
    /// The name, which is also that of its directory.
    pub name: String,
    /// What it is for, on one line.
    pub description: String,
}

/// Something in the skills directory that is not listed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("skill {name} is not listed: {reason}")]
pub struct SkillNotice {
    /// The name of the directory entry, escaped and in quotes.
    pub name: String,
    /// What is wrong with it and what would be right.
    pub reason: String,
}

/// What the skills directory holds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SkillIndex {
    /// The skills, sorted by name.
    pub skills: Vec<Skill>,
    /// What could not be listed, sorted by name.
    pub notices: Vec<SkillNotice>,
}

#[derive(Deserialize)]
struct FrontMatter {
    name: String,
    description: String,
}

impl SkillIndex {
    /// Reads the index of `directory`. Reads files, so call it where blocking is fine.
    pub fn read(directory: &Path) -> SkillIndex {
        let mut index = SkillIndex::default();
        let mut names = match directory_names(directory) {
            Ok(names) => names,
            Err(error) => {
                index.refuse(
                    &directory.to_string_lossy(),
                    format!("the skills directory cannot be read: {error}"),
                );
                return index;
            }
        };
        names.sort();
        for name in names {
            if index.skills.len() == MAX_SKILLS {
                index.refuse(
                    &name,
                    format!("only the first {MAX_SKILLS} skills are listed, it and any after it are left out"),
                );
                break;
            }
            match read_skill(directory, &name) {
                Ok(skill) => index.skills.push(skill),
                Err(reason) => index.refuse(&name, reason),
            }
        }
        index
    }

    fn refuse(&mut self, name: &str, reason: String) {
        self.notices.push(SkillNotice {
            name: format!("{name:?}"),
            reason,
        });
    }
}

/// The entries that could be skills. Plain files beside them, such as a README, and hidden
/// entries are nobody's mistake.
fn directory_names(directory: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if !entry.file_type()?.is_file() && !name.starts_with('.') {
            names.push(name);
        }
    }
    Ok(names)
}

fn read_skill(directory: &Path, name: &str) -> Result<Skill, String> {
    check_name(name)?;
    let home = directory.join(name);
    let file = home.join("SKILL.md");
    // A link may leave the skills directory, where no tool could follow it.
    for (path, what, right) in [
        (&home, "its directory", "a directory"),
        (&file, "its SKILL.md", "a regular file"),
    ] {
        let kind = std::fs::symlink_metadata(path)
            .map_err(|error| format!("{what} cannot be read: {error}"))?
            .file_type();
        let fits = if right == "a directory" {
            kind.is_dir()
        } else {
            kind.is_file()
        };
        if !fits {
            return Err(format!("{what} is not {right}, and links are not followed"));
        }
    }
    let matter = front_matter(&file)?;
    if matter.name != name {
        return Err(format!(
            "its SKILL.md is named {:?}; both names must be the same",
            matter.name
        ));
    }
    let description = one_line(&matter.description);
    match description.chars().count() {
        0 => Err("its description is empty".to_owned()),
        length if length > MAX_DESCRIPTION => Err(format!(
            "its description has {length} characters, {MAX_DESCRIPTION} are allowed"
        )),
        _ => Ok(Skill {
            name: matter.name,
            description,
        }),
    }
}

fn check_name(name: &str) -> Result<(), String> {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if name.is_empty() || name.len() > MAX_NAME || !name.chars().all(fits) {
        return Err(format!(
            "a name has 1 to {MAX_NAME} characters, each a to z, 0 to 9 or `-`"
        ));
    }
    if is_device(name) {
        return Err("it is the name of a device on Windows; choose another".to_owned());
    }
    Ok(())
}

/// A checkout on Windows would open the device instead of the directory. `use_skill` refuses it by
/// the same rule.
fn is_device(name: &str) -> bool {
    let numbered = |rest: &str| matches!(rest.as_bytes(), [b'1'..=b'9']);
    matches!(name, "con" | "prn" | "aux" | "nul")
        || name.strip_prefix("com").is_some_and(numbered)
        || name.strip_prefix("lpt").is_some_and(numbered)
}

fn front_matter(file: &Path) -> Result<FrontMatter, String> {
    let mut bytes = Vec::new();
    File::open(file)
        .and_then(|file| file.take(MAX_FRONT_MATTER).read_to_end(&mut bytes))
        .map_err(|error| format!("its SKILL.md cannot be read: {error}"))?;
    // The body may be cut in the middle of a character; the front matter may not be.
    let text = match std::str::from_utf8(&bytes) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&bytes[..error.valid_up_to()])
            .expect("the bytes before the first invalid one are valid"),
    };
    let yaml = between_fences(text).ok_or(
        "its SKILL.md does not begin with front matter: a line `---`, `name: …`, `description: …`, a line `---`",
    )?;
    serde_saphyr::from_str(yaml).map_err(|error| {
        format!(
            "the front matter of its SKILL.md is not valid: {}",
            one_line(&error.to_string())
        )
    })
}

/// The text between a first line `---` and the next such line.
fn between_fences(text: &str) -> Option<&str> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.split_inclusive('\n');
    let first = lines.next().filter(|line| line.trim_end() == "---")?;
    let start = first.len();
    let mut end = start;
    for line in lines {
        if line.trim_end() == "---" {
            return Some(&text[start..end]);
        }
        end += line.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index_of(files: &[(&str, &str)]) -> SkillIndex {
        let directory = tempfile::tempdir().expect("a temporary directory");
        for (path, content) in files {
            let path = directory.path().join(path);
            std::fs::create_dir_all(path.parent().expect("below the directory"))
                .expect("the parents");
            std::fs::write(path, content).expect("the file");
        }
        SkillIndex::read(directory.path())
    }

    #[test]
    fn good_skills_are_listed_by_name() {
        let index = index_of(&[
            (
                "b/SKILL.md",
                "\u{feff}---\r\nname: b\r\ndescription: >\r\n  two\r\n  lines\r\n---\r\nbody",
            ),
            (
                "a/SKILL.md",
                "---\nname: a\ndescription: \"one: two\"\nlicense: MIT\n---\n",
            ),
            ("README.md", "not a skill"),
            (".git/config", "not a skill"),
        ]);
        let listed: Vec<(&str, &str)> = index
            .skills
            .iter()
            .map(|skill| (skill.name.as_str(), skill.description.as_str()))
            .collect();
        assert_eq!(listed, [("a", "one: two"), ("b", "two lines")]);
        assert_eq!(index.notices, []);
    }

    #[test]
    fn a_bad_skill_is_a_notice_that_says_why() {
        let long = format!("---\nname: x\ndescription: {}\n---\n", "d".repeat(1_025));
        let far = format!(
            "---\nname: x\ndescription: d\n{}---\n",
            "#\n".repeat(40_000)
        );
        let cases: &[(&str, &str, &str)] = &[
            ("x", "no front matter", "does not begin with front matter"),
            ("x", "", "does not begin with front matter"),
            (
                "x",
                "---\nname: x\ndescription: d\n",
                "does not begin with front matter",
            ),
            ("x", &far, "does not begin with front matter"),
            (
                "x",
                "---\nname: x\ndescription: Use when: now\n---\n",
                "not valid",
            ),
            ("x", "---\nname: x\n---\n", "description"),
            ("x", "---\nname: x\ndescription: [a]\n---\n", "not valid"),
            ("x", "---\nname: y\ndescription: d\n---\n", "\"y\""),
            ("x", "---\nname: x\ndescription: ' '\n---\n", "empty"),
            ("x", &long, "1025 characters"),
            ("X", "---\nname: X\ndescription: d\n---\n", "a name has"),
            ("con", "---\nname: con\ndescription: d\n---\n", "a device"),
            ("lpt1", "---\nname: lpt1\ndescription: d\n---\n", "a device"),
            ("a b", "---\nname: a b\ndescription: d\n---\n", "a name has"),
            (
                "e\u{1b}[2K",
                "---\nname: x\ndescription: d\n---\n",
                "a name has",
            ),
        ];
        for (name, content, reason) in cases {
            let index = index_of(&[(&format!("{name}/SKILL.md"), content)]);
            assert_eq!(index.skills, [], "{content}");
            let [notice] = &index.notices[..] else {
                panic!("{content}: {:?}", index.notices);
            };
            let text = notice.to_string();
            assert!(text.contains(reason), "{content}: {text}");
            assert!(!text.contains(char::is_control), "{text:?}");
        }
    }

    #[test]
    fn a_missing_directory_is_a_notice() {
        let index = SkillIndex::read(Path::new("/nowhere/at/all"));
        assert_eq!(index.skills, []);
        assert!(index.notices[0].reason.contains("cannot be read"));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_not_followed() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let outside = tempfile::tempdir().expect("a temporary directory");
        std::fs::write(
            outside.path().join("SKILL.md"),
            "---\nname: x\ndescription: d\n---\n",
        )
        .expect("the file");
        std::os::unix::fs::symlink(outside.path(), directory.path().join("x")).expect("a link");
        let index = SkillIndex::read(directory.path());
        assert_eq!(index.skills, []);
        assert!(index.notices[0].reason.contains("links are not followed"));
    }
}
