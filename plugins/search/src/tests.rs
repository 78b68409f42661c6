//! Both tools through a mock host, over trees in a temporary directory.

use super::*;
use hotcell_sdk::ErrorKind;
use hotcell_sdk::testing::{MockHost, Value, assert_definitions_match, json};
use std::fs::{File, FileTimes};
use std::path::Path;
use std::time::{Duration, SystemTime};

struct Tree {
    directory: tempfile::TempDir,
    host: MockHost,
}

impl Tree {
    fn new(files: &[(&str, &str)]) -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let host = MockHost::new(directory.path());
        let tree = Tree { directory, host };
        for (path, content) in files {
            tree.write(path, content.as_bytes());
        }
        tree
    }

    fn root(&self) -> &Path {
        self.directory.path()
    }

    fn write(&self, path: &str, content: &[u8]) {
        let file = self.root().join(path);
        let parent = file.parent().expect("a file in a directory");
        fs::create_dir_all(parent).expect("writable");
        fs::write(file, content).expect("writable");
    }

    fn glob(&self, arguments: Value) -> Result<String, ToolError> {
        self.host
            .call::<Glob>(arguments)
            .map(|answer| answer.to_text())
    }

    fn grep(&self, arguments: Value) -> Result<String, ToolError> {
        self.host
            .call::<Grep>(arguments)
            .map(|answer| answer.to_text())
    }

    /// The paths that a glob answers, without the count.
    fn paths(&self, arguments: Value) -> Vec<String> {
        let answer = self.glob(arguments).expect("an answer");
        answer
            .split("\n\n")
            .next()
            .filter(|paths| paths.len() < answer.len())
            .map(|paths| paths.lines().map(str::to_owned).collect())
            .unwrap_or_default()
    }
}

#[test]
fn glob_finds_files_and_directories_in_order_of_path() {
    let tree = Tree::new(&[
        ("a/b.rs", ""),
        ("a/c/d.rs", ""),
        ("a.rs", ""),
        (".github/ci.yml", ""),
        (".git/config", ""),
        ("sub/.git/hooks/x.rs", ""),
    ]);
    assert_eq!(
        tree.glob(json!({ "pattern": "*.rs" })),
        Ok("a/b.rs\na/c/d.rs\na.rs\n\n3 files".to_owned())
    );
    assert_eq!(
        tree.paths(json!({ "pattern": "*" })),
        [".github/ci.yml", "a/b.rs", "a/c/d.rs", "a.rs"]
    );
    assert_eq!(tree.paths(json!({ "pattern": "./*" })), ["a.rs"]);
    assert_eq!(
        tree.paths(json!({ "pattern": "*/" })),
        [".github/", "a/", "a/c/", "sub/"]
    );
    for path in ["a", "./a/", "/workspace/a"] {
        assert_eq!(
            tree.paths(json!({ "pattern": "./*", "path": path })),
            ["a/b.rs"]
        );
    }
    assert_eq!(
        tree.glob(json!({ "pattern": "*.py", "path": "a" })),
        Ok("no files match `*.py` below `a` (3 entries looked at)".to_owned())
    );
}

#[test]
fn glob_can_put_the_newest_first_and_counts_what_it_leaves_out() {
    let tree = Tree::new(&[]);
    let count = 4 * glob::LIMIT + 7;
    for n in 0..count {
        tree.write(&format!("{n:05}"), b"");
        let time =
            SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 + (n as u64 * 7_919) % 10_007);
        File::options()
            .write(true)
            .open(tree.root().join(format!("{n:05}")))
            .and_then(|file| file.set_times(FileTimes::new().set_modified(time)))
            .expect("writable");
    }
    let mut by_time: Vec<usize> = (0..count).collect();
    by_time.sort_by_key(|n| std::cmp::Reverse((*n as u64 * 7_919) % 10_007));
    let newest: Vec<String> = by_time
        .iter()
        .take(glob::LIMIT)
        .map(|n| format!("{n:05}"))
        .collect();
    assert_eq!(
        tree.paths(json!({ "pattern": "*", "sort": "modified" })),
        newest
    );
    let answer = tree.glob(json!({ "pattern": "*" })).expect("an answer");
    assert!(answer.starts_with("00000\n00001\n"), "{answer}");
    assert!(
        answer.ends_with(
            "\n\nthe first 500 of 2007 files; narrow `pattern` or `path` to see the others"
        ),
        "{answer}"
    );
}

