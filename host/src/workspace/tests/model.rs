//! Any sequence of operations against what must hold after each.

use super::journal::Notes;
use super::*;
use proptest::prelude::*;

/// Names that meet: a few plain ones, and those that rules speak of.
const NAMES: &[&str] = &[
    "a",
    "b",
    "c",
    ".git",
    ".GIT",
    "hooks",
    "config",
    ".env",
    ".vscode",
    "tasks.json",
    "..",
    ".",
];

fn path() -> impl Strategy<Value = String> {
    proptest::collection::vec(proptest::sample::select(NAMES), 1..5)
        .prop_map(|names| names.join("/"))
}

/// Where links point: into the workspace, and out of it as nobody but a person could make them.
fn target() -> impl Strategy<Value = String> {
    prop_oneof![
        path(),
        Just("/etc".to_owned()),
        Just("../../outside".to_owned())
    ]
}

fn operation() -> impl Strategy<Value = String> {
    prop_oneof![
        path().prop_map(|path| format!("create {path}")),
        path().prop_map(|path| format!("write {path}")),
        path().prop_map(|path| format!("truncate {path}")),
        path().prop_map(|path| format!("times {path}")),
        path().prop_map(|path| format!("mkdir {path}")),
        path().prop_map(|path| format!("rmdir {path}")),
        path().prop_map(|path| format!("unlink {path}")),
        (path(), path()).prop_map(|(from, to)| format!("rename {from} {to}")),
        (path(), path()).prop_map(|(from, to)| format!("link {from} {to}")),
        (target(), path()).prop_map(|(target, path)| format!("symlink {target} {path}")),
    ]
}

/// What the rules speak of and is in a tree: by which rule, its name, and what it holds. A directory
/// above may get another name: what is below keeps its own, and its rule with it.
fn ruled(root: &Path, rules: &PathRules) -> Vec<(String, PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut ahead = vec![root.to_owned()];
    while let Some(place) = ahead.pop() {
        let metadata = fs::symlink_metadata(&place).expect("there");
        if let Some(rule) = rules.rule(place.strip_prefix(root).expect("below")) {
            let content = if metadata.is_file() {
                fs::read(&place).expect("readable")
            } else {
                format!("{:?}", metadata.file_type()).into_bytes()
            };
            let name = place.file_name().expect("a name").into();
            found.push((rule.glob.to_owned(), name, content));
        }
        if metadata.is_dir() {
            let entries = fs::read_dir(&place).expect("readable");
            ahead.extend(entries.map(|entry| entry.expect("readable").path()));
        }
    }
    found.sort();
    found
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// Whatever a tool does, nothing outside changes, nothing protected or masked changes or comes
    /// to be, and the journal was told of whatever did change.
    #[test]
    fn no_sequence_of_operations_breaks_a_rule(
        operations in proptest::collection::vec(operation(), 1..40),
        planted in proptest::collection::vec((target(), proptest::sample::select(NAMES)), 0..4),
    ) {
        let home = tempfile::tempdir().expect("a directory");
        let at = |path: &str| home.path().join(path);
        for below in ["ws/a/.git/hooks", "ws/b/.vscode", "outside"] {
            fs::create_dir_all(at(below)).expect("made");
        }
        fs::write(at("outside/canary"), "sings").expect("written");
        fs::write(at("ws/a/.git/hooks/pre-commit"), "true").expect("written");
        fs::write(at("ws/a/.env"), "TOKEN").expect("written");
        for (target, name) in &planted {
            // Some names are taken, and `..` is.
            drop(symlink(target, at("ws/b").join(name)));
        }
        let rules = PathRules::default();
        let outside = picture(&at("outside"));
        let before = ruled(&at("ws"), &rules);
        let notes = Arc::new(Notes::default());
        let directory = Workspace::open(&at("ws"), Access::ReadWrite, rules.clone())
            .expect("it opens")
            .with_journal(Arc::clone(&notes) as Arc<dyn Journal>)
            .directory();
        for operation in &operations {
            let earlier = picture(&at("ws"));
            let told = notes.0.lock().expect("unbroken").len();
            let outcome = attempt(&directory, operation);
            let changed = picture(&at("ws")) != earlier;
            let noted = notes.0.lock().expect("unbroken").len() > told;
            prop_assert!(!changed || noted, "{operation} was not told");
            prop_assert!(!changed || outcome.is_ok(), "{operation} failed and changed something");
            prop_assert_eq!(ruled(&at("ws"), &rules), before.clone(), "{}", operation);
        }
        prop_assert_eq!(picture(&at("outside")), outside);
    }

    /// A path is found exactly where the system finds it, or not at all.
    #[test]
    fn a_path_is_found_where_the_system_finds_it(
        links in proptest::collection::vec((path(), path()), 0..6),
        asked in proptest::collection::vec(path(), 1..20),
    ) {
        let home = tempfile::tempdir().expect("a directory");
        let ws = home.path().join("ws");
        for below in ["a/b/c", "b/a", "c"] {
            fs::create_dir_all(ws.join(below)).expect("made");
            fs::write(ws.join(below).join("config"), below).expect("written");
        }
        for (target, link) in &links {
            if let Some(parent) = ws.join(link).parent() && parent.is_dir() {
                drop(symlink(target, ws.join(link)));
            }
        }
        let root = ws.canonicalize().expect("there");
        let directory = Workspace::open(&ws, Access::ReadOnly, PathRules::default())
            .expect("it opens")
            .directory();
        for path in &asked {
            use std::os::unix::fs::MetadataExt;
            let really = root.join(path).canonicalize();
            match directory.metadata_of(path, true) {
                Ok(found) => {
                    let really = really.expect("the system finds it too");
                    prop_assert!(really.starts_with(&root), "{path} is {}", really.display());
                    let expected = fs::metadata(&really).expect("there");
                    prop_assert_eq!((found.device, found.inode), (expected.dev(), expected.ino()));
                }
                Err(FileError::Refused(_)) => {
                    let inside = really.is_ok_and(|really| {
                        really
                            .strip_prefix(&root)
                            .is_ok_and(|below| PathRules::default().rule(below).is_none())
                    });
                    // A path may pass the outside, or something masked, and come back.
                    let passes = path.contains("..") || path.contains(".env") || !links.is_empty();
                    prop_assert!(!inside || passes, "{path} was refused");
                }
                Err(FileError::System(error)) => {
                    prop_assert!(really.is_err(), "{path}: {error}");
                }
            }
        }
    }
}
