//! The built binary, as a shell or a script sees it: streams, exit codes, settings.
//!
//! The model is a script and the home is empty, so nothing here depends on the machine. Each test
//! runs the real binary with the real tools.

mod bench;
mod demo;
#[cfg(target_os = "linux")]
#[path = "../support/native.rs"]
mod native;
mod plugins;
mod sessions;
mod settings;
mod streams;
mod together;
mod trust;
#[cfg(unix)]
mod undo;

use bench::Bench;

#[test]
fn without_a_command_it_shows_its_help() {
    let ended = Bench::new().run(&[]);
    assert_eq!(ended.code, Some(0));
    assert!(ended.out.contains("hotcell demo"), "{}", ended.out);
    assert_eq!(ended.err, "");
}

#[test]
fn mistakes_on_the_command_line_end_with_2() {
    let bench = Bench::new();
    for arguments in [
        &["rum"][..],
        &["run"],
        &["run", "x", "--fuel", "lots"],
        &["run", ""],
        &["run", "x", "--workspace", "missing"],
        &["run", "x", "--script", "missing.yaml"],
        &["run", "x", "--plugin", "missing.wasm"],
        &["describe", "missing.wasm"],
    ] {
        let ended = bench.run(arguments);
        assert_eq!(ended.code, Some(2), "{arguments:?}: {}", ended.err);
        assert!(
            ended.err.starts_with("error: "),
            "{arguments:?}: {}",
            ended.err
        );
        assert_eq!(ended.out, "", "{arguments:?}");
    }
}

#[test]
fn every_way_a_run_ends_has_its_exit_code() {
    let look = "{calls: [{name: glob, arguments: {pattern: '*'}}]}";
    for (script, flags, code) in [
        ("{text: Done.}".to_owned(), &[][..], 0),
        ("{error: {kind: server}}".to_owned(), &[], 1),
        ("{}, {}".to_owned(), &[], 1),
        (format!("{look}, {look}, {look}"), &["--max-turns", "2"], 3),
        (
            format!("{look}, {look}, {{text: Done.}}"),
            &["--max-turns", "0"],
            0,
        ),
        (
            "{text: Wait, hang: true}".to_owned(),
            &["--max-time", "50ms"],
            4,
        ),
        (format!("{look}, {look}"), &["--max-tokens", "1"], 5),
        (format!("{look}, {look}"), &["--max-run-fuel", "1"], 6),
        (format!("{look}, {look}"), &["--max-repeats", "2"], 8),
    ] {
        let ended = Bench::new().scripted(&script, flags);
        assert_eq!(ended.code, Some(code), "{script} {flags:?}: {}", ended.err);
    }
}

#[test]
fn plan_mode_changes_nothing_even_when_the_model_tries() {
    let bench = Bench::new();
    let script = "
        {expect: {tools: [read_file], tools_absent: [write_file, edit_file]},
         calls: [{name: write_file, arguments: {path: f, content: x}}]},
        {expect: {results: [{call: call_1_1, contains: plan mode, error: denied}]}, text: I cannot.}";
    let ended = bench.scripted(script, &["--plan"]);
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert!(!bench.work().join("f").exists());
}

#[test]
fn a_limit_from_a_flag_reaches_the_call() {
    let script = "
        {calls: [{name: glob, arguments: {pattern: '*'}}]},
        {expect: {results: [{call: call_1_1, error: limit_exceeded, contains: '1000'}]}, text: So be it.}";
    let ended = Bench::new().scripted(script, &["--fuel", "1000"]);
    assert_eq!(ended.code, Some(0), "{}", ended.err);
}

#[test]
fn the_tools_are_listed_for_people_and_for_programs() {
    let bench = Bench::new();
    let listed = bench.run(&["tools"]);
    assert_eq!(listed.code, Some(0), "{}", listed.err);
    assert!(listed.out.contains("write_file"), "{}", listed.out);

    let json = bench.run(&["tools", "--json", "--plan"]);
    let rows: Vec<serde_json::Value> = serde_json::from_str(&json.out).expect("a JSON list");
    let row = |name: &str| {
        let found = rows.iter().find(|row| row["name"] == name);
        found.unwrap_or_else(|| panic!("{name} is not in {}", json.out))
    };
    assert_eq!(row("read_file")["read_only"], true);
    assert_eq!(row("write_file")["read_only"], false);
    assert_eq!(row("write_file")["granted"], serde_json::Value::Null);
    assert_eq!(
        row("read_file")["digest"].as_str().map(str::len),
        Some(64),
        "{}",
        json.out
    );
}

#[test]
fn what_is_no_component_is_told_apart() {
    let bench = Bench::new();
    for (bytes, told) in [
        (&b""[..], "truncated"),
        (b"#!/bin/sh\n", "not a WebAssembly component"),
        (b"\0asm\x01\0\0\0", "core WebAssembly module"),
    ] {
        std::fs::write(bench.work().join("t.wasm"), bytes).expect("file");
        for arguments in [
            &["describe", "t.wasm"][..],
            &["tools", "--plugin", "t.wasm"],
        ] {
            let ended = bench.run(arguments);
            assert_eq!(
                ended.code,
                Some(2),
                "{arguments:?} {bytes:?}: {}",
                ended.err
            );
            assert!(
                ended.err.contains(told),
                "{arguments:?} {bytes:?}: {}",
                ended.err
            );
        }
    }
}

#[test]
fn every_shell_gets_its_completions() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let ended = Bench::new().run(&["completions", shell]);
        assert_eq!(ended.code, Some(0));
        assert!(ended.out.contains("max-turns"), "{shell}");
    }
}

#[test]
fn the_doctor_shows_no_key() {
    let ended = Bench::new()
        .variable("OPENAI_API_KEY", "sk-secret")
        .variable("HOTCELL_LOG", "trace")
        .run(&["doctor", "--json"]);
    assert!(ended.out.contains("OPENAI_API_KEY is set"), "{}", ended.out);
    assert!(!format!("{}{}", ended.out, ended.err).contains("sk-secret"));
}

#[cfg(target_os = "linux")]
#[test]
fn the_doctor_lists_every_layer_of_the_process_sandbox() {
    let ended = Bench::new().run(&["doctor", "--json"]);
    let layers = ended.out.matches("\"process sandbox\"").count();
    assert_eq!(layers, hotcell::process::Layer::ALL.len(), "{}", ended.out);
    for layer in hotcell::process::Layer::ALL {
        assert!(ended.out.contains(layer.name()), "{layer}: {}", ended.out);
    }
}

#[test]
fn running_without_the_process_sandbox_is_told_in_every_run() {
    for flags in [
        &["--unsafe-no-process-sandbox"][..],
        &["--unsafe-no-process-sandbox", "--json"],
    ] {
        let ended = Bench::new().scripted("{text: Done.}", flags);
        assert_eq!(ended.code, Some(0), "{}", ended.err);
        let told = format!("{}{}", ended.out, ended.err);
        assert!(told.contains("without any sandbox"), "{told}");
    }
    let ended = Bench::new().scripted("{text: Done.}", &[]);
    assert!(!ended.err.contains("sandbox"), "{}", ended.err);
}
