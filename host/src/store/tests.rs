//! What the store promises: what was kept comes back, whoever is killed and whatever is damaged.

mod damage;

use super::*;
use crate::protocol::{
    ContentBlock, Message, Role, SessionEntry, ToolCall, ToolErrorKind, ToolResult, Usage,
};
use std::fs;

fn run<'a>(workspace: &'a str, run: &'a str, prompt: &'a str) -> NewRun<'a> {
    NewRun {
        run,
        workspace: Path::new(workspace),
        model: "m",
        prompt,
    }
}

fn says(text: &str) -> SessionEntry {
    SessionEntry::User(vec![ContentBlock::text(text)])
}

fn answers(text: &str) -> SessionEntry {
    let usage = Usage {
        input_tokens: 10,
        output_tokens: 1,
        ..Usage::default()
    };
    SessionEntry::Answer {
        content: vec![ContentBlock::text(text)],
        usage,
    }
}

fn calls(ids: &[&str]) -> SessionEntry {
    let call = |id: &&str| {
        ContentBlock::ToolCall(ToolCall {
            id: (*id).to_owned(),
            name: "t".to_owned(),
            arguments: serde_json::json!({"path": "src/money_format.rs"}),
            malformed: None,
        })
    };
    SessionEntry::Answer {
        content: ids.iter().map(call).collect(),
        usage: Usage::default(),
    }
}

fn result(id: &str, text: &str) -> SessionEntry {
    let mut result = ToolResult::failure(id, "t", ToolErrorKind::Failed, text);
    result.stats.fuel = 5;
    SessionEntry::Result(result)
}

fn texts(store: &Store, session: &Session) -> Vec<String> {
    let info = store.find(session.id()).expect("it is there");
    let kept = store.read(&info).expect("it reads");
    let text = |message: KeptMessage| {
        Message {
            role: message.role,
            content: message.content,
        }
        .text()
    };
    kept.messages.into_iter().map(text).collect()
}

#[test]
fn what_was_said_comes_back_with_what_it_cost() {
    let store = Store::in_memory().expect("a store");
    let session = store
        .begin(&run("/w", "r1", "\n  fix it\nplease"))
        .expect("a session");
    let entries = [
        says("fix it"),
        calls(&["a", "b"]),
        result("b", "second"),
        result("a", "first"),
        answers("done"),
        SessionEntry::Answer {
            content: Vec::new(),
            usage: Usage {
                output_tokens: 7,
                ..Usage::default()
            },
        },
    ];
    for entry in &entries {
        session.append(entry).expect("it is kept");
    }
    let info = store.find(session.id()).expect("it is there");
    assert_eq!(
        (info.title.as_str(), info.workspace.as_str()),
        ("fix it", "/w")
    );
    assert_eq!((info.messages, info.fuel), (5, 10));
    assert_eq!((info.usage.input_tokens, info.usage.output_tokens), (10, 8));
    assert_eq!(store.runs(&info).expect("runs"), ["r1"]);

    let kept = store.read(&info).expect("it reads");
    let numbers: Vec<u64> = kept.messages.iter().map(|message| message.number).collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5]);
    let messages = kept.into_messages();
    let roles: Vec<Role> = messages.iter().map(|message| message.role).collect();
    use Role::{Assistant, User};
    assert_eq!(roles, [User, Assistant, User, Assistant]);
    // The results of a turn are one message, in the order in which they ended.
    let answered: Vec<String> = messages[2]
        .content
        .iter()
        .filter_map(|block| match block {
            ContentBlock::ToolResult(result) => Some(result.text()),
            _ => None,
        })
        .collect();
    assert_eq!(answered, ["second", "first"]);
}

