//! The rules of ARCHITECTURE.md, as tables.
//!
//! Owns the ladder of modules and who may name what. There is no list of exceptions: a file that
//! needs one is in the wrong module. It must never know how a file is read.

use crate::source::{self, Mention, Source};
use std::path::Path;

/// The modules of `host/src` and their layers. A module imports only from lower layers; modules of
/// one layer do not know each other.
pub const LADDER: &[(&str, u8)] = &[
    ("protocol", 1),
    ("config", 2),
    ("policy", 2),
    ("process", 3),
    ("workspace", 3),
    ("provider", 4),
    ("sandbox", 4),
    ("store", 4),
    ("undo", 4),
    ("history", 4),
    ("prompt", 4),
    ("tools", 5),
    ("engine", 6),
    ("render", 7),
    ("cli", 8),
];

/// A file longer than this usually holds two ideas; one that says it is a table does not.
pub const LINES: usize = 500;

const CRATE: &str = "hotcell";

/// A name that only its owners may use.
struct Reserved {
    named: fn(&[String]) -> bool,
    owners: &'static [&'static str],
    rule: &'static str,
}

const RESERVED: &[Reserved] = &[
    Reserved {
        named: |path| begins(path, &["std", "env"]),
        owners: &["config"],
        rule: "only `config` reads the environment",
    },
    Reserved {
        named: |path| path[0].starts_with("wasmtime"),
        owners: &["sandbox"],
        rule: "only `sandbox` names wasmtime",
    },
    Reserved {
        named: |path| path[0] == "rusqlite",
        owners: &["store"],
        rule: "only `store` names rusqlite",
    },
    Reserved {
        named: |path| path[0] == "reqwest",
        owners: &["provider"],
        rule: "only `provider` names reqwest",
    },
    Reserved {
        named: |path| path[0] == "anstream" || names_standard_stream(path),
        owners: &["render", "cli"],
        rule: "only `render` and `cli` print",
    },
    Reserved {
        named: |path| {
            begins(path, &["std", "process", "Command"]) || begins(path, &["tokio", "process"])
        },
        owners: &["process"],
        rule: "only `process` starts a native process",
    },
    Reserved {
        named: |path| path.len() == 1 && ["std", "core", "alloc"].contains(&path[0].as_str()),
        owners: &[],
        rule: "a renamed `std` would hide what is named",
    },
];

/// Modules that only compute, and what they must not name.
const PURE: &[&str] = &["protocol", "policy"];
const IMPURE: &[&[&str]] = &[
    &["tokio"],
    &["wasmtime"],
    &["reqwest"],
    &["std", "fs"],
    &["std", "net"],
    &["std", "process"],
    &["std", "thread"],
];

const PRINTERS: &[&str] = &["print", "println", "eprint", "eprintln", "dbg"];
const MAY_PRINT: &[&str] = &["render", "cli"];

/// What makes a `static` hold state. `LazyLock` is not here: a value computed once and never
/// changed is a constant; with one of these inside it is found by that.
const STATEFUL: &[&str] = &[
    "Mutex",
    "RwLock",
    "OnceLock",
    "OnceCell",
    "LazyCell",
    "RefCell",
    "Cell",
    "UnsafeCell",
    "Semaphore",
    "Notify",
    "Once",
];

/// What a file of `host/src` does against the rules, one line each. `file` is its path below
/// `host/src`.
pub fn check(file: &str, text: &str) -> Vec<String> {
    let mut found = form(text);
    let module = module_path(file);
    let owner = match module.first() {
        Some(name) => name.clone(),
        // The binary's own file is the far end of the command line.
        None if file == "main.rs" => "cli".to_owned(),
        None => String::new(),
    };
    if !owner.is_empty() && layer(&owner).is_none() {
        found.push(format!("1: `{owner}` is no module of the ladder"));
    }
    match source::read(module, text) {
        Ok(source) => names(&owner, &source, &mut found),
        Err(error) => found.push(format!("1: not Rust: {error}")),
    }
    found.iter().map(|line| format!("{file}:{line}")).collect()
}

