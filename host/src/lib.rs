//! hotcell: an agent command line whose every tool is a WebAssembly component.
//!
//! The modules form a ladder, listed in ARCHITECTURE.md; each imports only from lower ones, and
//! a test fails on any import that points up or sideways.

pub mod cli;
pub mod config;
pub mod engine;
pub mod history;
pub mod policy;
pub mod process;
pub mod prompt;
pub mod protocol;
pub mod provider;
pub mod render;
pub mod sandbox;
pub mod store;
pub mod tools;
pub mod undo;
pub mod workspace;