#[test]
fn ignore_rules_count_as_in_git() {
    let tree = Tree::new(&[
        (
            ".gitignore",
            "\u{feff}/target\n*.log\n!keep.log\nbuild/\n[bad\n",
        ),
        ("target/a", ""),
        ("x.log", ""),
        ("keep.log", ""),
        ("src/target", ""),
        ("src/.gitignore", "!deep.log\n/only-here\n"),
        ("src/deep.log", ""),
        ("src/other.log", ""),
        ("src/only-here", ""),
        ("only-here", ""),
        ("build/.gitignore", "!*\n"),
        ("build/out", ""),
        ("notes/.ignore", "private\n"),
        ("notes/private", ""),
    ]);
    assert_eq!(
        tree.paths(json!({ "pattern": "*" })),
        [
            ".gitignore",
            "keep.log",
            "notes/.ignore",
            "only-here",
            "src/.gitignore",
            "src/deep.log",
            "src/target"
        ]
    );
    // The rules of the directories above count below them too.
    assert_eq!(
        tree.paths(json!({ "pattern": "*", "path": "src" })),
        ["src/.gitignore", "src/deep.log", "src/target"]
    );
    // What is asked for by name is searched all the same.
    assert_eq!(
        tree.paths(json!({ "pattern": "*", "path": "target" })),
        ["target/a"]
    );
    assert_eq!(
        tree.paths(json!({ "pattern": "*", "path": "build" })),
        ["build/.gitignore", "build/out"]
    );
    tree.write("x.log", b"needle\n");
    let answer = tree
        .grep(json!({ "pattern": "needle", "path": "x.log" }))
        .expect("an answer");
    assert!(answer.starts_with("x.log:1: needle\n"), "{answer}");
}

#[test]
fn ignore_rules_that_are_too_large_are_not_applied_and_counted() {
    let tree = Tree::new(&[("a", "")]);
    tree.write(".gitignore", "*\n".repeat(100_000).as_bytes());
    let answer = tree.glob(json!({ "pattern": "*" })).expect("an answer");
    assert!(answer.starts_with(".gitignore\na\n"), "{answer}");
    assert!(
        answer.ends_with("not applied (too large or not readable): 1"),
        "{answer}"
    );
}

#[test]
fn grep_groups_lines_by_file() {
    let tree = Tree::new(&[
        ("a.txt", "one\nTwo two\r\nthree two"),
        ("b/c.txt", "two\n"),
        ("b/d.md", "two\n"),
        ("empty", ""),
    ]);
    assert_eq!(
        tree.grep(json!({ "pattern": "two", "glob": "*.txt" })),
        Ok("a.txt:2: Two two\na.txt:3: three two\n\nb/c.txt:1: two\n\n3 matching lines in 2 files (2 searched)".to_owned())
    );
    let table = [
        // `$` stands before CRLF too.
        (
            json!({ "pattern": "two$" }),
            "4 matching lines in 3 files (4 searched)",
        ),
        (
            json!({ "pattern": "^two", "ignore_case": true }),
            "3 matching lines in 3 files",
        ),
        (
            json!({ "pattern": "two", "glob": "!*.txt" }),
            "1 matching line in 1 file (2 searched)",
        ),
        (
            json!({ "pattern": "two", "path": "b", "glob": "./*.md" }),
            "1 matching line in 1 file (1 searched)",
        ),
        (
            json!({ "pattern": "two", "path": "b/c.txt", "glob": "*.md" }),
            "1 matching line in 1 file (1 searched)",
        ),
        (
            json!({ "pattern": "four" }),
            "no line matches `four` below `.` (4 files searched)",
        ),
        (
            json!({ "pattern": "two", "glob": "*.rs" }),
            "no line matches `two` below `.` (0 files searched); no file there matches the glob `*.rs`",
        ),
    ];
    for (arguments, end) in table {
        let answer = tree.grep(arguments.clone()).expect("an answer");
        let last = answer.lines().last().unwrap_or_default();
        assert!(last.starts_with(end), "{arguments}: {answer}");
    }
}

