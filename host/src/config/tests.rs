//! Every source against every other, over real files in a home of its own.

mod provider;
mod workspace;

use super::*;
use crate::protocol::{Capabilities, Capability, Cost, Limit, Limits, Price, Reminders, RunLimits};
use std::fs;
use std::path::PathBuf;

/// A home, a workspace and variables that no other test and no machine has.
struct Bench {
    root: tempfile::TempDir,
    variables: Vec<(String, String)>,
    flags: Flags,
    /// Where the user stands.
    at: &'static str,
}

impl Bench {
    fn new() -> Self {
        let root = tempfile::tempdir().expect("temporary directory");
        fs::create_dir_all(root.path().join("home/.config/hotcell")).expect("home");
        fs::create_dir_all(root.path().join("work")).expect("workspace");
        Bench {
            root,
            variables: Vec::new(),
            flags: Flags::default(),
            at: "work",
        }
        .variable("OPENAI_API_KEY", "sk-openai")
    }

    fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.retain(|(other, _)| other != name);
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    fn file(self, path: &str, text: &str) -> Self {
        fs::write(self.path(path), text).expect("file");
        self
    }

    fn directory(self, path: &str) -> Self {
        fs::create_dir_all(self.path(path)).expect("directory");
        self
    }

    fn user(self, text: &str) -> Self {
        self.file("home/.config/hotcell/hotcell.toml", text)
    }

    /// The settings of a workspace that the user trusts.
    fn workspace(self, text: &str) -> Self {
        self.answer(Answer::Trusted).file("work/hotcell.toml", text)
    }

    fn answer(self, answer: Answer) -> Self {
        let file = TrustFile::new(&self.path("home/.local/share/hotcell"));
        file.set(&self.path("work"), Some(answer)).expect("kept");
        self
    }

    fn at(mut self, place: &'static str) -> Self {
        self.at = place;
        self
    }

    fn flags(mut self, change: impl FnOnce(&mut Flags)) -> Self {
        change(&mut self.flags);
        self
    }

    fn path(&self, path: &str) -> PathBuf {
        self.root
            .path()
            .canonicalize()
            .expect("it exists")
            .join(path)
    }

    fn resolve(&self) -> Result<Config, ConfigError> {
        let home = self.path("home").display().to_string();
        let variables = self
            .variables
            .iter()
            .cloned()
            .chain([("HOME".to_owned(), home)]);
        let environment = Environment::from_map(variables, self.path(self.at));
        Config::resolve(&self.flags, &environment)
    }

    fn config(&self) -> Config {
        self.resolve().expect("these settings are fine")
    }

    /// The error, with the directory of this test taken out.
    fn error(&self) -> String {
        let error = self.resolve().expect_err("these settings are wrong");
        self.plain(&error)
    }

    fn plain(&self, error: &ConfigError) -> String {
        let root = self.path("").display().to_string();
        error.to_string().replace(&root, "/")
    }

    fn provider_error(&self) -> String {
        let error = self.config().provider.expect_err("there is no provider");
        self.plain(&error)
    }
}

fn set(items: &[Capability]) -> Capabilities {
    items.iter().copied().collect()
}

#[test]
fn without_any_source_the_defaults_stand() {
    let bench = Bench::new();
    let config = bench.config();
    assert_eq!(config.workspace, bench.path("work"));
    assert_eq!(config.limits, Limits::default());
    assert_eq!(config.run.turns, 50);
    assert!(config.max_parallel_calls >= 4);
    assert_eq!(config.think, Think::Off);
    assert!(!config.plan);
    assert_eq!(
        config.allowed,
        set(&[
            Capability::WorkspaceRead,
            Capability::WorkspaceWrite,
            Capability::Process,
            Capability::SessionState,
            Capability::Skills
        ])
    );
    assert_eq!(config.plugins, Vec::<PathBuf>::new());
    assert_eq!(config.skills, Vec::<PathBuf>::new());
    assert_eq!(config.notices, Vec::<String>::new());
    assert_eq!(config.reported, []);
    let provider = config.provider.expect("a key is set");
    assert_eq!(provider.name, "openai");
    assert_eq!(provider.base_url, None);
    assert!(provider.stream);
}

