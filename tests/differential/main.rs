//! What agents write, run by the component of `bash` and by bash itself.
//!
//! Owns the claim of `docs/bash.md`: of the scripts in `scripts/` at least 93 of 100 print the same
//! and end with the same status, and every other one is in its table with the reason. What native
//! bash with GNU tools answers is recorded in `records/`, because a machine that runs this test may
//! have neither; where it has them, the records are checked as well. Standard error is not compared.
//!
//! It must never know how the shell of the component works.
#![cfg(target_os = "linux")]

mod component;
mod data;
#[path = "../support/native.rs"]
mod native;
mod recorded;

use data::{Answer, Script};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// Scripts there have to be, and of 100 those that have to be equal.
const FEWEST: usize = 200;
const EQUAL: usize = 93;

/// What a script and its two answers look like to whoever has to find out why they differ.
fn show(script: &Script, expected: &Answer, answered: &Answer) -> String {
    let mut text = format!("--- {}\n{}", script.name, script.body);
    for (who, answer) in [("bash", expected), ("the component", answered)] {
        let Answer { stdout, status } = answer;
        let _ = writeln!(text, "=== {who}, status {status}\n{stdout}");
    }
    text
}

#[tokio::test(flavor = "multi_thread")]
async fn scripts_answer_in_the_component_as_in_bash_unless_the_documentation_says_why_not() {
    let scripts = data::scripts();
    let mut records = data::records();
    let listed = data::listed();
    assert!(scripts.len() >= FEWEST, "{} scripts", scripts.len());
    let known: BTreeSet<_> = scripts.iter().map(|script| script.name.clone()).collect();
    let unknown: Vec<_> = listed.difference(&known).collect();
    assert!(unknown.is_empty(), "docs/bash.md lists {unknown:?}");
    let answers = component::run(&scripts).await;
    let mut wrong = String::new();
    let (mut differ, mut left_out) = (0, 0);
    for script in &scripts {
        let expected = records.remove(&script.name).unwrap_or_else(|| {
            panic!("no record of {}; `just differential` makes it", script.name)
        });
        // It needs a program that this machine cannot run in the sandbox; that was said.
        let Some(answered) = answers.get(&script.name) else {
            left_out += 1;
            continue;
        };
        let is_equal = *answered == expected;
        differ += usize::from(!is_equal);
        if is_equal && listed.contains(&script.name) {
            let _ = writeln!(wrong, "--- {} is equal: docs/bash.md lists it", script.name);
        } else if !is_equal && !listed.contains(&script.name) {
            wrong.push_str(&show(script, &expected, answered));
        }
    }
    println!(
        "{} scripts: {left_out} left out, {differ} differ",
        scripts.len()
    );
    let stale: Vec<_> = records.keys().collect();
    assert!(stale.is_empty(), "records of no script: {stale:?}");
    assert!(wrong.is_empty(), "{wrong}");
    let equal = scripts.len() - listed.len();
    assert!(
        equal * 100 >= scripts.len() * EQUAL,
        "docs/bash.md lists {} of {}",
        listed.len(),
        scripts.len()
    );
}

/// With `HOTCELL_UPDATE=1` the records are written instead.
#[test]
fn native_bash_answers_as_recorded() {
    if let Some(why) = recorded::lacking() {
        println!("not shown on this machine: {why}");
        return;
    }
    let scripts = data::scripts();
    let (with_tools, without): (Vec<_>, Vec<_>) = scripts
        .iter()
        .partition(|script| recorded::has_tools(script));
    let answers = recorded::run(&with_tools);
    if recorded::is_update() {
        let missing: Vec<_> = without.iter().map(|script| &script.name).collect();
        assert!(missing.is_empty(), "no tools to record {missing:?}");
        data::write_records(&scripts, &answers);
        return;
    }
    println!(
        "{} of {} scripts need a tool that is not here as GNU has it",
        without.len(),
        scripts.len()
    );
    let records: BTreeMap<_, _> = data::records();
    let mut wrong = String::new();
    for script in with_tools {
        let (recorded, answered) = (&records[&script.name], &answers[&script.name]);
        if recorded != answered {
            wrong.push_str(&show(script, recorded, answered));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
