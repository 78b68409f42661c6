//! The escape matrix of the sandbox: raw operations against every rule for files, by the code the
//! guest sees and by what the model is told.

use crate::files::Yard;
use crate::support::{self, LIMITS, call, grant_on, load, text};
use hotcell::protocol::Capability::{WorkspaceRead, WorkspaceWrite};
use hotcell_test_artifacts::Guest;
use std::fs;
use std::os::unix::fs::symlink;

/// A yard with what the rules speak of.
fn yard() -> Yard {
    let yard = Yard::new();
    for below in ["ws/.git/hooks", "ws/vendor/sub/.git", "ws/.ssh"] {
        fs::create_dir_all(yard.at(below)).expect("made");
    }
    for (file, content) in [
        ("ws/.git/config", "[core]"),
        ("ws/.git/hooks/pre-commit", "true"),
        ("ws/.env", "TOKEN"),
        ("ws/.env.example", "example"),
        ("ws/.ssh/id_rsa", "key"),
    ] {
        fs::write(yard.at(file), content).expect("written");
    }
    symlink(".git", yard.at("ws/git")).expect("linked");
    symlink(".env", yard.at("ws/environment")).expect("linked");
    fs::hard_link(yard.at("outside/secret.txt"), yard.at("ws/hard.txt")).expect("linked");
    yard
}

const LEAVES: &str = "leaves the workspace (";
const HARD: &str = "is a hard link: the file has 2 names";
const PROTECTED: &str = "is protected against change (`.git/";
const KEEPS: &str = "keeps its name and stays a directory, because of what is below it (`.git/";
const MASKED: &str = "it does not exist for tools";
const MASKED_NEW: &str = "it cannot be made";

/// An operation, the code that the guest sees, and a part of what the model is told; nothing where
/// the system says no.
#[rustfmt::skip]
const MATRIX: &[(&str, &str, &str)] = &[
    // Out: by links, `..`, a name that only begins the same, and absolute.
    ("write /workspace absolute/secret.txt", "not-permitted", LEAVES),
    ("create /workspace relative/new.txt", "not-permitted", LEAVES),
    ("create /workspace dangling", "not-permitted", LEAVES),
    ("read /workspace ../ws-next/secret.txt", "not-permitted", LEAVES),
    ("read /workspace /etc/passwd", "not-permitted", LEAVES),
    ("read /workspace inner/../../../outside/secret.txt", "not-permitted", LEAVES),
    ("symlink /workspace ../outside planted", "not-permitted", LEAVES),
    ("symlink /workspace /etc/passwd planted", "not-permitted", LEAVES),
    ("rename /workspace note.txt chained/taken", "not-permitted", LEAVES),
    // What the kernel shows, and what is no file.
    ("read /workspace proc/environ", "not-permitted", "leaves the workspace (/proc/self/environ)"),
    ("list /workspace root/dev", "not-permitted", "leaves the workspace (/dev)"),
    ("read /workspace root/dev/tty", "not-permitted", "leaves the workspace (/dev/tty)"),
    ("read /workspace fifo", "not-permitted", "fifo is a FIFO, not a regular file"),
    ("write /workspace fifo", "not-permitted", "is a FIFO"),
    ("read /workspace socket", "not-permitted", "is a socket"),
    ("rename /workspace fifo moved", "not-permitted", "is a FIFO"),
    // A file that is one outside.
    ("write /workspace hard.txt", "not-permitted", HARD),
    ("append /workspace hard.txt", "not-permitted", HARD),
    ("truncate /workspace hard.txt", "not-permitted", HARD),
    ("touch /workspace hard.txt", "not-permitted", HARD),
    // Protected, there or not, at any depth, by any way.
    ("write /workspace .git/config", "not-permitted", PROTECTED),
    ("write /workspace .git/hooks/pre-commit", "not-permitted", PROTECTED),
    ("create /workspace .git/hooks/post-commit", "not-permitted", PROTECTED),
    ("create /workspace git/hooks/post-commit", "not-permitted", PROTECTED),
    ("mkdir-in /workspace git/hooks made", "not-permitted", PROTECTED),
    ("mkdir /workspace vendor/sub/.git/hooks", "not-permitted", PROTECTED),
    ("create /workspace vendor/sub/.git/config", "not-permitted", PROTECTED),
    ("rename /workspace note.txt vendor/sub/.git/config", "not-permitted", PROTECTED),
    ("link /workspace note.txt vendor/sub/.git/config", "not-permitted", PROTECTED),
    ("link /workspace .git/config plain", "not-permitted", PROTECTED),
    ("unlink /workspace .git/hooks/pre-commit", "not-permitted", PROTECTED),
    ("rmdir /workspace .git/hooks", "not-permitted", PROTECTED),
    ("rename /workspace .git/hooks moved", "not-permitted", PROTECTED),
    ("touch /workspace .git/config", "not-permitted", PROTECTED),
    ("create /workspace hotcell.toml", "not-permitted", "(`hotcell.toml`)"),
    ("create /workspace sub/.Bashrc", "not-permitted", "(`.bashrc`)"),
    ("rename /workspace .git moved", "not-permitted", KEEPS),
    ("rename /workspace sub .GIT", "not-permitted", KEEPS),
    ("symlink /workspace sub sub/.git", "not-permitted", KEEPS),
    ("create /workspace sub/.git", "not-permitted", KEEPS),
    // Masked: not there, and not made.
    ("read /workspace .env", "no-entry", MASKED),
    ("read /workspace .ENV", "no-entry", MASKED),
    ("read /workspace environment", "no-entry", MASKED),
    ("stat /workspace .ssh", "no-entry", MASKED),
    ("list /workspace .ssh", "no-entry", MASKED),
    ("read /workspace .ssh/id_rsa", "no-entry", MASKED),
    ("rename /workspace .env plain", "no-entry", MASKED),
    ("link /workspace .env plain", "no-entry", MASKED),
    ("unlink /workspace .env", "no-entry", MASKED),
    ("create /workspace .env.local", "not-permitted", MASKED_NEW),
    ("rename /workspace note.txt id_rsa", "not-permitted", MASKED_NEW),
    ("mkdir /workspace sub/.aws", "not-permitted", MASKED_NEW),
    // A slash at the end of a file.
    ("read /workspace note.txt/", "not-directory", ""),
    ("write /workspace note.txt/", "not-directory", ""),
    ("create /workspace new.txt/", "is-directory", ""),
    ("unlink /workspace inner-file/", "not-directory", ""),
    ("unlink /workspace note.txt/", "not-directory", ""),
];

