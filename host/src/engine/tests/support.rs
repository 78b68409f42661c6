//! What the tests of the loop share: a model that says what it is told to, and the grammar.

use super::super::{Engine, Run, RunConfig, Think};
use crate::history::History;
use crate::policy::{Mode, PathRules, Policy, ProcessRules};
use crate::prompt::{Briefing, Instructions, SkillIndex, Surroundings};
use crate::protocol::{
    Capabilities, ContentBlock, Event, Limits, Message, Reminders, Role, RunLimits, ToolCall, Usage,
};
use crate::provider::{Chunk, ChunkStream, Provider, ProviderError, Request, Response, StopReason};
use crate::sandbox::{Sandbox, SandboxSettings};
use crate::tools::Toolbox;
use crate::undo::Recorder;
use futures::{StreamExt, stream};
use serde_json::Value;
use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// What the model does with one request.
pub(super) enum Say {
    /// It sends these and ends.
    Chunks(Vec<Result<Chunk, ProviderError>>),
    /// It sends these and then nothing, for ever.
    Hang(Vec<Chunk>),
    /// It has a fault.
    Panic,
}

/// A model that does what it is told and remembers what it was asked.
pub(super) struct Model {
    turns: Mutex<VecDeque<Say>>,
    asked: Mutex<Vec<Request>>,
}

impl Model {
    pub(super) fn new(turns: impl IntoIterator<Item = Say>) -> Arc<Model> {
        Arc::new(Model {
            turns: Mutex::new(turns.into_iter().collect()),
            asked: Mutex::default(),
        })
    }

    pub(super) fn asked(&self) -> Vec<Request> {
        self.asked.lock().expect("no panic under it").clone()
    }
}

impl Provider for Model {
    fn name(&self) -> &str {
        "model"
    }

    fn send(&self, request: Request) -> ChunkStream {
        check_request(&request);
        self.asked.lock().expect("no panic under it").push(request);
        let next = self.turns.lock().expect("no panic under it").pop_front();
        match next.expect("the model is asked no more often than planned") {
            Say::Chunks(chunks) => stream::iter(chunks).boxed(),
            Say::Hang(chunks) => stream::iter(chunks.into_iter().map(Ok))
                .chain(stream::pending())
                .boxed(),
            Say::Panic => panic!("the model has a fault, as planned"),
        }
    }
}

pub(super) fn usage(input: u64, output: u64) -> Usage {
    Usage {
        input_tokens: input,
        output_tokens: output,
        ..Usage::default()
    }
}

/// An answer of these blocks, its text streamed in one piece.
pub(super) fn answer(content: Vec<ContentBlock>) -> Say {
    answer_stopped(content, StopReason::EndTurn)
}

pub(super) fn answer_stopped(content: Vec<ContentBlock>, stop: StopReason) -> Say {
    let usage = usage(100, 10);
    let mut chunks: Vec<Result<Chunk, ProviderError>> = content
        .iter()
        .filter_map(|block| match block {
            ContentBlock::Text { text } => Some(Ok(Chunk::Text(text.clone()))),
            ContentBlock::Thinking { text, .. } => Some(Ok(Chunk::Thinking(text.clone()))),
            _ => None,
        })
        .collect();
    chunks.push(Ok(Chunk::Usage(usage)));
    chunks.push(Ok(Chunk::Completed(Response {
        content,
        usage,
        stop,
    })));
    Say::Chunks(chunks)
}

pub(super) fn says(text: &str) -> Say {
    answer(vec![ContentBlock::text(text)])
}

pub(super) fn nothing() -> Say {
    answer(Vec::new())
}

pub(super) fn calls(calls: impl IntoIterator<Item = ToolCall>) -> Say {
    answer_stopped(
        calls.into_iter().map(ContentBlock::ToolCall).collect(),
        StopReason::ToolCalls,
    )
}

pub(super) fn call(id: &str, name: &str, arguments: Value) -> ToolCall {
    ToolCall {
        id: id.to_owned(),
        name: name.to_owned(),
        arguments,
        malformed: None,
    }
}

/// A sandbox that keeps compiled code for the next test and the next run.
pub(super) fn sandbox() -> Sandbox {
    Sandbox::new(SandboxSettings {
        cache: Some(PathBuf::from(env!("OUT_DIR")).join("compiled")),
        pooling: false,
        slots: 8,
        ..SandboxSettings::default()
    })
    .expect("a sandbox")
}

/// A toolbox without tools: every call is unknown.
pub(super) async fn no_tools() -> Arc<Toolbox> {
    let toolbox = Toolbox::load(&sandbox(), &[], &[]).await;
    Arc::new(toolbox.expect("an empty toolbox"))
}