/// What every file of the repository keeps to: a header that says what it is for, and a size.
pub fn form(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let header: Vec<&str> = text
        .lines()
        .take_while(|line| line.starts_with("//!"))
        .collect();
    if header.first().is_none_or(|line| line.trim() == "//!") {
        found.push("1: a file opens with a `//!` that says what it owns".to_owned());
    }
    let lines = text.lines().count();
    if lines > LINES && !header.iter().any(|line| line.contains("table")) {
        found.push(format!(
            "{lines}: more than {LINES} lines: two ideas, or a table that does not say so"
        ));
    }
    found
}

fn names(owner: &str, source: &Source, found: &mut Vec<String>) {
    for mention in &source.mentions {
        let line = mention.line;
        let path = mention.segments.join("::");
        if owner.is_empty() && mention.imported {
            found.push(format!(
                "{line}: `{path}`: the crate's root only declares modules"
            ));
        }
        if let Some(wrong) = import(owner, mention) {
            found.push(format!("{line}: `{path}`: {wrong}"));
        }
        for reserved in RESERVED {
            if (reserved.named)(&mention.segments) && !reserved.owners.contains(&owner) {
                found.push(format!("{line}: `{path}`: {}", reserved.rule));
            }
        }
        let impure = IMPURE.iter().any(|name| begins(&mention.segments, name));
        if impure && PURE.contains(&owner) {
            found.push(format!("{line}: `{path}`: `{owner}` only computes"));
        }
    }
    for (name, line) in &source.macros {
        if PRINTERS.contains(&name.as_str()) && !MAY_PRINT.contains(&owner) {
            found.push(format!("{line}: `{name}!`: only `render` and `cli` print"));
        }
        if name == "thread_local" {
            found.push(format!("{line}: `{name}!`: no global holds state"));
        }
    }
    for item in &source.statics {
        let holds_state =
            |name: &String| STATEFUL.contains(&name.as_str()) || name.starts_with("Atomic");
        if item.mutable || item.type_names.iter().any(holds_state) {
            found.push(format!(
                "{}: `{}`: no global holds state",
                item.line, item.name
            ));
        }
    }
    for line in &source.path_attributes {
        found.push(format!("{line}: `#[path]` would hide where a module is"));
    }
}

/// Why a module of this crate may not be named here, if so.
fn import(owner: &str, mention: &Mention) -> Option<String> {
    let absolute = mention.in_crate(CRATE)?;
    let Some(target) = absolute.first().filter(|name| *name != "*") else {
        return Some("name the module, not the crate's root".to_owned());
    };
    let Some(target_layer) = layer(target) else {
        return Some(format!("`{target}` is no module of the ladder"));
    };
    let own_layer = layer(owner)?;
    if target == owner || target_layer < own_layer {
        return None;
    }
    let direction = if target_layer == own_layer {
        "sideways"
    } else {
        "up"
    };
    Some(format!(
        "points {direction}, from `{owner}` in layer {own_layer} to `{target}` in layer {target_layer}"
    ))
}

fn layer(module: &str) -> Option<u8> {
    LADDER
        .iter()
        .find(|(name, _)| *name == module)
        .map(|(_, layer)| *layer)
}

/// `a/b.rs` and `a/b/mod.rs` are the module `a::b`; the crate's root is empty.
fn module_path(file: &str) -> Vec<String> {
    let path = Path::new(file).with_extension("");
    let mut module: Vec<String> = path
        .iter()
        .map(|part| part.to_string_lossy().into_owned())
        .collect();
    let is_root = module.len() == 1 && (module[0] == "lib" || module[0] == "main");
    if is_root || module.last().is_some_and(|last| last == "mod") {
        module.pop();
    }
    module
}

/// Whether `path` is `name`, is below it, or is a glob that brings it.
fn begins(path: &[String], name: &[&str]) -> bool {
    let same = path.iter().zip(name).take_while(|(a, b)| a == b).count();
    same == name.len() || same > 0 && path.get(same).is_some_and(|segment| segment == "*")
}

/// `std::io::stdout`, `io::stderr()`, `tokio::io::Stdout` and the like.
fn names_standard_stream(path: &[String]) -> bool {
    path.windows(2).any(|pair| {
        pair[0] == "io" && ["stdout", "stderr", "Stdout", "Stderr"].contains(&pair[1].as_str())
    })
}
