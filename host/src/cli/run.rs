//! `hotcell run`: one prompt, until it is done.
//!
//! Owns reading the prompt, and following a run to its end: its events to the renderer, Ctrl+C to
//! the run.

use super::args::RunArgs;
use super::exit::{CommandError, Exit};
use super::interrupts;
use super::kept::Kept;
use super::trust;
use super::wiring::{self, Answers, Show};
use crate::config::Environment;
use crate::engine::{Engine, Run};
use crate::provider;
use crate::render::Renderer;
use crate::store::NewRun;
use futures::StreamExt;
use std::io::{self, Read};
use std::sync::Arc;
use tokio::sync::mpsc;

/// Most bytes of a prompt from standard input: more than any model takes.
const MOST_PROMPT: u64 = 16 << 20;

pub(super) async fn run(args: &RunArgs, environment: &Environment) -> Result<Exit, CommandError> {
    let config = trust::settled(&args.flags(), environment, !args.json)?;
    let provider_config = config.provider.clone()?;
    let provider = provider::connect(&provider_config)?;
    // Ctrl+C still ends a program that waits for a prompt.
    let typed = prompt(&args.prompt, io::stdin)?;
    let mut interrupts = interrupts::listen()?;
    let kept = Kept::open(&config, &args.session)?;
    let sandbox = wiring::sandbox_with(&config, kept.state())?;
    let toolbox = tokio::select! {
        biased;
        Some(by) = interrupts.recv() => return Ok(by),
        toolbox = wiring::toolbox(&sandbox, &config) => toolbox?,
    };
    let briefed = wiring::briefing(&config)?;
    let prompt = briefed
        .briefing
        .skills
        .expand(&typed)
        .map_err(wiring::unreadable_skill)?;
    let show = Show {
        json: args.json,
        verbose: args.verbose,
    };
    let run_id = wiring::new_id();
    let new = NewRun {
        run: &run_id,
        workspace: &config.workspace,
        model: &provider_config.model,
        prompt: &prompt,
    };
    let opened = kept.begin(Some(&args.session), &new)?;
    let mut renderer = wiring::renderer(show, &config, environment);
    for event in &opened.events {
        renderer.event(event)?;
    }
    for notice in wiring::notices(&config) {
        renderer.event(&notice)?;
    }
    let mut run_config = wiring::run_config(
        &config,
        &provider_config.model,
        Answers::from(&provider_config),
        &briefed,
    )?;
    run_config.session_id = opened.session_id;
    run_config.transcript = opened.transcript;
    let (recorder, notice) = wiring::recorder(&config, &run_config, &run_id, &typed);
    run_config.recorder = recorder;
    if let Some(notice) = notice {
        renderer.event(&notice)?;
    }
    let run = Engine::new(provider, Arc::new(toolbox)).run(run_config, opened.history, prompt);
    follow(run, renderer.as_mut(), &mut interrupts).await
}

/// The prompt as typed, or standard input for `-`. Standard input is not touched otherwise: it may
/// be a pipe that nobody ever closes.
fn prompt<R: Read>(typed: &str, stdin: impl FnOnce() -> R) -> Result<String, CommandError> {
    let prompt = if typed == "-" {
        let mut bytes = Vec::new();
        stdin()
            .take(MOST_PROMPT + 1)
            .read_to_end(&mut bytes)
            .map_err(|_| CommandError::Prompt("cannot read the prompt from standard input"))?;
        if bytes.len() as u64 > MOST_PROMPT {
            return Err(CommandError::Prompt(
                "the prompt on standard input has more than 16 MiB; name files in it instead",
            ));
        }
        String::from_utf8(bytes)
            .map_err(|_| CommandError::Prompt("the prompt on standard input is not UTF-8 text"))?
    } else {
        typed.to_owned()
    };
    if prompt.trim().is_empty() {
        return Err(CommandError::Prompt(
            "the prompt is empty; type `hotcell run \"what to do\"`",
        ));
    }
    Ok(prompt)
}

