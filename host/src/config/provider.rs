//! The resolved settings of the provider.
//!
//! Owns which provider, which model, where and with which key, and the rule that picks one where
//! nobody did. It must never know a wire format.

use super::error::nearest;
use super::layer::Settings;
use super::{ConfigError, Environment, Origin, Secret};
use std::path::{Path, PathBuf};

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

/// What configuration has to know about a provider that is reached over the network.
pub(super) struct Vendor {
    pub name: &'static str,
    pub key_variable: &'static str,
    pub base_url_variable: &'static str,
    /// Asked where nobody names a model.
    pub model: &'static str,
}

/// The vendors, the one that is taken first where the keys of both are set first.
pub(super) const VENDORS: &[Vendor] = &[
    Vendor {
        name: "anthropic",
        key_variable: "ANTHROPIC_API_KEY",
        base_url_variable: "ANTHROPIC_BASE_URL",
        model: "claude-sonnet-5",
    },
    Vendor {
        name: "openai",
        key_variable: "OPENAI_API_KEY",
        base_url_variable: "OPENAI_BASE_URL",
        model: "gpt-5.4",
    },
];

/// The provider that plays a file.
const SCRIPT: &str = "script";

/// The providers that can be named, each with the usual variable of its key, if it has one.
pub fn known_providers() -> impl Iterator<Item = (&'static str, Option<&'static str>)> {
    VENDORS
        .iter()
        .map(|vendor| (vendor.name, Some(vendor.key_variable)))
        .chain([(SCRIPT, None)])
}

/// Picks the provider and reads its key. Notices are added where something was chosen that the
/// user may not expect.
pub(super) fn resolve(
    settings: &Settings,
    script: Option<&Path>,
    environment: &Environment,
    env_file: Option<&Path>,
    notices: &mut Vec<String>,
) -> Result<ProviderConfig, ConfigError> {
    let name = choose(settings, script, environment, notices)?;
    let Some(vendor) = VENDORS.iter().find(|vendor| vendor.name == name) else {
        return Ok(ProviderConfig {
            model: settings
                .model
                .as_ref()
                .map_or(SCRIPT, |model| model.value.as_str())
                .to_owned(),
            name,
            base_url: None,
            api_key: None,
            script: script.map(Path::to_owned),
            max_output_tokens: settings.max_output_tokens.value,
            stream: settings.stream.value,
            proxy: ProxyConfig::default(),
        });
    };
    let base_url = match &settings.base_url {
        Some(url) => Some(url.value.clone()),
        None => environment
            .text(vendor.base_url_variable)?
            .map(|url| url.trim_end_matches('/').to_owned()),
    };
    let key_variable = settings
        .api_key_env
        .as_ref()
        .map_or(vendor.key_variable, |name| name.value.as_str());
    let api_key = environment.text(key_variable)?.map(Secret::new);
    // A compatible server may need no key; the vendor's own always does, and so does whoever was
    // told where to find one.
    if api_key.is_none() && (base_url.is_none() || settings.api_key_env.is_some()) {
        return Err(ConfigError::NoKey {
            provider: name,
            variable: key_variable.to_owned(),
            env_file: env_file.map_or_else(
                || "a file for --env-file".to_owned(),
                |file| file.display().to_string(),
            ),
        });
    }
    if let Some(url) = base_url.as_deref()
        && api_key.is_some()
        && sends_in_the_clear(url)
    {
        notices.push(format!(
            "the key in {key_variable} goes unencrypted to {url}; use https:// where the network is not yours"
        ));
    }
    let model = match &settings.model {
        Some(model) => model.value.clone(),
        None => vendor.model.to_owned(),
    };
    Ok(ProviderConfig {
        name,
        model,
        base_url,
        api_key,
        script: None,
        max_output_tokens: settings.max_output_tokens.value,
        stream: settings.stream.value,
        proxy: proxies(environment)?,
    })
}

