//! The escape matrix: every tool against every way out, in both modes, judged from outside.
//!
//! Owns one table of escapes (`table`), what each tool can do about a path (`tools`), and the one
//! expectation of every cell: refused or harmless, nothing secret said, nothing outside changed. A
//! tool that is not in the matrix fails it. How a rule is worded and what code a guest sees is
//! shown elsewhere (`tests/sandbox`), as are system calls of native programs (`tests/process`).
#![cfg(target_os = "linux")]

mod matrix;
#[path = "../support/native.rs"]
mod native;
mod programs;
mod races;
mod raw;
mod resolution;
#[path = "../support/resolution.rs"]
mod resolving;
mod scene;
mod table;
mod tools;
