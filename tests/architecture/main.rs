//! Holds the source to ARCHITECTURE.md.
//!
//! Reads every file and fails on an import that points up or sideways, on a name outside the
//! module that owns it, on global state, and on a file that does not say what it is for. The
//! checker is itself checked against snippets that must fail.

mod rules;
mod source;

use std::path::{Path, PathBuf};

#[test]
fn every_module_imports_only_from_lower_layers_and_names_only_what_it_may() {
    let source = repository().join("host/src");
    let files = rust_files(&source);
    let violations: Vec<String> = files
        .iter()
        .flat_map(|file| rules::check(&below(&source, file), &read(file)))
        .collect();
    assert_eq!(violations, Vec::<String>::new());
    for (module, _) in rules::LADDER {
        assert!(
            files
                .iter()
                .any(|file| file.starts_with(source.join(module))),
            "the ladder names `{module}`, and host/src has no such directory"
        );
    }
}

#[test]
fn every_file_says_what_it_owns_and_holds_one_idea() {
    let root = repository();
    let mut violations = Vec::new();
    for directory in ["host", "sdk", "plugins", "tests"] {
        for file in rust_files(&root.join(directory)) {
            let name = below(&root, &file);
            let found = rules::form(&read(&file));
            violations.extend(found.iter().map(|line| format!("{name}:{line}")));
        }
    }
    assert_eq!(violations, Vec::<String>::new());
}

/// A file, what is in it, and a part of the one complaint it must get; none where it is fine.
#[rustfmt::skip]
const SNIPPETS: &[(&str, &str, Option<&str>)] = &[
    ("engine/mod.rs", "use crate::tools::Toolbox;", None),
    ("engine/mod.rs", "use crate::{protocol::{Event, Usage}, tools};", None),
    ("engine/mod.rs", "use super::engine::Run;", None),
    ("engine/turn.rs", "use super::Run; use self::inner::X;", None),
    ("tools/mod.rs", "use crate::engine::Run;", Some("points up, from `tools` in layer 5 to `engine`")),
    ("policy/mod.rs", "use crate::config::Config;", Some("points sideways")),
    ("sandbox/imports/mod.rs", "use super::super::tools::Toolbox;", Some("points up")),
    ("sandbox/a/b.rs", "use super::super::super::tools;", Some("points up")),
    ("history/mod.rs", "use crate::{protocol::Message, engine::{self}};", Some("points up")),
    ("history/mod.rs", "use {crate::protocol::Message, crate::prompt::Prompt};", Some("points sideways")),
    ("history/mod.rs", "fn f(run: &crate::engine::Run) {}", Some("points up")),
    ("history/mod.rs", "fn f() { <crate::engine::Run as Clone>::clone(x); }", Some("points up")),
    ("history/mod.rs", "vec![format!(\"{}\", crate::cli::NAME)]", Some("points up")),
    ("history/mod.rs", "macro_rules! m { () => { $crate::cli::NAME } }", Some("points up")),
    ("history/mod.rs", "#[derive(X)] struct A { #[serde(with = \"crate::render::hex\")] a: u8 }", Some("points up")),
    ("history/mod.rs", "#[cfg(test)] mod tests { use super::super::engine::Run; }", Some("points up")),
    ("history/mod.rs", "#[cfg(test)] mod tests { use super::*; use crate::protocol::Role; }", None),
    ("history/mod.rs", "/// See [`crate::engine::Run`].\nstruct A; // crate::engine::Run", None),
    ("history/mod.rs", "use hotcell::engine::Run;", Some("points up")),
    ("history/mod.rs", "use super::*;", Some("the crate's root")),
    ("history/mod.rs", "use crate as all;", Some("the crate's root")),
    ("history/mod.rs", "use crate::helpers::x;", Some("`helpers` is no module of the ladder")),
    ("helpers/mod.rs", "fn f() {}", Some("`helpers` is no module of the ladder")),
    ("helpers.rs", "fn f() {}", Some("`helpers` is no module of the ladder")),
    ("lib.rs", "pub mod engine;", None),
    ("lib.rs", "pub use engine::Run;", Some("only declares modules")),
    ("main.rs", "fn main() { hotcell::cli::main() }", None),
    ("cli/mod.rs", "#[path = \"../x.rs\"] mod x;", Some("hide where a module is")),
    ("tools/mod.rs", "fn f() { std::env::var(\"X\"); }", Some("reads the environment")),
    ("tools/mod.rs", "use std::{env, fs};", Some("reads the environment")),
    ("tools/mod.rs", "use std::env::*;", Some("reads the environment")),
    ("tools/mod.rs", "use std::process::*;", Some("native process")),
    ("tools/mod.rs", "use tokio::*;", Some("native process")),
    ("tools/mod.rs", "use std as s;", Some("a renamed `std`")),
    ("tools/mod.rs", "const V: &str = env!(\"CARGO_PKG_VERSION\");", None),
    ("config/mod.rs", "use std::env;", None),
    ("tools/mod.rs", "use wasmtime::Store;", Some("names wasmtime")),
    ("tools/mod.rs", "fn f(x: wasmtime_wasi::I32Exit) {}", Some("names wasmtime")),
    ("sandbox/mod.rs", "use wasmtime::Store;", None),
    ("cli/mod.rs", "use rusqlite::Connection;", Some("names rusqlite")),
    ("store/mod.rs", "use rusqlite::Connection;", None),
    ("engine/mod.rs", "use reqwest as http;", Some("names reqwest")),
    ("provider/http.rs", "use reqwest::Client;", None),
    ("engine/mod.rs", "fn f() { println!(\"x\"); }", Some("only `render` and `cli` print")),
    ("engine/mod.rs", "fn f() { std::eprintln!(\"x\"); }", Some("only `render` and `cli` print")),
    ("engine/mod.rs", "use std::io; fn f() { io::stdout().write(b\"\"); }", Some("only `render` and `cli` print")),
    ("engine/mod.rs", "use std::io::{self, stderr};", Some("only `render` and `cli` print")),
    ("render/text.rs", "fn f() { println!(\"x\"); std::io::stdout(); }", None),
    ("engine/mod.rs", "fn f() { writeln!(out, \"x\"); if a != (b) {} }", None),
    ("tools/mod.rs", "use std::process::{Command, Stdio};", Some("native process")),
    ("cli/mod.rs", "use std::process::ExitCode;", None),
    ("tools/mod.rs", "static X: Mutex<u8> = Mutex::new(0);", Some("no global holds state")),
    ("tools/mod.rs", "fn f() { static X: AtomicU8 = AtomicU8::new(0); }", Some("no global holds state")),
    ("tools/mod.rs", "static X: LazyLock<[RwLock<u8>; 2]> = y;", Some("no global holds state")),
    ("tools/mod.rs", "static mut X: u8 = 0;", Some("no global holds state")),
    ("tools/mod.rs", "thread_local! { static X: u8 = 0; }", Some("no global holds state")),
    ("tools/mod.rs", "static X: &[&'static str] = &[\"Mutex\"];", None),
    ("tools/mod.rs", "struct A { x: &'static Mutex<u8> }", None),
    ("tools/mod.rs", "static X: LazyLock<Regex> = y;", None),
    ("protocol/mod.rs", "use tokio::sync::mpsc;", Some("`protocol` only computes")),
    ("protocol/mod.rs", "fn f() { std::fs::read(x); }", Some("`protocol` only computes")),
    ("policy/mod.rs", "#[tokio::test] async fn f() {}", Some("`policy` only computes")),
    ("protocol/mod.rs", "use std::fmt;", None),
];

