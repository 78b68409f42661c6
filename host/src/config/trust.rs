//! Which workspaces the user trusts.
//!
//! A cloned repository can carry settings, instructions and skills, and all of them speak to the
//! model in its owner's name. Until the user says that a workspace is theirs, none of that is
//! interpreted. Owns the file in which the user's answers are kept, and what of a workspace waits
//! for one. It must never ask anybody, and a run without a person never changes an answer.

use super::file::read_limited;
use super::{ConfigError, private_directory};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The file below hotcell's data directory.
const FILE: &str = "trust.json";
/// Held while the file is replaced, so that two processes do not lose each other's answers.
const LOCK: &str = "trust.lock";

/// Where a workspace keeps its skills. The first is ours; the others are where other agents look.
pub const WORKSPACE_SKILLS: [&str; 3] = [".hotcell/skills", ".claude/skills", ".agents/skills"];

/// What waits for trust, as it is named to the user: the settings, instructions, skills.
const INTERPRETED: [&str; 6] = [
    "hotcell.toml",
    "AGENTS.md",
    "CLAUDE.md",
    WORKSPACE_SKILLS[0],
    WORKSPACE_SKILLS[1],
    WORKSPACE_SKILLS[2],
];

/// What the user said about a workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Answer {
    /// Its settings, instructions and skills are interpreted.
    Trusted,
    /// They are not, and nobody asks again.
    Refused,
}

/// What holds for a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trust {
    /// What the user said; `None` when nobody was asked yet.
    pub answer: Option<Answer>,
    /// What of the workspace is left out, relative to it. Empty where it is trusted.
    pub left_out: Vec<&'static str>,
}

impl Trust {
    /// What holds where no answer counts.
    pub(super) const fn of_nobody() -> Self {
        Trust {
            answer: None,
            left_out: Vec::new(),
        }
    }

    pub(super) fn of(answer: Option<Answer>, workspace: &Path) -> Self {
        let is_there = |name: &&str| workspace.join(name).symlink_metadata().is_ok();
        let left_out = match answer {
            Some(Answer::Trusted) => Vec::new(),
            Some(Answer::Refused) | None => INTERPRETED.into_iter().filter(is_there).collect(),
        };
        Trust { answer, left_out }
    }

    /// Whether what the workspace says is interpreted.
    pub fn is_given(&self) -> bool {
        self.answer == Some(Answer::Trusted)
    }

    /// Whether there is something to ask the user about.
    pub fn is_open(&self) -> bool {
        self.answer.is_none() && !self.left_out.is_empty()
    }
}

/// The user's answers, by canonical path. A workspace inside a trusted one is another workspace: it
/// may be somebody else's repository.
#[derive(Debug, Clone)]
pub struct TrustFile {
    directory: PathBuf,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Content {
    workspaces: BTreeMap<String, Answer>,
}

impl TrustFile {
    /// The file in `directory`, hotcell's data directory, whether or not it is there yet.
    pub fn new(directory: &Path) -> Self {
        TrustFile {
            directory: directory.to_owned(),
        }
    }

    /// Where it is.
    pub fn path(&self) -> PathBuf {
        self.directory.join(FILE)
    }

    /// What the user said about `workspace`, which is canonical.
    ///
    /// # Errors
    /// When the file is there and cannot be read: a damaged one trusts nobody.
    pub fn answer(&self, workspace: &Path) -> Result<Option<Answer>, ConfigError> {
        let content = self.read()?;
        let found = workspace
            .to_str()
            .and_then(|path| content.workspaces.get(path));
        Ok(found.copied())
    }

    /// All answers, by path.
    ///
    /// # Errors
    /// As [`answer`](Self::answer).
    pub fn answers(&self) -> Result<Vec<(String, Answer)>, ConfigError> {
        Ok(self.read()?.workspaces.into_iter().collect())
    }

    /// Keeps an answer; `None` forgets it, so that the user is asked again.
    ///
    /// # Errors
    /// When the path is not UTF-8, the file is damaged, or it cannot be written.
    pub fn set(&self, workspace: &Path, answer: Option<Answer>) -> Result<(), ConfigError> {
        let path = workspace.to_str().ok_or_else(|| ConfigError::Trust {
            file: self.path(),
            why: "the path of the workspace is not UTF-8 text, so it cannot be kept".to_owned(),
        })?;
        let unwritable = |error: io::Error| ConfigError::Trust {
            file: self.path(),
            why: error.to_string(),
        };
        private_directory(&self.directory).map_err(unwritable)?;
        let lock = fs::File::create(self.directory.join(LOCK)).map_err(unwritable)?;
        lock.lock().map_err(unwritable)?;
        let mut content = self.read()?;
        match answer {
            Some(answer) => content.workspaces.insert(path.to_owned(), answer),
            None => content.workspaces.remove(path),
        };
        self.replace(&content).map_err(unwritable)
    }

