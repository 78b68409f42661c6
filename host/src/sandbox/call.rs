//! One call: a fresh store, an instance, an answer, and nothing left.
//!
//! Owns the order of a call and its two clocks: the epoch for a guest that runs and a timer for
//! one that waits in the host. A failure of the guest is an outcome, never an error of the host.
//! It must never decide what the call may do; the grant says.

use super::bindings::v0_1;
use super::component::{Component, DESCRIBE_LIMITS, PreparedComponent, flags};
use super::failure::{self, LimitReached, Stopped};
use super::imports::filesystem::Refusals;
use super::runtime::Runtime;
use super::store::{CallIdentity, Guest, new_store};
use crate::policy::{Grant, Policy};
use crate::process::Witness;
use crate::protocol::{CallStats, ImageBlock, Limit, OutputStream, ResultContent, ToolErrorKind};
use crate::workspace::{Journal, NoJournal};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};
use v0_1::hotcell::tool::types;
use wasmtime::Store;

/// How much later than the guest's own clock the timer fires, so that a guest which runs is cut by
/// its epoch, with its fuel known.
const TIMER_SLACK: Duration = Duration::from_millis(10);

/// One call of one tool of a component.
#[derive(Debug, Clone)]
pub struct Invocation {
    /// Which of the component's tools.
    pub tool: String,
    /// JSON text that satisfies the tool's schema.
    pub arguments: String,
    /// The id of the call.
    pub call_id: String,
    /// The id of the session, which scopes the `state` import.
    pub session_id: String,
}

/// Takes what a guest shows and does while it runs. Called on the guest's thread.
pub trait CallOutput: Send + Sync {
    /// A piece of output, in order. It must not block.
    fn output(&self, stream: OutputStream, text: String);

    /// Who is told before the call changes a file of its workspace: nobody, unless said otherwise.
    fn journal(&self) -> Arc<dyn Journal> {
        Arc::new(NoJournal)
    }

    /// Who is told what the workspace looks like around each native process of the call: nobody,
    /// unless said otherwise.
    fn witness(&self) -> Option<Arc<dyn Witness>> {
        None
    }
}

/// How a call ended, and what it used.
#[derive(Debug, Clone)]
pub struct CallOutcome {
    /// The answer, or why there is none.
    pub result: Result<Vec<ResultContent>, CallFailure>,
    /// What the rules for files refused, and what processes made against them and was undone, one
    /// line each, few, each once: the tool saw a code only, or nothing.
    pub refusals: Vec<String>,
    /// What the call used.
    pub stats: CallStats,
}

/// Why a call gave no answer: data for the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallFailure {
    /// What kind of failure.
    pub kind: ToolErrorKind,
    /// What happened and what to do next.
    pub message: String,
}

pub async fn call(
    component: &Component,
    grant: &Grant,
    invocation: Invocation,
    output: Arc<dyn CallOutput>,
) -> CallOutcome {
    let prepared = match component.prepared().await {
        Ok(prepared) => prepared,
        Err(error) => {
            return CallOutcome {
                result: Err(CallFailure {
                    kind: ToolErrorKind::Failed,
                    message: format!(
                        "the component of `{}` cannot be used: {error}",
                        invocation.tool
                    ),
                }),
                refusals: Vec::new(),
                stats: CallStats::default(),
            };
        }
    };
    let identity = CallIdentity {
        session: invocation.session_id.clone(),
        component: component.digest().0.clone(),
    };
    let request = types::Invocation {
        name: invocation.tool,
        arguments: invocation.arguments,
        call_id: invocation.call_id,
        session_id: invocation.session_id,
        granted: flags(grant.capabilities()),
        deadline_ms: grant.limits().deadline_ms,
    };
    let Ended {
        result,
        refusals,
        notes,
        stats,
    } = in_store(
        component.runtime(),
        &prepared,
        grant,
        identity,
        output,
        async |guest, store| {
            let answered = guest
                .hotcell_tool_tool()
                .call_invoke(store, &request)
                .await?;
            Ok(answered)
        },
    )
    .await;
    let result = result
        .map_err(Stopped::of_call)
        .and_then(|answered| match answered {
            Ok(content) => content_within(content, grant.limits().output_bytes),
            Err(error) => Err(error.into()),
        });
    let mut lines = refusals.into_lines();
    lines.extend(notes);
    CallOutcome {
        result,
        refusals: lines,
        stats,
    }
}