#[test]
fn a_later_source_wins() {
    let mut bench = Bench::new();
    let turns = |bench: &Bench| bench.config().run.turns;
    bench = bench.user("max_turns = 40");
    assert_eq!(turns(&bench), 40);
    bench = bench.workspace("max_turns = 30");
    assert_eq!(turns(&bench), 30);
    bench = bench.variable("HOTCELL_MAX_TURNS", "60");
    assert_eq!(turns(&bench), 60);
    bench = bench.flags(|flags| flags.max_turns = Some(0));
    assert_eq!(turns(&bench), 0);
    let reported = bench.config().reported;
    assert_eq!(
        reported,
        [Reported {
            key: "max_turns",
            value: "0".to_owned(),
            origin: Origin::Flag("--max-turns".to_owned()),
        }]
    );
}

#[test]
fn every_setting_can_be_set_in_the_users_file_and_by_a_variable() {
    let written: &[(&str, &str)] = &[
        ("provider", "anthropic"),
        ("model", "m"),
        ("base_url", "http://localhost:1/v1/"),
        ("api_key_env", "OPENAI_API_KEY"),
        ("max_output_tokens", "1_000"),
        ("stream", "false"),
        ("think", "first"),
        ("plan", "true"),
        ("max_turns", "7"),
        ("max_parallel_calls", "2"),
        ("capabilities", "workspace-read"),
        ("plugins", "p.wasm"),
        ("skills", "."),
        ("masked", "*.secret"),
        ("protected", "migrations"),
        ("color", "always"),
        ("sessions.enabled", "false"),
        ("sessions.db", "../kept.db"),
        ("process.programs", "git"),
        ("process.read_only_programs", "git"),
        ("process.read_paths", "toolchain"),
        ("process.environment", "GOFLAGS"),
        ("process.network", "true"),
        ("process.shell", "native"),
        ("process.max_processes", "10"),
        ("process.file_bytes", "1MiB"),
        ("process.address_space_bytes", "1GiB"),
        ("process.open_files", "64"),
        ("run.max_time_ms", "1h"),
        ("run.max_tokens", "1M"),
        ("run.max_fuel", "1G"),
        // Any more would need a price, which is a table.
        ("run.max_cost", "0"),
        ("run.max_repeats", "9"),
        ("run.remind_repetition", "1"),
        ("run.remind_stall", "2"),
        ("run.remind_closing", "4"),
        ("run.remind_planning", "5"),
        ("run.remind_memory", "6"),
        ("limits.fuel", "1G"),
        ("limits.deadline_ms", "2s"),
        ("limits.memory_bytes", "64MiB"),
        ("limits.table_elements", "1k"),
        ("limits.resources", "9"),
        ("limits.host_calls", "8"),
        ("limits.output_bytes", "7"),
    ];
    // Prices are tables, one a model.
    let rows = || setting::ROWS.iter().filter(|row| row.key != "prices");
    assert_eq!(
        written.iter().map(|(key, _)| *key).collect::<Vec<_>>(),
        rows().map(|row| row.key).collect::<Vec<_>>(),
        "a new setting belongs into this test"
    );

    let lists = [
        "capabilities",
        "plugins",
        "masked",
        "protected",
        "process.programs",
        "process.read_only_programs",
        "process.read_paths",
        "process.environment",
    ];
    let toml: String = written
        .iter()
        .map(|(key, value)| {
            if lists.contains(key) {
                format!("{key} = [\"{value}\"]\n")
            } else {
                format!("{key} = \"{value}\"\n")
            }
        })
        .collect();
    let in_file = Bench::new().user(&toml);
    let by_variable = rows()
        .zip(written)
        .fold(Bench::new(), |bench, (row, (_, value))| {
            bench.variable(&row.variable(), value)
        });

    for (bench, base) in [(&in_file, "home/.config/hotcell"), (&by_variable, "work")] {
        let config = bench.config();
        let provider = config.provider.expect("the key of the other one is named");
        assert_eq!(provider.name, "anthropic");
        assert_eq!(provider.model, "m");
        assert_eq!(provider.base_url.as_deref(), Some("http://localhost:1/v1"));
        let key = provider.api_key.expect("the key");
        assert_eq!(key.reveal(), "sk-openai");
        assert_eq!(provider.max_output_tokens, 1_000);
        assert!(!provider.stream);
        assert_eq!(config.think, Think::First);
        assert!(config.plan);
        assert_eq!(config.run.turns, 7);
        assert_eq!(config.max_parallel_calls, 2);
        assert_eq!(config.allowed, set(&[Capability::WorkspaceRead]));
        assert_eq!(config.plugins, [bench.path(base).join("p.wasm")]);
        assert_eq!(config.skills, [bench.path(base).join(".")]);
        assert_eq!(config.masked[0].value, "*.secret");
        assert_eq!(config.protected[0].value, "migrations");
        assert!(config.colors.stdout);
        assert!(!config.sessions.enabled);
        let db = bench.path(base).join("../kept.db");
        assert_eq!(config.sessions.db, Some(db));
        assert_eq!(config.process.programs, ["git"]);
        assert_eq!(config.process.read_only_programs, ["git"]);
        assert_eq!(
            config.process.read_paths[0],
            bench.path(base).join("toolchain")
        );
        assert!(config.process.network);
        assert_eq!(config.process.shell, Shell::Native);
        assert_eq!(config.process.max_processes, 10);
        assert_eq!(config.process.file_bytes, 1 << 20);
        assert_eq!(config.process.address_space_bytes, 1 << 30);
        assert_eq!(config.process.open_files, 64);
        assert_eq!(
            Limit::ALL.map(|limit| limit.of(&config.limits)),
            [1_000_000_000, 2_000, 64 << 20, 1_000, 9, 8, 7]
        );
        let run = config.run;
        assert_eq!(run.time.as_secs(), 3_600);
        assert_eq!(
            (run.tokens, run.fuel, run.repeats),
            (1_000_000, 1_000_000_000, 9)
        );
        let reminders = Reminders {
            repetition: 1,
            stall: 2,
            closing: 4,
            planning: 5,
            memory: 6,
        };
        assert_eq!(config.reminders, reminders);
        assert_eq!(config.reported.len(), written.len());
    }
}

