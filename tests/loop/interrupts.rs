//! Ctrl+C at every moment at which a run waits.

use crate::bench::{Ended, Running};
use crate::model_server::Reply;
use crate::stage::{BOTH, KEY, LANES, Stage};
use crate::told::Told;
use serde_json::json;
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Far less than anything here would wait, and far more than an end takes on a busy machine.
const PROMPTLY: Duration = Duration::from_secs(60);

/// Presses Ctrl+C. `read` is what was read of the events so far.
fn interrupt(running: Running, read: &str) -> Told {
    let began = Instant::now();
    running.interrupt();
    let ended = running.end();
    assert!(began.elapsed() < PROMPTLY, "{:?}", began.elapsed());
    let told = Told::of(Ended {
        out: format!("{read}{}", ended.out),
        ..ended
    });
    assert_eq!(told.last()["type"], "interrupted", "{told:#?}");
    assert_eq!(told.code, Some(130), "{told:#?}");
    told
}

#[test]
fn while_the_model_says_nothing() {
    for lane in LANES {
        let stage = Stage::new(lane);
        let (sender, asked) = mpsc::channel();
        let tell = move || sender.send(()).expect("the test waits");
        stage
            .server
            .reply(Reply::text("Well").hanging().meanwhile(tell));
        let running = stage.start("hello");
        asked.recv_timeout(PROMPTLY).expect("a request");
        let told = interrupt(running, "");
        assert_eq!(told.last()["turns"], 1);
    }
}

#[test]
fn in_the_middle_of_an_answer() {
    for lane in BOTH {
        let stage = Stage::new(lane);
        stage
            .server
            .reply(Reply::text("Well, I would say").hanging());
        let mut running = stage.start("hello");
        let read = running.read_until("would say");
        let told = interrupt(running, &read);
        assert_eq!(told.text("action_delta"), "Well, I would say");
        // The vendor is not left to write on.
        stage.server.wait_hung_up();
    }
}

#[test]
fn while_a_command_runs() {
    for lane in BOTH {
        let stage = Stage::new(lane).file("f", "one\n");
        let sleep = json!({"command": "echo begun; sleep 600; touch late", "timeout_secs": 600});
        stage
            .server
            .reply(Reply::call("a", "bash", &sleep).and_call(
                "b",
                "read_file",
                &json!({"path": "f"}),
            ));
        let mut running = stage.start("wait");
        let read = running.read_until("begun\\n");
        let told = interrupt(running, &read);
        let result = told.result("a");
        assert_eq!(result["error"], "interrupted");
        let text = result["content"][0]["text"].as_str().expect("a text");
        assert!(text.contains("part of its work"), "{text}");
        // The other call has its result as well, whichever.
        told.result("b");
        assert!(!stage.path("late").exists());
        stage.asked_times::<1>();
    }
}

#[test]
fn while_it_waits_to_try_again() {
    for lane in LANES {
        let stage = Stage::new(lane);
        // Nobody listens on a port whose listener is gone.
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("a bound socket");
        drop(listener);
        let url = format!("http://{address}");
        let mut running = stage.start_at("hello", &url);
        let read = running.read_until("request_retried");
        let told = interrupt(running, &read);
        let notices = told.notices("request_retried");
        let [notice] = notices.as_slice() else {
            panic!("{told:#?}");
        };
        assert!(
            notice.contains("cannot reach ") && notice.contains(&url),
            "{notice}"
        );
        assert!(notice.contains("try 2 in "), "{notice}");
        assert!(!format!("{told:?}").contains(KEY));
    }
}

#[test]
fn while_it_waits_to_ask_for_an_answer_that_broke_off_again() {
    for lane in LANES.into_iter().filter(|lane| !lane.streams) {
        let stage = Stage::new(lane);
        let write = json!({"path": "f", "content": "x"});
        stage
            .server
            .reply(Reply::call("a", "write_file", &write).cut_after(200));
        let mut running = stage.start("write");
        let read = running.read_until("request_retried");
        let told = interrupt(running, &read);
        assert!(
            told.notices("request_retried")[0].contains("broke off"),
            "{told:#?}"
        );
        assert_eq!(told.ids("tool_start"), [""; 0]);
        stage.asked_times::<1>();
        assert_eq!(stage.tree(), []);
    }
}
