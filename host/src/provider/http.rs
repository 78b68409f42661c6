//! The HTTP client of one provider.
//!
//! Owns where requests go and over what: the base URL, TLS, the proxy, timeouts and the bounds on
//! answers. It exists so that each of these is decided once, and that nothing is taken from the
//! environment behind `config`'s back. It must never know what a request says.

use super::errors::ProviderSetupError;
use crate::config::{ProxyConfig, Secret};
use reqwest::header::HeaderValue;
use reqwest::{Client, NoProxy, Proxy, Url, redirect};
use rustls_platform_verifier::BuilderVerifierExt as _;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

/// As long as a connection may take to come about, TLS included.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);
/// As long as a server may send nothing. Models that think before they answer take minutes.
const IDLE_TIMEOUT: Duration = Duration::from_secs(5 * 60);
/// The most bytes of an answer, streamed or not. The longest answers that vendors allow have
/// about 128,000 tokens; a stream wraps each in some 200 bytes.
pub(super) const MAX_ANSWER_BYTES: usize = 64 << 20;
/// The most bytes read of an error body.
pub(super) const MAX_ERROR_BYTES: usize = 64 << 10;

/// Where the API is, checked.
#[derive(Debug, Clone)]
pub(super) struct BaseUrl(Url);

impl BaseUrl {
    /// Checks a base URL: http or https, a host, nothing secret in it.
    pub(super) fn parse(provider: &'static str, text: &str) -> Result<Self, ProviderSetupError> {
        let refuse = |reason: &str| ProviderSetupError::BaseUrl {
            provider: provider.to_owned(),
            reason: reason.to_owned(),
        };
        let url = Url::parse(text.trim()).map_err(|error| refuse(&error.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(refuse("it is neither http nor https"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(refuse(
                "it holds a user name or password; set the key instead",
            ));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(refuse("it holds more than a path"));
        }
        Ok(BaseUrl(url))
    }

    /// Refuses to send a key in clear text over a network that is not private.
    pub(super) fn check_key(
        &self,
        provider: &'static str,
        key: Option<&Secret>,
    ) -> Result<(), ProviderSetupError> {
        if key.is_none() || self.0.scheme() == "https" || self.is_private() {
            return Ok(());
        }
        Err(ProviderSetupError::BaseUrl {
            provider: provider.to_owned(),
            reason: format!(
                "the key would go to {} in clear text; use https",
                self.server()
            ),
        })
    }

    /// The URL of `path`, which begins with a slash, below the base.
    pub(super) fn join(&self, path: &str) -> Url {
        let mut url = self.0.clone();
        url.set_path(&format!("{}{path}", self.0.path().trim_end_matches('/')));
        url
    }

    /// The same base without `suffix`, which begins with a slash, at the end of its path.
    pub(super) fn without(mut self, suffix: &str) -> Self {
        let path = self.0.path().trim_end_matches('/');
        if let Some(path) = path.strip_suffix(suffix) {
            let path = path.to_owned();
            self.0.set_path(&path);
        }
        self
    }

    /// Scheme, host and port, as shown to people.
    pub(super) fn server(&self) -> String {
        self.0.origin().ascii_serialization()
    }

    /// The host in lower case; IPv6 addresses without their brackets.
    pub(super) fn host(&self) -> &str {
        let host = self.0.host_str().unwrap_or_default();
        host.strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'))
            .unwrap_or(host)
    }

    fn is_loopback(&self) -> bool {
        let host = self.host();
        host == "localhost"
            || host.ends_with(".localhost")
            || host
                .parse::<IpAddr>()
                .is_ok_and(|address| address.is_loopback())
    }

    /// Loopback, a private address, or a name without a dot, which no public server has.
    fn is_private(&self) -> bool {
        self.is_loopback()
            || match self.host().parse::<IpAddr>() {
                Ok(IpAddr::V4(address)) => address.is_private() || address.is_link_local(),
                Ok(IpAddr::V6(address)) => {
                    address.is_unique_local() || address.is_unicast_link_local()
                }
                Err(_) => !self.host().contains('.'),
            }
    }
}

/// Builds the client that reaches `base`.
pub(super) fn client(
    provider: &'static str,
    base: &BaseUrl,
    proxy: &ProxyConfig,
) -> Result<Client, ProviderSetupError> {
    let proxy = proxy_to(base, proxy)?;
    let needs_certificates = base.0.scheme() == "https" || proxy.is_some();
    let tls = tls(needs_certificates).map_err(|error| ProviderSetupError::Client {
        provider: provider.to_owned(),
        reason: error.to_string(),
    })?;
    let mut builder = Client::builder()
        .tls_backend_preconfigured(tls)
        .user_agent(concat!("hotcell/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT_TIMEOUT)
        .read_timeout(IDLE_TIMEOUT)
        // A redirect would carry the key and the conversation to a server nobody named.
        .redirect(redirect::Policy::none())
        // This also keeps reqwest from reading the environment.
        .no_proxy();
    if let Some(proxy) = proxy {
        builder = builder.proxy(proxy);
    }
    builder.build().map_err(|error| ProviderSetupError::Client {
        provider: provider.to_owned(),
        reason: error.without_url().to_string(),
    })
}

/// The proxy on the way to `base`. Loopback is always reached directly.
fn proxy_to(base: &BaseUrl, config: &ProxyConfig) -> Result<Option<Proxy>, ProviderSetupError> {
    let (variable, secret) = match base.0.scheme() {
        "https" => ("HTTPS_PROXY", &config.https),
        _ => ("HTTP_PROXY", &config.http),
    };
    let Some(secret) = secret.as_ref().filter(|_| !base.is_loopback()) else {
        return Ok(None);
    };
    let unusable = |reason: &str| ProviderSetupError::Proxy {
        variable,
        reason: reason.to_owned(),
    };
    let text = secret.reveal().trim();
    match text.split_once("://") {
        None | Some(("http" | "https", _)) => {}
        Some(_) => return Err(unusable("only http and https proxies are supported")),
    }
    let proxy = Proxy::all(text)
        .map_err(|_| unusable("it is not a url such as http://proxy.example:3128"))?;
    let direct = config.no_proxy.as_deref().and_then(NoProxy::from_string);
    Ok(Some(proxy.no_proxy(direct)))
}

/// TLS by the certificates that the system trusts. Where only clear text is spoken the system is
/// not asked: reading its certificates takes time, and a small container has none.
fn tls(needs_certificates: bool) -> Result<rustls::ClientConfig, rustls::Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?;
    let builder = if needs_certificates {
        builder.with_platform_verifier()?
    } else {
        builder.with_root_certificates(rustls::RootCertStore::empty())
    };
    let mut config = builder.with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

/// A header value that carries a key; it is marked, so that no log shows it.
pub(super) fn key_header(
    provider: &'static str,
    variable: &str,
    prefix: &str,
    key: &Secret,
) -> Result<HeaderValue, ProviderSetupError> {
    let mut value =
        HeaderValue::from_str(&format!("{prefix}{}", key.reveal().trim())).map_err(|_| {
            ProviderSetupError::UnusableKey {
                provider: provider.to_owned(),
                variable: variable.to_owned(),
            }
        })?;
    value.set_sensitive(true);
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base(text: &str) -> BaseUrl {
        BaseUrl::parse("openai", text).expect("a base url")
    }

    #[test]
    fn paths_are_joined_below_the_base() {
        for (text, url) in [
            ("https://api.test", "https://api.test/chat"),
            ("https://api.test/", "https://api.test/chat"),
            ("https://api.test/v1", "https://api.test/v1/chat"),
            (
                "http://127.0.0.1:8080/a/v1/",
                "http://127.0.0.1:8080/a/v1/chat",
            ),
        ] {
            assert_eq!(base(text).join("/chat").as_str(), url);
        }
        let stripped = base("https://api.test/v1/")
            .without("/v1")
            .join("/v1/messages");
        assert_eq!(stripped.as_str(), "https://api.test/v1/messages");
    }

    #[test]
    fn a_base_url_that_cannot_be_meant_is_refused_without_showing_it() {
        for text in [
            "",
            "api.test",
            "ftp://api.test",
            "https://user:hunter2@api.test",
            "https://api.test/v1?key=hunter2",
            "https://",
        ] {
            let error = BaseUrl::parse("openai", text).expect_err(text).to_string();
            assert!(!error.contains("hunter2"), "{error}");
            assert!(
                error.starts_with("the base url of openai cannot be used: "),
                "{error}"
            );
        }
    }

    #[test]
    fn a_key_goes_in_clear_text_only_over_private_networks() {
        let key = Secret::new("sk-secret");
        for (text, allowed) in [
            ("https://api.test", true),
            ("http://localhost:11434/v1", true),
            ("http://127.0.0.1:1", true),
            ("http://[::1]:1", true),
            ("http://192.168.1.9", true),
            ("http://[fd00::1]", true),
            ("http://ollama:11434", true),
            ("http://api.test", false),
            ("http://8.8.8.8", false),
            ("http://localhost.evil.test", false),
            ("http://127.0.0.1.evil.test", false),
        ] {
            let base = base(text);
            assert_eq!(
                base.check_key("openai", Some(&key)).is_ok(),
                allowed,
                "{text}"
            );
            assert!(base.check_key("openai", None).is_ok(), "{text}");
        }
    }

    #[test]
    fn the_proxy_is_the_one_of_the_scheme_and_never_for_loopback() {
        let config = ProxyConfig {
            http: Some(Secret::new("http://plain.test:1")),
            https: Some(Secret::new("user:hunter2@secure.test:2")),
            no_proxy: None,
        };
        let proxied = |text: &str| {
            let proxy = proxy_to(&base(text), &config).expect("usable");
            proxy.map(|proxy| format!("{proxy:?}"))
        };
        assert!(proxied("http://api.test").is_some_and(|proxy| proxy.contains("plain.test")));
        assert!(proxied("https://api.test").is_some_and(|proxy| proxy.contains("secure.test")));
        assert_eq!(proxied("http://localhost:1"), None);
        assert_eq!(proxied("https://[::1]:1"), None);
    }

    #[test]
    fn an_unusable_proxy_is_refused_without_showing_it() {
        for text in ["socks5://user:hunter2@proxy.test", "http://user:hunter2@:x"] {
            let config = ProxyConfig {
                https: Some(Secret::new(text)),
                ..ProxyConfig::default()
            };
            let error = proxy_to(&base("https://api.test"), &config)
                .expect_err(text)
                .to_string();
            assert!(
                error.starts_with("the proxy in HTTPS_PROXY cannot be used"),
                "{error}"
            );
            assert!(!error.contains("hunter2"), "{error}");
        }
    }

    #[test]
    fn a_key_that_no_header_can_carry_is_refused_without_showing_it() {
        let error = key_header("openai", "OPENAI_API_KEY", "", &Secret::new("hunter2\nx"))
            .expect_err("a line break inside")
            .to_string();
        assert!(!error.contains("hunter2"), "{error}");
        let trimmed = key_header("openai", "OPENAI_API_KEY", "Bearer ", &Secret::new("abc\n"))
            .expect("a line break at the end is a copying mistake");
        assert_eq!(trimmed, "Bearer abc");
        assert!(trimmed.is_sensitive());
    }
}
