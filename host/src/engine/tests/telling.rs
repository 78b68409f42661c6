//! What is told: notices, events in full, the observer.

use super::*;
use crate::prompt::SkillIndex;

#[tokio::test]
async fn what_the_provider_did_to_a_request_is_told() {
    let wait = Duration::from_millis(1_500);
    let model = Model::new([Say::Chunks(vec![
        Ok(Chunk::Repaired("dropped an orphan".into())),
        Ok(Chunk::Retrying {
            attempt: 2,
            wait,
            why: "529".into(),
        }),
        Ok(Chunk::Text("cut".into())),
        Ok(Chunk::Completed(Response {
            content: vec![ContentBlock::text("cut")],
            usage: usage(7, 3),
            stop: StopReason::MaxTokens,
        })),
    ])]);
    let (events, _) = play(&model, config()).await;
    assert_eq!(
        notices(&events),
        [
            ("request_repaired", "dropped an orphan"),
            ("request_retried", "529; try 2 in 1.5 s"),
            (
                "answer_cut",
                "the answer reached its limit of 1000 tokens and is cut"
            ),
        ]
    );
    // Usage that comes only with the whole answer is told and counted all the same.
    assert!(events.contains(&Event::TokenUpdate {
        usage: usage(7, 3),
        estimated: false
    }));
    assert!(matches!(end(&events), Event::Done { usage: total, .. } if *total == usage(7, 3)));
}

/// The same part of the history is repaired in the request of every turn.
#[tokio::test]
async fn a_repair_is_told_once() {
    let repaired = |more: Vec<Chunk>| {
        let repair = Chunk::Repaired("left out blank text".into());
        Say::Chunks([repair].into_iter().chain(more).map(Ok).collect())
    };
    let completed = |content| {
        Chunk::Completed(Response {
            content: vec![content],
            usage: usage(1, 1),
            stop: StopReason::EndTurn,
        })
    };
    let call = ContentBlock::ToolCall(call("a", "none", json!({})));
    let model = Model::new([
        repaired(vec![completed(call)]),
        repaired(vec![
            Chunk::Repaired("left out a call".into()),
            completed(ContentBlock::text("done")),
        ]),
    ]);
    let (events, _) = play(&model, config()).await;
    assert_eq!(
        notices(&events),
        [
            ("request_repaired", "left out blank text"),
            ("request_repaired", "left out a call"),
        ]
    );
}

#[tokio::test]
async fn a_consumer_that_reads_late_misses_nothing() {
    let pieces = 2_000;
    let mut chunks: Vec<_> = (0..pieces)
        .map(|n| Ok(Chunk::Text(n.to_string())))
        .collect();
    chunks.push(Ok(Chunk::Completed(Response {
        content: vec![ContentBlock::text("all of it")],
        usage: Usage::default(),
        stop: StopReason::EndTurn,
    })));
    let engine = Engine::new(Model::new([Say::Chunks(chunks)]) as _, no_tools().await);
    let run = engine.run(config(), History::new(), "go");
    for _ in 0..1_000 {
        tokio::task::yield_now().await;
    }
    let (events, _) = to_end(run).await;
    let told = events
        .iter()
        .filter(|event| matches!(event, Event::ActionDelta { .. }))
        .count();
    assert_eq!(told, pieces);
}

#[derive(Default)]
struct Diary(Mutex<Vec<String>>);

impl Diary {
    fn note(&self, line: String) {
        self.0.lock().expect("no panic under it").push(line);
    }
}

impl Observer for Diary {
    fn run_started(&self, run: &RunInfo) {
        self.note(format!(
            "run {} {} {}",
            run.session_id, run.provider, run.model
        ));
    }
    fn turn_started(&self, _: &RunInfo, turn: u32) {
        self.note(format!("turn {turn}"));
    }
    fn turn_ended(&self, _: &RunInfo, turn: u32, usage: Usage) {
        self.note(format!("turn {turn} ended, {}", usage.output_tokens));
    }
    fn run_ended(&self, _: &RunInfo, end: &Event) {
        assert!(end.is_terminal());
        self.note("run ended".to_owned());
    }
}

#[tokio::test]
async fn an_observer_sees_every_start_and_its_end() {
    for (last, output) in [(says("done"), 10), (Say::Panic, 0)] {
        let diary = Arc::new(Diary::default());
        let model = Model::new([calls([call("a", "x", json!({}))]), last]);
        let engine = Engine::new(model as _, no_tools().await).observed_by(Arc::clone(&diary) as _);
        to_end(engine.run(config(), History::new(), "go")).await;
        assert_eq!(
            *diary.0.lock().expect("no panic under it"),
            [
                "run session model m",
                "turn 1",
                "turn 1 ended, 10",
                "turn 2",
                &format!("turn 2 ended, {output}"),
                "run ended",
            ]
        );
    }
}

#[tokio::test]
async fn a_skill_that_cannot_be_listed_is_told() {
    let skills = tempfile::tempdir().expect("a temporary directory");
    std::fs::create_dir(skills.path().join("broken")).expect("a directory");
    let mut config = config();
    config.briefing.skills = SkillIndex::read(&[skills.path().to_owned()]);
    let (events, _) = play(&Model::new([says("done")]), config).await;
    assert!(matches!(
        &events[0],
        Event::Notice { level: NoticeLevel::Warning, code, message }
            if code == "skill_not_listed" && message.contains("\"broken\"")
    ));
}

#[tokio::test]
async fn blocking_use_folds_the_same_events() {
    let engine = Engine::new(Model::new([says("done")]) as _, no_tools().await);
    let (last, history) = engine.run(config(), History::new(), "go").finish().await;
    assert!(matches!(last, Event::Done { text, .. } if text == "done"));
    assert_eq!(texts(&history), ["go", "done"]);
}

#[test]
fn the_grammar_refuses_what_it_should() {
    let turn = || Event::TurnStarted { turn: 1 };
    let done = || Event::Interrupted {
        turns: 1,
        usage: Usage::default(),
    };
    let start = || Event::ToolStart {
        call_id: "a".into(),
        name: "x".into(),
        arguments: json!({}),
    };
    let turn_done = || Event::TurnDone {
        turn: 1,
        usage: Usage::default(),
    };
    assert_grammar(&[turn(), turn_done(), done()]);
    for bad in [
        vec![],
        vec![turn()],
        vec![turn(), done(), done()],
        vec![turn(), done(), turn_done()],
        vec![turn(), start(), done()],
        vec![turn(), start(), start(), done()],
        vec![turn(), start(), turn_done(), done()],
        vec![start(), done()],
        vec![turn(), turn(), done()],
        vec![done()],
    ] {
        let checked = std::panic::catch_unwind(|| assert_grammar(&bad));
        assert!(checked.is_err(), "{bad:?}");
    }
}
