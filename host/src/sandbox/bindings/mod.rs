//! The contract as Rust types, one file a released version.
//!
//! Owns what `bindgen!` makes of `wit/`. A released WIT never changes: a new version gets a file
//! beside the old one. It must never hold logic.

pub mod files;
pub mod process;
pub mod v0_1;
