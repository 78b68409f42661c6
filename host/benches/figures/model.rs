//! A model in this process that answers at once, so that what a turn takes is hotcell's own.
//!
//! Owns the plan of a measured run and its clock. It must never do work of its own.

use futures::{StreamExt, stream};
use hotcell::engine::{Engine, RunConfig, Think};
use hotcell::history::History;
use hotcell::policy::Policy;
use hotcell::prompt::{Briefing, Instructions, SkillIndex, Surroundings};
use hotcell::protocol::{
    ContentBlock, DoneReason, Event, Message, Reminders, RunLimits, ToolCall, Usage,
};
use hotcell::provider::{Chunk, ChunkStream, Provider, Request, Response, StopReason};
use hotcell::tools::Toolbox;
use hotcell::undo::Recorder;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Makes the same call in each of so many turns, and says goodbye in one more.
pub struct Model {
    call: ToolCall,
    turns: usize,
    asked: AtomicUsize,
}

impl Model {
    /// A model that makes `call` in `turns` turns.
    pub fn calling(call: ToolCall, turns: usize) -> Arc<Model> {
        Arc::new(Model {
            call,
            turns,
            asked: AtomicUsize::new(0),
        })
    }
}

impl Provider for Model {
    fn name(&self) -> &str {
        "model"
    }

    fn send(&self, request: Request) -> ChunkStream {
        // A provider lets go of the messages before its last chunk.
        drop(request);
        let number = self.asked.fetch_add(1, Ordering::Relaxed);
        let (block, stop) = if number < self.turns {
            let call = ToolCall {
                id: format!("call-{number}"),
                ..self.call.clone()
            };
            (ContentBlock::ToolCall(call), StopReason::ToolCalls)
        } else {
            (ContentBlock::text("goodbye"), StopReason::EndTurn)
        };
        let answer = Response {
            content: vec![block],
            usage: Usage::default(),
            stop,
        };
        stream::iter([Ok(Chunk::Completed(answer))]).boxed()
    }
}

/// Notes when each request is sent.
struct Clocked {
    provider: Arc<dyn Provider>,
    sent: Mutex<Vec<Instant>>,
}

impl Provider for Clocked {
    fn name(&self) -> &str {
        self.provider.name()
    }

    fn send(&self, request: Request) -> ChunkStream {
        let mut sent = self.sent.lock().expect("no panic under it");
        sent.push(Instant::now());
        drop(sent);
        self.provider.send(request)
    }
}

/// Lets the model run to its end after these messages. Answers how long each turn with a call
/// took, from one request to the next.
pub async fn turns(
    provider: Arc<dyn Provider>,
    toolbox: &Arc<Toolbox>,
    policy: &Policy,
    messages: Vec<Message>,
) -> Vec<Duration> {
    let clocked = Arc::new(Clocked {
        provider,
        sent: Mutex::default(),
    });
    let engine = Engine::new(Arc::clone(&clocked) as _, Arc::clone(toolbox));
    let config = RunConfig {
        recorder: Recorder::off(),
        transcript: None,
        policy: policy.clone(),
        session_id: "session".to_owned(),
        model: "model".to_owned(),
        max_output_tokens: 1_000,
        stream: false,
        limits: RunLimits::default(),
        reminders: Reminders::NEVER,
        think: Think::Off,
        max_parallel_calls: 4,
        briefing: Briefing {
            skills: SkillIndex::default(),
            instructions: Instructions::default(),
            surroundings: Surroundings {
                workspace: "/w".to_owned(),
                platform: "linux".to_owned(),
                date: "2026-01-01".to_owned(),
            },
        },
    };
    let run = engine.run(config, History::restore(messages), "read it");
    let (end, _) = run.finish().await;
    let completed = matches!(
        end,
        Event::Done {
            reason: DoneReason::Completed,
            ..
        }
    );
    assert!(completed, "{end:?}");
    let sent = clocked.sent.lock().expect("no panic under it");
    sent.windows(2).map(|pair| pair[1] - pair[0]).collect()
}
