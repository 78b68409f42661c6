//! `hotcell:tool@0.1.0`.
//!
//! Owns the generated bindings of this version; see `wit/tool.wit` for what each item means. It
//! must never be named outside the sandbox.

wasmtime::component::bindgen!({
    path: "../wit",
    world: "tool-component",
    imports: { default: trappable },
    exports: { default: async },
});
