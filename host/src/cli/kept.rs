//! What a run keeps: its session, found, begun or copied, and joined to the engine and the sandbox.
//!
//! Owns the decisions of the command line. A run without a flag begins a session of its own. One
//! that cannot be kept still runs, and says so; one that was to go on with a session does not. A
//! session is gone on with in its own workspace only, so that what one workspace held is not taken
//! to another by accident; a copy, which has to be asked for, may be.

use super::args::SessionArgs;
use super::exit::CommandError;
use crate::config::Config;
use crate::engine::Transcript;
use crate::history::History;
use crate::protocol::{Event, NoticeLevel, SessionEntry};
use crate::sandbox::{MemoryState, QUOTA_BYTES, SessionState, StateError, Versioned};
use crate::store::{NewRun, Session, Store, StoreError, Swapped};
use std::error::Error;
use std::sync::Arc;

/// The store of a run, before it has a session.
pub(super) struct Kept {
    store: Option<Store>,
    notices: Vec<Event>,
}

/// A run with its session.
pub(super) struct Opened {
    /// The id under which tools keep their notes.
    pub session_id: String,
    /// What the run is added to.
    pub transcript: Option<Arc<dyn Transcript>>,
    /// What was said before.
    pub history: History,
    /// What a person or a program has to know, to be told first.
    pub events: Vec<Event>,
}

impl Kept {
    /// Opens the store that the settings name.
    ///
    /// # Errors
    /// When it cannot be used and a session of it was asked for.
    pub(super) fn open(config: &Config, asked: &SessionArgs) -> Result<Kept, CommandError> {
        if !config.sessions.enabled {
            if asked.names_one() {
                return Err(CommandError::SessionsOff);
            }
            return Ok(Kept::none());
        }
        match store(config) {
            Ok(store) => Ok(Kept::in_store(store)),
            Err(error) if asked.names_one() => Err(error.into()),
            Err(error) => Ok(Kept {
                store: None,
                notices: vec![not_kept(&error)],
            }),
        }
    }

    /// Keeps nothing.
    pub(super) const fn none() -> Kept {
        Kept {
            store: None,
            notices: Vec::new(),
        }
    }

    /// Keeps in this store.
    pub(super) const fn in_store(store: Store) -> Kept {
        Kept {
            store: Some(store),
            notices: Vec::new(),
        }
    }

    /// Where tools keep their notes.
    pub(super) fn state(&self) -> Arc<dyn SessionState> {
        match &self.store {
            Some(store) => Arc::new(StoreState {
                store: store.clone(),
                memory: MemoryState::default(),
            }),
            None => Arc::new(MemoryState::default()),
        }
    }

    /// Finds or begins the session of the run.
    ///
    /// # Errors
    /// When one was asked for that is not there, is in use or belongs elsewhere.
    pub(super) fn begin(
        mut self,
        asked: Option<&SessionArgs>,
        run: &NewRun<'_>,
    ) -> Result<Opened, CommandError> {
        let without = |events| Opened {
            session_id: run.run.to_owned(),
            transcript: None,
            history: History::new(),
            events,
        };
        let Some(store) = &self.store else {
            return Ok(without(self.notices));
        };
        let opened = match asked {
            Some(asked) if asked.names_one() => go_on(store, asked, run),
            _ => match store.begin(run) {
                Ok(session) => Ok((session, History::new(), None)),
                Err(error) => {
                    self.notices.push(not_kept(&error));
                    return Ok(without(self.notices));
                }
            },
        };
        let (session, history, loss) = opened?;
        let mut events = self.notices;
        events.extend(store.losses().into_iter().chain(loss).map(damaged));
        events.insert(
            0,
            Event::SessionOpened {
                session_id: session.id().to_owned(),
                run_id: run.run.to_owned(),
                messages: session.had(),
            },
        );
        Ok(Opened {
            session_id: session.id().to_owned(),
            transcript: Some(Arc::new(session)),
            history,
            events,
        })
    }
}

impl SessionArgs {
    /// Whether a session was named, in whatever way.
    fn names_one(&self) -> bool {
        self.last || self.session.is_some() || self.fork.is_some()
    }
}