/// Shows a run until it ends. The first interrupt ends it in its own way, with its history in
/// order, what its programs changed written down, and the end told; the second leaves at once. By
/// which signal it was interrupted first is in the exit code.
pub(super) async fn follow(
    run: Run,
    renderer: &mut dyn Renderer,
    interrupts: &mut mpsc::UnboundedReceiver<Exit>,
) -> Result<Exit, CommandError> {
    let Run {
        mut events,
        control,
        ..
    } = run;
    let mut interrupted = None;
    loop {
        let event = tokio::select! {
            biased;
            Some(by) = interrupts.recv() => {
                if let Some(first) = interrupted {
                    return Ok(first);
                }
                interrupted = Some(by);
                control.interrupt();
                continue;
            }
            event = events.next() => event,
        };
        let Some(event) = event else {
            // The engine promises a terminal event, so this is a fault of ours.
            return Ok(Exit::Failed);
        };
        // A reader that went away ends the run: dropping the events interrupts it.
        let shown = renderer.event(&event);
        // A terminal that hung up reads no more, but the run goes on to its end.
        if interrupted != Some(Exit::HungUp) {
            shown.map_err(|error| match error.kind() {
                io::ErrorKind::BrokenPipe => CommandError::ReaderGone,
                _ => CommandError::Output(error),
            })?;
        }
        if let Some(exit) = Exit::of(&event) {
            return Ok(match (exit, interrupted) {
                (Exit::Interrupted, Some(by)) => by,
                (exit, _) => exit,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, Flags};
    use crate::history::History;
    use crate::protocol::Event;
    use crate::provider::ScriptProvider;
    use crate::sandbox::{Sandbox, SandboxSettings};
    use crate::tools::Toolbox;

    #[derive(Default)]
    struct Recorder {
        events: Vec<Event>,
        /// How many events are taken before the pipe is closed.
        room: Option<usize>,
    }

    impl Renderer for Recorder {
        fn event(&mut self, event: &Event) -> io::Result<()> {
            if self.room == Some(self.events.len()) {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            self.events.push(event.clone());
            Ok(())
        }
    }

    /// A run of a script, without tools.
    async fn start(script: &str, workspace: &std::path::Path) -> Run {
        let flags = Flags {
            workspace: Some(workspace.to_owned()),
            ignore_settings: true,
            ..Flags::default()
        };
        let none: [(String, String); 0] = [];
        let environment = Environment::from_map(none, workspace);
        let config = Config::resolve(&flags, &environment).expect("settings");
        let sandbox = Sandbox::new(SandboxSettings {
            pooling: false,
            ..SandboxSettings::default()
        })
        .expect("sandbox");
        let toolbox = Toolbox::load(&sandbox, &[], &[]).await.expect("toolbox");
        let provider = ScriptProvider::from_text("test", script).expect("script");
        let briefed = wiring::briefing(&config).expect("no skills");
        let answers = Answers {
            max_output_tokens: 100,
            stream: true,
        };
        Engine::new(Arc::new(provider), Arc::new(toolbox)).run(
            wiring::run_config(&config, "m", answers, &briefed).expect("no globs"),
            History::new(),
            "hello".to_owned(),
        )
    }

    async fn followed(script: &str, signals: &[Exit], room: Option<usize>) -> (String, Vec<Event>) {
        let workspace = tempfile::tempdir().expect("temporary directory");
        let run = start(script, workspace.path()).await;
        let (sender, mut interrupts) = mpsc::unbounded_channel();
        for signal in signals {
            sender.send(*signal).expect("somebody listens");
        }
        let mut recorder = Recorder {
            room,
            ..Recorder::default()
        };
        let exit = follow(run, &mut recorder, &mut interrupts).await;
        (
            format!("{:?}", exit.map_err(|e| e.is_quiet())),
            recorder.events,
        )
    }

    const ANSWER: &str = "turns: [{text: Hello.}]";
    const HANG: &str = "turns: [{text: Well, hang: true}]";

    #[tokio::test]
    async fn a_run_is_followed_to_its_end() {
        let (exit, events) = followed(ANSWER, &[], None).await;
        assert_eq!(exit, "Ok(Done)");
        assert!(matches!(events.last(), Some(Event::Done { text, .. }) if text == "Hello."));
    }

    #[tokio::test]
    async fn the_first_interrupt_ends_the_run_and_shows_how() {
        for (signal, expected) in [
            (Exit::Interrupted, "Ok(Interrupted)"),
            (Exit::Terminated, "Ok(Terminated)"),
            (Exit::HungUp, "Ok(HungUp)"),
        ] {
            let (exit, events) = followed(HANG, &[signal], None).await;
            assert_eq!(exit, expected);
            assert!(matches!(events.last(), Some(Event::Interrupted { .. })));
        }
    }

    #[tokio::test]
    async fn the_second_interrupt_leaves_at_once() {
        let (exit, events) = followed(HANG, &[Exit::Terminated, Exit::Interrupted], None).await;
        assert_eq!(exit, "Ok(Terminated)");
        assert_eq!(events, []);
    }

    #[test]
    fn a_run_that_nobody_reads_to_its_end_is_not_done() {
        assert_eq!(CommandError::ReaderGone.exit(), Exit::Failed);
    }

    #[tokio::test]
    async fn a_closed_pipe_ends_the_run_quietly() {
        let (exit, events) = followed(HANG, &[], Some(1)).await;
        assert_eq!(exit, "Err(true)");
        assert_eq!(events.len(), 1);
    }

    #[test]
    fn a_table_of_prompts() {
        let input = |bytes: &'static [u8]| move || bytes;
        let read = |typed: &str, bytes: &'static [u8]| {
            prompt(typed, input(bytes)).map_err(|error| error.to_string())
        };
        assert_eq!(read("fix it", b"not read"), Ok("fix it".to_owned()));
        assert_eq!(read("-", b"fix\nthat"), Ok("fix\nthat".to_owned()));
        assert_eq!(
            read("-", b"\xff"),
            Err("the prompt on standard input is not UTF-8 text".to_owned())
        );
        for (typed, bytes) in [("", &b"x"[..]), (" ", b"x"), ("-", b" \n")] {
            let error = read(typed, bytes).expect_err("no prompt");
            assert!(error.starts_with("the prompt is empty"), "{error}");
        }
        let unread = || -> &[u8] { panic!("standard input is read only when asked") };
        prompt("fix it", unread).expect("a prompt");
    }
}
