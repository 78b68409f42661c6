//! What a transcript is handed, when, and what becomes of a run that cannot be kept.

use super::*;
use crate::engine::Transcript;
use crate::protocol::{Role, SessionEntry};
use crate::provider::Provider;
use std::error::Error;
use std::sync::Mutex;

/// Remembers what it was handed, as far as there is room.
#[derive(Debug)]
struct Kept {
    entries: Mutex<Vec<SessionEntry>>,
    room: usize,
}

impl Transcript for Kept {
    fn append(&self, entry: &SessionEntry) -> Result<(), Box<dyn Error + Send + Sync>> {
        let mut entries = self.entries.lock().expect("no panic under it");
        if entries.len() == self.room {
            return Err("the disk is full".into());
        }
        entries.push(entry.clone());
        Ok(())
    }
}

impl Kept {
    fn with_room(room: usize) -> Arc<Kept> {
        Arc::new(Kept {
            entries: Mutex::default(),
            room,
        })
    }

    /// The history that another process makes of it.
    fn restored(&self) -> History {
        let entries = self.entries.lock().expect("no panic under it");
        let mut messages: Vec<Message> = Vec::new();
        for entry in entries.iter() {
            let content = match entry {
                SessionEntry::User(content) | SessionEntry::Answer { content, .. } => {
                    content.clone()
                }
                SessionEntry::Result(result) => vec![ContentBlock::ToolResult(result.clone())],
            };
            match messages.last_mut() {
                Some(last) if (last.role, entry.role()) == (Role::User, Role::User) => {
                    last.content.extend(content);
                }
                _ => messages.push(Message {
                    role: entry.role(),
                    content,
                }),
            }
        }
        History::restore(messages)
    }
}

fn turns() -> Vec<Say> {
    vec![
        calls([call("a", "x", json!({})), call("a", "y", json!({}))]),
        nothing(),
        calls([call("", "z", json!({}))]),
        says("done"),
    ]
}

#[tokio::test]
async fn what_is_kept_makes_the_same_history_as_the_run_left() {
    for think in [Think::Off, Think::First, Think::Always] {
        let thoughts = match think {
            Think::Off => 0,
            Think::First => 1,
            Think::Always => 4,
        };
        let mut plan = Vec::new();
        for (at, turn) in turns().into_iter().enumerate() {
            if at < thoughts {
                plan.push(says("I think"));
            }
            plan.push(turn);
        }
        let model = Model::new(plan);
        let kept = Kept::with_room(usize::MAX);
        let config = RunConfig {
            think,
            transcript: Some(Arc::clone(&kept) as _),
            ..config()
        };
        let (_, history) = play(&model, config).await;
        assert_eq!(kept.restored().messages(), history.messages(), "{think:?}");
        let entries = kept.entries.lock().expect("no panic under it");
        let spent: u64 = entries
            .iter()
            .map(|entry| match entry {
                SessionEntry::Answer { usage, .. } => usage.output_tokens,
                _ => 0,
            })
            .sum();
        assert_eq!(
            spent,
            10 * model.asked().len() as u64,
            "also of blank answers"
        );
    }
}

/// A model that looks at what is kept whenever it is asked.
struct Watching {
    model: Arc<Model>,
    kept: Arc<Kept>,
}

impl Provider for Watching {
    fn name(&self) -> &str {
        "watching"
    }

    fn send(&self, request: Request) -> ChunkStream {
        assert_eq!(self.kept.restored().messages(), &request.messages);
        self.model.send(request)
    }
}

#[tokio::test]
async fn all_that_the_model_is_shown_is_kept_before() {
    let kept = Kept::with_room(usize::MAX);
    // A reminder, which is never kept, would follow a blank answer.
    let mut plan = turns();
    plan.remove(1);
    let model = Model::new(plan);
    let watching = Watching {
        model: Arc::clone(&model),
        kept: Arc::clone(&kept),
    };
    let config = RunConfig {
        transcript: Some(kept as _),
        ..config()
    };
    let engine = Engine::new(Arc::new(watching), no_tools().await);
    let (events, _) = to_end(engine.run(config, History::new(), "go")).await;
    assert!(
        matches!(end(&events), Event::Done { turns: 3, .. }),
        "{events:?}"
    );
}

#[tokio::test]
async fn what_cannot_be_kept_is_told_once_and_the_run_goes_on() {
    for room in 0..8 {
        let model = Model::new(turns());
        let kept = Kept::with_room(room);
        let config = RunConfig {
            transcript: Some(Arc::clone(&kept) as _),
            ..config()
        };
        let (events, _) = play(&model, config).await;
        assert!(matches!(end(&events), Event::Done { .. }));
        let told: Vec<_> = notices(&events)
            .into_iter()
            .filter(|(code, _)| *code == "session_not_kept")
            .collect();
        assert_eq!(told.len(), 1, "room {room}");
        assert!(told[0].1.contains("the disk is full"), "{}", told[0].1);
    }
}

#[tokio::test]
async fn what_was_said_before_an_interruption_is_kept() {
    let model = Model::new([Say::Hang(vec![Chunk::Text("Well,".into())])]);
    let kept = Kept::with_room(usize::MAX);
    let config = RunConfig {
        transcript: Some(Arc::clone(&kept) as _),
        ..config()
    };
    let engine = Engine::new(Arc::clone(&model) as _, no_tools().await);
    let mut run = engine.run(config, History::new(), "go");
    while let Some(event) = run.events.next().await {
        if matches!(event, Event::ActionDelta { .. }) {
            run.control.interrupt();
        }
    }
    let history = run.outcome.await;
    assert_eq!(history.messages().len(), 2);
    assert_eq!(kept.restored().messages(), history.messages());
}
