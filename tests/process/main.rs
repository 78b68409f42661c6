//! Native processes from outside: hostile programs in the real sandbox, built by the real binary.
//!
//! Owns the proof that a program gets no more than the grant. The programs are lines for `sh` and
//! `python3`, and `git`; where one of them or a layer of the sandbox is not there, only the refusal
//! is shown, and said. It must
//! never look at how the sandbox is built, only at what came of it.
#![cfg(target_os = "linux")]

mod ending;
mod escapes;
mod guarded;
mod limits;
#[path = "../support/native.rs"]
mod native;
mod session;
mod shell;
mod starting;
mod support;
mod undo;
