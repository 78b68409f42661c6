//! The `process` interface of `hotcell:tool@0.1.0`, which not every component imports.
//!
//! Owns the generated bindings. Apart from those of the worlds, because its streams are those of
//! the library and its child is ours. It must never be named outside the sandbox.

wasmtime::component::bindgen!({
    path: "../wit",
    inline: "package hotcell:host; world imports { import hotcell:tool/process@0.1.0; }",
    world: "hotcell:host/imports",
    imports: {
        "hotcell:tool/process@0.1.0.spawn": async | trappable,
        default: trappable,
    },
    require_store_data_send: true,
    with: {
        "wasi:io": wasmtime_wasi::p2::bindings::io,
        "hotcell:tool/process@0.1.0.child": crate::sandbox::imports::process::Running,
    },
});
