//! What a command line comes to, and what is said about a wrong one.

use super::*;
use crate::config::Environment;
use crate::protocol::Limit;
use clap::CommandFactory;

fn parse(line: &str) -> Result<Arguments, clap::Error> {
    Arguments::try_parse_from(line.split_whitespace())
}

fn run_flags(line: &str) -> Flags {
    match parse(line).expect("a command line").command {
        Some(Command::Run(run)) => run.flags(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_definitions_hold_together() {
    Arguments::command().debug_assert();
}

#[test]
fn every_flag_reaches_the_settings() {
    let flags = run_flags(
        "hotcell run x -C w --env-file e --color never --provider p -m m --base-url u \
         --script s --max-output-tokens 1 --no-stream --think=first --max-turns 0 \
         --max-parallel-calls 2 --plan --allow skills --allow workspace-read --deny skills \
         --unsafe-no-process-sandbox --no-session --db d --plugin a --plugin b --skills k --fuel 1G --deadline-ms 2s --memory-bytes 1MiB \
         --table-elements 1k --resources 5 --host-calls 6 --output-bytes 7 \
         --max-time 1h --max-tokens 1M --max-run-fuel 2G --max-cost 0.5 --max-repeats 4",
    );
    assert_eq!(
        format!("{flags:?}"),
        format!(
            "{:?}",
            Flags {
                workspace: Some("w".into()),
                env_file: Some("e".into()),
                script: Some("s".into()),
                provider: Some("p".into()),
                model: Some("m".into()),
                base_url: Some("u".into()),
                max_output_tokens: Some(1),
                no_stream: true,
                think: Some(Think::First),
                plan: true,
                max_turns: Some(0),
                max_parallel_calls: Some(2),
                allow: vec![Capability::Skills, Capability::WorkspaceRead],
                deny: vec![Capability::Skills],
                plugins: vec!["a".into(), "b".into()],
                skills: Some("k".into()),
                color: Some(ColorWhen::Never),
                unsafe_no_process_sandbox: true,
                no_session: true,
                db: Some("d".into()),
                limits: Limit::ALL
                    .into_iter()
                    .zip([1_000_000_000, 2_000, 1 << 20, 1_000, 5, 6, 7])
                    .collect(),
                guards: [
                    (GuardKey::Time, "1h"),
                    (GuardKey::Tokens, "1M"),
                    (GuardKey::Fuel, "2G"),
                    (GuardKey::Cost, "0.5"),
                    (GuardKey::Repeats, "4"),
                ]
                .map(|(guard, value)| (guard, value.to_owned()))
                .into(),
                ignore_settings: false,
            }
        )
    );
}

#[test]
fn think_alone_means_always_and_takes_no_prompt_away() {
    assert_eq!(
        run_flags("hotcell run --think x").think,
        Some(Think::Always)
    );
    assert_eq!(run_flags("hotcell run x").think, None);
}

#[test]
fn mistakes_are_told_with_what_would_be_right() {
    let mut messages = Vec::new();
    for line in [
        "hotcell rum x",
        "hotcell run",
        "hotcell run x --modle m",
        "hotcell run x --fuel lots",
        "hotcell run x --memory-bytes 0",
        "hotcell run x --allow network",
        "hotcell run x --think=often",
        "hotcell run x --max-parallel-calls 0",
        "hotcell run x --json --verbose",
        "hotcell run why does it fail",
        "hotcell run x --continue --fork 1",
        "hotcell run x --no-session --continue",
        "hotcell run x --fork 1@two",
        "hotcell sessions",
    ] {
        let error = parse(line).expect_err("a mistake");
        assert_eq!(error.exit_code(), 2);
        messages.push(format!("$ {line}\n{error}"));
    }
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn the_help_of_every_command() {
    let mut command = Arguments::command().term_width(100);
    command.build();
    let mut pages = vec![command.render_help().to_string()];
    for sub in command.get_subcommands_mut() {
        pages.push(sub.render_help().to_string());
    }
    insta::assert_snapshot!(pages.join("\n────\n"));
}

#[test]
fn the_defaults_that_the_help_names_are_those_of_the_settings() {
    let temp = tempfile::tempdir().expect("temporary directory");
    let environment = Environment::from_map([("HOME", "/h")], temp.path());
    let flags = run_flags(
        "hotcell run x --max-turns 50 --fuel 200G --deadline-ms 2min --memory-bytes 512MiB \
         --table-elements 200k --resources 1024 --host-calls 200M --output-bytes 16MiB \
         --max-time 0 --max-tokens 0 --max-run-fuel 0 --max-cost 0 --max-repeats 8",
    );
    let resolve = |flags: &Flags| {
        let config = crate::config::Config::resolve(flags, &environment).expect("settings");
        (config.limits, config.run)
    };
    assert_eq!(resolve(&flags), resolve(&Flags::default()));
}
