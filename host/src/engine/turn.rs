//! One turn: a request, its answer, the calls it asks for.
//!
//! Owns reading an answer as it comes and storing it before anything is done about it. It must
//! never decide whether another turn follows.

use super::Think;
use super::guards::Deeds;
use super::run::{Driver, End};
use crate::history::{estimate_message, estimate_text};
use crate::protocol::{
    ContentBlock, Event, Message, NoticeLevel, RunErrorKind, ToolDefinition, Usage,
};
use crate::provider::{Chunk, ProviderError, Request, Response, StopReason};
use futures::StreamExt;
use std::sync::Arc;

/// How a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turned {
    /// The model called tools, and they have answered.
    Acted,
    /// The model spoke and called nothing.
    Answered,
    /// The model said nothing.
    Blank,
    /// The model spoke, and was cut at its limit of tokens.
    Cut,
    /// The model, or its vendor, refused to go on.
    Refused,
}

/// What a request asks for.
pub(super) struct Question {
    pub(super) system: String,
    pub(super) messages: Arc<Vec<Message>>,
    pub(super) tools: Arc<[ToolDefinition]>,
    pub(super) voice: Voice,
}

/// As what the text of an answer is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Voice {
    Action,
    Thought,
}

impl Driver {
    /// Takes one turn. `reminder` rides along in the outgoing copy.
    pub(super) async fn turn(&mut self, reminder: Option<String>) -> Result<Turned, End> {
        if self.thinks() {
            self.think().await?;
        }
        let messages = match reminder {
            Some(text) => self.history.with_reminder(&text),
            None => Arc::clone(self.history.messages()),
        };
        let answer = self
            .ask(Question {
                system: self.system.clone(),
                messages,
                tools: Arc::clone(&self.tools),
                voice: Voice::Action,
            })
            .await?;
        let (stop, usage) = (answer.stop, answer.usage);
        let answer = Message::assistant(answer.content);
        let answer_tokens = estimate_message(&answer);
        let text = answer.text();
        let calls = self.store_answer(answer.content, usage).await;
        let blank = text.trim().is_empty();
        if !blank {
            self.text = text;
        }
        let mut deeds = Deeds {
            calls: &calls,
            usage: self.usage_or(answer_tokens),
            ..Deeds::default()
        };
        if !calls.is_empty() {
            let worked = self.run_calls(&calls).await;
            deeds.has_changed = worked.has_changed;
            deeds.fuel = worked.results.iter().map(|result| result.stats.fuel).sum();
            self.guards.count(&deeds);
            self.history.push_results(worked.results);
            return if self.cancel.is_cancelled() {
                Err(End::Interrupted)
            } else {
                Ok(Turned::Acted)
            };
        }
        self.guards.count(&deeds);
        Ok(match (blank, stop) {
            (_, StopReason::Refused) => Turned::Refused,
            (false, StopReason::MaxTokens) => Turned::Cut,
            (false, _) => Turned::Answered,
            (true, _) => Turned::Blank,
        })
    }

    /// What the vendor counted in this turn, or what is likely where it counts nothing.
    fn usage_or(&self, answer_tokens: u64) -> Usage {
        if self.turn_usage != Usage::default() {
            return self.turn_usage;
        }
        Usage {
            input_tokens: self.asked_tokens,
            output_tokens: answer_tokens,
            ..Usage::default()
        }
    }

    fn thinks(&self) -> bool {
        match self.config.think {
            Think::Off => false,
            Think::First => self.turns == 1,
            Think::Always => true,
        }
    }

    /// Sends one request and hands its answer on as it comes. The request is gone when this
    /// returns, so that the history can grow in place.
    pub(super) async fn ask(&mut self, question: Question) -> Result<Response, End> {
        let tools_tokens = if question.tools.is_empty() {
            0
        } else {
            self.tools_tokens
        };
        self.asked_tokens = estimate_text(&question.system) + tools_tokens + self.history.tokens();
        self.emitter
            .tell(Event::TokenUpdate {
                usage: Usage {
                    input_tokens: self.asked_tokens,
                    ..Usage::default()
                },
                estimated: true,
            })
            .await;
        let voice = question.voice;
        let mut answer = self.engine.provider.send(Request {
            model: self.config.model.clone(),
            system: question.system,
            messages: question.messages,
            tools: question.tools,
            max_output_tokens: self.config.max_output_tokens,
            stream: self.config.stream,
        });
        let mut said = String::new();
        let mut counted = false;
        loop {
            let chunk = tokio::select! {
                biased;
                () = self.cancel.cancelled() => {
                    drop(answer);
                    // What the person saw is what the model is reminded of when the run goes on.
                    let said = vec![ContentBlock::text(said)];
                    self.store_answer(said, Usage::default()).await;
                    return Err(End::Interrupted);
                }
                chunk = answer.next() => chunk,
            };
            match chunk {
                Some(Ok(Chunk::Text(text))) => {
                    said.push_str(&text);
                    let event = match voice {
                        Voice::Action => Event::ActionDelta { text },
                        Voice::Thought => Event::ThinkingDelta { text },
                    };
                    self.emitter.tell(event).await;
                }
                Some(Ok(Chunk::Thinking(text))) => {
                    self.emitter.tell(Event::ThinkingDelta { text }).await;
                }
                Some(Ok(Chunk::Usage(usage))) => {
                    counted = true;
                    self.count(usage).await;
                }
                Some(Ok(Chunk::Repaired(what))) => {
                    if self.repairs.insert(what.clone()) {
                        self.emitter
                            .notice(NoticeLevel::Warning, "request_repaired", what)
                            .await;
                    }
                }
                Some(Ok(Chunk::Retrying { attempt, wait, why })) => {
                    let wait = wait.as_secs_f64();
                    let message = format!("{why}; try {attempt} in {wait:.1} s");
                    self.emitter
                        .notice(NoticeLevel::Info, "request_retried", message)
                        .await;
                }
                Some(Ok(Chunk::Completed(response))) => {
                    drop(answer);
                    if !counted && response.usage != Usage::default() {
                        self.count(response.usage).await;
                    }
                    self.tell_stop(response.stop).await;
                    return Ok(response);
                }
                Some(Err(error)) => return Err(fault(&error)),
                None => {
                    return Err(End::Fault {
                        kind: RunErrorKind::Provider,
                        message: "the provider ended its answer without completing it".to_owned(),
                    });
                }
            }
        }
    }

    async fn count(&mut self, usage: Usage) {
        self.turn_usage += usage;
        self.emitter
            .tell(Event::TokenUpdate {
                usage,
                estimated: false,
            })
            .await;
    }

    /// Tells of a stop that a person would not expect.
    async fn tell_stop(&self, stop: StopReason) {
        let (code, message) = match stop {
            StopReason::MaxTokens => (
                "answer_cut",
                format!(
                    "the answer reached its limit of {} tokens and is cut",
                    self.config.max_output_tokens
                ),
            ),
            StopReason::Refused => (
                "answer_refused",
                "the model or its vendor refused to go on".to_owned(),
            ),
            _ => return,
        };
        self.emitter
            .notice(NoticeLevel::Warning, code, message)
            .await;
    }
}

fn fault(error: &ProviderError) -> End {
    End::Fault {
        kind: match error {
            ProviderError::InvalidRequest { .. } => RunErrorKind::InvalidRequest,
            _ => RunErrorKind::Provider,
        },
        message: error.to_string(),
    }
}