/// The store that the settings name, to be read or added to.
pub(super) fn store(config: &Config) -> Result<Store, StoreError> {
    let path = config.sessions.db.as_deref().ok_or(StoreError::NoPlace)?;
    Store::open(path)
}

fn go_on(
    store: &Store,
    asked: &SessionArgs,
    run: &NewRun<'_>,
) -> Result<(Session, History, Option<String>), CommandError> {
    let (session, info) = if let Some(fork) = &asked.fork {
        let source = store.find(&fork.session)?;
        let session = store.fork(&source, fork.message, run)?;
        let info = store.find(session.id())?;
        (session, info)
    } else {
        let info = match &asked.session {
            Some(id) => store.find(id)?,
            None => store
                .last(run.workspace)?
                .ok_or(CommandError::NothingToContinue)?,
        };
        if info.workspace != run.workspace.to_string_lossy() {
            return Err(CommandError::OtherWorkspace {
                id: info.id,
                workspace: info.workspace,
            });
        }
        (store.resume(&info.id, run)?, info)
    };
    // Read once nobody else can add to it.
    let kept = store.read(&info)?;
    let loss = (!kept.lost.is_empty()).then(|| {
        let numbers: Vec<String> = kept.lost.iter().map(u64::to_string).collect();
        format!(
            "{} of the messages of session {} cannot be read and are left out: {}",
            numbers.len(),
            info.id,
            numbers.join(", ")
        )
    });
    Ok((session, History::restore(kept.into_messages()), loss))
}

fn not_kept(error: &StoreError) -> Event {
    Event::Notice {
        level: NoticeLevel::Warning,
        code: "session_off".to_owned(),
        message: format!("this run is not kept as a session: {error}"),
    }
}

/// What was found damaged.
pub(super) fn damaged(loss: String) -> Event {
    Event::Notice {
        level: NoticeLevel::Warning,
        code: "session_damaged".to_owned(),
        message: loss,
    }
}

impl Transcript for Session {
    fn append(&self, entry: &SessionEntry) -> Result<(), Box<dyn Error + Send + Sync>> {
        Ok(Session::append(self, entry)?)
    }
}

/// The notes of tools in the store; in memory for a run that the store does not know.
struct StoreState {
    store: Store,
    memory: MemoryState,
}

impl StoreState {
    fn knows(&self, session: &str) -> Result<bool, StateError> {
        self.store.has(session).map_err(unavailable)
    }
}

impl SessionState for StoreState {
    fn get(
        &self,
        session: &str,
        namespace: &str,
        key: &str,
    ) -> Result<Option<Versioned>, StateError> {
        if !self.knows(session)? {
            return self.memory.get(session, namespace, key);
        }
        let found = self.store.state(session, namespace, key);
        Ok(found.map_err(unavailable)?.map(|found| Versioned {
            value: found.value,
            version: found.version,
        }))
    }

    fn compare_and_swap(
        &self,
        session: &str,
        namespace: &str,
        key: &str,
        value: Vec<u8>,
        expected: u64,
    ) -> Result<u64, StateError> {
        StateError::check_sizes(key, &value)?;
        let quota = QUOTA_BYTES as u64;
        let swapped = self
            .store
            .swap_state(session, namespace, key, &value, expected, quota);
        match swapped.map_err(unavailable)? {
            Swapped::Stored(version) => Ok(version),
            Swapped::Conflict => Err(StateError::Conflict),
            Swapped::OverQuota => Err(StateError::Quota(quota)),
            Swapped::NoSession => self
                .memory
                .compare_and_swap(session, namespace, key, value, expected),
        }
    }
}

