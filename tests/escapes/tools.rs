//! What each tool can be asked to do about a path.
//!
//! Owns the calls, as a model would write them. Must never know what comes of them.

use crate::table::{Closed, Escape, NAMES};
use serde_json::{Value, json};

/// A call of a tool.
pub type Call = (&'static str, Value);

/// The tools of the matrix. Whatever else a toolbox holds is missing here.
pub const TOOLS: &[&str] = &[
    "bash",
    "edit_file",
    "glob",
    "grep",
    "read_file",
    "todo_write",
    "use_skill",
    "word_count",
    "write_file",
];

/// Lines of bash that look at a path.
const LOOKS: &[&str] = &[
    "cat %",
    "cat < %",
    "grep -r CANARY %",
    "while read -r l; do echo $l; done < %",
    "cp % copied && cat copied; rm -f copied",
    "cp -r % copied; cat copied/*; rm -rf copied",
    "head -c 100 % | tail -c 100",
    "cd % && cat *",
    "cd $(dirname %) && cat $(basename %)",
    "source %",
    "bash %",
    "%",
    "x=$(<%); echo $x",
    "find % -type f -exec cat {} +",
    "ln -s % planted; cat planted; rm -f planted",
    "awk '{print}' %",
    "sed -n p %",
    "diff % kept.txt",
    "tar -cf - % | tr -d '\\0'",
    "ls -la % && cat %",
];

/// Lines of bash that change what is at a path.
const CHANGES: &[&str] = &[
    "echo owned > %",
    "echo owned >> %",
    "cp kept.txt %",
    "cp kept.txt t && mv t %; rm -f t",
    "echo owned | tee %",
    "sed -i s/kept/owned/ %",
    "ln -s kept.txt %",
    "ln -f kept.txt %",
    "mkdir -p %",
    "touch %",
    "truncate -s 0 %",
    "chmod 777 %",
    "rm -f %",
    "rmdir %",
    "mv % taken; mv taken %",
    "dd if=kept.txt of=%",
    "install kept.txt %",
];

/// Changes that take a name away or put another thing in its place.
const REPLACING: &[&str] = &["mv ", "ln -f", "rm -f %", "sed -i", "install", "chmod"];

/// Every call that could look at `path` or, as far as it is closed, change it.
pub fn attempts(escape: &Escape, path: &str) -> Vec<Call> {
    let mut calls = changes(escape, path);
    if escape.closed == Closed::Whole {
        calls.extend(looks(path));
    }
    calls
}

fn bash(line: &str, path: &str) -> Call {
    let quoted = format!("'{}'", path.replace('\'', "'\\''"));
    ("bash", json!({ "command": line.replace('%', &quoted) }))
}

/// Calls that only look.
pub fn looks(path: &str) -> Vec<Call> {
    let mut calls = vec![
        ("read_file", json!({ "path": path })),
        (
            "read_file",
            json!({ "path": path, "offset": 1, "column": 2 }),
        ),
        ("grep", json!({ "pattern": "CANARY|root", "path": path })),
        ("grep", json!({ "pattern": "CANARY", "glob": path })),
        ("glob", json!({ "pattern": "**/*", "path": path })),
        ("glob", json!({ "pattern": path })),
        ("glob", json!({ "pattern": format!("{path}/**") })),
        ("word_count", json!({ "path": path })),
        ("word_count", json!({ "path": path, "word": "CANARY" })),
        ("use_skill", json!({ "name": path })),
        ("use_skill", json!({ "name": "one", "path": path })),
        (
            "use_skill",
            json!({ "name": "one", "path": format!("../../ws/{path}") }),
        ),
        (
            "todo_write",
            json!({ "todos": [{ "content": path, "status": "pending" }] }),
        ),
    ];
    calls.extend(LOOKS.iter().map(|line| bash(line, path)));
    calls
}

/// Calls that change, if they may.
fn changes(escape: &Escape, path: &str) -> Vec<Call> {
    let edits = json!([{ "old": "kept", "new": "owned" }]);
    let mut calls = vec![
        (
            "edit_file",
            json!({ "path": path, "old": "kept", "new": "owned" }),
        ),
        ("edit_file", json!({ "path": path, "edits": edits })),
        (
            "edit_file",
            json!({ "path": path, "old": "CANARY", "new": "" }),
        ),
    ];
    // Replaced by a new file, a second name of the old one is not touched; a link is followed.
    if escape.path != "hard.txt" {
        calls.push(("write_file", json!({ "path": path, "content": "owned" })));
    }
    for line in CHANGES {
        let is_replaced = REPLACING.iter().any(|part| line.contains(part));
        if !(escape.is_name && is_replaced) {
            calls.push(bash(line, path));
        }
    }
    calls
}

/// Calls by names where one plain name is expected.
pub fn by_name() -> Vec<Call> {
    let long = "n".repeat(300);
    let names = NAMES.iter().copied().chain([long.as_str()]);
    names
        .flat_map(|name| {
            [
                ("use_skill", json!({ "name": name })),
                ("use_skill", json!({ "name": name, "path": "SKILL.md" })),
                ("use_skill", json!({ "name": "one", "path": name })),
            ]
        })
        .collect()
}

/// A call of each tool that is in order, and a part of its answer: without it, a tool that refuses
/// everything would pass.
pub fn in_order() -> Vec<(Call, &'static str)> {
    vec![
        (("read_file", json!({ "path": "kept.txt" })), "kept"),
        (
            ("grep", json!({ "pattern": "kep", "path": "." })),
            "kept.txt",
        ),
        (("glob", json!({ "pattern": "*.txt" })), "kept.txt"),
        (("word_count", json!({ "path": "kept.txt" })), "1"),
        (("use_skill", json!({ "name": "one" })), "the skill"),
        (
            (
                "todo_write",
                json!({ "todos": [{ "content": "rest", "status": "pending" }] }),
            ),
            "rest",
        ),
        (bash("cat %", "kept.txt"), "kept"),
        (bash("cat %", "hard.txt"), crate::scene::SHARED),
    ]
}

/// The same for what changes, with the file that is then there.
pub fn changes_in_order() -> Vec<(Call, &'static str)> {
    vec![
        (
            (
                "write_file",
                json!({ "path": "sub/new.txt", "content": "x" }),
            ),
            "sub/new.txt",
        ),
        (
            (
                "edit_file",
                json!({ "path": "sub/new.txt", "old": "x", "new": "y" }),
            ),
            "sub/new.txt",
        ),
        (bash("echo x > %", "sub/more.txt"), "sub/more.txt"),
    ]
}