#[tokio::test]
async fn every_escape_is_refused_by_its_rule_and_changes_nothing() {
    let yard = yard();
    let (outside, inside) = (yard.neighbourhood(), yard.workspace());
    let hands = load(&support::sandbox(true), Guest::Files);
    let grant = grant_on(&yard.at("ws"), &[WorkspaceRead, WorkspaceWrite], LIMITS);
    for (operation, code, told) in MATRIX {
        let outcome = call(&hands, &grant, operation).await;
        assert_eq!(text(&outcome), format!("refused {code}"), "{operation}");
        let lines = &outcome.refusals;
        let count = usize::from(!told.is_empty());
        assert_eq!(lines.len(), count, "{operation}: {lines:?}");
        assert!(
            lines
                .iter()
                .all(|line| line.starts_with("refused: ") && line.contains(told)),
            "{operation}: {lines:?}"
        );
    }
    assert_eq!(yard.neighbourhood(), outside);
    assert_eq!(yard.workspace(), inside);
}

#[tokio::test]
async fn a_read_only_grant_refuses_the_matrix_too() {
    let yard = yard();
    let (outside, inside) = (yard.neighbourhood(), yard.workspace());
    let hands = load(&support::sandbox(true), Guest::Files);
    let grant = grant_on(&yard.at("ws"), &[WorkspaceRead], LIMITS);
    for (operation, ..) in MATRIX {
        let outcome = call(&hands, &grant, operation).await;
        assert!(text(&outcome).starts_with("refused"), "{operation}");
    }
    assert_eq!(yard.neighbourhood(), outside);
    assert_eq!(yard.workspace(), inside);
}

#[tokio::test]
async fn one_link_out_spoils_nothing_else() {
    let yard = yard();
    let hands = load(&support::sandbox(true), Guest::Files);
    let grant = grant_on(&yard.at("ws"), &[WorkspaceRead, WorkspaceWrite], LIMITS);
    for (operation, expected) in [
        ("read /workspace .env.example", "ok example"),
        ("read /workspace .git/hooks/pre-commit", "ok true"),
        ("read /workspace hard.txt", "ok a secret"),
        ("list /workspace .git", "ok config hooks"),
        ("unlink /workspace absolute", "ok "),
        ("create /workspace .git/index", "ok "),
        ("mkdir /workspace sub/.git", "ok "),
    ] {
        let outcome = call(&hands, &grant, operation).await;
        assert_eq!(text(&outcome), expected, "{operation}");
        assert_eq!(outcome.refusals, Vec::<String>::new(), "{operation}");
    }
    let outcome = call(&hands, &grant, "list /workspace .").await;
    let names: Vec<&str> = text(&outcome).split(' ').collect();
    assert!(names.contains(&".env.example") && names.contains(&".git"));
    assert!(!names.contains(&".env") && !names.contains(&".ssh"));
}

#[tokio::test]
pub async fn hostile_arguments_are_errors_and_nothing_else() {
    let yard = yard();
    let (outside, inside) = (yard.neighbourhood(), yard.workspace());
    let component = load(&support::sandbox(true), Guest::HostilePaths);
    let grant = grant_on(&yard.at("ws"), &[WorkspaceRead, WorkspaceWrite], LIMITS);
    let outcome = call(&component, &grant, "").await;
    assert_eq!(text(&outcome), "nothing was allowed");
    assert_eq!(yard.neighbourhood(), outside);
    assert_eq!(yard.workspace(), inside);
    // However much was tried, what the model is told stays short.
    assert!(outcome.refusals.len() <= 6, "{:?}", outcome.refusals);
    let longest = outcome.refusals.iter().map(String::len).max();
    assert!(longest.is_some_and(|longest| longest < 2_000));
}

/// The benchmarks time this guest; here it is shown to do what they time.
#[tokio::test]
pub async fn the_work_that_is_measured_is_done() {
    let yard = yard();
    let worker = load(&support::sandbox(true), Guest::FileWork);
    let grant = grant_on(&yard.at("ws"), &[WorkspaceRead, WorkspaceWrite], LIMITS);
    for (work, done) in [
        ("read 10 note.txt", "60"),
        ("write 3 made.txt", "12288"),
        ("list 2 sub", "2"),
    ] {
        let outcome = call(&worker, &grant, work).await;
        assert_eq!(text(&outcome), done, "{work}");
    }
    let made = fs::read(yard.at("ws/made.txt")).expect("it was written");
    assert_eq!(made.len(), 4096);
}
