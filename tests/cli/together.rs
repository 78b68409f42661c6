//! Many processes on one store, and processes that are killed.

use super::Bench;
use hotcell::history::History;
use hotcell::protocol::{ContentBlock, Event, ResultContent};
use hotcell::store::Store;
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, Stdio};

const WORK: &str = "
    {text: I look around., calls: [{name: glob, arguments: {pattern: '*'}}, {name: glob, arguments: {pattern: '**/*'}},
             {name: todo_write, arguments: {todos: [{content: look, status: in_progress}]}}]},
    {calls: [{name: write_file, arguments: {path: f, content: x}}, {name: nothing}]},
    {text: 'Well,', calls: [{name: glob, arguments: {pattern: '*'}}]},
    {text: Done.}";

fn store(bench: &Bench) -> PathBuf {
    let root = bench.work().canonicalize().expect("it exists");
    root.parent()
        .expect("a root")
        .join("home/.local/share/hotcell/sessions.db")
}

/// opencode#21215: eight runs at once on one store.
#[test]
fn eight_processes_share_one_store() {
    let bench = Bench::new();
    let script = bench.script(WORK);
    // None of them finds a store: making it is what they do at once first.
    let running: Vec<_> = (0..8)
        .map(|number| {
            let prompt = format!("prompt {number}");
            let workspace = bench.work().join(number.to_string());
            std::fs::create_dir(&workspace).expect("a workspace");
            let mut command = bench.command(&["run", &prompt, "--json", "--script", &script]);
            command.current_dir(workspace);
            bench.spawn(command)
        })
        .collect();
    for running in running {
        let ended = running.end();
        assert_eq!(ended.code, Some(0), "{ended:?}");
        for code in ["session_off", "session_not_kept", "session_damaged"] {
            assert!(!ended.out.contains(code), "{}", ended.out);
        }
    }
    let store = Store::open(&store(&bench)).expect("the store");
    let sessions = store.list(None, None).expect("a list");
    assert_eq!(sessions.len(), 8);
    for session in sessions {
        let kept = store.read(&session).expect("it reads");
        // The prompt, four answers and six results.
        assert_eq!((kept.messages.len(), kept.lost), (11, Vec::new()));
    }
}

/// A random number that is the same in every run of this test (splitmix64).
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// Starts a run and kills it once it has told of so many events; answers all that it told.
fn killed_after(bench: &Bench, arguments: &[&str], count: u64) -> Vec<Event> {
    let mut command = bench.command(arguments);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child: Child = command.spawn().expect("the binary starts");
    let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut told = String::new();
    for _ in 0..count {
        if out.read_line(&mut told).expect("text") == 0 {
            break;
        }
    }
    // SIGKILL, on Unix.
    child.kill().expect("it is killed");
    child.wait().expect("it ends");
    out.read_to_string(&mut told).expect("text");
    let whole = told
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok());
    whole.collect()
}

/// goose#2951, crush#1206: killed at any point, gone on with each time, and nothing is lost that
/// anybody was told of.
#[test]
fn a_run_killed_at_a_hundred_points_goes_on_each_time() {
    let bench = Bench::new();
    let script = bench.script(WORK);
    let seed = 0x5e55_1075;
    let mut state = seed;
    // What was told and has to be there at the end: results by call, and what the model said.
    let mut results: HashMap<String, Vec<ResultContent>> = HashMap::new();
    let mut prompts = 0;
    let mut id = String::new();
    for round in 0..100 {
        let prompt = format!("prompt {round}.");
        let mut arguments = vec!["run", &prompt, "--json", "--script", &script];
        if round > 0 {
            arguments.extend(["--session", &id]);
        }
        let events = killed_after(&bench, &arguments, 1 + random(&mut state) % 40);
        let case = format!("seed {seed:x}, round {round}: {events:#?}");
        for event in &events {
            match event {
                Event::SessionOpened { session_id, .. } => id.clone_from(session_id),
                // A turn begins behind the prompt.
                Event::TurnStarted { turn: 1 } => prompts += 1,
                Event::ToolResult {
                    call_id, content, ..
                } => {
                    results.insert(call_id.clone(), content.clone());
                }
                Event::Notice { code, .. } => {
                    assert!(code == "compiling", "no request is repaired, {case}");
                }
                Event::Error { .. } => panic!("{case}"),
                _ => {}
            }
        }
        assert!(!id.is_empty(), "{case}");
    }
    let ended = bench.run(&[
        "run",
        "the last prompt",
        "--session",
        &id,
        "--json",
        "--script",
        &script,
    ]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(!ended.out.contains("request_repaired"), "{}", ended.out);

    let store = Store::open(&store(&bench)).expect("the store");
    let kept = store
        .read(&store.find(&id).expect("the session"))
        .expect("it reads");
    assert_eq!(kept.lost, [0_u64; 0]);
    let messages = kept.into_messages();
    let said = |part: &str| {
        let hits = messages
            .iter()
            .filter(|message| message.text().contains(part))
            .count();
        assert!(hits > 0, "{part} is lost");
    };
    said("the last prompt");
    let there = messages
        .iter()
        .map(|message| message.text().matches("prompt ").count());
    assert!(there.sum::<usize>() >= prompts, "a prompt is lost");
    assert!(
        results.len() > 50,
        "hardly anything happened: {}",
        results.len()
    );
    let mut found: HashMap<&str, &Vec<ResultContent>> = HashMap::new();
    for block in messages.iter().flat_map(|message| &message.content) {
        if let ContentBlock::ToolResult(result) = block {
            found.insert(&result.call_id, &result.content);
        }
    }
    for (call, content) in &results {
        assert_eq!(
            found.get(call.as_str()).copied(),
            Some(content),
            "the result of {call} is lost"
        );
    }
    // And all of it makes one conversation, in which every call has its result.
    let history = History::restore(messages);
    let mut open: Vec<String> = Vec::new();
    for message in history.messages().iter() {
        for block in &message.content {
            if let ContentBlock::ToolResult(result) = block {
                assert_eq!(open.remove(0), result.call_id);
            }
        }
        assert_eq!(open, Vec::<String>::new());
        open.extend(message.calls().map(|call| call.id.clone()));
    }
}
