//! Builds the guests of the tests and writes an enum with a variant for each.
//!
//! `tests/guests/examples/*.rs` are built by a cargo of their own. `tests/guests/wat/*.wat` are
//! core modules written by hand, for what no compiler emits; they are wrapped into components by
//! the same library that compilers use. `sdk/examples/word-count`, the sample of a tool of somebody
//! else, is built as its README says.

use hotcell_guest_build::GuestBuild;
use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

fn main() {
    if let Err(error) = run() {
        println!("cargo::error={error}");
        std::process::exit(1);
    }
}

/// One guest, before its component is where the tests find it.
struct Guest {
    name: String,
    source: PathBuf,
    component: Vec<u8>,
}

#[expect(
    clippy::disallowed_methods,
    reason = "a build script talks to cargo by the environment"
)]
fn run() -> Result<(), Box<dyn Error>> {
    let here = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let guests = here.with_file_name("guests");
    let wit = here.join("../../wit");
    for input in ["examples", "src", "wat", "Cargo.toml", "Cargo.lock"] {
        println!("cargo::rerun-if-changed=../guests/{input}");
    }
    for input in [
        "wit",
        "sdk/src",
        "sdk/Cargo.toml",
        "sdk/examples/word-count/src",
        "sdk/examples/word-count/Cargo.toml",
        "sdk/examples/word-count/Cargo.lock",
        "host/guest-build/src",
    ] {
        println!("cargo::rerun-if-changed=../../{input}");
    }
    println!("cargo::rerun-if-changed=build.rs");

    let sample = sample(&here.join("../../sdk/examples/word-count"))?;
    fs::copy(sample, out.join("word_count.wasm"))?;

    let mut all = compiled(&guests)?;
    all.extend(written_by_hand(&guests, &wit)?);
    all.sort_by(|a, b| a.name.cmp(&b.name));
    for guest in &all {
        fs::write(out.join(format!("{}.wasm", guest.name)), &guest.component)?;
    }
    fs::write(out.join("guests.rs"), list(&all, &out)?)?;
    Ok(())
}

/// Builds the sample tool, and answers where it is.
fn sample(directory: &Path) -> Result<PathBuf, Box<dyn Error>> {
    let build = GuestBuild {
        workspace: directory,
        select: &[],
        profile: "release",
        outputs: &["word_count".to_owned()],
    };
    let built = build.run()?;
    Ok(built.into_iter().next().ok_or("no output")?)
}

fn compiled(guests: &Path) -> Result<Vec<Guest>, Box<dyn Error>> {
    let sources = files(&guests.join("examples"), "rs")?;
    let names: Vec<String> = sources.iter().map(|path| stem(path)).collect();
    let outputs: Vec<String> = names
        .iter()
        .map(|name| format!("examples/{name}"))
        .collect();
    let build = GuestBuild {
        workspace: guests,
        select: &["--examples".to_owned()],
        profile: "guest",
        outputs: &outputs,
    };
    let built = build.run()?;
    let mut found = Vec::new();
    for ((name, source), path) in names.into_iter().zip(sources).zip(built) {
        let component = fs::read(path)?;
        found.push(Guest {
            name,
            source,
            component,
        });
    }
    Ok(found)
}

fn written_by_hand(guests: &Path, wit: &Path) -> Result<Vec<Guest>, Box<dyn Error>> {
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_dir(wit)?;
    let world = resolve.select_world(&[package], Some("tool-component"))?;
    let mut found = Vec::new();
    for source in files(&guests.join("wat"), "wat")? {
        let mut module = wat::parse_file(&source)?;
        embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8)?;
        let component = ComponentEncoder::default().module(&module)?.encode()?;
        found.push(Guest {
            name: stem(&source),
            source,
            component,
        });
    }
    Ok(found)
}

/// The files of one kind in a directory, sorted.
fn files(directory: &Path, extension: &str) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.extension().is_some_and(|found| found == extension) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

fn stem(path: &Path) -> String {
    path.file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

/// The enum, with the first line of each source as the documentation of its variant.
fn list(all: &[Guest], out: &Path) -> Result<String, Box<dyn Error>> {
    let mut variants = String::new();
    let mut every = String::new();
    let mut names = String::new();
    let mut paths = String::new();
    for guest in all {
        let variant = variant(&guest.name);
        let text = fs::read_to_string(&guest.source)?;
        let first = text.lines().next().unwrap_or_default();
        let first = first.trim_start_matches(['/', '!', ';', ' ']);
        let path = out.join(format!("{}.wasm", guest.name));
        writeln!(variants, "    /// {first}\n    {variant},")?;
        writeln!(every, "        Guest::{variant},")?;
        writeln!(names, "            Guest::{variant} => {:?},", guest.name)?;
        writeln!(paths, "            Guest::{variant} => {path:?},")?;
    }
    Ok(format!(
        "/// A component of `tests/guests`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guest {{
{variants}}}

impl Guest {{
    /// Every guest there is.
    pub const ALL: &'static [Guest] = &[
{every}    ];

    /// The name of its source, without the extension.
    pub const fn name(self) -> &'static str {{
        match self {{
{names}        }}
    }}

    /// Where the component is.
    pub const fn path(self) -> &'static str {{
        match self {{
{paths}        }}
    }}
}}
"
    ))
}

/// `memory_bomb` is `MemoryBomb`.
fn variant(name: &str) -> String {
    name.split('_')
        .map(|word| {
            let (first, rest) = word.split_at(1);
            first.to_uppercase() + rest
        })
        .collect()
}
