//! Hostile plugins, as a person meets them: the run goes on, the message says what to do, and the
//! terminal does what the person wants.

use super::Bench;
use hotcell::protocol::{Event, ToolErrorKind};
use hotcell_test_artifacts::Guest;

/// A script that calls the guest and a good tool in one turn, and demands how both end.
fn both(error: &str, part: &str) -> String {
    format!(
        "{{calls: [{{name: guest, arguments: {{}}}}, {{name: glob, arguments: {{pattern: '*'}}}}]}},
         {{expect: {{results: [
            {{call: call_1_1, error: {error}, contains: '{part}'}},
            {{call: call_1_2, is_error: false}}]}},
          text: Survived.}}"
    )
}

#[test]
fn a_hostile_plugin_ends_its_own_call_and_not_the_run() {
    let bench = Bench::new();
    let small = ["--memory-bytes", "64MiB", "--output-bytes", "1MiB"];
    for (guest, flags, error, part) in [
        (Guest::Trap, &[][..], "crashed", "the tool aborted"),
        (Guest::Panic, &[], "crashed", "own words"),
        (Guest::Exit, &[], "crashed", "instead of answering"),
        (Guest::Recurse, &[], "crashed", "stack overflow"),
        (
            Guest::RecurseNatively,
            &[],
            "crashed",
            "overflowed its stack",
        ),
        (
            Guest::AnswerBrokenText,
            &[],
            "crashed",
            "broke the contract",
        ),
        (
            Guest::MemoryBomb,
            &small,
            "limit_exceeded",
            "of 67108864 bytes",
        ),
        (
            Guest::TableBomb,
            &small,
            "limit_exceeded",
            "--table-elements",
        ),
        (
            Guest::FloodStdout,
            &small,
            "limit_exceeded",
            "of 1048576 bytes",
        ),
        (
            Guest::FloodProgress,
            &small,
            "limit_exceeded",
            "--output-bytes",
        ),
        (
            Guest::AnswerTooMuch,
            &small,
            "limit_exceeded",
            "--output-bytes",
        ),
        (
            Guest::FloodTimers,
            &["--resources", "100"],
            "limit_exceeded",
            "of 100 handles",
        ),
        (
            Guest::FloodHostCalls,
            &["--host-calls", "50k"],
            "limit_exceeded",
            "of 50000 host calls",
        ),
        (
            Guest::Spin,
            &["--fuel", "500M"],
            "limit_exceeded",
            "of 500000000 fuel",
        ),
        (
            Guest::Sleep,
            &["--deadline-ms", "5s"],
            "limit_exceeded",
            "of 5000 ms",
        ),
    ] {
        let plugin = ["--plugin", guest.path()];
        let ended = bench.scripted(&both(error, part), &[&plugin, flags].concat());
        let name = guest.name();
        assert_eq!(ended.code, Some(0), "{name}: {}", ended.err);
        assert_eq!(ended.out, "Survived.\n", "{name}");
    }
}

#[test]
fn a_plugin_that_cannot_be_used_ends_with_2_and_one_line() {
    let bench = Bench::new();
    for (guest, part) in [
        (Guest::Sockets, "imports `wasi:sockets/"),
        (
            Guest::UnknownImport,
            "imports `hostile:unknown/thing@1.2.3`",
        ),
        (Guest::OtherVersion, "exports `hotcell:tool/tool@0.2.0`"),
        (
            Guest::DescribeSpin,
            "more than a component has to describe itself",
        ),
        (Guest::DescribeTrap, "nobody may know"),
        (Guest::DescribeNothing, "describes 0 tools"),
        (Guest::DescribeBadName, "../../bin/sh"),
        (Guest::DescribeTwice, "names are unique"),
        (Guest::DescribeBadSchema, "not JSON"),
        (Guest::DescribeWrongSchema, "schema"),
        (Guest::DescribeAsBuiltIn, "`read_file`"),
    ] {
        let script = bench.script("{text: Never said.}");
        for arguments in [&["tools"][..], &["run", "a prompt", "--script", &script]] {
            let plugin = ["--plugin", guest.path()];
            let ended = bench.run(&[arguments, &plugin].concat());
            let name = guest.name();
            assert_eq!(ended.code, Some(2), "{name}: {}", ended.err);
            assert_eq!(ended.out, "", "{name}");
            assert!(ended.err.starts_with("error: "), "{name}: {}", ended.err);
            assert!(ended.err.contains(part), "{name}: {}", ended.err);
            assert!(ended.err.contains(guest.path()), "{name}: {}", ended.err);
            assert_eq!(ended.err.lines().count(), 1, "{name}: {}", ended.err);
        }
    }
}

