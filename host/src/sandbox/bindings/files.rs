//! `wasi:filesystem@0.2.12`, whose host side is ours.
//!
//! Owns the generated bindings over `host/wit`, a copy of the interfaces as the Bytecode Alliance
//! publishes them. Streams, polls and clocks are those of the libraries, so that a guest's file is
//! a stream like any other. It must never be named outside the sandbox.

wasmtime::component::bindgen!({
    path: ["wit/io.wit", "wit/clocks.wit", "wit/filesystem.wit"],
    world: "wasi:filesystem/imports",
    imports: { default: trappable },
    require_store_data_send: true,
    trappable_error_type: {
        "wasi:filesystem/types.error-code" => crate::sandbox::imports::filesystem::Failure,
    },
    with: {
        "wasi:io": wasmtime_wasi::p2::bindings::io,
        "wasi:clocks": wasmtime_wasi::p2::bindings::clocks,
        "wasi:filesystem/types.descriptor": crate::sandbox::imports::filesystem::Descriptor,
        "wasi:filesystem/types.directory-entry-stream": crate::workspace::Listing,
    },
});
