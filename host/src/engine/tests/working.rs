//! Turns whose calls run: the built-in file tools in the real sandbox.

use super::*;
use crate::tools::{BUILTINS, Builtin};

struct Bench {
    engine: Engine,
    config: RunConfig,
    workspace: tempfile::TempDir,
}

/// A workspace with `a.txt`, and an engine with the file tools.
async fn bench(turns: Vec<Say>) -> Bench {
    let workspace = tempfile::tempdir().expect("a workspace");
    std::fs::write(workspace.path().join("a.txt"), "one\ntwo\nthree\n").expect("a file");
    let files: Vec<Builtin> = BUILTINS
        .iter()
        .copied()
        .filter(|builtin| builtin.name == "files")
        .collect();
    let toolbox = Toolbox::load(&sandbox(), &files, &[])
        .await
        .expect("the file tools");
    let mut config = config();
    config.policy.workspace = workspace.path().canonicalize().expect("a path");
    Bench {
        engine: Engine::new(Model::new(turns) as _, Arc::new(toolbox)),
        config,
        workspace,
    }
}

impl Bench {
    async fn play(&self, config: RunConfig) -> (Vec<Event>, History) {
        to_end(self.engine.run(config, History::new(), "go")).await
    }
}

fn edit(id: &str, old: &str, new: &str) -> ToolCall {
    let edits = json!([{"old": old, "new": new}]);
    call(id, "edit_file", json!({"path": "a.txt", "edits": edits}))
}

fn read(id: &str, path: &str) -> ToolCall {
    call(id, "read_file", json!({"path": path}))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_on_one_file_run_in_call_order_and_all_land() {
    let bench = bench(vec![
        calls([read("0", "a.txt")]),
        calls([
            edit("1", "one", "1"),
            edit("2", "1\ntwo", "1\n2"),
            edit("3", "2\nthree", "2\n3"),
            read("4", "a.txt"),
        ]),
        says("done"),
    ])
    .await;
    let (events, history) = bench.play(bench.config.clone()).await;
    let results = results(&events);
    assert!(
        results.iter().all(|(_, error, _)| error.is_none()),
        "{results:?}"
    );
    let left = std::fs::read_to_string(bench.workspace.path().join("a.txt"));
    assert_eq!(left.expect("the file"), "1\n2\n3\n");

    let kept: Vec<&str> = history.messages()[4]
        .content
        .iter()
        .map(|block| match block {
            ContentBlock::ToolResult(result) => result.call_id.as_str(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(kept, ["1", "2", "3", "4"], "results are in call order");
    let last = results.last().expect("the reading");
    assert!(
        last.2.contains('3') && !last.2.contains("three"),
        "{last:?}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_more_calls_run_at_once_than_allowed() {
    let paths = ["a.txt", "b.txt", "c.txt", "d.txt", "e.txt"];
    for (max_parallel_calls, most) in [(0, 1), (1, 1), (2, 2)] {
        let reads = paths.map(|path| read(path, path));
        let bench = bench(vec![calls(reads), says("done")]).await;
        let (events, _) = bench
            .play(RunConfig {
                max_parallel_calls,
                ..bench.config.clone()
            })
            .await;
        let mut open = 0;
        for event in &events {
            match event {
                Event::ToolStart { .. } => open += 1,
                Event::ToolResult { .. } => open -= 1,
                _ => {}
            }
            assert!(open <= most, "{open} calls at once, {most} allowed");
        }
        let begun: Vec<&str> = events
            .iter()
            .filter_map(|event| match event {
                Event::ToolStart { call_id, .. } => Some(call_id.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(begun, paths, "calls begin in call order");
    }
}

#[tokio::test]
async fn an_event_shows_the_arguments_as_the_tool_gets_them() {
    let sent = json!({"path": "a.txt", "limit": "1", "offset": null});
    let bench = bench(vec![
        calls([call("1", "read_file", sent.clone())]),
        says("done"),
    ])
    .await;
    let (events, history) = bench.play(bench.config.clone()).await;
    assert!(events.contains(&Event::ToolStart {
        call_id: "1".into(),
        name: "read_file".into(),
        arguments: json!({"path": "a.txt", "limit": 1}),
    }));
    let kept = history.messages()[1].calls().next().expect("the call");
    assert_eq!(
        kept.arguments, sent,
        "the history keeps what the model said"
    );
}

#[tokio::test]
async fn plan_mode_offers_only_what_looks_and_refuses_the_rest() {
    let model = Model::new([
        calls([edit("1", "one", "1"), read("2", "a.txt")]),
        says("plan"),
    ]);
    let mut bench = bench(Vec::new()).await;
    bench.engine.provider = Arc::clone(&model) as _;
    bench.config.policy.mode = Mode::Plan;
    let (events, _) = bench.play(bench.config.clone()).await;
    let mut errors: Vec<(String, Option<ToolErrorKind>)> = results(&events)
        .into_iter()
        .map(|(id, error, _)| (id, error))
        .collect();
    errors.sort_by(|(one, _), (other, _)| one.cmp(other));
    assert_eq!(
        errors,
        [
            ("1".to_owned(), Some(ToolErrorKind::Denied)),
            ("2".to_owned(), None)
        ]
    );
    let asked = model.asked();
    let offered: Vec<&str> = asked[0]
        .tools
        .iter()
        .map(|tool| tool.name.as_str())
        .collect();
    assert_eq!(offered, ["read_file"]);
    assert!(asked[0].system.contains("# Plan mode"));
}

#[tokio::test]
async fn a_tool_that_crashes_is_an_observation_and_the_run_goes_on() {
    for (which, kind) in [
        (Guest::Panic, ToolErrorKind::Crashed),
        (Guest::Trap, ToolErrorKind::Crashed),
        (Guest::Echo, ToolErrorKind::InvalidArguments),
    ] {
        let toolbox = Toolbox::load(&sandbox(), &[], &[which.path().into()])
            .await
            .expect("a guest");
        let wrong = ToolCall {
            malformed: (which == Guest::Echo).then(|| "{".to_owned()),
            ..call("1", "guest", json!({}))
        };
        let engine = Engine::new(
            Model::new([calls([wrong]), says("I see")]) as _,
            Arc::new(toolbox),
        );
        let (events, _) = to_end(engine.run(config(), History::new(), "go")).await;
        let results = results(&events);
        assert_eq!(results[0].1, Some(kind), "{results:?}");
        assert!(results[0].2.starts_with(kind.name()), "{results:?}");
        assert!(matches!(
            end(&events),
            Event::Done {
                reason: DoneReason::Completed,
                ..
            }
        ));
    }
}

#[tokio::test]
async fn what_a_tool_shows_comes_between_its_start_and_its_result() {
    let toolbox = Toolbox::load(&sandbox(), &[], &[Guest::Speak.path().into()])
        .await
        .expect("a guest");
    let both = ["a", "b"].map(|id| call(id, "guest", json!({})));
    let engine = Engine::new(
        Model::new([calls(both), says("done")]) as _,
        Arc::new(toolbox),
    );
    let (events, _) = to_end(engine.run(config(), History::new(), "go")).await;
    for id in ["a", "b"] {
        let streams: Vec<OutputStream> = events
            .iter()
            .filter_map(|event| match event {
                Event::ToolOutput {
                    call_id, stream, ..
                } if call_id == id => Some(*stream),
                _ => None,
            })
            .collect();
        assert!(streams.contains(&OutputStream::Stdout), "{streams:?}");
        assert!(streams.contains(&OutputStream::Progress), "{streams:?}");
    }
}
