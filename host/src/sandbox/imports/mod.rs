//! What a guest may import, one file an import.
//!
//! Owns the linker. An import that is not added here refuses to load; one that is here but was not
//! granted answers with an error that names the capability. It must never read a grant other than
//! through the store it is called for.

pub mod filesystem;
pub mod process;
mod progress;
mod state;
pub mod stdio;

use super::bindings::v0_1;
use super::store::Guest;
use wasmtime::Engine;
use wasmtime::component::{HasSelf, Linker};
use wasmtime_wasi::WasiView;
use wasmtime_wasi::cli::{WasiCli, WasiCliView};
use wasmtime_wasi::clocks::{WasiClocks, WasiClocksView};
use wasmtime_wasi::p2::bindings::{cli, clocks, random};
use wasmtime_wasi::random::WasiRandom;

/// The interfaces a component may import, without their versions. Only messages come from this
/// list; the linker decides.
pub const OFFERED: [&str; 24] = [
    "hotcell:tool/types",
    "hotcell:tool/state",
    "hotcell:tool/progress",
    "hotcell:tool/process",
    "wasi:io/error",
    "wasi:io/poll",
    "wasi:io/streams",
    "wasi:clocks/wall-clock",
    "wasi:clocks/monotonic-clock",
    "wasi:random/random",
    "wasi:random/insecure",
    "wasi:random/insecure-seed",
    "wasi:cli/exit",
    "wasi:cli/environment",
    "wasi:cli/stdin",
    "wasi:cli/stdout",
    "wasi:cli/stderr",
    "wasi:cli/terminal-input",
    "wasi:cli/terminal-output",
    "wasi:cli/terminal-stdin",
    "wasi:cli/terminal-stdout",
    "wasi:cli/terminal-stderr",
    "wasi:filesystem/types",
    "wasi:filesystem/preopens",
];

/// Every import this host offers.
pub fn linker(engine: &Engine) -> wasmtime::Result<Linker<Guest>> {
    let mut linker = Linker::new(engine);
    let l = &mut linker;
    wasmtime_wasi_io::add_to_linker_async(l)?;
    clocks::wall_clock::add_to_linker::<Guest, WasiClocks>(l, Guest::clocks)?;
    clocks::monotonic_clock::add_to_linker::<Guest, WasiClocks>(l, Guest::clocks)?;
    random::random::add_to_linker::<Guest, WasiRandom>(l, |guest| guest.ctx().ctx.random())?;
    random::insecure::add_to_linker::<Guest, WasiRandom>(l, |guest| guest.ctx().ctx.random())?;
    random::insecure_seed::add_to_linker::<Guest, WasiRandom>(l, |guest| guest.ctx().ctx.random())?;
    cli::exit::add_to_linker::<Guest, WasiCli>(l, Guest::cli)?;
    cli::environment::add_to_linker::<Guest, WasiCli>(l, Guest::cli)?;
    cli::stdin::add_to_linker::<Guest, WasiCli>(l, Guest::cli)?;
    cli::stdout::add_to_linker::<Guest, WasiCli>(l, Guest::cli)?;
    cli::stderr::add_to_linker::<Guest, WasiCli>(l, Guest::cli)?;
    cli::terminal_input::add_to_linker::<Guest, WasiCli>(l, Guest::cli)?;
    cli::terminal_output::add_to_linker::<Guest, WasiCli>(l, Guest::cli)?;
    cli::terminal_stdin::add_to_linker::<Guest, WasiCli>(l, Guest::cli)?;
    cli::terminal_stdout::add_to_linker::<Guest, WasiCli>(l, Guest::cli)?;
    cli::terminal_stderr::add_to_linker::<Guest, WasiCli>(l, Guest::cli)?;
    filesystem::add_to_linker(l)?;
    v0_1::hotcell::tool::types::add_to_linker::<Guest, HasSelf<Guest>>(l, |guest| guest)?;
    v0_1::hotcell::tool::state::add_to_linker::<Guest, HasSelf<Guest>>(l, |guest| guest)?;
    v0_1::hotcell::tool::progress::add_to_linker::<Guest, HasSelf<Guest>>(l, |guest| guest)?;
    super::bindings::process::hotcell::tool::process::add_to_linker::<Guest, HasSelf<Guest>>(
        l,
        |guest| guest,
    )?;
    Ok(linker)
}

impl v0_1::hotcell::tool::types::Host for Guest {}
