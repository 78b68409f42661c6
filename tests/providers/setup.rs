//! Setting a provider up: what is refused, and the way to the server.

use super::*;
use hotcell::provider::{PROVIDERS, ProviderSetupError};
use model_server::Reply;

fn refusal(config: &ProviderConfig) -> String {
    match provider::connect(config) {
        Err(error) => error.to_string(),
        Ok(provider) => panic!("{} was set up", provider.name()),
    }
}

#[test]
fn a_mistake_in_the_settings_is_told_in_one_line() {
    let base = || config(Protocol::OpenAi, None);
    let named = |name: &str| ProviderConfig {
        name: name.to_owned(),
        ..base()
    };
    for (config, line) in [
        (
            named("opnai"),
            "`opnai` is not a provider, did you mean `openai`; the providers are openai, anthropic, script",
        ),
        (
            named("mistral"),
            "`mistral` is not a provider; the providers are openai, anthropic, script",
        ),
        (
            named("script"),
            "the provider `script` needs a file of turns; name it by --script FILE",
        ),
        (
            ProviderConfig {
                api_key: None,
                ..base()
            },
            "openai needs a key; set OPENAI_API_KEY",
        ),
        (
            ProviderConfig {
                api_key: None,
                ..named("anthropic")
            },
            "anthropic needs a key; set ANTHROPIC_API_KEY",
        ),
        (
            ProviderConfig {
                api_key: Some(Secret::new("two\nlines")),
                ..base()
            },
            "the key of openai holds characters that no HTTP header can carry; set OPENAI_API_KEY again",
        ),
        (
            ProviderConfig {
                base_url: Some("http://api.example.com/v1".into()),
                ..base()
            },
            "the base url of openai cannot be used: the key would go to http://api.example.com in clear text; use https; give one by --base-url",
        ),
        (
            ProviderConfig {
                script: Some("no/such/file.yaml".into()),
                ..named("script")
            },
            "cannot use the script no/such/file.yaml: No such file or directory (os error 2)",
        ),
    ] {
        assert_eq!(refusal(&config), line);
    }
}

#[test]
fn every_provider_of_the_table_has_its_own_name() {
    for entry in PROVIDERS {
        let config = ProviderConfig {
            name: entry.name.to_owned(),
            api_key: None,
            ..config(Protocol::OpenAi, None)
        };
        match provider::connect(&config) {
            Err(ProviderSetupError::MissingKey { provider, variable }) => {
                assert_eq!(provider, entry.name);
                assert_eq!(Some(variable.as_str()), entry.key_variable);
            }
            Err(ProviderSetupError::MissingScript) => assert_eq!(entry.key_variable, None),
            Err(error) => panic!("{error}"),
            Ok(_) => panic!("{} needs neither key nor script", entry.name),
        }
    }
}

#[tokio::test]
async fn a_script_file_is_a_provider() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("turns.yaml");
    std::fs::write(&path, "turns: [{text: hello}]").expect("a file");
    let config = ProviderConfig {
        name: "script".to_owned(),
        script: Some(path),
        ..config(Protocol::OpenAi, None)
    };
    let provider = provider::connect(&config).expect("a script");
    assert_eq!(ask(&*provider, hello()).await.text, "hello");
}

#[tokio::test]
async fn a_compatible_server_needs_no_key() {
    for protocol in BOTH {
        let server = ModelServer::start();
        let config = ProviderConfig {
            api_key: None,
            ..config(protocol, Some(server.url(protocol)))
        };
        let provider = provider::connect(&config).expect("no key needed");
        server.reply(Reply::text("ok"));
        assert_eq!(ask(&*provider, hello()).await.text, "ok");
        let headers = &server.requests()[0].headers;
        assert_eq!(headers.get("authorization"), None);
        assert_eq!(headers.get("x-api-key"), None);
    }
}

#[tokio::test]
async fn the_proxy_is_used_but_not_for_loopback() {
    let proxy = ModelServer::start();
    let proxied = |protocol, base_url: String| ProviderConfig {
        api_key: None,
        proxy: ProxyConfig {
            // The server stands in for a proxy: it does not mind whose path it is asked for.
            http: Some(Secret::new(proxy.anthropic_url())),
            https: None,
            no_proxy: None,
        },
        ..config(protocol, Some(base_url))
    };
    for (protocol, base) in [
        (Protocol::OpenAi, "http://model.example/v1"),
        (Protocol::Anthropic, "http://model.example"),
    ] {
        let provider = provider::connect(&proxied(protocol, base.to_owned())).expect("a proxy");
        proxy.reply(Reply::text("through"));
        assert_eq!(ask(&*provider, hello()).await.text, "through");
        let host = proxy
            .requests()
            .pop()
            .and_then(|mut r| r.headers.remove("host"));
        assert_eq!(host.as_deref(), Some("model.example"));

        let server = ModelServer::start();
        let provider = provider::connect(&proxied(protocol, server.url(protocol))).expect("direct");
        server.reply(Reply::text("direct"));
        assert_eq!(ask(&*provider, hello()).await.text, "direct");
    }
}
