//! What is tried again, and what is not.
//!
//! The waits are the real ones, so only what is soon over is played to its end; of the long waits
//! the first word is enough, see `interrupts`.

use crate::model_server::{Protocol, Reply};
use crate::stage::{BOTH, LANES, Lane, Stage};
use serde_json::{Value, json};

fn fault(message: &str) -> Value {
    json!({"type": "error", "error": {"type": "some_error", "message": message}})
}

/// A text so long that a stream cut after [`HALF`] bytes has shown its first half and not its
/// second.
fn long_text() -> String {
    "word ".repeat(1_000)
}

const HALF: usize = 4_000;

#[test]
fn what_passes_is_tried_again() {
    for lane in LANES {
        let overload = match lane.protocol {
            Protocol::OpenAi => 503,
            Protocol::Anthropic => 529,
        };
        for (status, wait) in [
            (500, None),
            (overload, None),
            (429, Some("0")),
            (429, Some("1")),
        ] {
            let stage = Stage::new(lane);
            let mut busy = Reply::status(status, &fault("Not now"));
            if let Some(seconds) = wait {
                busy = busy.header("retry-after", seconds);
            }
            stage.server.reply(busy).reply(Reply::text("Here I am."));
            let told = stage.run("hello");
            assert_eq!(told.completed(), "Here I am.");
            assert_eq!(told.last()["turns"], 1);
            let [first, second] = stage.asked_times();
            assert_eq!(first.body, second.body);
            let notices = told.notices("request_retried");
            let [notice] = notices.as_slice() else {
                panic!("{told:#?}");
            };
            assert!(notice.contains("Not now; try 2 in "), "{notice}");
            if let Some(seconds) = wait {
                assert!(notice.ends_with(&format!(" in {seconds}.0 s")), "{notice}");
            }
        }
    }
}

#[test]
fn what_cannot_get_better_ends_the_run_at_once() {
    for lane in LANES {
        for (status, headers, part) in [
            (400, None, "rejected the request (400): Mistaken"),
            (401, None, "refused the key (401): Mistaken"),
            (403, None, "refused the key (403): Mistaken"),
            (404, None, "rejected the request (404): Mistaken"),
            (413, None, "rejected the request (413): Mistaken"),
            // An hour is too long to wait for in silence.
            (429, Some(("retry-after", "3600")), "try again in 1 h"),
        ] {
            let stage = Stage::new(lane);
            let mut reply = Reply::status(status, &fault("Mistaken"));
            if let Some((name, value)) = headers {
                reply = reply.header(name, value);
            }
            stage.server.reply(reply);
            let told = stage.run("hello");
            let message = told.failed("provider");
            assert!(message.contains(part), "{message}");
            assert_eq!(told.notices("request_retried"), [""; 0]);
            stage.asked_times::<1>();
        }
    }
}

#[test]
fn an_answer_that_breaks_off_in_front_of_the_person_is_not_begun_again() {
    for lane in BOTH {
        let stage = Stage::new(lane);
        stage
            .server
            .reply(Reply::text(&long_text()).cut_after(HALF));
        let told = stage.run("tell me all");
        let message = told.failed("provider");
        assert!(message.contains("broke off"), "{message}");
        let shown = told.text("action_delta");
        assert!(
            !shown.is_empty() && long_text().starts_with(&shown),
            "{shown}"
        );
        stage.asked_times::<1>();
    }
}

#[test]
fn a_request_that_is_repeated_repeats_no_call() {
    for lane in LANES {
        let stage = Stage::new(lane);
        let append = json!({"command": "echo once >> log"});
        stage
            .server
            .reply(Reply::call("a", "bash", &append))
            .reply(Reply::status(429, &fault("Not now")).header("retry-after", "0"))
            .reply(Reply::status(429, &fault("Not now")).header("retry-after", "0"))
            .reply(Reply::text("Done."));
        let told = stage.run("write it down");
        assert_eq!(told.completed(), "Done.");
        assert_eq!(told.notices("request_retried").len(), 2, "{told:#?}");
        assert_eq!(told.ids("tool_start"), ["a"]);
        assert_eq!(stage.read("log"), "once\n");
        let [_, second, third, fourth] = stage.asked_times();
        assert_eq!(second.body, third.body);
        assert_eq!(second.body, fourth.body);
    }
}

#[test]
fn a_call_in_an_answer_that_breaks_off_is_not_run() {
    for lane in BOTH {
        let stage = Stage::new(lane);
        let write = json!({"path": "f", "content": "x".repeat(8_000)});
        // All of the text comes, and the first half of the arguments.
        stage.server.reply(
            Reply::text("I write.")
                .and_call("a", "write_file", &write)
                .cut_after(HALF),
        );
        let told = stage.run("write");
        let message = told.failed("provider");
        assert!(message.contains("broke off"), "{message}");
        assert_eq!(told.text("action_delta"), "I write.");
        assert_eq!(told.ids("tool_start"), [""; 0]);
        assert_eq!(stage.tree(), []);
    }
}

#[test]
fn an_error_in_the_middle_of_a_stream_is_told_as_the_vendor_tells_it() {
    let error = |lane: Lane| match lane.protocol {
        Protocol::OpenAi => {
            "data: {\"error\":{\"message\":\"Mistaken\",\"type\":\"invalid_request_error\"}}\n\n"
        }
        Protocol::Anthropic => {
            "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"Mistaken\"}}\n\n"
        }
    };
    for lane in BOTH {
        let stage = Stage::new(lane);
        stage
            .server
            .reply(Reply::raw(200, "text/event-stream", error(lane)));
        let told = stage.run("hello");
        let message = told.failed("provider");
        assert!(message.contains("Mistaken"), "{message}");
        stage.asked_times::<1>();
    }
}
