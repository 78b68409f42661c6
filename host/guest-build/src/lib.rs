//! Builds components from a build script, by a cargo of its own.
//!
//! Owns the nested call: which target and profile, a target directory that is not the outer
//! cargo's (which holds a lock on its own), and the message when the target is not installed. The
//! built-in tools and the guests of the tests share it. It must never know what the components do.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The target every component is built for.
pub const TARGET: &str = "wasm32-wasip2";

/// Flags every component is built with.
///
/// The heap is there from the start: growing memory changes the page tables twice a call and
/// interrupts the other cores for it, which took a fifth of a short call, and pages that are not
/// touched cost nothing. Vector instructions, which wasmtime always has, make a search through
/// text several times cheaper.
const RUSTFLAGS: [&str; 2] = [
    "-Clink-arg=--initial-heap=524288",
    "-Ctarget-feature=+simd128",
];

/// Variables of the outer cargo that would make the inner one build something else: flags and
/// wrappers of the host's build, and where the host's build goes.
const OUTER_VARIABLES: [&str; 7] = [
    "CARGO_BUILD_TARGET",
    "CARGO_ENCODED_RUSTFLAGS",
    "CARGO_TARGET_DIR",
    "RUSTC",
    "RUSTC_WORKSPACE_WRAPPER",
    "RUSTFLAGS",
    "RUSTDOC",
];

/// Why there are no components.
#[derive(Debug, thiserror::Error)]
pub enum GuestBuildError {
    /// rustc has no standard library for the target.
    #[error(
        "the Rust target {TARGET} is not installed, and every tool is a component: run `rustup target add {TARGET}` and build again"
    )]
    MissingTarget,
    /// A variable that cargo sets for build scripts is not there.
    #[error("cargo did not set {0} for the build script")]
    NotABuildScript(&'static str),
    /// cargo or rustc could not be started.
    #[error("cannot start {program}: {error}")]
    Start {
        /// The program.
        program: String,
        /// Why not.
        error: std::io::Error,
    },
    /// The inner cargo failed; its own words are above.
    #[error("building the components failed: `{0}`")]
    Failed(String),
    /// The inner cargo succeeded without making what it was asked for.
    #[error("{0} was not built")]
    Missing(PathBuf),
}

/// What to build.
pub struct GuestBuild<'a> {
    /// The directory whose Cargo.toml names the packages.
    pub workspace: &'a Path,
    /// Arguments that choose packages or examples, such as `["-p", "hotcell-tool-files"]`.
    pub select: &'a [String],
    /// The profile; components go to the directory of its name.
    pub profile: &'a str,
    /// Where the components appear below the profile's directory, and their file names without
    /// `.wasm`.
    pub outputs: &'a [String],
}

impl GuestBuild<'_> {
    /// Builds, and answers where each output is, in the order of `outputs`.
    ///
    /// # Errors
    /// As the variants of [`GuestBuildError`] say.
    pub fn run(&self) -> Result<Vec<PathBuf>, GuestBuildError> {
        check_target()?;
        let target_directory = shared_target_directory()?;
        let mut command = Command::new(variable("CARGO")?);
        command
            .current_dir(self.workspace)
            .args(["build", "--target", TARGET, "--profile", self.profile])
            .args(self.select)
            .arg("--target-dir")
            .arg(&target_directory);
        for name in OUTER_VARIABLES {
            command.env_remove(name);
        }
        // Cargo's own separator, so that a flag may hold spaces.
        command.env("CARGO_ENCODED_RUSTFLAGS", RUSTFLAGS.join("\u{1f}"));
        let shown = format!("{command:?}");
        let status = command.status().map_err(|error| GuestBuildError::Start {
            program: "cargo".to_owned(),
            error,
        })?;
        if !status.success() {
            return Err(GuestBuildError::Failed(shown));
        }
        let built = target_directory.join(TARGET).join(self.profile);
        self.outputs
            .iter()
            .map(|name| {
                let path = built.join(format!("{name}.wasm"));
                if path.is_file() {
                    Ok(path)
                } else {
                    Err(GuestBuildError::Missing(path))
                }
            })
            .collect()
    }
}

/// One target directory for all components, beside the host's: `target/guests`.
fn shared_target_directory() -> Result<PathBuf, GuestBuildError> {
    // OUT_DIR is <target>/<profile>/build/<package>/out, with the triple before the profile when
    // one was given; the directory named `build` tells where the profile is either way.
    let out = PathBuf::from(variable("OUT_DIR")?);
    let profile = out
        .ancestors()
        .find(|path| path.file_name().is_some_and(|name| name == "build"))
        .and_then(Path::parent)
        .and_then(Path::parent)
        .ok_or(GuestBuildError::NotABuildScript("OUT_DIR"))?;
    Ok(profile.join("guests"))
}

fn check_target() -> Result<(), GuestBuildError> {
    let rustc = variable("RUSTC")?;
    let printed = Command::new(&rustc)
        .args(["--print", "target-libdir", "--target", TARGET])
        .output()
        .map_err(|error| GuestBuildError::Start {
            program: rustc,
            error,
        })?;
    let directory = String::from_utf8_lossy(&printed.stdout).trim().to_owned();
    if printed.status.success() && Path::new(&directory).is_dir() {
        return Ok(());
    }
    Err(GuestBuildError::MissingTarget)
}

#[expect(
    clippy::disallowed_methods,
    reason = "a build script talks to cargo by the environment"
)]
fn variable(name: &'static str) -> Result<String, GuestBuildError> {
    env::var(name).map_err(|_| GuestBuildError::NotABuildScript(name))
}
