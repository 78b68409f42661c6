//! Runs that somebody ends, and consumers that do not read.

use super::*;

#[tokio::test]
async fn an_interrupted_answer_keeps_what_was_said() {
    let model = Model::new([Say::Hang(vec![Chunk::Text("I will".into())])]);
    let engine = Engine::new(Arc::clone(&model) as _, no_tools().await);
    let mut run = engine.run(config(), History::new(), "go");
    let mut events = Vec::new();
    while let Some(event) = run.events.next().await {
        if matches!(event, Event::ActionDelta { .. }) {
            run.control.interrupt();
            run.control.interrupt();
        }
        events.push(event);
    }
    assert_grammar(&events);
    assert!(matches!(end(&events), Event::Interrupted { turns: 1, .. }));
    let history = run.outcome.await;
    assert_eq!(texts(&history), ["go", "I will"]);

    // The run can go on.
    let model = Model::new([says("done")]);
    let engine = Engine::new(model as _, no_tools().await);
    let (_, history) = to_end(engine.run(config(), history, "go on")).await;
    assert_eq!(texts(&history), ["go", "I will", "go on", "done"]);
}

#[tokio::test]
async fn dropping_the_events_interrupts_the_run() {
    let model = Model::new([Say::Hang(vec![])]);
    let engine = Engine::new(model as _, no_tools().await);
    let run = engine.run(config(), History::new(), "go");
    drop(run.events);
    assert_eq!(texts(&run.outcome.await), ["go"]);
}

#[tokio::test]
async fn an_interrupted_run_ends_even_when_nobody_takes_its_events() {
    let chunks = (0..2_000).map(|n| Chunk::Text(n.to_string())).collect();
    let engine = Engine::new(Model::new([Say::Hang(chunks)]) as _, no_tools().await);
    let run = engine.run(config(), History::new(), "go");
    for _ in 0..1_000 {
        tokio::task::yield_now().await;
    }
    run.control.interrupt();
    // The history is there although the channel is full and stays so.
    let history = run.outcome.await;
    assert_eq!(history.messages().len(), 2);
    let events: Vec<Event> = run.events.collect().await;
    assert_grammar(&events);
    assert!(matches!(end(&events), Event::Interrupted { .. }));
}

#[tokio::test]
async fn open_calls_get_their_results_even_when_nobody_takes_the_events() {
    let many = (0..300).map(|n| call(&n.to_string(), "x", json!({})));
    let engine = Engine::new(Model::new([calls(many)]) as _, no_tools().await);
    let run = engine.run(config(), History::new(), "go");
    for _ in 0..1_000 {
        tokio::task::yield_now().await;
    }
    run.control.interrupt();
    let history = run.outcome.await;
    let kinds: Vec<Option<ToolErrorKind>> = history.messages()[2]
        .content
        .iter()
        .map(|block| match block {
            ContentBlock::ToolResult(result) => result.error,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(kinds.len(), 300);
    assert_eq!(kinds[0], Some(ToolErrorKind::UnknownTool));
    assert_eq!(kinds[299], Some(ToolErrorKind::Interrupted));
    let events: Vec<Event> = run.events.collect().await;
    assert_grammar(&events);
    assert!(matches!(end(&events), Event::Interrupted { .. }));
}

async fn guest(guest: Guest, turns: Vec<Say>) -> Engine {
    let toolbox = Toolbox::load(&sandbox(), &[], &[guest.path().into()])
        .await
        .expect("a guest");
    Engine::new(Model::new(turns) as _, Arc::new(toolbox))
}

/// Long, because the machine may be busy; what is tested would take an hour.
const SOON: Duration = Duration::from_secs(30);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_at_work_is_interrupted_whether_it_runs_or_waits() {
    for which in [Guest::ReportAndSpin, Guest::Sleep] {
        let asked = ["a", "b", "c", "d"].map(|id| call(id, "guest", json!({})));
        let engine = guest(which, vec![calls(asked)]).await;
        let two = RunConfig {
            max_parallel_calls: 2,
            ..config()
        };
        let mut run = engine.run(two, History::new(), "go");
        let mut events = Vec::new();
        let mut at_work = 0;
        let whole = async {
            while let Some(event) = run.events.next().await {
                if matches!(event, Event::ToolOutput { .. }) {
                    at_work += 1;
                    if at_work == 2 {
                        run.control.interrupt();
                    }
                }
                events.push(event);
            }
        };
        tokio::time::timeout(SOON, whole)
            .await
            .expect("the run ends soon");
        assert_grammar(&events);
        assert!(matches!(end(&events), Event::Interrupted { turns: 1, .. }));
        let told: Vec<Option<ToolErrorKind>> = results(&events)
            .into_iter()
            .map(|(_, error, _)| error)
            .collect();
        assert_eq!(
            told,
            [Some(ToolErrorKind::Interrupted); 2],
            "two were at work"
        );

        let history = run.outcome.await;
        let kept: Vec<String> = history.messages()[2]
            .content
            .iter()
            .map(|block| match block {
                ContentBlock::ToolResult(result) => result.text(),
                other => panic!("{other:?}"),
            })
            .collect();
        assert!(kept[0].contains("may have done a part") && kept[1] == kept[0]);
        assert!(kept[2].contains("nothing was done") && kept[3] == kept[2]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dropping_the_events_ends_the_calls_at_work() {
    let engine = guest(
        Guest::ReportAndSpin,
        vec![calls([call("a", "guest", json!({}))])],
    )
    .await;
    let mut run = engine.run(config(), History::new(), "go");
    while let Some(event) = run.events.next().await {
        if matches!(event, Event::ToolOutput { .. }) {
            break;
        }
    }
    drop(run.events);
    let history = tokio::time::timeout(SOON, run.outcome)
        .await
        .expect("the run ends soon");
    assert_eq!(history.messages().len(), 3);
}
