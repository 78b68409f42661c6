//! From the prompt to the terminal event.
//!
//! Owns the order of turns and the reasons to stop. Whatever happens in a turn, a panic included,
//! the run ends here with one terminal event and a history that can go on. It must never look into
//! an answer or a call.

use super::alarm::Alarm;
use super::control::{self, Ends, Run};
use super::emit::Emitter;
use super::guards::Guards;
use super::transcript::Keeper;
use super::turn::Turned;
use super::{Engine, RunConfig, RunInfo};
use crate::history::{History, estimate_text};
use crate::prompt;
use crate::protocol::{
    ContentBlock, DoneReason, Event, NoticeLevel, Price, Role, RunErrorKind, SessionEntry,
    ToolCall, ToolDefinition, Usage,
};
use futures::FutureExt;
use std::collections::HashSet;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

/// Events that wait for a slow consumer before the run waits too.
const EVENTS_IN_FLIGHT: usize = 256;

/// Said once to a model that answered nothing, in the outgoing copy only.
const BLANK_REMINDER: &str =
    "Your last answer was empty. Go on with the task: call a tool, or give your final answer.";

/// Why a run ends.
#[derive(Debug)]
pub(super) enum End {
    Done(DoneReason),
    Interrupted,
    Fault { kind: RunErrorKind, message: String },
}

/// A run at work.
pub(super) struct Driver {
    pub(super) engine: Engine,
    pub(super) config: Arc<RunConfig>,
    pub(super) emitter: Emitter,
    pub(super) keeper: Keeper,
    pub(super) cancel: CancellationToken,
    pub(super) history: History,
    /// The system prompt, built for this run.
    pub(super) system: String,
    /// The tools offered in this run.
    pub(super) tools: Arc<[ToolDefinition]>,
    /// Estimated tokens of `tools`.
    pub(super) tools_tokens: u64,
    /// The turns begun.
    pub(super) turns: u32,
    /// Estimated tokens of the last request.
    pub(super) asked_tokens: u64,
    /// The tokens of the turn under way.
    pub(super) turn_usage: Usage,
    /// The last text of the model.
    pub(super) text: String,
    /// The repairs of requests that were told. The same part of a history is repaired in every
    /// turn, and told of once.
    pub(super) repairs: HashSet<String>,
    /// The tokens of all turns that ended.
    usage: Usage,
    in_turn: bool,
    pub(super) guards: Guards,
    info: RunInfo,
}

/// Starts the task of a run.
pub(super) fn start(engine: Engine, config: RunConfig, history: History, prompt: String) -> Run {
    let (run, ends) = control::ends(EVENTS_IN_FLIGHT);
    let Ends {
        emitter,
        cancel,
        history: left,
    } = ends;
    let span = tracing::info_span!("run", session = %config.session_id);
    let info = RunInfo {
        session_id: config.session_id.clone(),
        provider: engine.provider.name().to_owned(),
        model: config.model.clone(),
    };
    let mut driver = Driver {
        keeper: Keeper::new(config.transcript.clone(), emitter.clone()),
        emitter,
        engine,
        cancel,
        history,
        system: String::new(),
        tools: Arc::default(),
        tools_tokens: 0,
        turns: 0,
        asked_tokens: 0,
        turn_usage: Usage::default(),
        text: String::new(),
        repairs: HashSet::new(),
        usage: Usage::default(),
        in_turn: false,
        guards: Guards::new(config.limits, config.reminders),
        config: Arc::new(config),
        info,
    };
    let alarm = Alarm::set(driver.config.limits.time, &driver.cancel);
    let task = async move {
        driver.engine.observer.run_started(&driver.info);
        let end = AssertUnwindSafe(driver.drive(prompt))
            .catch_unwind()
            .await
            .unwrap_or_else(|_| End::Fault {
                kind: RunErrorKind::Internal,
                message: "a fault in hotcell ended the run; the history is kept".to_owned(),
            });
        let end = match end {
            End::Interrupted if alarm.has_rung() => End::Done(DoneReason::MaxTime),
            end => end,
        };
        driver.end_turn();
        driver.history.close();
        let last = driver.terminal(end);
        driver.engine.observer.run_ended(&driver.info, &last);
        let Driver {
            emitter, history, ..
        } = driver;
        // Nobody may want it.
        let _ = left.send(history);
        emitter.last(last);
    };
    tokio::spawn(task.instrument(span));
    run
}