/// Limits of which only the turns are one.
pub(super) fn most_turns(turns: u32) -> RunLimits {
    RunLimits {
        turns,
        ..RunLimits::default()
    }
}

pub(super) fn config() -> RunConfig {
    RunConfig {
        recorder: Recorder::off(),
        transcript: None,
        policy: Policy {
            mode: Mode::Act,
            allowed: Capabilities::ALL,
            workspace: "/w".into(),
            skills: None,
            paths: PathRules::default(),
            processes: ProcessRules::default(),
            limits: Limits::default(),
        },
        session_id: "session".to_owned(),
        model: "m".to_owned(),
        max_output_tokens: 1_000,
        stream: true,
        limits: most_turns(10),
        reminders: Reminders::NEVER,
        think: Think::Off,
        max_parallel_calls: 4,
        briefing: Briefing {
            skills: SkillIndex::default(),
            instructions: Instructions::default(),
            surroundings: Surroundings {
                workspace: "/w".to_owned(),
                platform: "linux".to_owned(),
                date: "2026-03-14".to_owned(),
            },
        },
    }
}

/// Runs to the end and checks what holds for every run.
pub(super) async fn to_end(run: Run) -> (Vec<Event>, History) {
    let events: Vec<Event> = run.events.collect().await;
    assert_grammar(&events);
    let history = run.outcome.await;
    check_messages(history.messages());
    (events, history)
}

pub(super) async fn play(model: &Arc<Model>, config: RunConfig) -> (Vec<Event>, History) {
    let engine = Engine::new(Arc::clone(model) as _, no_tools().await);
    to_end(engine.run(config, History::new(), "go")).await
}

/// The grammar of a run, as the protocol promises it.
pub(super) fn assert_grammar(events: &[Event]) {
    let (last, before) = events.split_last().expect("a run has a terminal event");
    assert!(last.is_terminal(), "the last event is {last:?}");
    let mut open: HashMap<&str, &str> = HashMap::new();
    let mut seen: Vec<&str> = Vec::new();
    let mut turn = 0;
    let mut in_turn = false;
    for event in before {
        assert!(!event.is_terminal(), "{event:?} before the end");
        match event {
            Event::TurnStarted { turn: number } => {
                assert!(!in_turn, "turn {number} inside turn {turn}");
                assert_eq!(*number, turn + 1);
                (turn, in_turn) = (*number, true);
            }
            Event::TurnDone { turn: number, .. } => {
                assert!(in_turn && *number == turn, "turn {number} is not open");
                assert!(
                    open.is_empty(),
                    "open calls at the end of turn {turn}: {open:?}"
                );
                in_turn = false;
            }
            Event::ToolStart { call_id, name, .. } => {
                assert!(in_turn && !seen.contains(&call_id.as_str()), "{call_id}");
                seen.push(call_id);
                open.insert(call_id, name);
            }
            Event::ToolOutput { call_id, .. } => {
                assert!(open.contains_key(call_id.as_str()), "output of {call_id}");
            }
            Event::ToolResult {
                call_id,
                name,
                is_error,
                error,
                content,
                ..
            } => {
                assert_eq!(open.remove(call_id.as_str()), Some(name.as_str()));
                assert_eq!(*is_error, error.is_some());
                assert!(!content.is_empty());
            }
            Event::ActionDelta { text } | Event::ThinkingDelta { text } => {
                assert!(in_turn && !text.is_empty());
            }
            _ => {}
        }
    }
    assert!(open.is_empty(), "calls without a result: {open:?}");
    if let Event::Done { turns, .. } | Event::Interrupted { turns, .. } = last {
        assert_eq!(*turns, turn);
    }
}

/// What every vendor demands of a request.
fn check_request(request: &Request) {
    check_messages(&request.messages);
    let last = request.messages.last().expect("a request says something");
    assert_eq!(last.role, Role::User, "the person has the last word");
}

fn check_messages(messages: &[Message]) {
    let mut asked: Vec<String> = Vec::new();
    let mut before = Role::Assistant;
    for message in messages {
        assert_ne!(message.role, before, "roles alternate");
        before = message.role;
        let answered: Vec<String> = message
            .content
            .iter()
            .filter_map(|block| match block {
                ContentBlock::ToolResult(result) => Some(result.call_id.clone()),
                _ => None,
            })
            .collect();
        assert_eq!(answered, asked, "every call has its result");
        asked = message.calls().map(|call| call.id.clone()).collect();
        assert!(message.content.iter().all(|block| !block.is_blank_text()));
    }
    assert!(asked.is_empty(), "calls without results: {asked:?}");
}
