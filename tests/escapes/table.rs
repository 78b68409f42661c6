//! The escapes: paths that lead out or around, as data.
//!
//! Each is one member of a kind that users of agent command lines reported. `{out}` stands for the
//! absolute path of the directory outside.

/// What must not happen by a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Closed {
    /// Neither read nor changed.
    Whole,
    /// Read, but not changed.
    ToChange,
}

/// A way out.
pub struct Escape {
    pub path: &'static str,
    pub closed: Closed,
    /// Whether what is meant is the name itself. A tool may remove or replace a link that leads
    /// out, or one name of a file of two: the name is in the workspace.
    pub is_name: bool,
    /// A part of what `read_file` and a redirection of bash say about it, where they say a rule.
    pub rule: Option<&'static str>,
}

const fn whole(path: &'static str, rule: Option<&'static str>) -> Escape {
    Escape {
        path,
        closed: Closed::Whole,
        is_name: false,
        rule,
    }
}

const fn name(path: &'static str, rule: Option<&'static str>) -> Escape {
    Escape {
        is_name: true,
        ..whole(path, rule)
    }
}

const fn to_change(path: &'static str, rule: &'static str) -> Escape {
    Escape {
        closed: Closed::ToChange,
        ..whole(path, Some(rule))
    }
}

const LEAVES: Option<&str> = Some("leaves the workspace");
const MASKED: Option<&str> = Some("is masked (`");
const PROTECTED: &str = "is protected against change";

#[rustfmt::skip]
pub const ESCAPES: &[Escape] = &[
    // Links out, in every shape, and what is not there behind them.
    whole("outbox/f", LEAVES),
    whole("outbox/sub/f", LEAVES),
    whole("outbox/x", LEAVES),
    whole("relative/f", LEAVES),
    whole("chained/f", LEAVES),
    whole("winding/f", LEAVES),
    whole("outbox/script.sh", LEAVES),
    name("file", LEAVES),
    name("dangling", LEAVES),
    // Dots, a name that only begins the same, and absolute paths.
    whole("../outside/f", None),
    whole("../ws-evil/f", None),
    whole("sub/../../outside/f", None),
    whole("sub/../../ws-evil/f", None),
    whole("{out}/f", None),
    whole("/workspace/../outside/f", None),
    whole("//../../../../../../../..{out}/f", None),
    // What the kernel shows, and devices.
    whole("proc/environ", LEAVES),
    whole("proc/self/environ", LEAVES),
    whole("proc/self/root{out}/f", None),
    whole("root{out}/f", LEAVES),
    whole("/proc/self/environ", None),
    whole("/proc/self/fd/0", None),
    // A circle.
    name("round", None),
    whole("round/f", None),
    // What is masked, by its name, in other letters, and by a link.
    whole(".env", MASKED),
    whole(".ENV", MASKED),
    name("environment", MASKED),
    whole(".ssh/id_rsa", MASKED),
    whole("sub/../.env", MASKED),
    // A name with something behind it.
    whole(".env/", None),
    whole("file/", None),
    whole("file/.", None),
    // A file that is one outside too.
    Escape { is_name: true, ..to_change("hard.txt", "is a hard link") },
    // What is protected: there or not, at any depth, and by a link.
    to_change(".git/hooks/pre-commit", PROTECTED),
    to_change(".git/config", PROTECTED),
    to_change(".git/hooks/new", PROTECTED),
    to_change("git/hooks/new", PROTECTED),
    to_change("git/config", PROTECTED),
    to_change("vendor/sub/.git/hooks/pre-commit", PROTECTED),
    to_change("sub/.hotcell", PROTECTED),
    to_change("sub/.bashrc", PROTECTED),
    to_change("sub/.Bashrc", PROTECTED),
    to_change("hotcell.toml", PROTECTED),
];

/// Files that are none: named, they are refused at once and not waited for.
pub const NO_FILES: &[&str] = &["fifo", "socket", "root/dev/tty", "/dev/tty", "/dev/zero"];

/// Names where one plain name is expected.
pub const NAMES: &[&str] = &[
    "",
    ".",
    "..",
    "../skills-evil/two",
    "one/../../skills-evil/two",
    "linked",
    "{out}",
    "a/b",
    "con",
    "one/",
    "/skills/one",
    "\u{202e}one",
    "one\0",
    "skills-evil",
];