#[test]
fn sessions_are_listed_by_workspace_and_tag_and_found_by_the_beginning_of_their_id() {
    let store = Store::in_memory().expect("a store");
    let mut ids = Vec::new();
    for (workspace, prompt) in [("/a", "one"), ("/b", "two"), ("/a", "three")] {
        let session = store
            .begin(&run(workspace, prompt, prompt))
            .expect("a session");
        session.append(&says(prompt)).expect("it is kept");
        ids.push(session.id().to_owned());
    }
    // One that says nothing was killed before it began.
    store.begin(&run("/a", "four", "four")).expect("a session");
    let titles = |workspace: Option<&str>, tag| -> Vec<String> {
        let listed = store.list(workspace.map(Path::new), tag).expect("a list");
        listed.into_iter().map(|session| session.title).collect()
    };
    assert_eq!(titles(Some("/a"), None), ["one", "three"]);
    assert_eq!(titles(None, None), ["one", "two", "three"]);
    assert_eq!(titles(Some("/c"), None), Vec::<String>::new());
    let last = store.last(Path::new("/a")).expect("it reads").expect("one");
    assert_eq!(last.id, ids[2]);

    let tags = |texts: &[&str]| -> Vec<String> { texts.iter().map(|&t| t.to_owned()).collect() };
    store
        .tag(&last, &tags(&["z", "a", "a"]), &[])
        .expect("tags");
    store
        .tag(&last, &[], &tags(&["z", "nobody"]))
        .expect("tags");
    assert_eq!(store.find(&last.id).expect("it is there").tags, ["a"]);
    assert_eq!(titles(None, Some("a")), ["three"]);
    for wrong in ["", "a b", "a,b", "a\n", &"x".repeat(MOST_TAG_CHARS + 1)] {
        let refused = store.tag(&last, &tags(&[wrong]), &[]);
        assert!(matches!(refused, Err(StoreError::Tag(_))), "{wrong:?}");
    }

    for id in &ids {
        let found = store.find(&id[..10]).expect("it is there");
        assert_eq!(found.id, *id);
        assert_eq!(store.find(&id.to_uppercase()).expect("it is there").id, *id);
    }
    for unknown in ["", "xyz", "%", "0123456789abcdef", "'"] {
        assert!(
            matches!(store.find(unknown), Err(StoreError::Unknown(_))),
            "{unknown:?}"
        );
    }
    store.remove(&last).expect("it is removed");
    assert_eq!(titles(Some("/a"), None), ["one"]);
    assert!(matches!(store.find(&last.id), Err(StoreError::Unknown(_))));
}

#[test]
fn an_id_that_several_begin_with_is_not_guessed() {
    let store = Store::in_memory().expect("a store");
    // Of seventeen ids two begin with the same digit.
    let firsts: Vec<String> = (0..17)
        .map(|at| {
            let session = store
                .begin(&run("/w", &at.to_string(), "x"))
                .expect("a session");
            session.id()[..1].to_owned()
        })
        .collect();
    let twice = firsts
        .iter()
        .find(|one| firsts.iter().filter(|f| f == one).count() > 1);
    let refused = store.find(twice.expect("pigeons share a hole"));
    assert!(
        matches!(refused, Err(StoreError::Ambiguous(_))),
        "{refused:?}"
    );
}