#[test]
fn context_lines_are_marked_and_gaps_are_shown() {
    let tree = Tree::new(&[("a", "1\nx\n3\n4\n5\n6\nx\n8\n")]);
    assert_eq!(
        tree.grep(json!({ "pattern": "x", "context": 1 })),
        Ok("a-1- 1\na:2: x\na-3- 3\n--\na-6- 6\na:7: x\na-8- 8\n\n2 matching lines in 1 file (1 searched)".to_owned())
    );
}

#[test]
fn a_limit_gives_a_part_and_says_so() {
    let tree = Tree::new(&[("a", "x\nx\nx\n"), ("b", "x\nx\n"), ("c", "x\n")]);
    let answer = tree
        .grep(json!({ "pattern": "x", "limit": 4 }))
        .expect("an answer");
    assert!(answer.starts_with("a:1: x\na:2: x\na:3: x\n\nb:1: x\n\n4 matching lines in 2 files (2 searched)\nstopped at the limit of 4"), "{answer}");
    tree.write("a", "x".repeat(300).as_bytes());
    for n in 0..400 {
        tree.write(
            &format!("many/{n:03}"),
            format!("{}\n", "x".repeat(350)).as_bytes(),
        );
    }
    let answer = tree
        .grep(json!({ "pattern": "x", "limit": 1000 }))
        .expect("an answer");
    assert!(
        answer.contains("stopped because the answer is long"),
        "{answer}"
    );
    assert!(answer.len() < 50 * 1024);
}

#[test]
fn bad_arguments_are_named() {
    let tree = Tree::new(&[("a", "x")]);
    let table = [
        (
            json!({ "pattern": "foo(" }),
            "unclosed group; escape special characters",
        ),
        (json!({ "pattern": "(?=x)" }), "look-around"),
        (json!({ "pattern": "a\\nb" }), "a match is within one line"),
        (json!({ "pattern": "a\nb" }), "a match is within one line"),
        (json!({ "pattern": "" }), "`pattern` is empty"),
        (json!({ "pattern": "\\w{900}{900}" }), "size limit"),
        (
            json!({ "pattern": "x", "glob": "{a" }),
            "`glob` `{a`: unclosed alternate",
        ),
        (
            json!({ "pattern": "x", "limit": 0 }),
            "`limit` must be from 1 to 1000",
        ),
        (
            json!({ "pattern": "x", "context": 21 }),
            "`context` must be at most 20",
        ),
        (
            json!({ "pattern": "x", "file": "a" }),
            "unknown field `file`",
        ),
    ];
    for (arguments, message) in table {
        let error = tree.grep(arguments.clone()).expect_err("refused");
        assert_eq!(error.kind(), ErrorKind::InvalidArguments, "{arguments}");
        assert!(error.message().contains(message), "{arguments}: {error}");
        assert!(!error.message().contains('\n'), "{error}");
    }
    let error = tree.glob(json!({ "pattern": "[a" })).expect_err("refused");
    assert!(
        error
            .message()
            .starts_with("`pattern` `[a`: unclosed character class"),
        "{error}"
    );
    let error = tree
        .glob(json!({ "pattern": "*", "path": "a" }))
        .expect_err("refused");
    assert_eq!(error.message(), "`a` is a file; `path` must be a directory");
    for (path, kind) in [
        ("b", ErrorKind::NotFound),
        ("..", ErrorKind::Denied),
        ("/etc", ErrorKind::Denied),
    ] {
        let error = tree
            .grep(json!({ "pattern": "x", "path": path }))
            .expect_err("refused");
        assert_eq!(error.kind(), kind, "{path}: {error}");
    }
}

