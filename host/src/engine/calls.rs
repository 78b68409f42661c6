//! The calls of a turn, side by side.
//!
//! Owns how many run at once, the order of their results, and the pair of events that frames each.
//! It must never judge an argument or a failure: a result goes to the model as it is.

use super::emit::{Emitter, notice};
use super::run::Driver;
use super::transcript::Keeper;
use crate::process::Witness;
use crate::protocol::{
    Event, NoticeLevel, OutputStream, SessionEntry, ToolCall, ToolErrorKind, ToolResult,
};
use crate::sandbox::CallOutput;
use crate::tools::{Admitted, CallWatcher};
use crate::undo::{CallJournal, Step};
use crate::workspace::Journal;
use futures::FutureExt;
use serde_json::Value;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

const CUT_SHORT: &str =
    "interrupted: the run was stopped while this call ran; it may have done a part of its work";
const NOT_BEGUN: &str = "interrupted: the run was stopped before this call began; nothing was done";
const CRASHED: &str =
    "crashed: a fault in hotcell ended this call; it may have done a part of its work";

impl Driver {
    /// Runs `calls` and answers their results in call order. Calls begin in call order too, so
    /// that those on one path run one after the other as the model gave them.
    pub(super) async fn run_calls(&self, calls: &[ToolCall]) -> Worked {
        let slots = usize::try_from(self.config.max_parallel_calls).unwrap_or(usize::MAX);
        let slots = Arc::new(Semaphore::new(slots.clamp(1, Semaphore::MAX_PERMITS)));
        let mut has_changed = false;
        let mut results: Vec<Option<ToolResult>> = vec![None; calls.len()];
        let mut at_work = JoinSet::new();
        for (index, call) in calls.iter().enumerate() {
            let slot = tokio::select! {
                biased;
                () = self.cancel.cancelled() => break,
                slot = Arc::clone(&slots).acquire_owned() => slot,
            };
            match self.admit(call) {
                Ok(admitted) => {
                    self.tell_start(call, admitted.arguments().clone()).await;
                    let journal = self.config.recorder.call(Step {
                        turn: self.turns,
                        call: u32::try_from(index + 1).unwrap_or(u32::MAX),
                        tool: call.name.clone(),
                    });
                    let work = Work {
                        call: call.clone(),
                        journal,
                        emitter: self.emitter.clone(),
                        keeper: self.keeper.clone(),
                        cancel: self.cancel.clone(),
                        session_id: self.config.session_id.clone(),
                    };
                    let work = async move {
                        let (result, changed) = work.run(admitted).await;
                        drop(slot);
                        (index, result, changed)
                    };
                    if calls.len() == 1 {
                        // Another task would only cost the way to another thread and back.
                        let (_, result, changed) = work.await;
                        has_changed |= changed;
                        results[index] = Some(result);
                    } else {
                        at_work.spawn(work);
                    }
                }
                Err(result) => {
                    let sent = match &call.malformed {
                        Some(text) => Value::String(text.clone()),
                        None => call.arguments.clone(),
                    };
                    self.tell_start(call, sent).await;
                    self.keep(&result).await;
                    self.emitter.result(&result).await;
                    results[index] = Some(result);
                }
            }
        }
        while let Some(joined) = at_work.join_next().await {
            // A task cannot panic outside the call, and nobody aborts it.
            if let Ok((index, result, changed)) = joined {
                has_changed |= changed;
                results[index] = Some(result);
            }
        }
        let mut whole = Vec::with_capacity(calls.len());
        for (call, result) in calls.iter().zip(results) {
            whole.push(match result {
                Some(result) => result,
                None => {
                    let result = failure(call, ToolErrorKind::Interrupted, NOT_BEGUN);
                    self.keep(&result).await;
                    result
                }
            });
        }
        Worked {
            results: whole,
            has_changed,
        }
    }

    async fn keep(&self, result: &ToolResult) {
        let entry = || SessionEntry::Result(result.clone());
        self.keeper.keep(entry).await;
    }

    fn admit(&self, call: &ToolCall) -> Result<Admitted, ToolResult> {
        catch_unwind(AssertUnwindSafe(|| {
            self.engine.toolbox.admit(&self.config.policy, call)
        }))
        .unwrap_or_else(|_| Err(failure(call, ToolErrorKind::Crashed, CRASHED)))
    }

