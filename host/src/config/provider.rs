//! The resolved settings of the provider.
//!
//! Owns which provider, which model, where and with which key. It must never know a wire format.

use super::Secret;
use std::path::PathBuf;

/// Which model to ask, where, and with which key.
#[derive(Debug, Clone)]
pub struct ProviderConfig {
    /// A name in the provider table: `openai`, `anthropic` or `script`.
    pub name: String,
    /// The vendor's model name.
    pub model: String,
    /// Where the API is, without a trailing slash; `None` for the vendor's own.
    pub base_url: Option<String>,
    /// The key; some compatible servers need none.
    pub api_key: Option<Secret>,
    /// The file of turns of the `script` provider.
    pub script: Option<PathBuf>,
    /// The most tokens one answer may have.
    pub max_output_tokens: u32,
    /// Whether answers are streamed.
    pub stream: bool,
    /// Proxies, as the usual variables say.
    pub proxy: ProxyConfig,
}

/// `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY`, in either case.
#[derive(Debug, Clone, Default)]
pub struct ProxyConfig {
    /// For `http:` URLs. May hold a password, so it is a secret.
    pub http: Option<Secret>,
    /// For `https:` URLs. May hold a password, so it is a secret.
    pub https: Option<Secret>,
    /// The hosts to reach without a proxy.
    pub no_proxy: Option<String>,
}
