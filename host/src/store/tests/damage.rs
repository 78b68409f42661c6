//! Damaged rows and files: what can be read is read, the loss is told, the file is kept aside.

use super::*;

/// claude-code#49876: a damaged record in a session.
#[test]
fn a_damaged_message_is_left_out_and_the_rest_is_there() {
    let place = directory();
    let path = place.path().join("sessions.db");
    let store = Store::open(&path).expect("a store");
    let session = store.begin(&run("/w", "r", "one")).expect("a session");
    for entry in [
        says("one"),
        calls(&["a"]),
        result("a", "found"),
        answers("two"),
        says("three"),
        answers("four"),
    ] {
        session.append(&entry).expect("it is kept");
    }
    let database = Connection::open(&path).expect("SQLite");
    for damage in [
        "UPDATE messages SET content = '[{\"type\": \"te' WHERE number = 2",
        "UPDATE messages SET role = 'nobody' WHERE number = 4",
        "UPDATE messages SET content = CAST(x'5b22ff' AS TEXT), usage = 'x' WHERE number = 6",
    ] {
        assert_eq!(database.execute(damage, ()).expect("SQL"), 1);
    }
    let info = store.find(session.id()).expect("it is there");
    let kept = store.read(&info).expect("it reads");
    assert_eq!(kept.lost, [2, 4, 6]);
    let texts: Vec<String> = kept.into_messages().iter().map(Message::text).collect();
    assert_eq!(texts, ["onethree"]);
    assert_eq!(store.losses(), Vec::<String>::new());
}

/// A store of many sessions, closed, and the ids of the sessions in order.
fn filled(path: &Path) -> Vec<String> {
    let store = Store::open(path).expect("a store");
    let text = "lorem ipsum ".repeat(60);
    (0..40)
        .map(|number| {
            let title = format!("session {number}");
            let session = store.begin(&run("/w", "r", &title)).expect("a session");
            for at in 0..5 {
                session
                    .append(&says(&format!("{number}.{at} {text}")))
                    .expect("it is kept");
            }
            session.id().to_owned()
        })
        .collect()
}

fn aside(path: &Path) -> Vec<String> {
    let entries = fs::read_dir(path.parent().expect("a parent")).expect("a directory");
    let names = entries.map(|entry| entry.expect("an entry").file_name());
    let mut names: Vec<String> = names.filter_map(|name| name.into_string().ok()).collect();
    names.retain(|name| name.contains(".damaged-"));
    names.sort();
    names
}

#[test]
fn a_file_that_is_no_database_is_kept_aside_and_a_new_store_begun() {
    for bytes in [&b"this is no database, and long enough to look at: 0123456789 0123456789 0123456789 0123456789"[..], b"SQLite format 3\0 and then nothing that makes sense at all, for quite a while, until here ..............."] {
        let place = directory();
        let path = place.path().join("sessions.db");
        fs::write(&path, bytes).expect("a file");
        let store = Store::open(&path).expect("a new store");
        let losses = store.losses();
        assert_eq!(losses.len(), 1, "{losses:?}");
        assert!(losses[0].contains(".damaged-"), "{losses:?}");
        assert_eq!(store.losses(), Vec::<String>::new(), "told once");
        let kept = aside(&path);
        assert_eq!(fs::read(place.path().join(&kept[0])).expect("it is kept"), bytes);
        let session = store.begin(&run("/w", "r", "x")).expect("a session");
        session.append(&says("x")).expect("it is kept");
        drop((session, store));
        let again = Store::open(&path).expect("a store");
        assert_eq!(again.list(None, None).expect("a list").len(), 1);
        assert_eq!(again.losses(), Vec::<String>::new());
    }
}

/// Pages in the middle of a file are overwritten, one place after the other.
#[test]
fn what_can_be_read_of_a_damaged_store_is_brought_over() {
    let place = directory();
    let path = place.path().join("sessions.db");
    let ids = filled(&path);
    let whole = fs::read(&path).expect("the file");
    let pages = whole.len() / 4096;
    let mut repaired = 0;
    for page in (1..pages).step_by(pages / 12) {
        let mut bytes = whole.clone();
        bytes[page * 4096..(page + 1) * 4096].fill(0xa5);
        fs::write(&path, &bytes).expect("the file");
        let store = Store::open(&path).expect("a store");
        // Everything that a person and a run do.
        let infos = store.list(None, None).expect("a list");
        for info in &infos {
            store.read(info).expect("it reads");
        }
        store
            .search(None, &["lorem".to_owned()], 10)
            .expect("a search");
        let session = store.begin(&run("/w", "r", "after")).expect("a session");
        session.append(&says("after")).expect("it is kept");
        assert_eq!(texts(&store, &session), ["after"]);
        let losses = store.losses();
        let kept = aside(&path);
        if losses.is_empty() {
            assert_eq!(kept.len(), 0, "page {page}");
        } else {
            repaired += 1;
            assert_eq!(
                fs::read(place.path().join(&kept[0]))
                    .expect("it is kept")
                    .len(),
                whole.len()
            );
            // Under their own ids, or as recovered ones where their own page was hit.
            let there = store.list(None, None).expect("a list").len() - 1;
            assert!(
                there >= ids.len() / 2,
                "page {page}: {there} sessions, {losses:?}"
            );
        }
        drop((session, store));
        for name in kept {
            fs::remove_file(place.path().join(name)).expect("it is there");
        }
        for ending in ["-wal", "-shm"] {
            let _ = fs::remove_file(open::beside(&path, ending));
        }
    }
    assert!(repaired > 0, "no damage was found");
}

#[test]
fn messages_whose_session_is_lost_are_recovered_as_one() {
    let place = directory();
    let path = place.path().join("sessions.db");
    filled(&path);
    let database = Connection::open(&path).expect("SQLite");
    database
        .execute_batch("PRAGMA foreign_keys = OFF; DELETE FROM sessions WHERE key = 3;")
        .expect("SQL");
    drop(database);
    // The header says how large the file is; a page too many is damage to whoever checks.
    let (_, loss) = {
        let mut bytes = fs::read(&path).expect("the file");
        let pages = bytes.len() / 4096;
        bytes[(pages - 1) * 4096..].fill(0xa5);
        fs::write(&path, bytes).expect("the file");
        damage_of(&path)
    };
    assert!(loss.expect("it is damaged").contains("were brought over"));
    let store = Store::open(&path).expect("a store");
    let recovered = store.find("000000000003").expect("it is there");
    assert_eq!(
        (recovered.title.as_str(), recovered.messages),
        ("(recovered)", 5)
    );
}

fn damage_of(path: &Path) -> (Connection, Option<String>) {
    super::super::damage::replace(path).expect("it is replaced")
}
