//! What people and programs see of a fixed list of events, and what hostile text cannot do.

use super::text::OUTPUT_LINES;
use super::*;
use crate::protocol::{
    CallStats, Cost, DoneReason, NoticeLevel, OutputStream, ResultContent, RunErrorKind,
    ToolErrorKind, Usage,
};
use proptest::prelude::*;
use serde_json::json;
use std::cell::RefCell;
use std::io::Write;
use std::rc::Rc;

/// Both streams in the order of their writes, each line marked with its stream.
#[derive(Default, Clone)]
struct Recorder(Rc<RefCell<Vec<(&'static str, u8)>>>);

struct Tagged(&'static str, Recorder);

impl Write for Tagged {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut all = self.1.0.borrow_mut();
        all.extend(bytes.iter().map(|byte| (self.0, *byte)));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Recorder {
    fn all(&self) -> String {
        let mut shown = String::new();
        let mut current: (&str, Vec<u8>) = ("", Vec::new());
        let mut put = |(stream, bytes): &(&str, Vec<u8>)| {
            if !bytes.is_empty() {
                let text = String::from_utf8_lossy(bytes);
                shown.push_str(&format!("{stream}│{}", text.trim_end_matches('\n')));
                shown.push_str(if text.ends_with('\n') {
                    "\n"
                } else {
                    "⏎̸\n"
                });
            }
        };
        for (stream, byte) in self.0.borrow().iter() {
            if current.0 != *stream || current.1.last() == Some(&b'\n') {
                put(&current);
                current = (stream, Vec::new());
            }
            current.1.push(*byte);
        }
        put(&current);
        shown
    }

    fn only(&self, wanted: &str) -> String {
        let bytes: Vec<u8> = self
            .0
            .borrow()
            .iter()
            .filter(|(stream, _)| *stream == wanted)
            .map(|(_, byte)| *byte)
            .collect();
        String::from_utf8(bytes).expect("whole characters")
    }
}

fn render(events: &[Event], options: TextOptions) -> Recorder {
    let recorder = Recorder::default();
    let mut renderer = TextRenderer::new(
        Tagged("out", recorder.clone()),
        Tagged("err", recorder.clone()),
        options,
    );
    for event in events {
        renderer.event(event).expect("memory does not fail");
    }
    recorder
}

const PLAIN: TextOptions = TextOptions {
    stream: false,
    verbose: false,
    palette: Palette::Plain,
};

fn usage(input_tokens: u64, output_tokens: u64) -> Usage {
    Usage {
        input_tokens,
        output_tokens,
        cache_read_tokens: input_tokens / 2,
        cache_write_tokens: 0,
    }
}

fn text(text: &str) -> Vec<ResultContent> {
    vec![ResultContent::Text {
        text: text.to_owned(),
    }]
}

fn result(id: &str, name: &str, error: Option<ToolErrorKind>, content: &str) -> Event {
    Event::ToolResult {
        call_id: id.to_owned(),
        name: name.to_owned(),
        is_error: error.is_some(),
        error,
        content: text(content),
        stats: CallStats {
            duration_us: 1_250,
            fuel: 412_345,
            memory_bytes: 1 << 20,
            host_calls: 12,
        },
    }
}

fn start(id: &str, name: &str, arguments: serde_json::Value) -> Event {
    Event::ToolStart {
        call_id: id.to_owned(),
        name: name.to_owned(),
        arguments,
    }
}

fn say(text: &str) -> Event {
    Event::ActionDelta {
        text: text.to_owned(),
    }
}

fn think(text: &str) -> Event {
    Event::ThinkingDelta {
        text: text.to_owned(),
    }
}

fn one_of_each() -> Vec<Event> {
    vec![
        Event::Notice {
            level: NoticeLevel::Info,
            code: "compiling".to_owned(),
            message: "compiling `bash`".to_owned(),
        },
        Event::TurnStarted { turn: 1 },
        Event::TokenUpdate {
            usage: usage(900, 0),
            estimated: true,
        },
        think("The test fails,\n"),
        think("so look first."),
        say("I look at "),
        say("both files."),
        start("1", "read_file", json!({"path": "src/a.sh", "limit": 20})),
        start(
            "2",
            "bash",
            json!({"command": "sh test.sh\n# \u{1b}[2K\u{202e}"}),
        ),
        Event::ToolOutput {
            call_id: "2".to_owned(),
            stream: OutputStream::Stdout,
            text: "first\r\nsecond \u{1b}[31mred\n".to_owned(),
        },
        result(
            "2",
            "bash",
            Some(ToolErrorKind::LimitExceeded),
            "limit_exceeded: fuel: used 5, allowed 5",
        ),
        result("1", "read_file", None, "1  #!/bin/sh\n2    exit 1\n"),
        Event::TurnDone {
            turn: 1,
            usage: usage(1_200, 80),
        },
        Event::TurnStarted { turn: 2 },
        Event::Compaction {
            tokens_before: 120_000,
            tokens_after: 40_000,
        },
        Event::ApprovalRequired {
            approval_id: "a".to_owned(),
            call_id: "3".to_owned(),
            question: "run `rm\rls`".to_owned(),
        },
        Event::Notice {
            level: NoticeLevel::Warning,
            code: "request_repaired".to_owned(),
            message: "a call without result got one".to_owned(),
        },
        say("The bug is "),
        say("fixed.\n"),
        Event::TurnDone {
            turn: 2,
            usage: usage(2_400, 160),
        },
    ]
}

fn done(reason: DoneReason) -> Event {
    Event::Done {
        reason,
        turns: 2,
        usage: usage(3_600, 240),
        cost: (reason == DoneReason::MaxCost).then_some(Cost(1_234_500)),
        text: "The bug is fixed.\n".to_owned(),
    }
}

fn run_that_is_done() -> Vec<Event> {
    let mut events = one_of_each();
    events.push(done(DoneReason::Completed));
    events
}

#[test]
fn into_a_file_goes_the_answer_only() {
    let recorder = render(&run_that_is_done(), PLAIN);
    assert_eq!(recorder.only("out"), "The bug is fixed.\n");
    insta::assert_snapshot!(recorder.all());
}

#[test]
fn on_a_terminal_the_text_streams() {
    let options = TextOptions {
        stream: true,
        ..PLAIN
    };
    insta::assert_snapshot!(render(&run_that_is_done(), options).all());
}

#[test]
fn verbose_shows_turns_tokens_and_results() {
    let options = TextOptions {
        verbose: true,
        ..PLAIN
    };
    let mut events = run_that_is_done();
    let many: String = (1..=30).map(|n| format!("\tline {n}\n")).collect();
    events.insert(12, result("9", "grep", None, &many));
    insta::assert_snapshot!(render(&events, options).all());
}

#[test]
fn colours_are_balanced_and_leave_the_text_alone() {
    let options = TextOptions {
        palette: Palette::Colored,
        ..PLAIN
    };
    let colored = render(&run_that_is_done(), options);
    let plain = render(&run_that_is_done(), PLAIN);
    assert_eq!(
        anstream::adapter::strip_str(&colored.only("err")).to_string(),
        plain.only("err")
    );
    assert_eq!(colored.only("out"), plain.only("out"));
    insta::assert_snapshot!(escape::text(&colored.all()));
}

#[test]
fn every_end_of_a_run_says_how_it_ended() {
    let ends = [
        done(DoneReason::MaxTurns),
        done(DoneReason::MaxTime),
        done(DoneReason::MaxTokens),
        done(DoneReason::MaxFuel),
        done(DoneReason::MaxCost),
        done(DoneReason::Repetition),
        Event::Done {
            reason: DoneReason::Empty,
            turns: 1,
            usage: Usage::default(),
            cost: None,
            text: String::new(),
        },
        Event::Error {
            kind: RunErrorKind::Provider,
            message: "openai answered 500 five times".to_owned(),
        },
        Event::Interrupted {
            turns: 2,
            usage: usage(10, 2),
        },
    ];
    let shown: Vec<String> = ends
        .into_iter()
        .map(|end| render(&[say("half a sent"), end], PLAIN).all())
        .collect();
    insta::assert_snapshot!(shown.join("--\n"));
}

#[test]
fn events_are_json_lines() {
    let mut lines = Vec::new();
    let mut renderer = JsonRenderer::new(&mut lines);
    for event in run_that_is_done() {
        renderer.event(&event).expect("memory does not fail");
    }
    insta::assert_snapshot!(String::from_utf8(lines).expect("text"));
}

#[test]
fn a_result_that_repeats_the_output_is_not_shown_twice() {
    let events = [
        start("1", "bash", json!({"command": "run"})),
        Event::ToolOutput {
            call_id: "1".to_owned(),
            stream: OutputStream::Stdout,
            text: "  one\ntwo\n".to_owned(),
        },
        result("1", "bash", None, "  one\ntwo\n[exit status 0]"),
    ];
    let options = TextOptions {
        verbose: true,
        ..PLAIN
    };
    assert_eq!(
        render(&events, options).only("err"),
        "▸ bash run\n  │   one\n  │ two\n✓ bash run  1.2 ms, 412k fuel\n  │ [exit status 0]\n"
    );
}

#[test]
fn a_flood_of_tool_output_is_cut() {
    let flood = Event::ToolOutput {
        call_id: "1".to_owned(),
        stream: OutputStream::Stdout,
        text: "y\n".repeat(5_000),
    };
    let shown = render(&[flood.clone(), flood], PLAIN).only("err");
    assert_eq!(shown.lines().count(), OUTPUT_LINES + 1);
    assert!(shown.ends_with("  │ … more lines are not shown\n"));
}

proptest! {
    #[test]
    fn no_foreign_text_drives_the_terminal(
        foreign in "(\\PC|[\u{0}-\u{9f}]|[\u{200b}-\u{202e}]|[\u{2060}-\u{206f}]|\u{feff}|\u{e0041}){0,40}",
        stream: bool,
        verbose: bool,
    ) {
        let events = [
            think(&foreign),
            say(&foreign),
            start(&foreign, &foreign, json!({ foreign.clone(): foreign, "b": foreign })),
            Event::ToolOutput {
                call_id: foreign.clone(),
                stream: OutputStream::Progress,
                text: foreign.clone(),
            },
            result(&foreign, &foreign, None, &foreign),
            result(&foreign, &foreign, Some(ToolErrorKind::Failed), &foreign),
            Event::ApprovalRequired {
                approval_id: foreign.clone(),
                call_id: foreign.clone(),
                question: foreign.clone(),
            },
            Event::Notice {
                level: NoticeLevel::Warning,
                code: foreign.clone(),
                message: foreign.clone(),
            },
            Event::Error { kind: RunErrorKind::Internal, message: foreign.clone() },
            Event::Done {
                reason: DoneReason::Completed,
                turns: 1,
                usage: Usage::default(),
                cost: None,
                text: foreign.clone(),
            },
        ];
        let options = TextOptions { stream, verbose, palette: Palette::Plain };
        let recorder = render(&events, options);
        for shown in [recorder.only("out"), recorder.only("err")] {
            let unsafe_char = shown.chars().find(|c| escape::is_unsafe(*c) && *c != '\n' && *c != '\t');
            prop_assert_eq!(unsafe_char, None);
        }

        let mut lines = Vec::new();
        let mut renderer = JsonRenderer::new(&mut lines);
        for event in &events {
            renderer.event(event).expect("memory does not fail");
        }
        let lines = String::from_utf8(lines).expect("text");
        prop_assert!(!lines.chars().any(|c| escape::is_unsafe(c) && c != '\n'));
        let read: Vec<Event> = lines
            .split_terminator('\n')
            .map(|line| serde_json::from_str(line).expect("an event"))
            .collect();
        prop_assert_eq!(read.as_slice(), &events[..]);
    }
}
