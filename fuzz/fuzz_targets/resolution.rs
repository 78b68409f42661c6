//! Any path in any tree of directories and links leads where the kernel says, or nowhere.
//!
//! `cargo +nightly fuzz run resolution` from the root of the repository. The property is the one
//! that `tests/escapes` checks on every test run.
#![no_main]

#[path = "../../tests/support/resolution.rs"]
mod resolving;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    resolving::check(input, &mut resolving::Seen::default());
});