#[test]
fn native_toml_values_are_taken_as_well_as_text() {
    let config = Bench::new()
        .user("stream = false\nmax_turns = 1_0\n[limits]\nfuel = 0x10\ndeadline_ms = 250\n")
        .config();
    assert!(!config.provider.expect("a key is set").stream);
    assert_eq!(config.run.turns, 10);
    assert_eq!((config.limits.fuel, config.limits.deadline_ms), (16, 250));
}

#[test]
fn plugins_add_up_over_the_sources() {
    let bench = Bench::new()
        .user("plugins = [\"a.wasm\", \"~/b.wasm\"]")
        .variable("HOTCELL_PLUGINS", ":/c.wasm:d.wasm:")
        .flags(|flags| flags.plugins = vec!["e.wasm".into(), "d.wasm".into(), "e.wasm".into()]);
    assert_eq!(
        bench.config().plugins,
        [
            bench.path("home/.config/hotcell/a.wasm"),
            bench.path("home/b.wasm"),
            "/c.wasm".into(),
            bench.path("work/d.wasm"),
            bench.path("work/e.wasm"),
        ]
    );
}

#[test]
fn deny_wins_over_allow() {
    let bench = Bench::new()
        .user("capabilities = [\"workspace-read\"]")
        .flags(|flags| {
            flags.allow = vec![Capability::Skills, Capability::WorkspaceWrite];
            flags.deny = vec![Capability::WorkspaceWrite];
        });
    assert_eq!(
        bench.config().allowed,
        set(&[Capability::WorkspaceRead, Capability::Skills])
    );
}

