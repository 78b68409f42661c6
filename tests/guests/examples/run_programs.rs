//! Starts the program that its arguments name, one word a line, and answers what came of it.
use hotcell_guests::bindings::wasi::io::streams::StreamError;
use hotcell_guests::process::{self, Command, Exit, SpawnError};

fn spawn(words: &[&str]) -> Result<process::Child, String> {
    let [program, arguments @ ..] = words else {
        return Err("no program".to_owned());
    };
    process::spawn(&Command {
        program: (*program).to_owned(),
        arguments: arguments.iter().map(|word| (*word).to_owned()).collect(),
        environment: Vec::new(),
        working_directory: "/workspace".to_owned(),
    })
    .map_err(|error| match error {
        SpawnError::Denied(why) => format!("denied: {why}"),
        SpawnError::NotFound => "not found".to_owned(),
        SpawnError::Failed(why) => format!("failed: {why}"),
    })
}

/// Feeds it, reads it to its end, and waits for it.
fn run(words: &[&str]) -> Result<String, String> {
    let child = spawn(words)?;
    let stdin = child.stdin().expect("once");
    stdin
        .blocking_write_and_flush(b"from the guest\n")
        .map_err(|error| format!("stdin: {error}"))?;
    drop(stdin);
    let stdout = child.stdout().expect("once");
    let mut said = Vec::new();
    loop {
        match stdout.blocking_read(4_096) {
            Ok(bytes) => said.extend(bytes),
            Err(StreamError::Closed) => break,
            Err(error) => return Err(format!("stdout: {error}")),
        }
    }
    let again = child.stdout().is_some();
    child.subscribe().block();
    let exit = match child.exit_status().expect("it has ended") {
        Exit::Code(code) => format!("code {code}"),
        Exit::Signal(signal) => format!("signal {signal}"),
    };
    let said = String::from_utf8_lossy(&said);
    Ok(format!(
        "{said}{exit}{}",
        if again { ", twice" } else { "" }
    ))
}

fn act(lines: &str) -> Result<String, String> {
    let words: Vec<&str> = lines.lines().collect();
    match words.as_slice() {
        ["available"] => Ok(process::available().join(" ")),
        ["run", words @ ..] => run(words),
        ["kill", words @ ..] => {
            let child = spawn(words)?;
            child.kill();
            child.subscribe().block();
            Ok(format!("{:?}", child.exit_status()))
        }
        ["leave", words @ ..] => {
            std::mem::forget(spawn(words)?);
            Ok("left".to_owned())
        }
        ["flood"] => loop {
            std::mem::forget(spawn(&["sh", "-c", "sleep 600"])?);
        },
        _ => Err("what?".to_owned()),
    }
}

hotcell_guests::guest!(|call| hotcell_guests::text(match act(&call.arguments) {
    Ok(text) | Err(text) => text,
}));
