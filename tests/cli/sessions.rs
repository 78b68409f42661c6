//! Sessions on disk, as a person uses them: gone on with, copied, listed, searched, removed.

use super::Bench;
use super::streams::events;
use hotcell::protocol::Event;
use hotcell::store::Store;
use serde_json::Value;
use std::fs;
use std::path::Path;

const ASK: &str = "
    {calls: [{name: glob, arguments: {pattern: '*'}},
             {name: todo_write, arguments: {todos: [{content: look, status: completed}, {content: mend, status: pending}]}}]},
    {text: I looked at 购物车.}";

fn json(bench: &Bench, arguments: &[&str]) -> Value {
    let ended = bench.run(arguments);
    assert_eq!(ended.code, Some(0), "{arguments:?}: {ended:?}");
    serde_json::from_str(&ended.out).unwrap_or_else(|error| panic!("{error}: {}", ended.out))
}

/// Moves what is still in the journal into the store: the last to close it does.
fn close(path: &Path) {
    drop(Store::open(path).expect("the store"));
    assert!(!path.with_file_name("sessions.db-wal").exists());
}

/// The id in the first event of a run.
fn opened(out: &str) -> (String, u64) {
    match events(out).into_iter().next() {
        Some(Event::SessionOpened {
            session_id,
            messages,
            ..
        }) => (session_id, messages),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_session_is_gone_on_with_by_its_workspace_and_by_its_id() {
    let bench = Bench::new();
    let first = bench.scripted(ASK, &["--json"]);
    assert_eq!(first.code, Some(0), "{first:?}");
    let (id, before) = opened(&first.out);
    assert_eq!(before, 0);

    // The model sees everything that was said, and the list of the first run is still there.
    let goes_on = "{expect: {messages: 5, results: [{call: call_1_1}]},
        calls: [{name: todo_write, id: second, arguments: {todos: [{content: look, status: completed}, {content: mend, status: in_progress}]}}]},
        {expect: {results: [{call: second, contains: '1 of 2 completed'}]}, text: Mended.}";
    let second = bench.scripted(goes_on, &["--json", "--continue"]);
    assert_eq!(second.code, Some(0), "{second:?}");
    assert_eq!(opened(&second.out), (id.clone(), 5));
    let repaired = events(&second.out)
        .iter()
        .any(|event| matches!(event, Event::Notice { .. }));
    assert!(!repaired, "{}", second.out);

    let third = bench.scripted(
        "{expect: {messages: 9}, text: Yes.}",
        &["--session", &id[..8]],
    );
    assert_eq!(third.code, Some(0), "{third:?}");
    assert!(
        third.err.contains(&format!("session {id}")),
        "{}",
        third.err
    );

    // A copy up to the first answer: the call in it is answered, since its result is not copied.
    let fork = format!("{id}@2");
    let forked = bench.scripted(
        "{expect: {messages: 3, results: [{call: call_1_1, error: interrupted}]}, text: Otherwise.}",
        &["--json", "--fork", &fork],
    );
    assert_eq!(forked.code, Some(0), "{forked:?}");
    assert_eq!(opened(&forked.out).1, 2);

    let shown = json(&bench, &["sessions", "show", &id, "--json"]);
    assert_eq!(
        shown["messages"].as_array().map(Vec::len),
        Some(11),
        "{shown}"
    );
    assert_eq!(shown["runs"].as_array().map(Vec::len), Some(3));
    assert_eq!(shown["todos"][1]["status"], "in_progress");
    assert_eq!(shown["session"]["title"], "a prompt");
    let text = shown.to_string();
    assert!(
        !text.contains("You are"),
        "the system prompt is not kept: {text}"
    );
}

#[test]
fn sessions_are_listed_searched_tagged_exported_and_removed() {
    let bench = Bench::new();
    for script in [ASK, r#"{text: "a\e[2K parse_HTTPHeader"}"#] {
        assert_eq!(bench.scripted(script, &[]).code, Some(0));
    }
    let list = json(&bench, &["sessions", "list", "--json"]);
    let id = |at: usize| list[at]["id"].as_str().expect("an id").to_owned();
    assert_eq!(list.as_array().map(Vec::len), Some(2));
    let (first, second) = (id(0), id(1));

    let found = json(&bench, &["sessions", "search", "购物", "--json"]);
    assert_eq!(found[0]["session"]["id"], first.as_str());
    let found = bench.run(&["sessions", "search", "httpheader"]);
    assert!(found.out.contains(&second), "{}", found.out);
    assert!(
        found.out.contains("a\\u{1b}[2K parse_HTTPHeader"),
        "{}",
        found.out
    );

    let tagged = bench.run(&["sessions", "tag", &first, "release"]);
    assert_eq!(tagged.code, Some(0), "{tagged:?}");
    let list = bench.run(&["sessions", "list", "--tag", "release"]);
    assert!(
        list.out.contains(&first) && !list.out.contains(&second),
        "{}",
        list.out
    );

    for arguments in [
        &["sessions", "show", &second][..],
        &["sessions", "export", &second],
        &["sessions", "export", &second, "--format", "json"],
    ] {
        let shown = bench.run(arguments);
        assert_eq!(shown.code, Some(0), "{shown:?}");
        assert!(shown.out.contains("parse_HTTPHeader"), "{}", shown.out);
        assert!(!shown.out.contains('\u{1b}'), "{}", shown.out);
    }

    let removed = bench.run(&["sessions", "rm", &first]);
    assert_eq!(removed.code, Some(0), "{removed:?}");
    let gone = bench.run(&["sessions", "show", &first]);
    assert_eq!(gone.code, Some(2), "{gone:?}");
    assert_eq!(bench.run(&["sessions", "search", "购物"]).out, "");
}

#[test]
fn a_session_stays_in_its_workspace_unless_a_copy_is_asked_for() {
    let bench = Bench::new();
    assert_eq!(bench.scripted("{text: Here.}", &[]).code, Some(0));
    let list = json(&bench, &["sessions", "list", "--json"]);
    let id = list[0]["id"].as_str().expect("an id");
    let other = bench.work().parent().expect("a root").join("other");
    fs::create_dir(&other).expect("another workspace");
    let place = other.display().to_string();
    for (flags, told) in [
        (&["--session", id][..], "belongs to"),
        (&["--continue"], "no session of this workspace"),
    ] {
        let mut all = vec!["-C", place.as_str()];
        all.extend(flags);
        let refused = bench.scripted("{text: There.}", &all);
        assert_eq!(refused.code, Some(2), "{refused:?}");
        assert!(refused.err.contains(told), "{}", refused.err);
    }
    let here = bench.run(&["sessions", "list", "-C", &place]);
    assert_eq!(here.out, "");
    let copy = bench.scripted(
        "{expect: {messages: 3}, text: There.}",
        &["-C", &place, "--fork", id],
    );
    assert_eq!(copy.code, Some(0), "{copy:?}");
    let all = json(&bench, &["sessions", "list", "--all", "--json"]);
    assert_eq!(all.as_array().map(Vec::len), Some(2));
}

#[test]
fn what_is_not_to_be_kept_is_not_and_what_cannot_be_says_so() {
    let bench = Bench::new();
    let data = bench
        .work()
        .parent()
        .expect("a root")
        .join("home/.local/share/hotcell");
    let off = bench.scripted(ASK, &["--no-session", "--json"]);
    assert_eq!(off.code, Some(0), "{off:?}");
    assert!(!off.out.contains("session_opened"), "{}", off.out);
    assert!(!data.join("sessions.db").exists());

    // A store of a later version is left alone; the run goes on without it.
    assert_eq!(bench.scripted("{text: One.}", &[]).code, Some(0));
    let path = data.join("sessions.db");
    close(&path);
    let mut bytes = fs::read(&path).expect("the store");
    // `user_version` stands in the header, big endian.
    bytes[63] = 99;
    fs::write(&path, &bytes).expect("the store");
    let newer = bench.scripted(ASK, &["--json"]);
    assert_eq!(newer.code, Some(0), "{newer:?}");
    assert!(
        newer.out.contains("session_off") && newer.out.contains("schema 99"),
        "{}",
        newer.out
    );
    for arguments in [
        &["sessions", "list"][..],
        &["run", "x", "--continue", "--script", "x"],
    ] {
        let refused = bench.run(arguments);
        assert_eq!(refused.code, Some(2), "{refused:?}");
    }
    assert_eq!(fs::read(&path).expect("the store"), bytes);

    // Named by a flag, it may not be where tools can reach it.
    let inside = bench.scripted("{text: No.}", &["--db", "sessions.db"]);
    assert_eq!(inside.code, Some(2), "{inside:?}");
    assert!(inside.err.contains("the file of --db"), "{}", inside.err);
    let apart = bench.scripted("{text: Yes.}", &["--db", "../apart/sessions.db"]);
    assert_eq!(apart.code, Some(0), "{apart:?}");
    assert!(bench.work().join("../apart/sessions.db").is_file());
}

#[test]
fn a_damaged_store_is_told_of_and_the_run_goes_on() {
    let bench = Bench::new();
    assert_eq!(bench.scripted("{text: One.}", &[]).code, Some(0));
    let path = bench
        .work()
        .join("../home/.local/share/hotcell/sessions.db");
    close(&path);
    fs::write(&path, "not a database ".repeat(100)).expect("the store");
    let ended = bench.scripted("{text: Two.}", &["--json"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.out.contains("session_damaged"), "{}", ended.out);
    let listed = json(&bench, &["sessions", "list", "--json"]);
    assert_eq!(listed.as_array().map(Vec::len), Some(1));
}

#[cfg(unix)]
#[test]
fn what_a_session_changed_is_shown_together() {
    let bench = Bench::new().file("work/f.txt", "one\n");
    let edit = |old: &str, new: &str| {
        format!(
            "{{calls: [{{name: read_file, arguments: {{path: f.txt}}}}]}},
             {{calls: [{{name: edit_file, arguments: {{path: f.txt, old: {old}, new: {new}}}}}]}},
             {{text: Done.}}"
        )
    };
    for (script, flags) in [
        (edit("one", "two"), &[][..]),
        ("{text: Nothing to do.}".to_owned(), &["--continue"]),
        (edit("two", "three"), &["--continue"]),
    ] {
        let ended = bench.scripted(&script, flags);
        assert_eq!(ended.code, Some(0), "{ended:?}");
    }
    let list = json(&bench, &["sessions", "list", "--json"]);
    let id = list[0]["id"].as_str().expect("an id");
    let diff = bench.run(&["diff", "--session", id]);
    assert_eq!(diff.code, Some(0), "{diff:?}");
    assert!(diff.out.contains("-one\n+three\n"), "{}", diff.out);
    let last = bench.run(&["diff"]);
    assert!(last.out.contains("-two\n+three\n"), "{}", last.out);
}
