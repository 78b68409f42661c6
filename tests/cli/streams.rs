//! What goes to which stream, what is read, and how a run is stopped from outside.

use super::Bench;
use hotcell::protocol::Event;
use std::io::Write;

/// The events in JSON lines.
pub fn events(lines: &str) -> Vec<Event> {
    lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

#[test]
fn the_answer_alone_goes_to_standard_output() {
    let script = "
        {text: First I look., calls: [{name: glob, arguments: {pattern: '*'}}]},
        {text: 'The answer, whole.'}";
    let ended = Bench::new().scripted(script, &[]);
    assert_eq!(ended.out, "The answer, whole.\n");
    for part in ["First I look.", "▸ glob *", "✓ glob *", "done: 2 turns"] {
        assert!(ended.err.contains(part), "{part} is not in {}", ended.err);
    }
}

#[test]
fn json_lines_are_the_whole_of_standard_output() {
    let script = "
        {calls: [{name: glob, arguments: {pattern: '*'}}, {name: nothing}]},
        {text: Done.}";
    let ended = Bench::new().scripted(script, &["--json"]);
    assert_eq!((ended.code, ended.err.as_str()), (Some(0), ""));
    let events = events(&ended.out);
    let last = events.last().expect("events");
    assert!(matches!(last, Event::Done { text, .. } if text == "Done."));
    assert_eq!(events.iter().filter(|event| event.is_terminal()).count(), 1);
    let ids = |wanted: fn(&Event) -> Option<&String>| {
        let mut ids: Vec<_> = events.iter().filter_map(wanted).cloned().collect();
        ids.sort();
        ids
    };
    let started = ids(|event| match event {
        Event::ToolStart { call_id, .. } => Some(call_id),
        _ => None,
    });
    let answered = ids(|event| match event {
        Event::ToolResult { call_id, .. } => Some(call_id),
        _ => None,
    });
    assert_eq!(started, ["call_1_1", "call_1_2"]);
    assert_eq!(answered, started);
}

#[test]
fn foreign_text_does_not_drive_the_terminal() {
    let script = r#"
        {text: "a\e[2K\u202eb", calls: [{name: read_file, arguments: {path: "\e]0;x\a"}}]},
        {text: "c\e[2K\rd"}"#;
    let ended = Bench::new().scripted(script, &["--verbose"]);
    assert_eq!(ended.out, "c\\u{1b}[2K\\rd\n");
    let all = format!("{}{}", ended.out, ended.err);
    let bad = all.chars().find(|c| c.is_control() && *c != '\n');
    assert_eq!(bad, None, "{all:?}");
}

#[test]
fn standard_input_is_read_only_when_asked() {
    let bench = Bench::new();
    let script = bench.script("{expect: {user_contains: typed}, text: Done.}");
    let command = bench.command(&["run", "typed", "--script", &script]);
    let mut running = bench.spawn(command);
    // Nobody writes to it and nobody closes it, as under many a service.
    let open = running.stdin.take();
    let ended = running.end();
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    drop(open);
}

#[test]
fn a_dash_reads_the_prompt_from_standard_input() {
    let bench = Bench::new();
    let script = bench.script("{expect: {user_contains: \"piped\\nin\"}, text: Done.}");
    let command = bench.command(&["run", "-", "--script", &script]);
    let mut running = bench.spawn(command);
    let mut stdin = running.stdin.take().expect("a pipe");
    stdin.write_all(b"piped\nin").expect("it is read");
    drop(stdin);
    let ended = running.end();
    assert_eq!(ended.code, Some(0), "{}", ended.err);
}

#[cfg(unix)]
#[test]
fn ctrl_c_and_the_signals_of_the_system_end_the_run_and_tell_how() {
    for (signal, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        let bench = Bench::new();
        let script = bench.script("{text: Well, hang: true}");
        let mut running = bench.spawn(bench.command(&["run", "x", "--json", "--script", &script]));
        let before = running.read_until("action_delta");
        running.signal(signal);
        let ended = running.end();
        assert_eq!(ended.code, Some(code), "{}", ended.err);
        let events = events(&format!("{before}{}", ended.out));
        assert!(matches!(
            events.last(),
            Some(Event::Interrupted { turns: 1, .. })
        ));
    }
}

#[test]
fn a_reader_that_leaves_ends_the_run_quietly() {
    let bench = Bench::new();
    let look = "{calls: [{name: glob, arguments: {pattern: '*'}}]}";
    let script = bench.script(&vec![look; 500].join(", "));
    let arguments = [
        "run",
        "x",
        "--json",
        "--max-turns",
        "0",
        "--script",
        &script,
    ];
    let mut running = bench.spawn(bench.command(&arguments));
    running.read_until("turn_started");
    drop(running.out.take());
    let ended = running.end();
    // Not as if the work were done.
    assert_eq!((ended.code, ended.err.as_str()), (Some(1), ""));
}