fn unavailable(error: StoreError) -> StateError {
    StateError::Unavailable(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{ContentBlock, ToolCall, ToolErrorKind, ToolResult, Usage};
    use crate::sandbox::{MAX_KEY_BYTES, MAX_VALUE_BYTES};
    use std::path::Path;

    fn run<'a>(run: &'a str) -> NewRun<'a> {
        NewRun {
            run,
            workspace: Path::new("/w"),
            model: "m",
            prompt: "go",
        }
    }

    fn calls(ids: &[&str]) -> SessionEntry {
        let call = |id: &&str| {
            ContentBlock::ToolCall(ToolCall {
                id: (*id).to_owned(),
                name: "t".to_owned(),
                arguments: serde_json::json!({}),
                malformed: None,
            })
        };
        SessionEntry::Answer {
            content: ids.iter().map(call).collect(),
            usage: Usage::default(),
        }
    }

    fn result(id: &str) -> SessionEntry {
        SessionEntry::Result(ToolResult::failure(id, "t", ToolErrorKind::Failed, id))
    }

    fn says(text: &str) -> SessionEntry {
        SessionEntry::User(vec![ContentBlock::text(text)])
    }

    /// goose#2951, crush#1206: killed while a tool ran.
    #[test]
    fn a_run_killed_behind_any_piece_can_be_gone_on_with() {
        let entries = [
            says("go"),
            calls(&["a", "b"]),
            result("b"),
            result("a"),
            calls(&["c"]),
            result("c"),
            SessionEntry::Answer {
                content: vec![ContentBlock::text("done")],
                usage: Usage::default(),
            },
        ];
        for until in 0..=entries.len() {
            let store = Store::in_memory().expect("a store");
            let session = store.begin(&run("r1")).expect("a session");
            for entry in &entries[..until] {
                session.append(entry).expect("it is kept");
            }
            drop(session);
            let Some(info) = store.last(Path::new("/w")).expect("it reads") else {
                assert_eq!(until, 0, "a session that says something is found");
                continue;
            };
            let session = store.resume(&info.id, &run("r2")).expect("it goes on");
            session.append(&says("go on")).expect("it is kept");
            let kept = store.read(&info).expect("it reads").into_messages();
            let history = History::restore(kept.clone());
            let mut open: Vec<String> = Vec::new();
            for message in history.messages().iter() {
                let answered: Vec<String> = message
                    .content
                    .iter()
                    .filter_map(|block| match block {
                        ContentBlock::ToolResult(result) => Some(result.call_id.clone()),
                        _ => None,
                    })
                    .collect();
                assert_eq!(answered, open, "until {until}");
                open = message.calls().map(|call| call.id.clone()).collect();
            }
            let last = history.messages().last().expect("messages").text();
            assert!(last.ends_with("go on"), "{last}");
            // What was repaired once is repaired in the same way each time.
            assert_eq!(History::restore(kept).messages(), history.messages());
            assert_eq!(store.runs(&info).expect("runs"), ["r1", "r2"]);
        }
    }

    /// What tools see does not depend on where it is kept.
    #[test]
    fn state_in_the_store_is_as_strict_as_in_memory() {
        let store = Store::in_memory().expect("a store");
        let session = store.begin(&run("r")).expect("a session");
        let kept = Kept::in_store(store).state();
        let memory: Arc<dyn SessionState> = Arc::new(MemoryState::default());
        let full = vec![0; MAX_VALUE_BYTES];
        let most = QUOTA_BYTES / MAX_VALUE_BYTES;
        let mut steps: Vec<(String, Vec<u8>, u64)> = vec![
            ("a".to_owned(), b"1".to_vec(), 0),
            ("a".to_owned(), b"2".to_vec(), 0),
            ("a".to_owned(), b"2".to_vec(), 1),
            ("b".to_owned(), b"3".to_vec(), 1),
            ("b".to_owned(), vec![0; MAX_VALUE_BYTES + 1], 0),
            ("k".repeat(MAX_KEY_BYTES + 1), Vec::new(), 0),
        ];
        steps.extend((0..most).map(|at| (format!("full {at}"), full.clone(), 0)));
        for id in [session.id(), "a run that is not kept"] {
            for (key, value, expected) in &steps {
                let swap = |state: &Arc<dyn SessionState>| {
                    let swapped =
                        state.compare_and_swap(id, "component", key, value.clone(), *expected);
                    (swapped, state.get(id, "component", key))
                };
                assert_eq!(swap(&kept), swap(&memory), "{id} {key:.10} {expected}");
            }
            assert_eq!(kept.get(id, "another", "a"), Ok(None));
        }
    }
}
