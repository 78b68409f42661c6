//! Gives the component room to recurse.
//!
//! A Rust component has 1 MiB for what it keeps on its own stack. A shell that runs functions in
//! substitutions in functions needs more, and where it ends the component ends with it.

/// Bytes. Four times what the deepest nesting that bashkit allows was seen to use.
const STACK_BYTES: u32 = 8 << 20;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    #[expect(
        clippy::disallowed_methods,
        reason = "how cargo tells a build script its target"
    )]
    let family = std::env::var("CARGO_CFG_TARGET_FAMILY").unwrap_or_default();
    if family == "wasm" {
        println!("cargo::rustc-link-arg-cdylib=-zstack-size={STACK_BYTES}");
    }
}