    async fn tell_start(&self, call: &ToolCall, arguments: Value) {
        self.emitter
            .promise(Event::ToolStart {
                call_id: call.id.clone(),
                name: call.name.clone(),
                arguments,
            })
            .await;
    }
}

/// What the calls of a turn came to.
pub(super) struct Worked {
    /// In call order.
    pub(super) results: Vec<ToolResult>,
    /// Whether any of them changed the workspace.
    pub(super) has_changed: bool,
}

/// What the task of one call needs.
struct Work {
    call: ToolCall,
    journal: Arc<CallJournal>,
    emitter: Emitter,
    keeper: Keeper,
    cancel: CancellationToken,
    session_id: String,
}

impl Work {
    /// Runs the call and tells its result, whatever happens. Also whether it changed anything.
    async fn run(self, admitted: Admitted) -> (ToolResult, bool) {
        let result = tokio::select! {
            biased;
            result = self.call(admitted) => result,
            () = self.cancel.cancelled() => failure(&self.call, ToolErrorKind::Interrupted, CUT_SHORT),
        };
        // What a call leaves running is ended with it; then it changes nothing more.
        self.journal.at_rest().await;
        let has_changed = self.journal.was_told();
        if has_changed {
            let journal = Arc::clone(&self.journal);
            let kept = tokio::task::spawn_blocking(move || journal.finish()).await;
            for message in kept.unwrap_or_default() {
                self.emitter
                    .notice(NoticeLevel::Warning, "not_kept", message)
                    .await;
            }
        }
        let entry = || SessionEntry::Result(result.clone());
        self.keeper.keep(entry).await;
        self.emitter.result(&result).await;
        (result, has_changed)
    }

    /// Runs the call and hands on what it shows meanwhile. A consumer that is slow to take that
    /// does not slow the call down: it waits here, bounded by the output limit of the call.
    async fn call(&self, admitted: Admitted) -> ToolResult {
        let (sender, mut shown) = mpsc::unbounded_channel();
        let outlet = Arc::new(Outlet {
            call_id: self.call.id.clone(),
            journal: Arc::clone(&self.journal),
            sender: Mutex::new(Some(sender)),
        });
        let watcher: Arc<dyn CallWatcher> = Arc::clone(&outlet) as _;
        let work = async {
            let ended = AssertUnwindSafe(admitted.run(&self.session_id, watcher))
                .catch_unwind()
                .await;
            outlet.close();
            ended.unwrap_or_else(|_| failure(&self.call, ToolErrorKind::Crashed, CRASHED))
        };
        let hand_on = async {
            while let Some(event) = shown.recv().await {
                self.emitter.tell(event).await;
            }
        };
        tokio::join!(work, hand_on).0
    }
}

/// Where a running call leaves what it shows.
struct Outlet {
    call_id: String,
    journal: Arc<CallJournal>,
    /// Taken when the call ends, so that nothing it left behind keeps the run waiting.
    sender: Mutex<Option<mpsc::UnboundedSender<Event>>>,
}

impl Outlet {
    fn send(&self, event: Event) {
        if let Some(sender) = &*self.sender.lock().unwrap_or_else(PoisonError::into_inner) {
            // Nobody listens once the call is dropped.
            let _ = sender.send(event);
        }
    }

    fn close(&self) {
        self.sender
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
    }
}

impl CallOutput for Outlet {
    fn output(&self, stream: OutputStream, text: String) {
        self.send(Event::ToolOutput {
            call_id: self.call_id.clone(),
            stream,
            text,
        });
    }

    fn journal(&self) -> Arc<dyn Journal> {
        Arc::clone(&self.journal) as _
    }

    fn witness(&self) -> Option<Arc<dyn Witness>> {
        self.journal
            .is_kept()
            .then(|| Arc::clone(&self.journal) as _)
    }
}

impl CallWatcher for Outlet {
    fn compiling(&self, tool: &str) {
        self.send(notice(
            NoticeLevel::Info,
            "compiling",
            format!("`{tool}` is being compiled for this machine"),
        ));
    }
}

fn failure(call: &ToolCall, kind: ToolErrorKind, message: &str) -> ToolResult {
    ToolResult::failure(call.id.clone(), call.name.clone(), kind, message)
}
