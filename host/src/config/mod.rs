//! Reads settings: files, variables and flags become one resolved value.
//!
//! Owns the way from raw to resolved, as ripgrep goes from low to high arguments: [`Flags`] is
//! what the command line said, [`Environment`] is what the process was given, a layer is what
//! one source asks for, and [`Config`] is what the rest of the program gets, checked and complete.
//! The sources, later over earlier: defaults, `hotcell.toml` of the user, `hotcell.toml` of the
//! workspace (where the user trusts it; it may only tighten), variables, flags.
//!
//! It is the only module that reads the environment. It must never know clap, print, or ask
//! anybody anything.

mod color;
mod directories;
mod dotenv;
mod environment;
mod error;
mod file;
mod flags;
mod guard;
mod layer;
mod origin;
mod process;
mod provider;
mod quantity;
mod raw;
mod reference;
mod resolve;
mod secret;
mod setting;
#[cfg(test)]
mod tests;
mod tighten;
mod trust;

pub use color::{ColorWhen, Colors};
pub use directories::{Directories, private_directory};
pub use environment::{Environment, Terminals, executable, first_argument, platform};
pub use error::ConfigError;
pub use flags::Flags;
pub use guard::GuardKey;
pub use layer::Think;
pub use origin::{Origin, Sourced};
pub use process::{ProcessConfig, Shell};
pub use provider::{ProviderConfig, ProxyConfig, known_providers};
pub use quantity::{InvalidQuantity, parse_limit};
pub use reference::reference;
pub use resolve::{Config, Key, Reported, Sessions, offered};
pub use secret::Secret;
pub use trust::{Answer, Trust, TrustFile, WORKSPACE_SKILLS};
