//! The provider `anthropic`: the Messages API.
//!
//! Owns the address, the key and the version of the API; `wire` writes requests and `stream`
//! reads answers. No other module knows this JSON.

mod stream;
mod wire;

use super::exchange::{Endpoint, Protocol, exchange};
use super::failure::Origin;
use super::http::{self, BaseUrl};
use super::retry::RetrySettings;
use super::scrub::Scrubber;
use super::{ChunkStream, Provider, ProviderSetupError, Request};
use crate::config::ProviderConfig;
use crate::protocol::Message;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use std::borrow::Cow;
use std::sync::Arc;

/// The name in the provider table.
pub(super) const NAME: &str = "anthropic";
/// The vendor's own address.
pub(super) const BASE_URL: &str = "https://api.anthropic.com";
/// Where the key is usually kept.
pub(super) const KEY_VARIABLE: &str = "ANTHROPIC_API_KEY";
/// The version of the API that `wire` and `stream` speak.
const VERSION: &str = "2023-06-01";

#[derive(Debug)]
struct Anthropic(Arc<Endpoint<Messages>>);

/// Sets the provider up.
pub(super) fn connect(
    config: &ProviderConfig,
    retry: RetrySettings,
) -> Result<Arc<dyn Provider>, ProviderSetupError> {
    // The documents of compatible servers give the base with and without the version.
    let base = BaseUrl::parse(NAME, config.base_url.as_deref().unwrap_or(BASE_URL))?.without("/v1");
    base.check_key(NAME, config.api_key.as_ref())?;
    let mut headers = HeaderMap::new();
    headers.insert(
        HeaderName::from_static("anthropic-version"),
        HeaderValue::from_static(VERSION),
    );
    match &config.api_key {
        Some(key) => {
            let value = http::key_header(NAME, KEY_VARIABLE, "", key)?;
            headers.insert(HeaderName::from_static("x-api-key"), value);
        }
        None if base.host() == "api.anthropic.com" => {
            return Err(ProviderSetupError::MissingKey {
                provider: NAME.to_owned(),
                variable: KEY_VARIABLE.to_owned(),
            });
        }
        None => {}
    }
    Ok(Arc::new(Anthropic(Arc::new(Endpoint {
        client: http::client(NAME, &base, &config.proxy)?,
        url: base.join("/v1/messages"),
        headers,
        protocol: Messages,
        origin: Origin {
            provider: NAME,
            server: base.server(),
            key_hint: format!("set {KEY_VARIABLE}"),
            scrubber: Scrubber::of(config),
        },
        retry,
    }))))
}

impl Provider for Anthropic {
    fn name(&self) -> &str {
        NAME
    }

    fn send(&self, request: Request) -> ChunkStream {
        exchange(Arc::clone(&self.0), request)
    }
}

/// The protocol.
#[derive(Debug)]
struct Messages;

impl Protocol for Messages {
    type Decoder = stream::Decoder;

    fn encode(
        &self,
        request: &Request,
        messages: &[Cow<'_, Message>],
    ) -> serde_json::Result<Vec<u8>> {
        serde_json::to_vec(&wire::Body::new(request, messages))
    }

    fn decoder(&self) -> Self::Decoder {
        stream::Decoder::default()
    }
}
