//! The index of installed skills.
//!
//! Owns finding skills and which of them are listed, by the Agent Skills format: a directory a
//! skill, with a `SKILL.md` that begins with `name` and `description`. A skill that cannot be
//! listed gives a notice, never silence.

use super::front::FrontMatter;
use crate::prompt::sections::one_line;
use std::io;
use std::path::{Path, PathBuf};

/// The most skills listed in a prompt, so that a full directory cannot crowd out the task.
const MAX_SKILLS: usize = 200;
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
    /// Where it is installed.
    pub home: PathBuf,
}

/// Something in a skills directory that is not listed.
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

impl SkillIndex {
    /// Reads the index of `directories`. Where two hold a skill of one name, the earlier wins: a
    /// workspace cannot replace what the user installed. Blocks on files.
    pub fn read(directories: &[PathBuf]) -> SkillIndex {
        let mut index = SkillIndex::default();
        for directory in directories {
            index.add(directory);
        }
        index.skills.sort_by(|one, other| one.name.cmp(&other.name));
        index
            .notices
            .sort_by(|one, other| one.name.cmp(&other.name));
        index
    }

    /// The skill in the directory `home`, or what keeps it from being listed. Blocks on files.
    ///
    /// # Errors
    /// With what is wrong and what would be right.
    pub fn check(home: &Path) -> Result<Skill, SkillNotice> {
        let name = home.file_name().unwrap_or_default().to_string_lossy();
        let directory = home.parent().unwrap_or(home);
        read_skill(directory, &name).map_err(|reason| SkillNotice {
            name: format!("{name:?}"),
            reason,
        })
    }

    fn add(&mut self, directory: &Path) {
        let mut names = match directory_names(directory) {
            Ok(names) => names,
            Err(error) => {
                let reason = format!("the skills directory cannot be read: {error}");
                return self.refuse(&directory.to_string_lossy(), reason);
            }
        };
        names.sort();
        for name in names {
            if self.skills.len() == MAX_SKILLS {
                return self.refuse(
                    &name,
                    format!("only the first {MAX_SKILLS} skills are listed, it and any after it are left out"),
                );
            }
            match read_skill(directory, &name) {
                Ok(skill) => match self.skills.iter().find(|other| other.name == skill.name) {
                    Some(other) => {
                        let reason = format!(
                            "{} has one of the same name, which is used",
                            other.home.display()
                        );
                        self.refuse(&name, reason);
                    }
                    None => self.skills.push(skill),
                },
                Err(reason) => self.refuse(&name, reason),
            }
        }
    }

    pub(super) fn refuse(&mut self, name: &str, reason: String) {
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
    let matter = FrontMatter::read(&file)?;
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
            home,
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
        SkillIndex::read(&[directory.path().to_owned()])
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
    fn the_earlier_directory_wins_and_the_other_is_told() {
        let root = tempfile::tempdir().expect("a temporary directory");
        for (place, name) in [("mine", "a"), ("theirs", "a"), ("theirs", "b")] {
            let home = root.path().join(place).join(name);
            std::fs::create_dir_all(&home).expect("the skill");
            let text = format!("---\nname: {name}\ndescription: {place}\n---\n");
            std::fs::write(home.join("SKILL.md"), text).expect("the file");
        }
        let index = SkillIndex::read(&[root.path().join("mine"), root.path().join("theirs")]);
        let listed: Vec<(&str, &str)> = index
            .skills
            .iter()
            .map(|skill| (skill.name.as_str(), skill.description.as_str()))
            .collect();
        assert_eq!(listed, [("a", "mine"), ("b", "theirs")]);
        let [notice] = &index.notices[..] else {
            panic!("{:?}", index.notices);
        };
        assert!(notice.reason.contains("of the same name"), "{notice}");
    }

    #[test]
    fn a_missing_directory_is_a_notice() {
        let index = SkillIndex::read(&["/nowhere/at/all".into()]);
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
        let index = SkillIndex::read(&[directory.path().to_owned()]);
        assert_eq!(index.skills, []);
        assert!(index.notices[0].reason.contains("links are not followed"));
    }
}
