//! Hostile guests against the sandbox, through its public interface.
//!
//! Every guest of `tests/guests` has its expected end in [`matrix`]; what needs more than one call
//! has a module of its own. All of it runs with both allocators where the allocator can matter.

mod caching;
mod concurrency;
mod describing;
mod escapes;
mod files;
mod loading;
mod matrix;
#[cfg(target_os = "linux")]
#[path = "../support/native.rs"]
mod native;
#[cfg(target_os = "linux")]
mod processes;
mod state;
mod support;
mod surroundings;
