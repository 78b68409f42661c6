//! How runs end by themselves.

use crate::asked::Piece;
use crate::model_server::Reply;
use crate::stage::{BOTH, LANES, Stage};
use serde_json::json;

fn look(id: &str) -> Reply {
    Reply::call(id, "glob", &json!({"pattern": "*"}))
}

#[test]
fn a_run_stops_at_its_most_turns() {
    for lane in LANES {
        let stage = Stage::new(lane).flags(["--max-turns", "2"]);
        stage
            .server
            .reply(look("a"))
            .reply(look("b").and_text("Still looking."));
        let told = stage.run("look on and on");
        assert_eq!(told.code, Some(3), "{told:#?}");
        let last = told.last();
        assert_eq!(
            (&last["type"], &last["reason"]),
            (&"done".into(), &"max_turns".into())
        );
        assert_eq!(
            (&last["turns"], &last["text"]),
            (&2.into(), &"Still looking.".into())
        );
        // What was asked for in the last turn was done all the same.
        assert_eq!(told.ids("tool_result"), ["a", "b"]);
        stage.asked_times::<2>();
    }
}

#[test]
fn a_blank_answer_is_asked_about_once() {
    let blank = || Reply::text(" \n\t");
    for lane in LANES {
        for (replies, reason, code) in [
            (
                vec![Reply::empty(), Reply::text("Sorry. Done.")],
                "completed",
                0,
            ),
            (
                vec![blank(), look("a"), Reply::text("Done.")],
                "completed",
                0,
            ),
            (vec![Reply::empty(), blank()], "empty", 1),
            // The second blank answer of a run ends it, wherever it is.
            (vec![blank(), look("a"), Reply::empty()], "empty", 1),
        ] {
            let stage = Stage::new(lane);
            let count = replies.len();
            for reply in replies {
                stage.server.reply(reply);
            }
            let told = stage.run("say something");
            assert_eq!(
                (told.code, &told.last()["reason"]),
                (Some(code), &reason.into())
            );
            let asked = stage.asked();
            assert_eq!(asked.len(), count);
            let reminded = |request: usize| {
                let user = |piece: &Piece| match piece {
                    Piece::User(text) => text.contains("Your last answer was empty"),
                    _ => false,
                };
                asked[request].conversation().iter().any(user)
            };
            // It goes out once and is not kept.
            assert!(
                (0..count).all(|request| reminded(request) == (request == 1)),
                "{asked:#?}"
            );
        }
    }
}

#[test]
fn blank_text_beside_a_call_is_not_sent_back() {
    for lane in LANES {
        let stage = Stage::new(lane);
        stage
            .server
            .reply(Reply::text(" \n ").and_call("a", "glob", &json!({"pattern": "*"})))
            .reply(Reply::text("Done."));
        let told = stage.run("look");
        told.completed();
        assert_eq!(told.notices("request_repaired"), [""; 0]);
        let [_, request] = stage.asked_times();
        let conversation = request.conversation();
        assert!(
            matches!(
                conversation.as_slice(),
                [Piece::User(_), Piece::Call { .. }, Piece::Returned(_)]
            ),
            "{conversation:#?}"
        );
    }
}

#[test]
fn an_answer_that_is_cut_or_refused_is_told() {
    for lane in BOTH {
        let stage = Stage::new(lane);
        stage
            .server
            .reply(Reply::text("And so").stop("length", "max_tokens"));
        let told = stage.run("tell me all");
        assert_eq!(
            (told.code, &told.last()["reason"], &told.last()["text"]),
            (Some(1), &"cut".into(), &"And so".into())
        );
        assert_eq!(told.notices("answer_cut").len(), 1, "{told:#?}");

        stage
            .server
            .reply(Reply::empty().stop("content_filter", "refusal"));
        let told = stage.run("tell me all");
        assert_eq!(
            (told.code, &told.last()["reason"]),
            (Some(1), &"refused".into())
        );
        assert_eq!(told.notices("answer_refused").len(), 1, "{told:#?}");
    }
}