#[test]
fn only_text_is_searched_and_utf_16_is_text() {
    let tree = Tree::new(&[("a", "needle\n")]);
    tree.write("late", &[b"needle\n".repeat(10).as_slice(), b"\0"].concat());
    tree.write("latin1", b"\xe4 needle\n");
    let wide: Vec<u8> = "\u{feff}needle\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    tree.write("wide", &wide);
    assert_eq!(
        tree.grep(json!({ "pattern": "needle" })),
        Ok("a:1: needle\n\nlatin1:1: \u{fffd} needle\n\nwide:1: needle\n\n3 matching lines in 3 files (3 searched)\nbinary files, not searched: 1".to_owned())
    );
}

#[test]
fn a_line_of_megabytes_does_not_take_the_memory() {
    let tree = Tree::new(&[("b", "needle\n")]);
    tree.write(
        "a",
        &[
            b"needle\n".as_slice(),
            &b"x".repeat(20 << 20),
            b"\nneedle\n",
        ]
        .concat(),
    );
    let answer = tree
        .grep(json!({ "pattern": "needle" }))
        .expect("an answer");
    assert!(
        answer.starts_with("a:1: needle\n\nb:1: needle\n\n2 matching lines"),
        "{answer}"
    );
    assert!(
        answer.contains("\nnot searched to its end: `a`: "),
        "{answer}"
    );
}

#[test]
fn when_the_time_is_up_the_answer_says_so() {
    let tree = Tree::new(&[("a", "x\n"), ("b/c", "x\n")]);
    let host = MockHost::new(tree.root()).with_deadline(Duration::ZERO);
    let glob = host
        .call::<Glob>(json!({ "pattern": "*" }))
        .map(|answer| answer.to_text());
    let grep = host
        .call::<Grep>(json!({ "pattern": "x" }))
        .map(|answer| answer.to_text());
    let file = host
        .call::<Grep>(json!({ "pattern": "x", "path": "a" }))
        .map(|answer| answer.to_text());
    for answer in [glob, grep, file] {
        let answer = answer.expect("an answer");
        assert!(answer.contains("the answer is incomplete"), "{answer}");
        assert_eq!(answer.matches("incomplete").count(), 1, "{answer}");
    }
}

#[cfg(unix)]
#[test]
fn links_are_not_followed_and_pipes_are_not_opened() {
    let tree = Tree::new(&[("real/a", "x\n"), ("start/b", "x\n")]);
    let root = tree.root();
    for (target, link) in [
        ("..", "real/loop"),
        ("real", "linked"),
        ("real/a", "file"),
        ("/", "outside"),
    ] {
        std::os::unix::fs::symlink(target, root.join(link)).expect("writable");
    }
    for pipe in ["pipe", "start/.gitignore"] {
        let made = std::process::Command::new("mkfifo")
            .arg(root.join(pipe))
            .status();
        assert!(made.is_ok_and(|status| status.success()), "mkfifo is there");
    }
    assert_eq!(tree.paths(json!({ "pattern": "*" })), ["real/a", "start/b"]);
    let answer = tree.grep(json!({ "pattern": "x" })).expect("an answer");
    assert!(
        answer.ends_with("2 matching lines in 2 files (2 searched)"),
        "{answer}"
    );
    // Rules above the start are looked up by name.
    assert_eq!(
        tree.paths(json!({ "pattern": "*", "path": "start" })),
        ["start/b"]
    );
    for (path, message) in [
        ("pipe", "neither a directory nor a regular file"),
        (
            "linked",
            "is a link, and a search does not follow links; give what it points to (`real`)",
        ),
        ("outside", "(`/`)"),
    ] {
        let error = tree
            .grep(json!({ "pattern": "x", "path": path }))
            .expect_err("refused");
        assert_eq!(error.kind(), ErrorKind::InvalidArguments);
        assert!(error.message().contains(message), "{error}");
    }
}

#[test]
fn the_model_reads_what_was_reviewed() {
    assert_definitions_match(
        concat!(env!("CARGO_MANIFEST_DIR"), "/definitions.json"),
        &[
            hotcell_sdk::definition::<Glob>(),
            hotcell_sdk::definition::<Grep>(),
        ],
    );
}