impl Driver {
    async fn drive(&mut self, prompt: String) -> End {
        let said = vec![ContentBlock::text(prompt)];
        if !self.history.push_user(said.clone()) {
            return End::Fault {
                kind: RunErrorKind::InvalidRequest,
                message: "the prompt is blank".to_owned(),
            };
        }
        self.keeper.keep(|| SessionEntry::User(said)).await;
        let cancel = self.cancel.clone();
        tokio::select! {
            biased;
            () = cancel.cancelled() => return End::Interrupted,
            () = self.prepare() => {}
        }
        let mut reminder = None;
        let mut reminded = false;
        loop {
            if self.cancel.is_cancelled() {
                return End::Interrupted;
            }
            if let Some(reason) = self.guards.stop() {
                return End::Done(reason);
            }
            self.begin_turn().await;
            let turned = self.turn(reminder.take()).await;
            self.end_turn();
            let turned = match turned {
                Ok(turned) => turned,
                Err(end) => return end,
            };
            self.emitter
                .tell(Event::TurnDone {
                    turn: self.turns,
                    usage: self.turn_usage,
                })
                .await;
            match turned {
                Turned::Acted => reminder = self.guards.reminder(),
                Turned::Answered => return End::Done(DoneReason::Completed),
                Turned::Blank if reminded => return End::Done(DoneReason::Empty),
                Turned::Blank => {
                    reminded = true;
                    reminder = Some(BLANK_REMINDER.to_owned());
                }
                Turned::Cut => return End::Done(DoneReason::Cut),
                Turned::Refused => return End::Done(DoneReason::Refused),
            }
        }
    }

    /// Stores what the model says, here and for later, and answers its calls.
    pub(super) async fn store_answer(
        &mut self,
        content: Vec<ContentBlock>,
        usage: Usage,
    ) -> Vec<ToolCall> {
        let before = self.history.messages().len();
        let calls = self.history.push_answer(content);
        self.keep_answer(before, usage).await;
        calls
    }

    /// Keeps the answer that was stored behind `before` messages, if it said anything.
    pub(super) async fn keep_answer(&self, before: usize, usage: Usage) {
        let stored = self.history.messages().get(before..).unwrap_or_default();
        let said = stored.iter().rfind(|said| said.role == Role::Assistant);
        let content = || said.map(|said| said.content.clone()).unwrap_or_default();
        if said.is_some() || usage != Usage::default() {
            let entry = || SessionEntry::Answer {
                content: content(),
                usage,
            };
            self.keeper.keep(entry).await;
        }
    }

    /// What every request of the run begins with.
    async fn prepare(&mut self) {
        let policy = &self.config.policy;
        self.engine.toolbox.prepare();
        self.tools = self.engine.toolbox.offered(policy);
        self.tools_tokens = self
            .tools
            .iter()
            .map(|tool| {
                estimate_text(&tool.name)
                    + estimate_text(&tool.description)
                    + estimate_text(&tool.input_schema.to_string())
            })
            .sum();
        let briefing = &self.config.briefing;
        for notice in &briefing.skills.notices {
            self.emitter
                .notice(NoticeLevel::Warning, "skill_not_listed", notice.to_string())
                .await;
        }
        for notice in &briefing.instructions.notices {
            let message = notice.clone();
            self.emitter
                .notice(NoticeLevel::Warning, "instructions_cut", message)
                .await;
        }
        self.system = prompt::system(policy, briefing);
    }

    async fn begin_turn(&mut self) {
        self.turns += 1;
        self.turn_usage = Usage::default();
        self.in_turn = true;
        self.engine.observer.turn_started(&self.info, self.turns);
        self.emitter
            .tell(Event::TurnStarted { turn: self.turns })
            .await;
    }

    /// Counts the turn under way, if there is one.
    fn end_turn(&mut self) {
        if std::mem::take(&mut self.in_turn) {
            self.usage += self.turn_usage;
            self.engine
                .observer
                .turn_ended(&self.info, self.turns, self.turn_usage);
        }
    }

    fn terminal(&mut self, end: End) -> Event {
        match end {
            End::Done(reason) => Event::Done {
                reason,
                turns: self.turns,
                usage: self.usage,
                cost: (self.config.limits.price != Price::default()).then(|| self.guards.cost()),
                text: std::mem::take(&mut self.text),
            },
            End::Interrupted => Event::Interrupted {
                turns: self.turns,
                usage: self.usage,
            },
            End::Fault { kind, message } => Event::Error { kind, message },
        }
    }
}
