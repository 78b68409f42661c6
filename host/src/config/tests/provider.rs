//! Which provider is asked, with which key, from where.

use super::*;

#[test]
fn a_key_is_found_in_the_env_file_of_the_configuration_directory() {
    let bench = Bench::new().variable("OPENAI_API_KEY", "").file(
        "home/.config/hotcell/.env",
        "\u{feff}# mine\nexport ANTHROPIC_API_KEY='sk-$file'\nHOTCELL_MODEL=\"m\"\n",
    );
    let config = bench.config();
    let provider = config.provider.expect("a key is set");
    assert_eq!(provider.name, "anthropic");
    assert_eq!(provider.model, "m");
    let key = provider.api_key.expect("the key");
    assert_eq!(key.reveal(), "sk-$file");
    let origin = config.reported[0].origin.to_string();
    assert_eq!(
        origin,
        format!(
            "HOTCELL_MODEL in {}",
            bench.path("home/.config/hotcell/.env").display()
        )
    );
}

#[test]
fn a_named_env_file_replaces_the_usual_one_and_must_be_fine() {
    let bench = Bench::new()
        .file("home/.config/hotcell/.env", "HOTCELL_MODEL=usual")
        .file("keys", "HOTCELL_MODEL=named")
        .flags(|flags| flags.env_file = Some("../keys".into()));
    assert_eq!(bench.config().provider.expect("a key").model, "named");

    let bench = Bench::new().flags(|flags| flags.env_file = Some("../missing".into()));
    assert!(
        bench.error().starts_with("cannot read "),
        "{}",
        bench.error()
    );

    let bench = Bench::new()
        .file("keys", "OPENAI_API_KEY sk-broken line")
        .flags(|flags| flags.env_file = Some("../keys".into()));
    let message = bench.error();
    assert!(message.contains("NAME=VALUE"), "{message}");
    assert!(!message.contains("sk-broken"), "{message}");
}

#[test]
fn a_provider_is_chosen_by_rule() {
    let none = || Bench::new().variable("OPENAI_API_KEY", "");
    let name = |bench: &Bench| bench.config().provider.expect("a provider").name;

    assert_eq!(
        none().provider_error(),
        "no provider: set ANTHROPIC_API_KEY or OPENAI_API_KEY, or type `hotcell demo`, which needs no key"
    );
    assert_eq!(name(&Bench::new()), "openai");
    let both = Bench::new().variable("ANTHROPIC_API_KEY", "sk-a");
    assert_eq!(name(&both), "anthropic");
    assert_eq!(
        both.config().notices,
        [
            "ANTHROPIC_API_KEY and OPENAI_API_KEY are both set, so anthropic is asked; --provider openai asks the other"
        ]
    );
    let named = both.flags(|flags| flags.provider = Some("openai".to_owned()));
    assert_eq!(name(&named), "openai");
    assert_eq!(named.config().notices, Vec::<String>::new());

    let scripted = none().flags(|flags| flags.script = Some("s.yaml".into()));
    let provider = scripted.config().provider.expect("a script");
    assert_eq!(provider.name, "script");
    assert_eq!(provider.script, Some(scripted.path("work/s.yaml")));
    let scripted = scripted.variable("HOTCELL_PROVIDER", "openai");
    assert_eq!(name(&scripted), "script");
    let scripted = scripted.flags(|flags| flags.provider = Some("openai".to_owned()));
    assert_eq!(
        scripted.provider_error(),
        "--script plays a file and --provider openai asks a model; pass one of them"
    );

    assert_eq!(
        none()
            .variable("HOTCELL_PROVIDER", "opnai")
            .provider_error(),
        "HOTCELL_PROVIDER: `opnai` is not a provider, did you mean `openai`; the providers are anthropic, openai, script"
    );
    assert_eq!(
        none()
            .variable("HOTCELL_PROVIDER", "openai")
            .provider_error(),
        "the provider `openai` needs the variable OPENAI_API_KEY: export it, or put OPENAI_API_KEY=… into /home/.config/hotcell/.env"
    );
    assert_eq!(
        none()
            .variable("HOTCELL_BASE_URL", "http://localhost:1")
            .provider_error(),
        "HOTCELL_BASE_URL: a base URL does not say which protocol is spoken there; add --provider openai or --provider anthropic"
    );
}

#[test]
fn a_compatible_server_needs_no_key_unless_one_is_named() {
    let bench = Bench::new()
        .variable("OPENAI_API_KEY", "")
        .variable("HOTCELL_PROVIDER", "openai")
        .variable("OPENAI_BASE_URL", "http://gpu.example/v1/");
    let provider = bench.config().provider.expect("a server");
    assert_eq!(provider.base_url.as_deref(), Some("http://gpu.example/v1"));
    assert_eq!(provider.api_key, None);

    let bench = bench.variable("HOTCELL_API_KEY_ENV", "GPU_KEY");
    assert!(bench.provider_error().contains("GPU_KEY"));

    let bench = bench.variable("GPU_KEY", "sk-gpu");
    let config = bench.config();
    assert_eq!(
        config.notices,
        [
            "the key in GPU_KEY goes unencrypted to http://gpu.example/v1; use https:// where the network is not yours"
        ]
    );
}

#[test]
fn no_debug_output_of_the_settings_shows_a_key() {
    let bench = Bench::new().variable("HTTPS_PROXY", "http://u:sk-proxy@p");
    let shown = format!("{:?}", bench.config());
    assert!(!shown.contains("sk-"), "{shown}");
}
