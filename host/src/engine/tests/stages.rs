//! Two-stage turns.

use super::*;

#[tokio::test]
async fn a_run_thinks_first_and_then_acts() {
    let cases = [(Think::First, 1), (Think::Always, 2)];
    for (think, thoughts) in cases {
        let act = || calls([call("a", "x", json!({}))]);
        let script = match think {
            Think::Always => vec![says("I look"), act(), says("I answer"), says("done")],
            _ => vec![says("I look"), act(), says("done")],
        };
        let model = Model::new(script);
        let (events, history) = play(&model, RunConfig { think, ..config() }).await;
        let asked = model.asked();
        let staged: Vec<bool> = asked
            .iter()
            .map(|request| request.system.contains("# Think first"))
            .collect();
        assert_eq!(staged.iter().filter(|thinks| **thinks).count(), thoughts);
        assert!(staged[0] && !staged[1]);
        // The part that vendors cache is the same in both stages.
        assert!(asked[0].system.starts_with(&asked[1].system));

        let said = texts(&history);
        assert_eq!(said[..3], ["go", "I look", BRIDGE]);
        assert_eq!(said.iter().filter(|text| *text == BRIDGE).count(), thoughts);
        assert!(events.contains(&Event::ThinkingDelta {
            text: "I look".into()
        }));
        assert!(!events.contains(&Event::ActionDelta {
            text: "I look".into()
        }));
        assert!(matches!(
            end(&events),
            Event::Done { turns: 2, text, usage: total, .. }
                if text == "done" && total.output_tokens == 10 * asked.len() as u64
        ));
    }
}

#[tokio::test]
async fn a_thought_never_calls_and_a_blank_one_leaves_no_trace() {
    let model = Model::new([calls([call("a", "x", json!({}))]), says("done")]);
    let first = RunConfig {
        think: Think::First,
        ..config()
    };
    let (events, history) = play(&model, first).await;
    assert!(results(&events).is_empty());
    assert_eq!(texts(&history), ["go", "done"]);
}
