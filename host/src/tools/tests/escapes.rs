//! Every built-in tool that takes a path against every way out: the boundary is below them all, so
//! none has to know of it, and each names the rule.

use super::*;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;

/// What nobody may see.
const CANARY: &str = "CANARY-7f3a";

struct Bench {
    toolbox: Toolbox,
    place: tempfile::TempDir,
}

impl Bench {
    async fn new() -> Bench {
        let place = tempfile::tempdir().expect("a temporary directory");
        let root = place.path();
        for directory in [
            "ws/sub",
            "ws/.git/hooks",
            "ws/vendor/sub/.git/hooks",
            "ws/.ssh",
            "ws-evil",
            "outside/sub",
        ] {
            fs::create_dir_all(root.join(directory)).expect("a directory");
        }
        for file in [
            "ws/.env",
            "ws/.ssh/id_rsa",
            "ws-evil/f",
            "outside/f",
            "outside/sub/f",
        ] {
            fs::write(root.join(file), CANARY).expect("a file");
        }
        for (file, content) in [
            ("ws/kept.txt", "kept\n"),
            ("ws/.git/config", "kept\n"),
            ("ws/.git/hooks/pre-commit", "kept\n"),
        ] {
            fs::write(root.join(file), content).expect("a file");
        }
        let outside = root.join("outside");
        for (target, link) in [
            (outside.clone(), "outbox"),
            (PathBuf::from("../outside"), "relative"),
            (outside.join("f"), "file"),
            (outside.join("new"), "dangling"),
            (PathBuf::from("/proc/self"), "proc"),
            (PathBuf::from(".git"), "git"),
        ] {
            symlink(target, root.join("ws").join(link)).expect("a link");
        }
        fs::hard_link(outside.join("sub/f"), root.join("ws/hard.txt")).expect("a link");
        rustix::fs::mkfifoat(
            rustix::fs::CWD,
            root.join("ws/fifo"),
            rustix::fs::Mode::from(0o600),
        )
        .expect("a FIFO");
        let builtins = ["files", "search", "bash"].map(builtin);
        let toolbox = Toolbox::load(&sandbox(), &builtins, &[])
            .await
            .expect("the built-in tools");
        Bench { toolbox, place }
    }

    async fn call(&self, mode: Mode, name: &str, arguments: Value) -> ToolResult {
        let policy = policy(&self.place.path().join("ws"), mode);
        call(&self.toolbox, &policy, name, arguments).await
    }

    /// Everything, to compare: what is outside, protected, masked, and the rest.
    fn picture(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut found = BTreeMap::new();
        let mut ahead = vec![self.place.path().to_owned()];
        while let Some(place) = ahead.pop() {
            let metadata = fs::symlink_metadata(&place).expect("it is there");
            let mut content = format!("{:?}", metadata.permissions()).into_bytes();
            if metadata.is_file() {
                content.extend(fs::read(&place).expect("it is readable"));
            }
            if metadata.is_dir() {
                let entries = fs::read_dir(&place).expect("it is readable");
                ahead.extend(entries.map(|entry| entry.expect("it is readable").path()));
            }
            found.insert(place, content);
        }
        found
    }
}

/// What a tool is refused, and a part of the rule that its result names. Nothing where the way is
/// blocked before any rule, by a path that is not there or by the tool itself.
struct Escape {
    path: &'static str,
    to_read: Option<&'static str>,
    to_write: Option<&'static str>,
}

const LEAVES: &str = "leaves the workspace (";
const MASKED: &str = "it does not exist for tools";
const PROTECTED: &str = "is protected against change";

const fn closed(path: &'static str, rule: &'static str) -> Escape {
    Escape {
        path,
        to_read: Some(rule),
        to_write: Some(rule),
    }
}

const fn unwritable(path: &'static str, rule: &'static str) -> Escape {
    Escape {
        path,
        to_read: None,
        to_write: Some(rule),
    }
}

const ESCAPES: &[Escape] = &[
    closed("outbox/f", LEAVES),
    closed("outbox/sub/f", LEAVES),
    closed("relative/f", LEAVES),
    closed("file", LEAVES),
    closed("dangling", LEAVES),
    closed("proc/self/environ", LEAVES),
    closed("proc/environ", LEAVES),
    closed(".env", "is masked (`.env*`)"),
    closed(".ssh/id_rsa", MASKED),
    unwritable("hard.txt", "is a hard link"),
    unwritable(".git/hooks/pre-commit", PROTECTED),
    unwritable(".git/config", PROTECTED),
    unwritable(".git/hooks/new", PROTECTED),
    unwritable("git/hooks/new", PROTECTED),
    unwritable("vendor/sub/.git/hooks/pre-commit", PROTECTED),
    unwritable("sub/.hotcell", PROTECTED),
    unwritable("sub/.bashrc", PROTECTED),
    unwritable("hotcell.toml", PROTECTED),
];