#[test]
fn the_checker_finds_what_it_must_and_nothing_else() {
    for (file, text, expected) in SNIPPETS {
        let found = rules::check(file, &format!("//! A snippet.\n{text}\n"));
        let case = format!("{file}: {text}\nfound {found:#?}");
        match expected {
            Some(part) => {
                assert_eq!(found.len(), 1, "{case}");
                assert!(found[0].contains(part), "{case}");
                assert!(found[0].starts_with(&format!("{file}:")), "{case}");
            }
            None => assert!(found.is_empty(), "{case}"),
        }
    }
}

#[test]
fn a_violation_says_its_line() {
    let found = rules::check(
        "tools/mod.rs",
        "//! A snippet.\n\nuse crate::{\n    cli::X,\n};\n",
    );
    assert_eq!(
        found,
        ["tools/mod.rs:4: `crate::cli::X`: points up, from `tools` in layer 5 to `cli` in layer 8"]
    );
}

#[test]
fn a_file_without_a_header_or_over_the_size_is_found() {
    let long = "fn f() {}\n".repeat(rules::LINES);
    for (text, complaints) in [
        ("//! What it is.\nfn f() {}\n".to_owned(), 0),
        ("fn f() {}\n".to_owned(), 1),
        ("\n//! Late.\n".to_owned(), 1),
        ("//!\n//! Blank first.\n".to_owned(), 1),
        (String::new(), 1),
        (format!("//! What it is.\n{long}"), 1),
        (format!("//! A table of things.\n{long}"), 0),
        (format!("fn f() {{}}\n{long}"), 2),
    ] {
        let found = rules::form(&text);
        assert_eq!(found.len(), complaints, "{:?}: {found:?}", text.get(..40));
    }
}

fn repository() -> PathBuf {
    let host = Path::new(env!("CARGO_MANIFEST_DIR"));
    host.parent()
        .expect("host/ is in the repository")
        .to_owned()
}

/// Every Rust file below a directory, sorted, without what cargo built.
fn rust_files(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let entries = std::fs::read_dir(directory).expect("the directory is readable");
    for entry in entries {
        let path = entry.expect("the directory is readable").path();
        if path.is_dir() && path.file_name().is_some_and(|name| name != "target") {
            found.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn below(root: &Path, file: &Path) -> String {
    let relative = file.strip_prefix(root).expect("the file is below the root");
    relative.to_string_lossy().replace('\\', "/")
}

fn read(file: &Path) -> String {
    std::fs::read_to_string(file).expect("the file is readable")
}
