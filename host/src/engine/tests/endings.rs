//! Every way a run ends by itself, and what it leaves behind.

use super::*;

fn provider_error() -> ProviderError {
    ProviderError::Broken {
        provider: "model".into(),
        reason: "the connection was reset".into(),
    }
}

#[tokio::test]
async fn a_run_ends_naturally_with_an_answer_that_calls_nothing() {
    let thought = ContentBlock::Thinking {
        text: "hm".into(),
        signature: Some("seal".into()),
        redacted: None,
    };
    let model = Model::new([answer(vec![thought.clone(), ContentBlock::text("hello")])]);
    let (events, history) = play(&model, config()).await;
    let estimate = match &events[1] {
        Event::TokenUpdate {
            usage,
            estimated: true,
        } => usage.input_tokens,
        other => panic!("{other:?}"),
    };
    assert!(estimate > 100, "the system prompt is counted: {estimate}");
    let actual = usage(100, 10);
    assert_eq!(events[0], Event::TurnStarted { turn: 1 });
    assert_eq!(
        events[2..],
        [
            Event::ThinkingDelta { text: "hm".into() },
            Event::ActionDelta {
                text: "hello".into()
            },
            Event::TokenUpdate {
                usage: actual,
                estimated: false
            },
            Event::TurnDone {
                turn: 1,
                usage: actual
            },
            Event::Done {
                reason: DoneReason::Completed,
                turns: 1,
                usage: actual,
                cost: None,
                text: "hello".into()
            },
        ]
    );
    assert_eq!(
        history.messages()[..],
        [
            Message::user("go"),
            Message::assistant(vec![thought, ContentBlock::text("hello")])
        ]
    );
}

#[tokio::test]
async fn a_blank_answer_is_reminded_of_once_and_only_in_the_copy_that_is_sent() {
    let model = Model::new([nothing(), answer(vec![ContentBlock::text(" \n")])]);
    let (events, history) = play(&model, config()).await;
    assert!(matches!(
        end(&events),
        Event::Done { reason: DoneReason::Empty, turns: 2, text, .. } if text.is_empty()
    ));
    assert_eq!(texts(&history), ["go"]);
    let asked = model.asked();
    assert_eq!(asked[0].messages[..], [Message::user("go")]);
    assert!(
        asked[1].messages[0]
            .text()
            .contains("Your last answer was empty")
    );

    let model = Model::new([nothing(), says("sorry, here it is")]);
    let (events, history) = play(&model, config()).await;
    assert!(matches!(
        end(&events),
        Event::Done {
            reason: DoneReason::Completed,
            ..
        }
    ));
    assert_eq!(texts(&history), ["go", "sorry, here it is"]);
}

/// A program that only looks at the end has to see that this is no answer like any other.
#[tokio::test]
async fn a_cut_or_refused_answer_is_not_asked_again_and_not_complete() {
    for (words, stop, expected, code) in [
        (
            "",
            StopReason::Refused,
            DoneReason::Refused,
            "answer_refused",
        ),
        (
            "I",
            StopReason::Refused,
            DoneReason::Refused,
            "answer_refused",
        ),
        ("I", StopReason::MaxTokens, DoneReason::Cut, "answer_cut"),
    ] {
        let content = match words {
            "" => Vec::new(),
            words => vec![ContentBlock::text(words)],
        };
        let model = Model::new([answer_stopped(content, stop)]);
        let (events, _) = play(&model, config()).await;
        assert_eq!(notices(&events)[0].0, code);
        let Event::Done {
            reason,
            turns,
            text,
            ..
        } = end(&events)
        else {
            panic!("{events:?}");
        };
        assert_eq!((*reason, *turns, text.as_str()), (expected, 1, words));
    }
}

#[tokio::test]
async fn calls_that_cannot_run_are_observations_in_call_order() {
    let malformed = ToolCall {
        malformed: Some("{\"path\": ".into()),
        ..call("b", "read", json!({}))
    };
    let model = Model::new([
        calls([call("a", "fly", json!({"to": "moon"})), malformed]),
        says("done"),
    ]);
    let (events, history) = play(&model, config()).await;
    let results = results(&events);
    assert_eq!(results.len(), 2);
    for ((id, kind, text), expected) in results.iter().zip(["a", "b"]) {
        assert_eq!(
            (id.as_str(), *kind),
            (expected, Some(ToolErrorKind::UnknownTool))
        );
        assert!(text.starts_with("unknown_tool: there is no tool"), "{text}");
    }
    let arguments: Vec<&serde_json::Value> = events
        .iter()
        .filter_map(|event| match event {
            Event::ToolStart { arguments, .. } => Some(arguments),
            _ => None,
        })
        .collect();
    assert_eq!(arguments, [&json!({"to": "moon"}), &json!("{\"path\": ")]);
    assert_eq!(history.messages().len(), 4);
    assert!(matches!(
        end(&events),
        Event::Done { reason: DoneReason::Completed, turns: 2, usage: total, .. }
            if *total == usage(200, 20)
    ));
}

