//! Native bash over the same scripts.
//!
//! Owns what has to be there for its answers to count, bash 5 and GNU tools, and the surroundings
//! that make them the same on every machine: the C.UTF-8 locale, UTC, no configuration of the user.

use crate::data::{Answer, Script, prepare};
use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::sync::Mutex;

/// Tools that every script may use, and what the first line of `--version` says of GNU's.
const EVERYWHERE: [(&str, &str); 7] = [
    ("bash", "GNU bash"),
    ("ls", "GNU coreutils"),
    ("find", "GNU findutils"),
    ("grep", "GNU grep"),
    ("sed", "GNU sed"),
    ("diff", "GNU diffutils"),
    ("tar", "GNU tar"),
];

/// Tools that are missing more often, or are somebody else's. A script that names one is only
/// compared where it is as recorded.
const SOMEWHERE: [(&str, &str); 8] = [
    ("awk", "GNU Awk"),
    ("jq", "jq-"),
    ("bc", "bc "),
    ("git", "git version"),
    ("python3", "Python 3"),
    ("patch", "GNU patch"),
    ("column", "util-linux"),
    ("xxd", "xxd"),
];

/// The first line a tool says of its version.
fn version(tool: &str) -> String {
    // `xxd` prints its version where others print errors.
    let output = Command::new(tool)
        .arg("--version")
        .stdin(Stdio::null())
        .output();
    let Ok(output) = output else {
        return String::new();
    };
    let text = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    text.lines().next().unwrap_or_default().to_owned()
}

/// Why native bash cannot be asked here.
pub fn lacking() -> Option<String> {
    let tool = EVERYWHERE
        .iter()
        .find(|(tool, says)| !version(tool).contains(says));
    if let Some((tool, _)) = tool {
        return Some(format!("`{tool}` is not GNU's"));
    }
    // "GNU bash, version 5.2.15(1)-release"
    let bash = version("bash");
    let major = bash
        .split("version ")
        .nth(1)
        .and_then(|version| version.split('.').next()?.parse::<u32>().ok());
    (major < Some(5)).then(|| format!("{bash} is older than 5"))
}

/// Whether the tools that `script` names are here.
pub fn has_tools(script: &Script) -> bool {
    SOMEWHERE.iter().all(|(tool, says)| {
        let names = |word: &str| word == *tool;
        let mut words = script.body.split(|c: char| !c.is_ascii_alphanumeric());
        !words.any(names) || version(tool).contains(says)
    })
}

/// Whether the records are to be written.
#[expect(clippy::disallowed_methods, reason = "a switch of the test run")]
pub fn is_update() -> bool {
    std::env::var("HOTCELL_UPDATE").is_ok_and(|value| value == "1")
}

/// What bash answers to each of `scripts`.
pub fn run(scripts: &[&Script]) -> BTreeMap<String, Answer> {
    let answers = Mutex::new(BTreeMap::new());
    let left = Mutex::new(scripts.iter());
    let work = || {
        loop {
            let Some(script) = left.lock().expect("no panic").next() else {
                break;
            };
            let answer = answer(script);
            let mut answers = answers.lock().expect("no panic");
            answers.insert(script.name.clone(), answer);
        }
    };
    let workers = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers.min(8) {
            scope.spawn(work);
        }
    });
    answers.into_inner().expect("no panic")
}

#[expect(
    clippy::disallowed_methods,
    reason = "native tools are where the user has them"
)]
fn answer(script: &Script) -> Answer {
    let place = tempfile::tempdir().expect("a temporary directory");
    let workspace = place.path().join("workspace");
    prepare(script, &workspace);
    let mut bash = Command::new("bash");
    bash.args(["--norc", "--noprofile", "-c", &script.command()])
        .current_dir(&workspace)
        .stdin(Stdio::null())
        .env_clear()
        .env("PATH", std::env::var("PATH").unwrap_or_default())
        .env("HOME", place.path())
        .env("LC_ALL", "C.UTF-8")
        .env("TZ", "UTC")
        .env("TERM", "dumb")
        .env("PAGER", "cat");
    let output = bash.output().expect("bash starts");
    let status = output.status;
    let signal = status.signal().map(|signal| 128 + signal);
    Answer::new(
        &String::from_utf8_lossy(&output.stdout),
        status.code().or(signal).unwrap_or(-1),
    )
}