/// Asks a component for its definitions, with nothing granted.
pub async fn describe(
    runtime: &Arc<Runtime>,
    prepared: &PreparedComponent,
) -> Result<Vec<types::Definition>, CallFailure> {
    let identity = CallIdentity {
        session: String::new(),
        component: String::new(),
    };
    let grant = Policy::describe_grant(DESCRIBE_LIMITS);
    let ended = in_store(
        runtime,
        prepared,
        &grant,
        identity,
        Arc::new(Unheard),
        async |guest, store| guest.hotcell_tool_tool().call_describe(store).await,
    )
    .await;
    ended.result.map_err(Stopped::of_description)
}

/// Output of a component that describes itself: nobody asked for it.
struct Unheard;

impl CallOutput for Unheard {
    fn output(&self, _stream: OutputStream, _text: String) {}
}

/// How a store ended.
struct Ended<T> {
    result: Result<T, Stopped>,
    refusals: Refusals,
    /// What was found after its native processes.
    notes: Vec<String>,
    stats: CallStats,
}

/// Runs `ask` in a fresh store within the limits of the grant.
async fn in_store<T>(
    runtime: &Arc<Runtime>,
    prepared: &PreparedComponent,
    grant: &Grant,
    identity: CallIdentity,
    output: Arc<dyn CallOutput>,
    ask: impl AsyncFnOnce(&v0_1::ToolComponent, &mut Store<Guest>) -> wasmtime::Result<T>,
) -> Ended<T> {
    // The semaphore is never closed; should it be, the pool itself still refuses.
    let _slot = runtime.slots.acquire().await;
    let started = Instant::now();
    let limits = *grant.limits();
    let mut store = match new_store(runtime, grant, identity, output, started) {
        Ok(store) => store,
        Err(error) => {
            let message = format!("the call cannot start: {error:#}");
            let kind = ToolErrorKind::Failed;
            return Ended {
                result: Err(Stopped::Otherwise(CallFailure { kind, message })),
                refusals: Refusals::default(),
                notes: Vec::new(),
                stats: CallStats::default(),
            };
        }
    };
    let ended = {
        let deadline = Duration::from_millis(limits.deadline_ms) + TIMER_SLACK;
        let running = async {
            let guest = prepared.pre.instantiate_async(&mut store).await?;
            ask(&guest, &mut store).await
        };
        within(deadline, running).await
    };
    let duration = started.elapsed();
    let used_ms = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    let result = match ended {
        Some(Ok(answer)) => Ok(answer),
        Some(Err(error)) => Err(failure::explain(&error, &limits, &store.data().log.tail())),
        None => Err(Stopped::Limit(LimitReached::new(
            Limit::Deadline,
            used_ms,
            &limits,
        ))),
    };
    let stats = CallStats {
        duration_us: u64::try_from(duration.as_micros()).unwrap_or(u64::MAX),
        fuel: limits
            .fuel
            .saturating_sub(store.get_fuel().unwrap_or(limits.fuel)),
        memory_bytes: store.data().peak_memory_bytes(),
        host_calls: store.data().host_calls(),
    };
    let refusals = std::mem::take(&mut store.data_mut().refusals);
    let endings = std::mem::take(&mut store.data_mut().endings);
    // Ends what the guest left running; the next call finds the workspace at rest.
    drop(store);
    Ended {
        result,
        refusals,
        notes: endings.notes().await,
        stats,
    }
}

/// `None` when the time is up; the future is dropped then, and the guest with it.
async fn within<F: Future>(limit: Duration, future: F) -> Option<F::Output> {
    tokio::time::timeout(limit, future).await.ok()
}

/// Translates an answer, unless it is larger than allowed.
fn content_within(
    content: Vec<types::Content>,
    allowed: u64,
) -> Result<Vec<ResultContent>, CallFailure> {
    let used: u64 = content
        .iter()
        .map(|part| match part {
            types::Content::Text(text) => text.len() as u64,
            types::Content::Image(image) => image.data.len() as u64,
        })
        .sum();
    if used > allowed {
        return Err(LimitReached {
            limit: Limit::Output,
            used,
            allowed,
        }
        .into());
    }
    Ok(content
        .into_iter()
        .map(|part| match part {
            types::Content::Text(text) => ResultContent::Text { text },
            types::Content::Image(image) => ResultContent::Image(ImageBlock {
                media_type: image.media_type,
                data: STANDARD.encode(image.data),
            }),
        })
        .collect())
}

impl From<types::CallError> for CallFailure {
    fn from(error: types::CallError) -> Self {
        let kind = match error.kind {
            types::ErrorKind::InvalidArguments => ToolErrorKind::InvalidArguments,
            types::ErrorKind::NotFound => ToolErrorKind::NotFound,
            types::ErrorKind::Denied => ToolErrorKind::Denied,
            types::ErrorKind::Conflict => ToolErrorKind::Conflict,
            types::ErrorKind::Failed => ToolErrorKind::Failed,
        };
        CallFailure {
            kind,
            message: error.message,
        }
    }
}
