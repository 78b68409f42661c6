//! Builds the built-in tools as components and writes the table that embeds them.
//!
//! Every directory below `plugins/` is one component; a new tool is a new directory. With
//! `HOTCELL_COMPONENTS` set to a directory, the components are taken from there instead (as
//! `<name>.wasm`), for packagers who build them apart.

#![expect(
    clippy::disallowed_methods,
    reason = "a build script talks to cargo by the environment"
)]

use hotcell_guest_build::GuestBuild;
use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    if let Err(error) = run() {
        // The last line is what a person sees; a backtrace would bury it.
        println!("cargo::error={error}");
        std::process::exit(1);
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-env-changed=HOTCELL_COMPONENTS");
    for input in [
        "../plugins",
        "../sdk/src",
        "../sdk/Cargo.toml",
        "../wit",
        "../Cargo.toml",
        "guest-build/src",
        "build.rs",
    ] {
        println!("cargo::rerun-if-changed={input}");
    }
    let host = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let workspace = host
        .parent()
        .ok_or("the host package is not below a workspace")?;
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let names = plugin_names(&workspace.join("plugins"))?;
    let components = match env::var_os("HOTCELL_COMPONENTS") {
        Some(directory) => prebuilt(Path::new(&directory), &names)?,
        None => build(workspace, &names)?,
    };
    let mut table = String::from("&[\n");
    for (name, component) in names.iter().zip(components) {
        let embedded = out.join(format!("{name}.wasm"));
        copy_if_changed(&component, &embedded)?;
        let definitions = workspace
            .join("plugins")
            .join(name)
            .join("definitions.json");
        writeln!(
            table,
            "    Builtin {{ name: {name:?}, wasm: include_bytes!({embedded:?}), definitions: include_str!({definitions:?}) }},"
        )?;
    }
    table.push_str("]\n");
    fs::write(out.join("builtins.rs"), table)?;
    Ok(())
}

/// The directories below `plugins/` that say what they describe, sorted.
fn plugin_names(plugins: &Path) -> Result<Vec<String>, Box<dyn Error>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(plugins)? {
        let entry = entry?;
        if entry.path().join("definitions.json").is_file() {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}

fn build(workspace: &Path, names: &[String]) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let select: Vec<String> = names
        .iter()
        .flat_map(|name| ["-p".to_owned(), format!("hotcell-tool-{name}")])
        .collect();
    let outputs: Vec<String> = names
        .iter()
        .map(|name| format!("hotcell_tool_{}", name.replace('-', "_")))
        .collect();
    let build = GuestBuild {
        workspace,
        select: &select,
        profile: "guest",
        outputs: &outputs,
    };
    Ok(build.run()?)
}

fn prebuilt(directory: &Path, names: &[String]) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    names
        .iter()
        .map(|name| {
            let path = directory.join(format!("{name}.wasm"));
            println!("cargo::rerun-if-changed={}", path.display());
            if path.is_file() {
                Ok(path)
            } else {
                Err(format!("HOTCELL_COMPONENTS has no {}", path.display()).into())
            }
        })
        .collect()
}

/// Keeps the time stamp of an unchanged component, so that the host is not compiled again for it.
fn copy_if_changed(from: &Path, to: &Path) -> std::io::Result<()> {
    let bytes = fs::read(from)?;
    if fs::read(to).is_ok_and(|old| old == bytes) {
        return Ok(());
    }
    fs::write(to, bytes)
}
