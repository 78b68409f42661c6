//! Processes: what the kernel counts for this one, and children that measure one thing each.

use crate::{memory, start};
use std::ffi::OsStr;
use std::process::{Command, Stdio};

/// The first argument of a child.
pub const CHILD: &str = "measure";

/// Runs this program again for one figure and answers the numbers it prints.
pub fn measured_by_child(name: &str, arguments: &[&OsStr]) -> Vec<f64> {
    let program = std::env::current_exe().expect("this program has a path");
    let output = Command::new(program)
        .arg(CHILD)
        .arg(name)
        .args(arguments)
        .stderr(Stdio::inherit())
        .output()
        .expect("this program runs again");
    assert!(output.status.success(), "{name}: {}", output.status);
    String::from_utf8_lossy(&output.stdout)
        .split_whitespace()
        .map(|number| number.parse().expect("a number"))
        .collect()
}

/// What a child prints.
pub fn child(name: &str, arguments: &[String]) -> String {
    let numbers = match (name, arguments) {
        (memory::CHILD, [way]) => memory::child(way),
        (start::FIRST, [cache]) => start::first(cache.as_ref()),
        (start::IDLE, [cache]) => start::idle(cache.as_ref()),
        _ => panic!("there is no figure `{name}` with {arguments:?}"),
    };
    let numbers: Vec<String> = numbers.iter().map(f64::to_string).collect();
    numbers.join(" ")
}

/// Page faults of this process so far that needed no disk.
pub fn page_faults() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("Linux");
    // The second field is a name in brackets that may hold blanks.
    let (_, fields) = stat.rsplit_once(')').expect("the name of the process");
    let minflt = fields.split_whitespace().nth(7).expect("the field minflt");
    minflt.parse().expect("a number")
}

/// Memory of this process that is in use, in bytes.
pub fn resident_bytes() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .expect("the line VmRSS");
    let kilobytes = line.trim().trim_end_matches(" kB");
    kilobytes.parse::<f64>().expect("a number") * 1024.0
}
