//! `hotcell demo`: the whole agent at work, with no key and no network.
//!
//! Only the model is played, by `host/demo/script.yaml`; the loop, the sandbox and the tools are
//! those of `hotcell run`, on a sample project in a directory of its own. The script demands what
//! the tools must answer, so a demo that ends well has proved them. It reads no settings: it is
//! the same on every machine.

use super::args::DemoArgs;
use super::exit::{CommandError, Exit};
use super::kept::Kept;
use super::wiring::{self, Answers, Show};
use super::{interrupts, run};
use crate::config::{Config, Environment, Flags};
use crate::engine::Engine;
use crate::provider::ScriptProvider;
use crate::render::{Paint, Palette};
use crate::store::{NewRun, Store};
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

const SCRIPT: &str = include_str!("../../demo/script.yaml");

const PROMPT: &str = "test/run.sh fails: discounts and taxes are a few cents off. \
                      Find the bug, fix it, and show me that it works.";

macro_rules! project {
    ($($path:literal),* $(,)?) => {
        &[$(($path, include_str!(concat!("../../demo/project/", $path)))),*]
    };
}

/// The sample project: paths and texts.
const PROJECT: &[(&str, &str)] = project![
    "README.md",
    "data/orders.csv",
    "src/invoice.sh",
    "src/money.sh",
    "test/run.sh",
];

pub(super) async fn demo(args: &DemoArgs, environment: &Environment) -> Result<Exit, CommandError> {
    // Before there is something to leave behind.
    let mut interrupts = interrupts::listen()?;
    let directory = tempfile::Builder::new()
        .prefix("hotcell-demo-")
        .tempdir()
        .map_err(unpacking)?;
    unpack(directory.path()).map_err(unpacking)?;
    let flags = Flags {
        workspace: Some(directory.path().to_owned()),
        color: args.color,
        ignore_settings: true,
        ..Flags::default()
    };
    let config = Config::resolve(&flags, environment)?;
    let palette = Palette::from(config.colors.stderr);
    say(
        palette,
        &[
            "a scripted model fixes a bug in a sample project;",
            "the loop, the sandbox and the tools are real",
        ],
    )?;
    say(
        palette,
        &["working in", &directory.path().display().to_string()],
    )?;
    say(palette, &["the prompt:", PROMPT])?;

    // A store of its own, which ends with it.
    let kept = Kept::in_store(Store::in_memory()?);
    let sandbox = wiring::sandbox_with(&config, kept.state())?;
    let toolbox = tokio::select! {
        biased;
        Some(by) = interrupts.recv() => return Ok(by),
        toolbox = wiring::toolbox(&sandbox, &config) => toolbox?,
    };
    let provider = ScriptProvider::from_text("the demo", SCRIPT)?;
    let show = Show {
        json: args.json,
        verbose: true,
    };
    let mut renderer = wiring::renderer(show, &config, environment);
    let answers = Answers {
        max_output_tokens: 1024,
        stream: true,
    };
    let briefed = wiring::briefing(&config)?;
    let mut run_config = wiring::run_config(&config, "the script", answers, &briefed)?;
    let run_id = wiring::new_id();
    let new = NewRun {
        run: &run_id,
        workspace: &config.workspace,
        model: &run_config.model,
        prompt: PROMPT,
    };
    let opened = kept.begin(None, &new)?;
    run_config.session_id = opened.session_id;
    run_config.transcript = opened.transcript;
    let run =
        Engine::new(Arc::new(provider), Arc::new(toolbox)).run(run_config, opened.history, PROMPT);
    let exit = run::follow(run, renderer.as_mut(), &mut interrupts).await?;

    if args.keep {
        let kept = directory.keep();
        say(palette, &["kept", &kept.display().to_string()])?;
    } else {
        directory.close().map_err(|why| CommandError::Machine {
            doing: "remove the sample project",
            why,
        })?;
        say(palette, &["the project is removed again; --keep keeps it"])?;
    }
    if exit == Exit::Done {
        say(
            palette,
            &["with a key, on your own project: hotcell run \"…\""],
        )?;
    }
    Ok(exit)
}

fn unpacking(why: io::Error) -> CommandError {
    CommandError::Machine {
        doing: "unpack the sample project into a temporary directory",
        why,
    }
}

fn unpack(directory: &Path) -> io::Result<()> {
    for (path, text) in PROJECT {
        let file = directory.join(path);
        if let Some(parent) = file.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(file, text)?;
    }
    Ok(())
}

/// A line about the demo itself, beside what the run shows.
fn say(palette: Palette, words: &[&str]) -> io::Result<()> {
    let label = palette.paint(Paint::Strong, "demo:");
    writeln!(io::stderr(), "{label} {}", words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::PathBuf;

    #[test]
    fn every_file_of_the_project_is_unpacked() {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("demo/project");
        let unpacked = tempfile::tempdir().expect("temporary directory");
        unpack(unpacked.path()).expect("it unpacks");
        assert_eq!(files(unpacked.path()), files(&source));
    }

    #[test]
    fn the_script_is_one() {
        let provider = ScriptProvider::from_text("the demo", SCRIPT).expect("a script");
        assert_eq!(provider.remaining(), 8);
    }

    fn files(directory: &Path) -> BTreeSet<PathBuf> {
        let mut found = BTreeSet::new();
        let mut open = vec![directory.to_owned()];
        while let Some(next) = open.pop() {
            for entry in fs::read_dir(next).expect("a directory") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    open.push(path);
                } else {
                    let below = path.strip_prefix(directory).expect("it is below");
                    found.insert(below.to_owned());
                }
            }
        }
        found
    }
}
