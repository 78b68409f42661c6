//! What agents write, run by the tool: `scripts.txt` holds the files, the scripts, and what bash
//! 5.2 with GNU tools answers.

use hotcell_sdk::testing::{MockHost, json};
use hotcell_tool_bash::Bash;
use std::fs;
use std::path::Path;

struct Case<'a> {
    name: &'a str,
    script: String,
    status: i32,
    output: String,
}

/// Reads the format of `scripts.txt`: `@file PATH`, `@case NAME`, `@status N`, each followed by lines.
fn read(text: &str) -> (Vec<(&str, String)>, Vec<Case<'_>>) {
    let (mut files, mut cases) = (Vec::<(&str, String)>::new(), Vec::<Case<'_>>::new());
    let mut in_output = false;
    for line in text.lines() {
        if let Some(path) = line.strip_prefix("@file ") {
            files.push((path, String::new()));
        } else if let Some(name) = line.strip_prefix("@case ") {
            in_output = false;
            cases.push(Case {
                name,
                script: String::new(),
                status: 0,
                output: String::new(),
            });
        } else if let Some(status) = line.strip_prefix("@status ") {
            in_output = true;
            cases.last_mut().expect("a case").status = status.parse().expect("a number");
        } else {
            let to = match cases.last_mut() {
                None => &mut files.last_mut().expect("a file").1,
                Some(case) if in_output => &mut case.output,
                Some(case) => &mut case.script,
            };
            to.push_str(line);
            to.push('\n');
        }
    }
    (files, cases)
}

/// Splits an answer into what was printed and the status in its last line.
fn parts(answer: &str) -> (String, i32) {
    let body = answer.trim_end_matches(|c| c != '\n');
    let status = answer[body.len()..]
        .strip_prefix("[exit status ")
        .and_then(|rest| rest.split(',').next())
        .and_then(|status| status.parse().ok())
        .unwrap_or(-1);
    (body.replace("(no output)\n", ""), status)
}

#[test]
fn scripts_of_agents_answer_as_bash_does() {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts.txt"))
        .expect("the scripts");
    let (files, cases) = read(&text);
    assert!(cases.len() >= 60, "{} scripts", cases.len());
    let mut wrong = String::new();
    for case in &cases {
        let workspace = tempfile::tempdir().expect("a temporary directory");
        for (path, content) in &files {
            let path = workspace.path().join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
            fs::write(path, content).expect("a file");
        }
        let host = MockHost::new(workspace.path());
        let answer = host
            .call::<Bash>(json!({ "command": case.script, "timeout_secs": 60 }))
            .expect("a command that fails is an answer")
            .to_text();
        let (output, status) = parts(&answer);
        if (&output, status) != (&case.output, case.status) {
            wrong.push_str(&format!(
                "--- {}\n{}expected {} and:\n{}answered:\n{answer}\n",
                case.name, case.script, case.status, case.output
            ));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
