//! The scripts, the files they find, and the records of what bash answers.
//!
//! Owns the formats, which are made to be read in a review: a file of scripts is bash with a line
//! `#% name` before each; a file of records has `#% name`, `status N` and every line of standard
//! output behind a `|`, or behind a `\` when it ends without a line break.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

/// Where the heading of the table in `docs/bash.md` is.
const TABLE: &str = "## Scripts that differ";

/// When every file of the tree was last changed: 2026-01-02T03:04:05Z.
const CHANGED: Duration = Duration::from_secs(1_767_323_045);

/// What an agent would hand to the tool.
pub struct Script {
    /// `topic/name`.
    pub name: String,
    /// Lines of bash.
    pub body: String,
}

impl Script {
    /// The file it is from.
    pub fn topic(&self) -> &str {
        self.name.split('/').next().unwrap_or_default()
    }

    /// What both shells are given: standard error is not compared.
    pub fn command(&self) -> String {
        format!("exec 2>/dev/null\n{}", self.body)
    }
}

/// What came of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Standard output. The tool ends every answer with a line break, so all have one here.
    pub stdout: String,
    /// The exit status.
    pub status: i32,
}

impl Answer {
    /// From bytes that may be no text, as the tool shows them.
    pub fn new(stdout: &str, status: i32) -> Answer {
        let mut stdout = stdout.to_owned();
        if !stdout.is_empty() && !stdout.ends_with('\n') {
            stdout.push('\n');
        }
        Answer { stdout, status }
    }
}

fn place(below: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../tests/differential")
        .join(below)
}

fn files(below: &str, extension: &str) -> Vec<(String, String)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(place(below)).expect("a directory of the suite") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|found| found == extension) {
            let topic = path.file_stem().expect("a name").to_string_lossy();
            let text = fs::read_to_string(&path).expect("a text file");
            files.push((topic.into_owned(), text));
        }
    }
    files.sort();
    files
}

/// Splits a file at its `#% name` lines.
fn parts(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.strip_prefix("#% ")
        .expect("a file begins with a name")
        .split("\n#% ")
        .map(|part| part.split_once('\n').expect("a name is a line"))
}

/// All scripts, by topic.
pub fn scripts() -> Vec<Script> {
    let mut scripts = Vec::new();
    for (topic, text) in files("scripts", "sh") {
        scripts.extend(parts(&text).map(|(name, body)| Script {
            name: format!("{topic}/{name}"),
            body: format!("{}\n", body.trim_end_matches('\n')),
        }));
    }
    let names: BTreeSet<_> = scripts.iter().map(|script| &script.name).collect();
    assert_eq!(names.len(), scripts.len(), "two scripts of one name");
    scripts
}

/// What bash answered, by the name of the script.
pub fn records() -> BTreeMap<String, Answer> {
    let mut records = BTreeMap::new();
    for (topic, text) in files("records", "txt") {
        for (name, record) in parts(&text) {
            let (status, lines) = record.split_once('\n').unwrap_or((record, ""));
            let status = status.strip_prefix("status ").expect("a status");
            let stdout: String = lines
                .lines()
                .map(|line| format!("{}\n", line.strip_prefix('|').expect("a line")))
                .collect();
            let status = status.parse().expect("a number");
            records.insert(format!("{topic}/{name}"), Answer { stdout, status });
        }
    }
    records
}

/// Writes the answers to `scripts` where [`records`] finds them.
pub fn write_records(scripts: &[Script], answers: &BTreeMap<String, Answer>) {
    let mut texts = BTreeMap::<&str, String>::new();
    for script in scripts {
        let text = texts.entry(script.topic()).or_default();
        let name = &script.name[script.topic().len() + 1..];
        let Answer { stdout, status } = &answers[&script.name];
        let _ = writeln!(text, "#% {name}\nstatus {status}");
        for line in stdout.lines() {
            let _ = writeln!(text, "|{line}");
        }
    }
    for (topic, text) in texts {
        fs::write(place("records").join(format!("{topic}.txt")), text).expect("a file");
    }
}

/// The scripts that `docs/bash.md` says to differ.
pub fn listed() -> BTreeSet<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/bash.md");
    let text = fs::read_to_string(path).expect("the documentation");
    let (_, section) = text.split_once(TABLE).expect("the heading of the table");
    let section = section.split("\n## ").next().unwrap_or_default();
    let rows = section.lines().filter_map(|line| {
        let (name, reason) = line.strip_prefix("| `")?.split_once("` | ")?;
        let reason = reason.trim_end_matches('|').trim();
        assert!(reason.len() > 10, "{name} differs without a reason");
        Some(name.to_owned())
    });
    let listed: Vec<_> = rows.collect();
    let set: BTreeSet<_> = listed.iter().cloned().collect();
    assert_eq!(set.len(), listed.len(), "a script is listed twice");
    set
}

/// Makes the workspace that `script` finds: the tree, and for git a repository of it.
pub fn prepare(script: &Script, workspace: &Path) {
    copy(&place("tree"), workspace);
    if script.topic() == "git" {
        for arguments in [
            &["init", "-q", "-b", "main", "."][..],
            &["config", "user.name", "Some One"],
            &["config", "user.email", "one@example.com"],
            &["add", "."],
            &["commit", "-q", "-m", "Initial commit"],
        ] {
            let git = Command::new("git")
                .args(arguments)
                .current_dir(workspace)
                .env("GIT_CONFIG_NOSYSTEM", "1")
                .env("GIT_CONFIG_GLOBAL", "/dev/null")
                .output()
                .expect("git starts");
            assert!(git.status.success(), "{arguments:?}: {git:?}");
        }
    }
}

/// Copies a directory, every file of it with the same mode and time on every machine.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a directory");
    for entry in fs::read_dir(from).expect("a directory") {
        let entry = entry.expect("an entry");
        let to = to.join(entry.file_name());
        if entry.file_type().expect("a type").is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::write(&to, fs::read(entry.path()).expect("a file")).expect("a file");
        }
        let made = fs::File::open(&to).expect("it was just made");
        made.set_modified(SystemTime::UNIX_EPOCH + CHANGED)
            .expect("a time");
    }
}