    fn read(&self) -> Result<Content, ConfigError> {
        let file = self.path();
        match file.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Content::default()),
            _ => {}
        }
        let text = read_limited(&file)?;
        serde_json::from_str(&text).map_err(|error| ConfigError::Trust {
            why: format!("it is damaged ({error}); mend it, or remove it to be asked again"),
            file,
        })
    }

    /// Whole or not at all: a file cut in the middle would be damaged, and trust nobody.
    fn replace(&self, content: &Content) -> io::Result<()> {
        let mut file = tempfile::NamedTempFile::new_in(&self.directory)?;
        serde_json::to_writer_pretty(&mut file, content)?;
        file.write_all(b"\n")?;
        file.as_file().sync_all()?;
        file.persist(self.path())?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_holds_for_its_own_path_alone_until_it_is_forgotten() {
        let data = tempfile::tempdir().expect("a temporary directory");
        let file = TrustFile::new(&data.path().join("hotcell"));
        let answer = |path: &str| file.answer(Path::new(path)).expect("the file is fine");
        assert_eq!(answer("/w"), None);
        file.set(Path::new("/w"), Some(Answer::Trusted))
            .expect("kept");
        file.set(Path::new("/v"), Some(Answer::Refused))
            .expect("kept");
        assert_eq!(answer("/w"), Some(Answer::Trusted));
        assert_eq!(answer("/v"), Some(Answer::Refused));
        for other in ["/w/inner", "/", "/w2", "/w/", "/W"] {
            assert_eq!(answer(other), None, "{other}");
        }
        file.set(Path::new("/w"), None).expect("forgotten");
        assert_eq!(answer("/w"), None);
    }

    #[test]
    fn a_damaged_file_trusts_nobody_and_is_not_written_over() {
        let data = tempfile::tempdir().expect("a temporary directory");
        let file = TrustFile::new(data.path());
        for damaged in [
            "",
            "{",
            r#"{"workspaces": {"/w": "yes"}}"#,
            r#"{"workspaces": {"/w": "trusted"}, "more": 1}"#,
        ] {
            fs::write(file.path(), damaged).expect("the file");
            let error = file.answer(Path::new("/w")).expect_err(damaged);
            assert!(error.to_string().contains("damaged"), "{error}");
            let error = file.set(Path::new("/w"), Some(Answer::Trusted));
            assert!(error.is_err(), "{damaged}");
            let kept = fs::read_to_string(file.path()).expect("the file");
            assert_eq!(kept, damaged);
        }
    }

    #[test]
    fn many_processes_do_not_lose_each_others_answers() {
        let data = tempfile::tempdir().expect("a temporary directory");
        std::thread::scope(|threads| {
            for number in 0..8 {
                let file = TrustFile::new(data.path());
                threads.spawn(move || {
                    let path = format!("/w{number}");
                    file.set(Path::new(&path), Some(Answer::Trusted))
                });
            }
        });
        let answers = TrustFile::new(data.path()).answers().expect("a good file");
        assert_eq!(answers.len(), 8);
    }

    #[test]
    fn what_waits_for_trust_is_named() {
        let workspace = tempfile::tempdir().expect("a temporary directory");
        let there = |path: &str| {
            let path = workspace.path().join(path);
            fs::create_dir_all(path.parent().expect("inside")).expect("the parents");
            fs::write(path, "").expect("the file");
        };
        let of = |answer| Trust::of(answer, workspace.path());
        assert!(!of(None).is_open(), "nothing to ask about");
        there("AGENTS.md");
        there(".claude/skills/x/SKILL.md");
        assert_eq!(of(None).left_out, ["AGENTS.md", ".claude/skills"]);
        assert!(of(None).is_open());
        let refused = of(Some(Answer::Refused));
        assert!(!refused.is_open() && !refused.is_given());
        assert_eq!(refused.left_out, ["AGENTS.md", ".claude/skills"]);
        let trusted = of(Some(Answer::Trusted));
        assert!(trusted.is_given() && trusted.left_out.is_empty());
    }
}
