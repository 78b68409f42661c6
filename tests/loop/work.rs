//! The work itself: turns, tools, and the order of what comes back.

use crate::asked::Piece;
use crate::model_server::Reply;
use crate::stage::{BOTH, LANES, Stage};
use serde_json::json;

#[test]
fn a_fault_is_found_mended_and_checked() {
    for lane in LANES {
        let stage = Stage::new(lane)
            .file("src/money.sh", "total() {\n  echo $(($1 - $2))\n}\n")
            .file("README.md", "Sums.\n");
        let (read, edit) = (
            json!({"path": "src/money.sh"}),
            json!({"path": "src/money.sh", "old": "$1 - $2", "new": "$1 + $2"}),
        );
        let check = json!({"command": "source src/money.sh && total 2 3"});
        stage
            .server
            .reply(Reply::text("I look.").and_call("a", "grep", &json!({"pattern": "total"})))
            .reply(Reply::call("b", "read_file", &read))
            .reply(Reply::call("c", "edit_file", &edit))
            .reply(Reply::call("d", "bash", &check))
            .reply(Reply::text("It subtracted. ").and_text("It adds now."));
        let told = stage.run("the sum is wrong");

        let answer = "It subtracted. It adds now.";
        assert_eq!(told.completed(), answer);
        assert_eq!(told.last()["turns"], 5);
        assert_eq!(told.text("action_delta"), format!("I look.{answer}"));
        assert_eq!(told.ids("tool_result"), ["a", "b", "c", "d"]);
        assert_eq!(
            stage.read("src/money.sh"),
            "total() {\n  echo $(($1 + $2))\n}\n"
        );
        assert_eq!(stage.read("README.md"), "Sums.\n");

        let asked = stage.asked_times::<5>();
        for (request, part) in asked[1..].iter().zip([
            "src/money.sh:1: total() {",
            "2\t  echo $(($1 - $2))",
            "+  echo $(($1 + $2))",
            "5\n[exit status 0",
        ]) {
            let [result] = request.returned_times();
            result.says(part);
        }
        // Each request repeats the one before it, so that vendors can cache it.
        for pair in asked.windows(2) {
            let (before, after) = (pair[0].conversation(), pair[1].conversation());
            assert_eq!(after[..before.len()], before);
            assert_eq!(pair[0].system(), pair[1].system());
        }
        assert_eq!(
            asked[0].conversation(),
            [Piece::User("the sum is wrong".to_owned())]
        );
    }
}

/// stella#5502
#[test]
fn two_edits_of_one_file_in_one_turn_both_land() {
    for lane in LANES {
        let stage = Stage::new(lane).file("list", "one\ntwo\nthree\n");
        let edit =
            |old: &str, new: &str| json!({"path": "list", "edits": [{"old": old, "new": new}]});
        stage
            .server
            .reply(Reply::call("r", "read_file", &json!({"path": "list"})))
            .reply(
                Reply::call("a", "edit_file", &edit("one\n", "1\n"))
                    .and_call("b", "edit_file", &edit("three\n", "3\n"))
                    .and_call("c", "edit_file", &edit("1\ntwo\n", "1\n2\n"))
                    .and_call("d", "read_file", &json!({"path": "./list"})),
            )
            .reply(Reply::text("Done."));
        stage.run("numbers").completed();
        assert_eq!(stage.read("list"), "1\n2\n3\n");
        let [.., request] = stage.asked_times::<3>();
        let [a, b, c, d] = request.returned_times();
        a.says("+1\n");
        b.says("+3\n");
        c.says("+2\n");
        d.says("1\t1\n     2\t2\n     3\t3\n");
    }
}

#[test]
fn results_come_back_in_call_order_although_the_first_waits_for_the_last() {
    for lane in LANES {
        let stage = Stage::new(lane);
        let wait = json!({"command": "until [ -e flag ]; do sleep 0.05; done; echo saw the flag"});
        stage
            .server
            .reply(
                Reply::call("slow", "bash", &wait)
                    .and_call("other", "glob", &json!({"pattern": "*"}))
                    .and_call(
                        "quick",
                        "write_file",
                        &json!({"path": "flag", "content": "up"}),
                    ),
            )
            .reply(Reply::text("Done."));
        let told = stage.run("signal");
        told.completed();
        assert_eq!(told.ids("tool_start"), ["slow", "other", "quick"]);
        let ended = told.ids("tool_result");
        let place = |id: &str| ended.iter().position(|ended| *ended == id);
        assert!(place("quick") < place("slow"), "{ended:?}");

        let [_, request] = stage.asked_times();
        let [slow, other, quick] = request.returned_times();
        assert_eq!([&slow.id, &other.id, &quick.id], ["slow", "other", "quick"]);
        slow.says("saw the flag");
        quick.says("created `flag`");
    }
}

#[test]
fn reads_side_by_side_each_answer_their_own_call() {
    for (lane, most) in BOTH.into_iter().flat_map(|lane| [(lane, "1"), (lane, "8")]) {
        let mut stage = Stage::new(lane).flags(["--max-parallel-calls", most]);
        let mut calls = Reply::empty();
        for number in 0..12 {
            let (id, path) = (format!("call-{number}"), format!("dir/{number}.txt"));
            stage = stage.file(&path, format!("the text of {number}\n"));
            calls = calls.and_call(&id, "read_file", &json!({"path": path}));
        }
        stage.server.reply(calls).reply(Reply::text("Done."));
        let told = stage.run("read all");
        told.completed();
        let [_, request] = stage.asked_times();
        for (number, result) in request.returned_times::<12>().iter().enumerate() {
            assert_eq!(result.id, format!("call-{number}"));
            result.says(&format!("1\tthe text of {number}\n"));
        }
        if most == "1" {
            assert_eq!(told.ids("tool_start"), told.ids("tool_result"));
            for pair in told.events.windows(2) {
                let kinds = (&pair[0]["type"], &pair[1]["type"]);
                assert_ne!(
                    kinds,
                    (&"tool_start".into(), &"tool_start".into()),
                    "{told:#?}"
                );
            }
        }
    }
}

#[test]
fn a_failed_command_is_told_and_the_run_goes_on() {
    for lane in BOTH {
        let stage = Stage::new(lane);
        stage
            .server
            .reply(
                Reply::call("a", "bash", &json!({"command": "exit 7"}))
                    .and_call("b", "bash", &json!({"command": "no-such-program"}))
                    .and_call("c", "read_file", &json!({"path": "missing"})),
            )
            .reply(Reply::text("So be it."));
        let told = stage.run("try");
        told.completed();
        // What a command says by its status is no failure of the tool.
        assert_eq!(told.result("a")["is_error"], false);
        let [_, request] = stage.asked_times();
        let [a, b, c] = request.returned_times();
        a.says("(no output)\n[exit status 7");
        b.says("[exit status 127");
        c.refuses("not_found", "missing");
    }
}