#[test]
fn a_copy_has_what_was_said_up_to_a_message_and_lives_on_its_own() {
    let store = Store::in_memory().expect("a store");
    let session = store.begin(&run("/w", "r", "first")).expect("a session");
    for entry in [
        says("first"),
        answers("one"),
        says("second"),
        answers("two"),
    ] {
        session.append(&entry).expect("it is kept");
    }
    store
        .swap_state(session.id(), "c", "k", b"v", 0, 100)
        .expect("state");
    let source = store.find(session.id()).expect("it is there");
    let state = |session: &Session| store.state(session.id(), "c", "k").expect("state");

    // Also while the first is in use.
    let whole = store
        .fork(&source, None, &run("/v", "r2", "x"))
        .expect("a copy");
    assert_eq!(whole.had(), 4);
    assert_eq!(state(&whole).map(|kept| kept.value), Some(b"v".to_vec()));
    let part = store
        .fork(&source, Some(2), &run("/w", "r3", "x"))
        .expect("a copy");
    assert_eq!(state(&part), None);
    part.append(&says("otherwise")).expect("it is kept");
    assert_eq!(texts(&store, &part), ["first", "one", "otherwise"]);
    assert_eq!(texts(&store, &session), ["first", "one", "second", "two"]);
    let info = store.find(part.id()).expect("it is there");
    assert_eq!(info.forked_from.as_deref(), Some(session.id()));
    assert_eq!((info.messages, info.title.as_str()), (3, "first"));
    for number in [0, 5, u64::MAX] {
        let refused = store.fork(&source, Some(number), &run("/w", "r4", "x"));
        assert!(
            matches!(refused, Err(StoreError::NoMessage { .. })),
            "{number}"
        );
    }
}

#[test]
fn search_finds_any_part_of_a_text_in_any_script() {
    let store = Store::in_memory().expect("a store");
    let session = store.begin(&run("/w", "r", "x")).expect("a session");
    for entry in [
        says("修复购物车里的价格错误"),
        calls(&["a"]),
        result("a", "fn parse_HTTPHeader(x: &str) -> 100%_sure"),
        answers("The Großmarkt\0 is open"),
    ] {
        session.append(&entry).expect("it is kept");
    }
    let found = |terms: &[&str]| -> Vec<u64> {
        let terms: Vec<String> = terms.iter().map(|&term| term.to_owned()).collect();
        let found = store
            .search(Some(Path::new("/w")), &terms, 10)
            .expect("a search");
        found.into_iter().map(|found| found.number).collect()
    };
    for (terms, numbers) in [
        (&["价格错误"][..], &[1][..]),
        (&["购物车"], &[1]),
        (&["价格"], &[1]),
        (&["车"], &[1]),
        (&["httpheader"], &[3]),
        (&["money_format"], &[2]),
        (&["arse_HTTPHeader(x:"], &[3]),
        (&["%_"], &[3]),
        (&["fn parse", "->"], &[3]),
        (&["fn parse", "价格"], &[]),
        (&["grossmarkt"], &[]),
        (&["großmarkt"], &[4]),
        (&["is open"], &[4]),
        (&["\" OR \""], &[]),
        (&["NEAR(a b)"], &[]),
        (&["__"], &[]),
    ] {
        assert_eq!(found(terms), numbers, "{terms:?}");
    }
    let none = store.search(None, &[" ".to_owned()], 10);
    assert!(matches!(none, Err(StoreError::EmptySearch)));
    let elsewhere = store.search(Some(Path::new("/v")), &["价格错误".to_owned()], 10);
    assert_eq!(elsewhere.expect("a search"), []);
    // What is removed is not found, not even in the index.
    drop(session);
    let info = store.last(Path::new("/w")).expect("it reads").expect("one");
    store.remove(&info).expect("it is removed");
    assert_eq!(found(&["httpheader"]), Vec::<u64>::new());
}

fn directory() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary directory")
}

#[test]
fn a_session_is_added_to_by_one_process_at_a_time() {
    let place = directory();
    let path = place.path().join("sessions.db");
    // Each store has a connection of its own, as a process has.
    let (one, other) = (
        Store::open(&path).expect("a store"),
        Store::open(&path).expect("a store"),
    );
    let session = one.begin(&run("/w", "r", "x")).expect("a session");
    session.append(&says("x")).expect("it is kept");
    let id = session.id().to_owned();
    let info = other.find(&id).expect("it is seen at once");
    assert!(matches!(
        other.resume(&id, &run("/w", "r2", "")),
        Err(StoreError::InUse(_))
    ));
    assert!(matches!(other.remove(&info), Err(StoreError::InUse(_))));
    assert_eq!(other.read(&info).expect("it reads").messages.len(), 1);
    drop(session);
    let session = other.resume(&id, &run("/w", "r2", "")).expect("it is free");
    assert_eq!(session.had(), 1);
    assert!(matches!(
        one.resume(&id, &run("/w", "r3", "")),
        Err(StoreError::InUse(_))
    ));
    drop(session);
    let left = fs::read_dir(place.path().join("sessions.db.locks")).expect("the locks");
    assert_eq!(left.count(), 0, "no lock file is left behind");
}

