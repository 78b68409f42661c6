//! The components that are part of the binary.
//!
//! Owns the table that the build script writes: each built-in component with the definitions of
//! its tools, so that a model is told about a tool before its component is compiled. It must never
//! be trusted further than a plugin: the registry checks both in the same way.

/// A component that is part of the binary.
#[derive(Debug, Clone, Copy)]
pub struct Builtin {
    /// The name of its directory under `plugins/`.
    pub name: &'static str,
    /// The component.
    pub wasm: &'static [u8],
    /// What it describes, as a JSON list of tool definitions.
    pub definitions: &'static str,
}

/// Every component below `plugins/`, in the order of their names.
pub const BUILTINS: &[Builtin] = include!(concat!(env!("OUT_DIR"), "/builtins.rs"));