/// The script, else the one that was named, else the one whose key is set.
fn choose(
    settings: &Settings,
    script: Option<&Path>,
    environment: &Environment,
    notices: &mut Vec<String>,
) -> Result<String, ConfigError> {
    if script.is_some() {
        // A script on this command line is more than a provider in a file, but two flags that
        // disagree are a mistake.
        return match &settings.provider {
            Some(asked) if matches!(asked.origin, Origin::Flag(_)) && asked.value != SCRIPT => {
                Err(ConfigError::ScriptWithProvider {
                    provider: asked.value.clone(),
                })
            }
            _ => Ok(SCRIPT.to_owned()),
        };
    }
    if let Some(asked) = &settings.provider {
        let known: Vec<_> = known_providers().map(|(name, _)| name).collect();
        return if known.contains(&asked.value.as_str()) {
            Ok(asked.value.clone())
        } else {
            Err(ConfigError::UnknownProvider {
                origin: asked.origin.clone(),
                name: asked.value.clone(),
                nearest: nearest(&asked.value, known.iter().copied()),
                known,
            })
        };
    }
    if let Some(url) = &settings.base_url {
        return Err(ConfigError::BaseUrlWithoutProvider {
            origin: url.origin.clone(),
        });
    }
    let with_key: Vec<_> = VENDORS
        .iter()
        .filter(|vendor| environment.os(vendor.key_variable).is_some())
        .collect();
    let first = with_key.first().ok_or(ConfigError::NoProvider)?;
    if let Some(other) = with_key.get(1) {
        notices.push(format!(
            "{} and {} are both set, so {} is asked; --provider {} asks the other",
            first.key_variable, other.key_variable, first.name, other.name
        ));
    }
    Ok(first.name.to_owned())
}

/// Whether a key sent to `url` crosses a network unencrypted.
fn sends_in_the_clear(url: &str) -> bool {
    let Some(rest) = url.strip_prefix("http://") else {
        return false;
    };
    let authority = rest.split('/').next().unwrap_or_default();
    let host = match authority.strip_prefix('[') {
        Some(v6) => v6.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    };
    let loopback = host == "localhost"
        || host
            .parse::<std::net::IpAddr>()
            .is_ok_and(|address| address.is_loopback());
    !loopback
}

fn proxies(environment: &Environment) -> Result<ProxyConfig, ConfigError> {
    // Lower case first, as curl does.
    let read = |lower: &str| -> Result<Option<String>, ConfigError> {
        let value = match environment.text(lower)? {
            Some(value) => Some(value),
            None => environment.text(&lower.to_ascii_uppercase())?,
        };
        Ok(value.map(str::to_owned))
    };
    let all = read("all_proxy")?;
    let one = |specific: Option<String>| specific.or_else(|| all.clone()).map(Secret::new);
    Ok(ProxyConfig {
        http: one(read("http_proxy")?),
        https: one(read("https_proxy")?),
        no_proxy: read("no_proxy")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_of_clear_text_urls() {
        for (url, clear) in [
            ("https://api.example.com", false),
            ("http://api.example.com/v1", true),
            ("http://192.168.1.5:8080", true),
            ("http://localhost:11434/v1", false),
            ("http://127.0.0.1:80", false),
            ("http://[::1]:80/v1", false),
            ("http://localhost.example.com", true),
        ] {
            assert_eq!(sends_in_the_clear(url), clear, "{url}");
        }
    }

    #[test]
    fn proxies_are_read_in_either_case() {
        let read = |pairs: &[(&str, &str)]| {
            let found = proxies(&Environment::from_map(pairs.iter().copied(), "/w"));
            let found = found.expect("text");
            let shown = |secret: Option<Secret>| secret.map(|s| s.reveal().to_owned());
            (shown(found.http), shown(found.https), found.no_proxy)
        };
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(read(&[]), (None, None, None));
        assert_eq!(
            read(&[("HTTP_PROXY", "A"), ("http_proxy", "a")]),
            (some("a"), None, None)
        );
        assert_eq!(
            read(&[("ALL_PROXY", "x"), ("HTTPS_PROXY", "s"), ("NO_PROXY", "n")]),
            (some("x"), some("s"), some("n"))
        );
    }
}
