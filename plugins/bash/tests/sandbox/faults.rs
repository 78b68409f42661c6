//! A file that cannot be had or changed fails one command and never the script.

use super::*;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

/// A place with one of everything that refuses: see [`OPERANDS`].
fn place_of_faults() -> Place {
    let place = Place::new();
    let workspace = place.workspace();
    symlink("../outside", workspace.join("out")).expect("a link");
    symlink("../outside/new", workspace.join("dangling")).expect("a link");
    symlink("loop", workspace.join("loop")).expect("a link");
    fs::write(workspace.join("sub/in.txt"), "in\n").expect("a file");
    let fifo = std::process::Command::new("mkfifo")
        .arg(workspace.join("fifo"))
        .status();
    assert!(fifo.is_ok_and(|status| status.success()), "mkfifo");
    place
}

/// The place's host, with or without the right to change the workspace.
fn host_of(place: &Place, writable: bool) -> MockHost {
    if writable {
        place.host()
    } else {
        place.host().granting([Capability::WorkspaceRead])
    }
}

/// A directory, nothing, a pipe, a file as a directory, links out of the workspace and to
/// themselves, a place that cannot be written, and a name that no file system takes.
const OPERANDS: [&str; 9] = [
    "sub",
    "missing/x",
    "fifo",
    "kept.txt/x",
    "out/secret",
    "dangling",
    "loop",
    "/etc/new",
    "$long",
];

/// How an operand is given: alone, as the second of two, and to the options that name a file to
/// write, a directory to go to, an archive, or files below a directory.
const FORMS: [&str; 10] = [
    "",
    "kept.txt",
    "-o",
    "-i s/k/x/",
    "-C",
    "-r",
    "-cf t.tar",
    "-d",
    "-xf",
    "-p",
];

/// Words of the grammar among the names of commands.
const GRAMMAR: [&str; 17] = [
    "if", "then", "else", "elif", "fi", "do", "done", "case", "esac", "while", "until", "for",
    "select", "function", "in", "time", "coproc",
];

#[test]
fn no_command_ends_the_script_whatever_file_it_meets() {
    let names = run(&Place::new().host(), "compgen -c | sort -u");
    let names: Vec<&str> = printed(&names)
        .lines()
        .filter(|name| name.chars().any(char::is_alphanumeric) && !GRAMMAR.contains(name))
        .collect();
    assert!(names.len() > 150, "{names:?}");
    let mut wrong = String::new();
    for (name, writable) in names.iter().flat_map(|name| [(name, true), (name, false)]) {
        let place = place_of_faults();
        let mut script = format!("long={}\n", "n".repeat(300));
        for form in FORMS {
            for operand in OPERANDS {
                // Into a file, and into a pipe: bashkit runs them by different code.
                for rest in [">/dev/null 2>&1", "2>/dev/null | cat > /dev/null"] {
                    script += &format!("( {name} {form} {operand} < kept.txt ) {rest}\n");
                }
            }
        }
        script += "echo after";
        let before = place.outside();
        let answer = run_for(&host_of(&place, writable), &script, 60);
        let goes_on = answer.lines().any(|line| line == "after");
        if !goes_on || !has_status(&answer, 0) {
            wrong += &format!("--- {name}, writable {writable}\n{answer}\n");
        }
        assert_eq!(place.outside(), before, "{name}");
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// The lines of a section of `faults.txt`: a command, and what it prints.
fn section<'a>(text: &'a str, name: &str) -> Vec<(&'a str, &'a str)> {
    text.split("\n@")
        .find_map(|section| section.strip_prefix(name)?.strip_prefix('\n'))
        .expect("the section")
        .lines()
        .map(|line| line.split_once(" => ").expect("a command and its output"))
        .collect()
}

/// Whether `said` is `expected`, in which ` … ` may be any words.
fn is_said(said: &str, expected: &str) -> bool {
    match expected.split_once(" … ") {
        Some((name, why)) => said.starts_with(name) && said.ends_with(why) && !said.contains('\n'),
        None => said == expected,
    }
}

#[test]
fn a_refused_command_says_so_and_the_next_one_runs() {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faults.txt"))
        .expect("the commands");
    let place = place_of_faults();
    let names = || {
        let entries = fs::read_dir(place.workspace()).expect("the workspace");
        let mut names: Vec<_> = entries
            .map(|entry| entry.expect("an entry").file_name())
            .collect();
        names.sort();
        names
    };
    let before = (names(), place.outside());
    let mut wrong = String::new();
    for (name, writable) in [("read-only", false), ("writable", true)] {
        let host = host_of(&place, writable);
        for (command, expected) in section(&text, name) {
            let answer = run(&host, &format!("{command}; echo \"after $?\""));
            let (said, after) = printed(&answer).rsplit_once("after ").unwrap_or_default();
            let failed = after.trim().parse().is_ok_and(|status: i32| status != 0);
            if !is_said(said.trim_end(), expected) || !failed {
                wrong += &format!("{command} => {expected}\n{answer}\n");
            }
            let kept = fs::read_to_string(place.workspace().join("kept.txt"));
            assert_eq!(kept.ok().as_deref(), Some("kept\n"), "{command}: {answer}");
            assert_eq!((names(), place.outside()), before, "{command}: {answer}");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn a_changed_file_stays_the_same_file() {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faults.txt"))
        .expect("the commands");
    let mut wrong = String::new();
    for (command, expected) in section(&text, "in-place") {
        let place = Place::new();
        let file = place.workspace().join("run.sh");
        fs::write(&file, "k: 1\n").expect("a file");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("a mode");
        let before = fs::metadata(&file).expect("the file");
        let answer = run(&place.host(), command);
        let after = fs::metadata(&file).expect("the file");
        let content = fs::read_to_string(&file).expect("the file");
        let is_same = (before.mode(), before.ino()) == (after.mode(), after.ino());
        if !is_same || content.split_whitespace().ne(expected.split_whitespace()) {
            wrong += &format!(
                "{command} => {content}, mode {:o}\n{answer}\n",
                after.mode()
            );
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
