//! Sessions on disk: going on with a long one, listing many, and what keeping costs a run, beside
//! the least that keeping could be: appending the same bytes to a file.

use crate::support::workspace;
use crate::table::{Goal, Table};
use crate::throughput::median;
use hotcell::history::History;
use hotcell::protocol::{ContentBlock, SessionEntry, Usage};
use hotcell::store::{NewRun, Session, Store};
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

const MESSAGES: u64 = 10_000;
const SESSIONS: usize = 1_000;
const ROUNDS: usize = 9;
/// Bytes of a message: a short answer, a few lines of a file.
const MESSAGE: usize = 500;

pub fn measure(table: &Table) {
    let place = workspace();
    let path = place.path().join("sessions.db");
    let store = Store::open(&path).expect("a store");
    for number in 0..SESSIONS {
        let session = begin(&store, &number.to_string());
        session.append(&piece(0)).expect("it is kept");
    }
    let long = begin(&store, "long");
    let kept = (0..MESSAGES).map(|number| {
        let entry = piece(number);
        millis(|| long.append(&entry).expect("it is kept"))
    });
    let kept = median(kept.collect());
    let mut file = File::create(place.path().join("plain")).expect("a file");
    let appended = (0..MESSAGES).map(|number| {
        let text = format!("{:?}\n", piece(number));
        millis(|| file.write_all(text.as_bytes()).expect("it is written"))
    });
    let appended = median(appended.collect());
    let id = long.id().to_owned();
    drop((long, store));

    // A process opens the store first.
    let resumed = (0..ROUNDS).map(|_| {
        millis(|| {
            let store = Store::open(&path).expect("the store");
            let session = store.resume(&id, &run("again")).expect("it is free");
            let info = store.find(session.id()).expect("it is there");
            let kept = store.read(&info).expect("it reads");
            let history = History::restore(kept.into_messages());
            assert_eq!(history.messages().len() as u64, MESSAGES);
        })
    });
    let resumed = median(resumed.collect());
    let listed = (0..ROUNDS).map(|_| {
        millis(|| {
            let store = Store::open(&path).expect("the store");
            let sessions = store.list(None, None).expect("a list");
            assert_eq!(sessions.len(), SESSIONS + 1);
        })
    });
    let listed = median(listed.collect());
    let searched = (0..ROUNDS).map(|_| {
        millis(|| {
            let store = Store::open(&path).expect("the store");
            let found = store.search(None, &["09999 ".to_owned()], 30);
            assert_eq!(found.expect("a search").len(), 1);
        })
    });
    let searched = median(searched.collect());

    let figure = format!("going on with a session of {MESSAGES} messages");
    table.judge(&figure, resumed, "ms", Goal::AtMost(100.0));
    let figure = format!("listing {SESSIONS} sessions");
    table.judge(&figure, listed, "ms", Goal::AtMost(50.0));
    table.tell(&format!("searching {MESSAGES} messages"), searched, "ms");
    table.tell("keeping a message", kept, "ms");
    table.tell("appending its bytes to a file", appended, "ms");
}

fn run(id: &str) -> NewRun<'_> {
    NewRun {
        run: id,
        workspace: Path::new("/w"),
        model: "m",
        prompt: "a prompt",
    }
}

fn begin(store: &Store, id: &str) -> Session {
    store.begin(&run(id)).expect("a session")
}

/// By turns of the person and the model.
fn piece(number: u64) -> SessionEntry {
    let text = format!("{number:05} ").repeat(MESSAGE / 6);
    let content = vec![ContentBlock::text(text)];
    match number % 2 {
        0 => SessionEntry::User(content),
        _ => SessionEntry::Answer {
            content,
            usage: Usage::default(),
        },
    }
}

fn millis(work: impl FnOnce()) -> f64 {
    let started = Instant::now();
    work();
    started.elapsed().as_secs_f64() * 1e3
}