#[test]
fn mistakes_in_the_users_file_name_the_line_and_the_fix() {
    let mut messages = Vec::new();
    for text in [
        "\nmodle = \"m\"",
        "fuel = 5",
        "[limits]\nfule = 5",
        "[limit]\nfuel = 5",
        "limits = 5",
        "zzz = 1",
        "api_key = \"sk-1\"",
        "ANTHROPIC_API_KEY = \"sk-1\"",
        "api_key_env = \"sk-1\"",
        "model = 5",
        "model = \"\"",
        "stream = \"maybe\"",
        "think = true",
        "think = \"often\"",
        "max_turns = -1",
        "max_turns = \"many\"",
        "max_turns = 99999999999",
        "max_parallel_calls = 0",
        "capabilities = \"workspace-read\"",
        "capabilities = [1]",
        "capabilities = [\"workspace\"]",
        "capabilities = [\"network\"]",
        "base_url = \"ftp://x\"",
        "base_url = \"https://user:sk-1@x\"",
        "base_url = \"https://x?key=sk-1\"",
        "skills = \"missing\"",
        "model = \"a\"\nmodel = \"b\"",
        "api_key = sk-1",
        "[limits]\nmemory_bytes = \"1TB\"",
        "[limits]\nfuel = 0",
    ] {
        let message = Bench::new().user(text).error();
        assert!(!message.contains("sk-1"), "{message}");
        messages.push(format!("{}\n  {message}", text.trim_start()));
    }
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn mistakes_in_variables_and_flags_name_them() {
    let bench = Bench::new().variable("HOTCELL_MAX_TURNS", "lots");
    assert_eq!(
        bench.error(),
        "HOTCELL_MAX_TURNS: `max_turns` is wrong: `lots` is not a number; write a whole number such as 50"
    );
    let bench = Bench::new().flags(|flags| flags.base_url = Some("example.com".to_owned()));
    assert_eq!(
        bench.error(),
        "--base-url: `base_url` must begin with http:// or https://"
    );
    let bench = Bench::new().flags(|flags| flags.allow = vec![Capability::Network]);
    assert_eq!(
        bench.error(),
        "--allow, --deny: `capabilities` names network, which this version of hotcell cannot give to any tool; remove it"
    );
    let bench = Bench::new().variable("HOTCELL_MODLE", "m");
    assert_eq!(
        bench.config().notices,
        ["HOTCELL_MODLE is not a setting, did you mean HOTCELL_MODEL"]
    );
    let bench = Bench::new().variable("HOTCELL_LOG", "debug");
    assert_eq!(bench.config().notices, Vec::<String>::new());
}

#[test]
fn the_demo_sees_no_setting_of_this_user() {
    let bench = Bench::new()
        .user("this is not even TOML")
        .workspace("neither is this")
        .file("home/.config/hotcell/.env", "nor this")
        .variable("HOTCELL_MAX_TURNS", "lots")
        .variable("HTTPS_PROXY", "http://proxy")
        .flags(|flags| {
            flags.ignore_settings = true;
            flags.script = Some("s.yaml".into());
        });
    let config = bench.config();
    assert_eq!(config.run.turns, 50);
    assert_eq!(config.skills, Vec::<PathBuf>::new());
    assert_eq!(
        config.directories.cache,
        Some(bench.path("home/.cache/hotcell"))
    );
    assert_eq!(config.provider.expect("a script").name, "script");
}

#[test]
fn what_bounds_a_run_comes_from_every_source() {
    let user = "[run]\nmax_time_ms = \"2h\"\nmax_tokens = \"1M\"\nremind_stall = 0\nmax_cost = \"1.50\"\n\
                [prices.\"gpt-5.4\"]\ninput = 1.25\noutput = \"10\"\n";
    let config = Bench::new()
        .user(user)
        .workspace("[run]\nmax_tokens = 5000\n")
        .variable("HOTCELL_RUN_MAX_REPEATS", "4")
        .flags(|flags| flags.guards = vec![(GuardKey::Fuel, "2G".to_owned())])
        .config();
    assert_eq!(
        config.run,
        RunLimits {
            turns: 50,
            time: std::time::Duration::from_secs(7_200),
            tokens: 5_000,
            fuel: 2_000_000_000,
            cost: Cost(1_500_000),
            price: Price {
                input: Cost(1_250_000),
                output: Cost(10_000_000),
                ..Price::default()
            },
            repeats: 4,
        }
    );
    assert_eq!(
        (config.reminders.stall, config.reminders.repetition),
        (0, 3)
    );
}

#[test]
fn what_is_wrong_about_a_bound_is_told() {
    let messages: Vec<String> = [
        "[run]\nmax_cost = 1.0",
        "[run]\nmax_cost = \"one\"",
        "[run]\nmax_time_ms = \"2 days\"",
        "[run]\nmax_tokns = 1",
        "prices = 3",
        "[prices]\n\"m\" = 3",
        "[prices.m]\ninputs = 3",
        "[prices.m]\ninput = \"3 cents\"",
    ]
    .into_iter()
    .map(|text| format!("{text}\n  {}", Bench::new().user(text).error()))
    .collect();
    insta::assert_snapshot!(messages.join("\n"));
}