#[tokio::test]
async fn call_ids_that_a_vendor_repeats_are_made_unique() {
    let model = Model::new([
        calls([call("0", "x", json!({})), call("0", "x", json!({}))]),
        calls([call("0", "x", json!({}))]),
        says("done"),
    ]);
    let (events, _) = play(&model, config()).await;
    let ids: Vec<String> = results(&events).into_iter().map(|(id, ..)| id).collect();
    assert_eq!(ids, ["0", "0_2", "0_3"]);
}

#[tokio::test]
async fn the_turn_limit_ends_a_run_and_keeps_its_history() {
    let again = || calls([call("a", "x", json!({}))]);
    let model = Model::new([again(), again()]);
    let limited = RunConfig {
        limits: most_turns(2),
        ..config()
    };
    let (events, history) = play(&model, limited).await;
    assert!(matches!(
        end(&events),
        Event::Done {
            reason: DoneReason::MaxTurns,
            turns: 2,
            ..
        }
    ));
    assert_eq!(history.messages().len(), 5);

    let turns = (0..60).map(|_| again()).chain([says("done")]);
    let unlimited = RunConfig {
        limits: most_turns(0),
        ..config()
    };
    let (events, _) = play(&Model::new(turns), unlimited).await;
    assert!(matches!(end(&events), Event::Done { turns: 61, .. }));
}

#[tokio::test]
async fn a_fault_of_the_provider_ends_the_run_and_leaves_the_history_as_it_was() {
    let invalid = ProviderError::InvalidRequest {
        reason: "no messages".into(),
    };
    let text = || Ok(Chunk::Text("half an ans".into()));
    let cases = [
        (
            Say::Chunks(vec![text(), Err(provider_error())]),
            RunErrorKind::Provider,
            "the connection was reset",
        ),
        (
            Say::Chunks(vec![text()]),
            RunErrorKind::Provider,
            "without completing it",
        ),
        (
            Say::Chunks(vec![Err(invalid)]),
            RunErrorKind::InvalidRequest,
            "no messages",
        ),
        (Say::Panic, RunErrorKind::Internal, "a fault in hotcell"),
    ];
    for (say, expected, words) in cases {
        let model = Model::new([calls([call("a", "x", json!({}))]), say]);
        let (events, history) = play(&model, config()).await;
        match end(&events) {
            Event::Error { kind, message } => {
                assert_eq!(*kind, expected);
                assert!(message.contains(words), "{message}");
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(history.messages().len(), 3, "{words}");
    }
}

#[tokio::test]
async fn a_blank_prompt_asks_nobody() {
    let model = Model::new([]);
    let engine = Engine::new(Arc::clone(&model) as _, no_tools().await);
    let (events, history) = to_end(engine.run(config(), History::new(), " \n")).await;
    assert!(matches!(
        end(&events),
        Event::Error {
            kind: RunErrorKind::InvalidRequest,
            ..
        }
    ));
    assert!(history.messages().is_empty());
}

#[tokio::test]
async fn a_long_history_is_not_copied() {
    let mut history = History::new();
    for n in 0..5_000 {
        history.push_user(vec![ContentBlock::text(format!("ask {n}"))]);
        history.push_answer(vec![ContentBlock::text(format!("answer {n}"))]);
    }
    struct Forgetful;
    impl Provider for Forgetful {
        fn name(&self) -> &str {
            "forgetful"
        }
        fn send(&self, request: Request) -> ChunkStream {
            let turn = request.messages.len();
            let content = if turn < 10_001 + 20 {
                vec![ContentBlock::ToolCall(call("a", "x", json!({})))]
            } else {
                vec![ContentBlock::text("done")]
            };
            drop(request);
            let response = Response {
                content,
                usage: Usage::default(),
                stop: StopReason::EndTurn,
            };
            futures::stream::iter([Ok(Chunk::Completed(response))]).boxed()
        }
    }
    let place = |history: &History| history.messages()[0].content.as_ptr();
    let before = place(&history);
    let engine = Engine::new(Arc::new(Forgetful), no_tools().await);
    let unlimited = RunConfig {
        limits: most_turns(0),
        ..config()
    };
    let (events, history) = to_end(engine.run(unlimited, history, "go")).await;
    assert!(matches!(end(&events), Event::Done { turns: 11, .. }));
    assert_eq!(place(&history), before, "the first message is where it was");
}