#[test]
fn what_a_plugin_says_does_not_drive_the_terminal() {
    let bench = Bench::new();
    let path = Guest::SpeakToTheTerminal.path();
    let script = bench.script("{calls: [{name: guest, arguments: {}}]}, {text: Done.}");
    for arguments in [
        &["run", "a prompt", "--script", &script, "--plugin", path][..],
        &[
            "run",
            "a prompt",
            "--script",
            &script,
            "--verbose",
            "--plugin",
            path,
        ],
        &[
            "run", "a prompt", "--script", &script, "--json", "--plugin", path,
        ],
        &["tools", "--plugin", path],
        &["tools", "--json", "--plugin", path],
        &["describe", path],
    ] {
        let ended = bench.run(arguments);
        assert_eq!(ended.code, Some(0), "{arguments:?}: {}", ended.err);
        let all = format!("{}{}", ended.out, ended.err);
        let acts = |c: char| c.is_control() && c != '\n';
        assert!(!all.contains(acts), "{arguments:?}: {all:?}");
        let turns = all.contains('\u{202e}');
        // JSON is for programs, and keeps every character that is no control character.
        assert!(
            !turns || arguments.contains(&"--json") || arguments[0] == "describe",
            "{all:?}"
        );
    }
}

#[test]
fn plan_mode_gives_a_plugin_nothing_to_write_with() {
    let script = |answer: &str| {
        format!(
            "{{calls: [{{name: guest, arguments: {{}}}}]}},
             {{expect: {{results: [{{call: call_1_1, contains: {answer}}}]}}, text: Done.}}"
        )
    };
    for (flags, answer) in [
        (&["--plan"][..], "refused"),
        (&["--deny", "workspace-write"], "refused"),
        (&[], "planted"),
    ] {
        let bench = Bench::new();
        let plugin = ["--plugin", Guest::Plant.path()];
        let ended = bench.scripted(&script(answer), &[&plugin, flags].concat());
        assert_eq!(ended.code, Some(0), "{flags:?}: {}", ended.err);
        let planted = bench.work().join("planted.txt");
        assert_eq!(planted.exists(), answer == "planted", "{flags:?}");
    }
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_a_plugin_that_never_would() {
    for (guest, begun) in [
        (Guest::Sleep, "sleeping"),
        (Guest::ReportAndSpin, "spinning"),
    ] {
        let bench = Bench::new();
        let script = bench.script("{calls: [{name: guest, arguments: {}}]}, {text: Never said.}");
        let plugin = guest.path();
        let run = [
            "run", "x", "--json", "--script", &script, "--plugin", plugin, "--fuel", "1000000G",
        ];
        let mut running = bench.spawn(bench.command(&run));
        let before = running.read_until(begun);
        running.interrupt();
        let ended = running.end();
        let name = guest.name();
        assert_eq!(ended.code, Some(130), "{name}: {}", ended.err);
        let lines = format!("{before}{}", ended.out);
        let events: Vec<Event> = lines
            .lines()
            .map(|line| serde_json::from_str(line).expect("an event"))
            .collect();
        let interrupted = |event: &Event| {
            matches!(
                event,
                Event::ToolResult {
                    error: Some(ToolErrorKind::Interrupted),
                    ..
                }
            )
        };
        assert_eq!(
            events.iter().filter(|event| interrupted(event)).count(),
            1,
            "{name}: {lines}"
        );
        assert!(
            matches!(events.last(), Some(Event::Interrupted { .. })),
            "{name}: {lines}"
        );
    }
}