#[cfg(unix)]
#[test]
fn only_its_owner_can_read_the_store() {
    use std::os::unix::fs::PermissionsExt;
    let place = directory();
    let path = place.path().join("share/hotcell/sessions.db");
    let mode = |path: &Path| fs::metadata(path).expect("metadata").permissions().mode() & 0o777;
    let store = Store::open(&path).expect("a store");
    store.begin(&run("/w", "r", "x")).expect("a session");
    assert_eq!(mode(&path), 0o600);
    assert_eq!(mode(path.parent().expect("a parent")), 0o700);
    for ending in ["-wal", "-shm"] {
        assert_eq!(mode(&open::beside(&path, ending)), 0o600, "{ending}");
    }
    drop(store);
    // One that was opened to others is closed again.
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("a mode");
    Store::open(&path).expect("a store");
    assert_eq!(mode(&path), 0o600);
}

#[test]
fn a_file_that_is_not_for_us_is_refused_and_left_as_it_is() {
    let place = directory();
    let newer = place.path().join("newer.db");
    drop(Store::open(&newer).expect("a store"));
    let database = Connection::open(&newer).expect("SQLite");
    database
        .pragma_update(None, "user_version", schema::VERSION + 1)
        .expect("a version");
    drop(database);
    let foreign = place.path().join("foreign.db");
    let database = Connection::open(&foreign).expect("SQLite");
    database
        .execute_batch("CREATE TABLE t (x)")
        .expect("a table");
    drop(database);
    let versioned = place.path().join("versioned.db");
    let database = Connection::open(&versioned).expect("SQLite");
    database
        .pragma_update(None, "user_version", 1)
        .expect("a version");
    drop(database);
    for (path, told) in [
        (&newer, "use the newer hotcell"),
        (&foreign, "a database of another program"),
        (&versioned, "a database of another program"),
        (&place.path().to_owned(), "not a regular file"),
    ] {
        let before = fs::read(path).ok();
        let error = Store::open(path).expect_err("it is refused").to_string();
        assert!(error.contains(told), "{error}");
        assert_eq!(fs::read(path).ok(), before, "{told}");
    }
}

/// Every later schema is reached from the first one with everything in it.
#[test]
fn a_store_of_the_first_schema_is_brought_to_this_one() {
    let place = directory();
    let path = place.path().join("sessions.db");
    let first = Connection::open(&path).expect("SQLite");
    first
        .execute_batch(include_str!("tests/schema_1.sql"))
        .expect("the first schema");
    drop(first);
    let store = Store::open(&path).expect("a store");
    let info = store.find("0123456789ab").expect("it is there");
    assert_eq!(
        (info.title.as_str(), info.tags.as_slice()),
        ("an old one", &["kept".to_owned()][..])
    );
    let session = store
        .resume(&info.id, &run("/w", "r2", ""))
        .expect("it goes on");
    session.append(&says("go on")).expect("it is kept");
    assert_eq!(texts(&store, &session), ["an old prompt", "go on"]);
    assert_eq!(store.runs(&info).expect("runs"), ["old", "r2"]);
    let found = store
        .search(None, &["old prompt".to_owned()], 10)
        .expect("a search");
    assert_eq!(found.len(), 1);
    let kept = store.state(&info.id, "c", "todos").expect("state");
    assert_eq!(kept.map(|kept| kept.version), Some(3));
}
