//! The provider `openai`: Chat Completions, at OpenAI and at any compatible server.
//!
//! Owns the address, the key and the choice of fields that differ between OpenAI itself and
//! compatible servers; `wire` writes requests and `stream` reads answers. No other module knows
//! this JSON.

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
use reqwest::header::{AUTHORIZATION, HeaderMap};
use std::borrow::Cow;
use std::sync::Arc;

/// The name in the provider table.
pub(super) const NAME: &str = "openai";
/// The vendor's own address.
pub(super) const BASE_URL: &str = "https://api.openai.com/v1";
/// Where the key is usually kept.
pub(super) const KEY_VARIABLE: &str = "OPENAI_API_KEY";

#[derive(Debug)]
struct OpenAi(Arc<Endpoint<ChatCompletions>>);

/// Sets the provider up.
pub(super) fn connect(
    config: &ProviderConfig,
    retry: RetrySettings,
) -> Result<Arc<dyn Provider>, ProviderSetupError> {
    let base = BaseUrl::parse(NAME, config.base_url.as_deref().unwrap_or(BASE_URL))?;
    base.check_key(NAME, config.api_key.as_ref())?;
    let is_vendor = base.host() == "api.openai.com";
    let mut headers = HeaderMap::new();
    match &config.api_key {
        Some(key) => {
            let value = http::key_header(NAME, KEY_VARIABLE, "Bearer ", key)?;
            headers.insert(AUTHORIZATION, value);
        }
        None if is_vendor => {
            return Err(ProviderSetupError::MissingKey {
                provider: NAME.to_owned(),
                variable: KEY_VARIABLE.to_owned(),
            });
        }
        None => {}
    }
    Ok(Arc::new(OpenAi(Arc::new(Endpoint {
        client: http::client(NAME, &base, &config.proxy)?,
        url: base.join("/chat/completions"),
        headers,
        protocol: ChatCompletions { is_vendor },
        origin: Origin {
            provider: NAME,
            server: base.server(),
            key_hint: format!("set {KEY_VARIABLE}"),
            scrubber: Scrubber::of(config),
        },
        retry,
    }))))
}

impl Provider for OpenAi {
    fn name(&self) -> &str {
        NAME
    }

    fn send(&self, request: Request) -> ChunkStream {
        exchange(Arc::clone(&self.0), request)
    }
}

/// The protocol, and whether it is spoken with OpenAI itself.
#[derive(Debug)]
struct ChatCompletions {
    is_vendor: bool,
}

impl Protocol for ChatCompletions {
    type Decoder = stream::Decoder;

    fn encode(
        &self,
        request: &Request,
        messages: &[Cow<'_, Message>],
    ) -> serde_json::Result<Vec<u8>> {
        serde_json::to_vec(&wire::Body::new(request, messages, self.is_vendor))
    }

    fn decoder(&self) -> Self::Decoder {
        stream::Decoder::default()
    }
}