/// Calls that only look.
fn looks(path: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("read_file", json!({ "path": path })),
        ("grep", json!({ "pattern": "CANARY", "path": path })),
        ("glob", json!({ "pattern": "**/*", "path": path })),
        ("bash", json!({ "command": format!("cat {path}") })),
        (
            "bash",
            json!({ "command": format!("grep -r CANARY {path}") }),
        ),
        (
            "bash",
            json!({ "command": format!("while read -r l; do echo $l; done < {path}") }),
        ),
        (
            "bash",
            json!({ "command": format!("cp {path} copied && cat copied; rm -f copied") }),
        ),
    ]
}

/// Calls that change, if they may. What takes a name from a link out or from a file outside is no
/// escape: the name is in the workspace.
fn changes(path: &str) -> Vec<(&'static str, Value)> {
    let mut calls = vec![
        ("write_file", json!({ "path": path, "content": "owned" })),
        (
            "edit_file",
            json!({ "path": path, "old": "kept", "new": "owned" }),
        ),
    ];
    let is_name = ["file", "dangling", "hard.txt"].contains(&path);
    for command in [
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
        "rm -f %",
    ] {
        let replaces = ["mv ", "ln -f", "rm -f %", "sed -i"].iter();
        if is_name && replaces.clone().any(|word| command.contains(word)) {
            continue;
        }
        calls.push(("bash", json!({ "command": command.replace('%', path) })));
    }
    calls
}

#[tokio::test]
async fn no_tool_gets_out_or_around_and_nothing_changes() {
    let bench = Bench::new().await;
    let before = bench.picture();
    for mode in [Mode::Act, Mode::Plan] {
        for escape in ESCAPES {
            let mut calls = changes(escape.path);
            if escape.to_read.is_some() {
                calls.extend(looks(escape.path));
            }
            for (tool, arguments) in calls {
                let result = bench.call(mode, tool, arguments.clone()).await;
                let text = result.text();
                assert!(
                    !text.contains(CANARY),
                    "{mode:?} {tool} {arguments}: {text}"
                );
                assert!(
                    !text.contains("PATH="),
                    "{mode:?} {tool} {arguments}: {text}"
                );
                let same = bench.picture() == before;
                assert!(
                    same,
                    "{mode:?} {tool} {arguments} changed something: {text}"
                );
            }
        }
    }
}

#[tokio::test]
async fn each_tool_names_the_rule() {
    let bench = Bench::new().await;
    for escape in ESCAPES {
        let path = escape.path;
        let reads = [("read_file", json!({ "path": path }))];
        let writes = [
            ("write_file", json!({ "path": path, "content": "owned" })),
            ("bash", json!({ "command": format!("echo owned > {path}") })),
        ];
        for (rule, calls) in [(escape.to_read, &reads[..]), (escape.to_write, &writes[..])] {
            let Some(rule) = rule else { continue };
            for (tool, arguments) in calls {
                // The shell reads a link at the end of a path and looks for its target itself.
                let looks_itself = *tool == "bash" && ["file", "dangling"].contains(&path);
                // write_file replaces by a new file, and a second name of the old one is not touched.
                let replaces = *tool == "write_file" && path == "hard.txt";
                if looks_itself || replaces {
                    continue;
                }
                // Without this, write_file refuses what was not read, before anybody is asked.
                let read = json!({ "path": path });
                bench.call(Mode::Act, "read_file", read).await;
                let text = bench.call(Mode::Act, tool, arguments.clone()).await.text();
                // Made or found: the rule is the same, its end is not.
                let rule = if rule == MASKED { "is masked (" } else { rule };
                // A tool may follow links itself to say more.
                let rule = rule.trim_end_matches(" (");
                assert!(text.contains(rule), "{tool} {arguments}: {text}");
            }
        }
    }
}

#[tokio::test]
async fn where_a_link_leads_is_named_by_every_tool() {
    let bench = Bench::new().await;
    let outside = bench.place.path().join("outside").display().to_string();
    for (tool, arguments) in [
        (
            "write_file",
            json!({ "path": "outbox/x", "content": "owned" }),
        ),
        ("read_file", json!({ "path": "outbox/f" })),
        ("grep", json!({ "path": "outbox", "pattern": "x" })),
        ("bash", json!({ "command": "echo owned > outbox/x" })),
        ("bash", json!({ "command": "cat outbox/f" })),
    ] {
        let text = bench.call(Mode::Act, tool, arguments.clone()).await.text();
        assert!(text.contains(&outside), "{tool} {arguments}: {text}");
    }
}
