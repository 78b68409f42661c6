//! Reads settings: files, environment and flags become one resolved value.
//!
//! The only module that reads the environment.

mod provider;
mod secret;

pub use provider::{ProviderConfig, ProxyConfig};
pub use secret::Secret;
