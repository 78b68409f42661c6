//! Every figure that has a goal, beside its goal, measured in one run.
//!
//! `cargo bench --bench figures` prints the table of BENCHMARKS.md, and with the names of parts
//! (`-- calls files shell programs memory sessions start turns`) only those. Ratios are measured side by
//! side, in turns of a few calls, so that what else the machine does hits both. What is measured of
//! a whole process is measured in a process of its own: this program, started again with the name
//! of the figure.

#![expect(clippy::print_stdout, reason = "the table is the point")]

mod files;
mod latency;
mod memory;
mod model;
mod process;
mod programs;
mod sessions;
mod shell;
mod start;
#[path = "../support/mod.rs"]
mod support;
mod table;
mod throughput;
mod turns;

use std::sync::Arc;
use support::{Reading, runtime};
use table::Table;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [child, name, rest @ ..] = arguments.as_slice()
        && child == process::CHILD
    {
        println!("{}", process::child(name, rest));
        return;
    }
    // cargo adds `--bench`.
    let names: Vec<&String> = arguments
        .iter()
        .filter(|name| !name.starts_with('-'))
        .collect();
    let asked = |name: &str| names.is_empty() || names.iter().any(|asked| *asked == name);
    let table = Table::begin();
    if asked("calls") {
        let reading = Arc::new(runtime(2).block_on(Reading::new()));
        latency::measure(&table, &reading);
        throughput::measure(&table, &reading);
    }
    if asked("files") {
        files::measure(&table);
    }
    if asked("shell") {
        shell::measure(&table);
    }
    if asked("programs") {
        programs::measure(&table);
    }
    if asked("memory") {
        memory::measure(&table);
    }
    if asked("sessions") {
        sessions::measure(&table);
    }
    if asked("start") {
        start::measure(&table);
    }
    if asked("turns") {
        turns::measure(&table);
    }
}
