//! What bounds a run, and what it is reminded of, seen from its requests and its end.

use super::*;
use crate::protocol::{Cost, Price, Reminders, RunLimits};

fn again() -> Say {
    calls([call("a", "x", json!({"path": "same"}))])
}

/// A model that does the same for ever.
async fn ended(limits: RunLimits, reminders: Reminders) -> (Event, Vec<Request>, History) {
    let model = Model::new((0..40).map(|_| again()));
    let config = RunConfig {
        limits,
        reminders,
        ..config()
    };
    let (events, history) = play(&model, config).await;
    (end(&events).clone(), model.asked(), history)
}

#[tokio::test]
async fn each_limit_ends_a_run_by_its_own_name_and_leaves_a_history_to_go_on_with() {
    // Each answer of the model counts 100 tokens sent and 10 generated.
    let price = Price {
        input: Cost(1_000_000),
        output: Cost(10_000_000),
        ..Price::default()
    };
    let none = RunLimits::default();
    for (limits, expected, after, cost) in [
        (
            RunLimits { turns: 4, ..none },
            DoneReason::MaxTurns,
            4,
            None,
        ),
        (
            RunLimits {
                tokens: 300,
                ..none
            },
            DoneReason::MaxTokens,
            3,
            None,
        ),
        (
            RunLimits {
                cost: Cost(400),
                price,
                ..none
            },
            DoneReason::MaxCost,
            2,
            Some(Cost(400)),
        ),
        (
            RunLimits { repeats: 5, ..none },
            DoneReason::Repetition,
            5,
            None,
        ),
    ] {
        let (last, _, history) = ended(limits, Reminders::NEVER).await;
        let Event::Done {
            reason,
            turns,
            cost: told,
            ..
        } = last
        else {
            panic!("{last:?}");
        };
        assert_eq!((reason, turns, told), (expected, after, cost));
        // The prompt, and of each turn a call and its result.
        assert_eq!(history.messages().len(), 1 + 2 * after as usize);
        let before = history.messages().len();
        let restored = History::restore(history.messages().iter().cloned());
        assert_eq!(restored.messages().len(), before);
    }
}

#[tokio::test]
async fn a_vendor_that_counts_nothing_is_estimated() {
    let silent = || {
        Say::Chunks(vec![Ok(Chunk::Completed(Response {
            content: vec![ContentBlock::ToolCall(call("a", "x", json!({})))],
            usage: Usage::default(),
            stop: StopReason::ToolCalls,
        }))])
    };
    let model = Model::new((0..40).map(|_| silent()));
    let limits = RunLimits {
        tokens: 5_000,
        ..RunLimits::default()
    };
    let (events, _) = play(&model, RunConfig { limits, ..config() }).await;
    let Event::Done { reason, turns, .. } = end(&events) else {
        panic!("{events:?}");
    };
    assert_eq!(*reason, DoneReason::MaxTokens);
    assert!((2..40).contains(turns), "{turns}");
}

#[tokio::test]
async fn the_time_of_a_run_ends_it_also_while_the_model_says_nothing() {
    let limits = RunLimits {
        time: Duration::from_millis(50),
        ..RunLimits::default()
    };
    let hang = Say::Hang(vec![Chunk::Text("wait".into())]);
    let (events, history) = play(&Model::new([hang]), RunConfig { limits, ..config() }).await;
    assert!(matches!(
        end(&events),
        Event::Done {
            reason: DoneReason::MaxTime,
            turns: 1,
            ..
        }
    ));
    assert_eq!(texts(&history), ["go", "wait"], "what was said is kept");
}

#[tokio::test]
async fn reminders_go_into_the_request_and_not_into_the_history() {
    let limits = RunLimits {
        repeats: 4,
        ..RunLimits::default()
    };
    let (_, asked, history) = ended(
        limits,
        Reminders {
            repetition: 3,
            ..Reminders::NEVER
        },
    )
    .await;
    let reminded: Vec<bool> = asked
        .iter()
        .map(|request| {
            let last = request.messages.last().expect("a message");
            last.text().contains("the same arguments 3 times")
        })
        .collect();
    assert_eq!(reminded, [false, false, false, true]);
    let kept = format!("{:?}", history.messages());
    assert!(!kept.contains("the same arguments"), "{kept}");
}
