//! Who is told of changes while a run goes on.
//!
//! Owns the order of things: content is kept and its line written before the change happens, so
//! that a process killed at any point leaves a log that says what may have changed. What cannot be
//! kept is not changed, except for files that are too large to keep, of which the person is told.

use super::log::LogWriter;
use super::natives::{self, Found, Ground, Natives};
use super::objects::{self, Objects};
use super::record::{Happened, Head, Line, Noted, State, Step, VERSION, moment, moved};
use super::{MOST_FILE_BYTES, UndoStore};
use crate::process::{Look, NotSeen, Witness};
use crate::protocol::Digest;
use crate::workspace::{Change, ChangeKind, Earlier, Journal, Kind, Workspace};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::sync::watch;

/// Keeps what one run changes. Cheap to clone.
#[derive(Clone)]
pub struct Recorder {
    run: Option<Arc<Run>>,
}

struct Run {
    store: UndoStore,
    objects: Objects,
    /// To look at how calls left it.
    workspace: Workspace,
    /// Where it is.
    place: PathBuf,
    log: Mutex<RunLog>,
    /// Locked before what a call was told, and before the log, so that lines are in the order of
    /// what is believed.
    natives: Mutex<Natives>,
    /// Of the calls whose processes are at work: one may learn of changes when another looks.
    calls: Mutex<Vec<(Step, Weak<Mutex<Told>>)>>,
}

/// Nothing is written before the first change: most runs change nothing.
enum RunLog {
    NotBegun { store: UndoStore, head: Head },
    Begun(LogWriter),
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder")
            .field("keeps", &self.run.is_some())
            .finish()
    }
}

impl Recorder {
    /// Keeps nothing: there is no data directory.
    pub const fn off() -> Self {
        Recorder { run: None }
    }

    /// Keeps the changes of the run with this id in `workspace`, which is at `place`; `title` says
    /// what the run was for.
    pub fn new(
        store: UndoStore,
        run: &str,
        place: &Path,
        workspace: Workspace,
        title: &str,
    ) -> Self {
        let started = SystemTime::now().duration_since(UNIX_EPOCH);
        let head = Head {
            version: VERSION,
            run: run.to_owned(),
            workspace: place.to_owned(),
            started: started.map_or(0, |elapsed| elapsed.as_secs()),
            title: title.chars().take(200).collect(),
        };
        Recorder {
            run: Some(Arc::new(Run {
                store: store.clone(),
                objects: store.objects(),
                workspace,
                place: place.to_owned(),
                log: Mutex::new(RunLog::NotBegun { store, head }),
                natives: Mutex::default(),
                calls: Mutex::default(),
            })),
        }
    }

    /// The journal of one call.
    pub fn call(&self, step: Step) -> Arc<CallJournal> {
        Arc::new(CallJournal {
            run: self.run.clone(),
            step,
            told: Arc::default(),
            processes: watch::Sender::new(0),
        })
    }
}

impl Run {
    fn ground(&self) -> Ground<'_> {
        Ground {
            store: &self.store,
            objects: &self.objects,
            workspace: &self.workspace,
            place: &self.place,
        }
    }

    fn natives(&self) -> MutexGuard<'_, Natives> {
        self.natives.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers a call that has processes.
    fn enter(&self, step: &Step, told: &Arc<Mutex<Told>>) {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        calls.retain(|(known, told)| known != step && told.strong_count() > 0);
        calls.push((step.clone(), Arc::downgrade(told)));
    }

    /// Writes down what a look has found, and tells the call whose changes they are.
    fn note(&self, found: Found, own: &Mutex<Told>) -> io::Result<()> {
        let Found {
            step,
            changes,
            notes,
        } = found;
        own.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .notes
            .extend(notes);
        let Some(step) = step else {
            return Ok(());
        };
        let calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        let whose = calls
            .iter()
            .find(|(known, _)| *known == step)
            .and_then(|(_, told)| told.upgrade());
        drop(calls);
        if let Some(whose) = whose {
            let mut whose = whose.lock().unwrap_or_else(PoisonError::into_inner);
            for noted in &changes {
                whose.paths.insert(noted.path.clone());
                if let Happened::Renamed { to } = &noted.happened {
                    whose.paths.insert(to.clone());
                }
            }
        }
        changes
            .into_iter()
            .try_for_each(|noted| self.write(&Line::Change(noted)))
    }

    fn write(&self, line: &Line) -> io::Result<()> {
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        if let RunLog::NotBegun { store, head } = &*log {
            *log = RunLog::Begun(LogWriter::begin(store, head.clone())?);
        }
        match &mut *log {
            RunLog::Begun(writer) => writer.write(line),
            RunLog::NotBegun { .. } => Ok(()),
        }
    }
}

/// Is told of what one call changes.
pub struct CallJournal {
    run: Option<Arc<Run>>,
    step: Step,
    told: Arc<Mutex<Told>>,
    /// How many processes it has.
    processes: watch::Sender<usize>,
}

/// What the call did so far.
#[derive(Default)]
struct Told {
    /// Every path it touched.
    paths: BTreeSet<PathBuf>,
    /// Files that this call has written before: what they had is kept, and a loop that appends to
    /// one does not keep it again each time.
    own: BTreeSet<PathBuf>,
    /// Files that were too large to keep.
    too_large: Vec<(PathBuf, u64)>,
    /// What a person has to know of its native processes.
    notes: Vec<String>,
}

impl CallJournal {
    /// Whether anything is kept at all.
    pub const fn is_kept(&self) -> bool {
        self.run.is_some()
    }

    /// Whether the call changed anything, so that there is something to [`finish`](Self::finish).
    pub fn was_told(&self) -> bool {
        let told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        !told.paths.is_empty() || !told.notes.is_empty()
    }

    /// Waits until no native process of the call is left and what they did is known.
    pub async fn at_rest(&self) {
        // It fails only when this value, the sender, is gone.
        let _ = self
            .processes
            .subscribe()
            .wait_for(|running| *running == 0)
            .await;
    }

    /// Writes down how the call left what it changed, and answers what a person has to know.
    /// Reads the changed files, so call it where blocking is fine, and after the call has ended.
    pub fn finish(&self) -> Vec<String> {
        let Some(run) = &self.run else {
            return Vec::new();
        };
        run.natives().remember(&run.ground());
        let told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let mut notices: Vec<String> = told
            .too_large
            .iter()
            .map(|(path, size)| {
                format!(
                    "{} had {size} bytes, more than the {MOST_FILE_BYTES} that are kept: what it was cannot be brought back by `hotcell undo`",
                    path.display()
                )
            })
            .collect();
        notices.extend(told.notes.iter().cloned());
        if told.paths.is_empty() {
            return notices;
        }
        let left = told
            .paths
            .iter()
            .filter_map(|path| Some((path.clone(), look(&run.workspace, path).ok()?)))
            .collect();
        let line = Line::Ended {
            step: self.step.clone(),
            left,
        };
        if let Err(error) = run.write(&line) {
            notices.push(format!(
                "how this call left its files could not be written down ({error}): `hotcell undo` will ask for --force"
            ));
        }
        notices
    }

    fn keep(&self, run: &Run, change: &Change<'_>) -> io::Result<()> {
        let mut natives = Some(run.natives()).filter(|natives| natives.is_at_work());
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let path = change.path.to_owned();
        let (happened, is_kept) = match change.kind {
            ChangeKind::Write => (Happened::Wrote, true),
            ChangeKind::Create => (Happened::Created, false),
            ChangeKind::Remove | ChangeKind::RemoveDirectory => (Happened::Removed, true),
            ChangeKind::Rename { to } => (Happened::Renamed { to: to.to_owned() }, false),
            ChangeKind::Times => (Happened::Touched, false),
        };
        if let Some(natives) = &mut natives {
            natives.expect(&path, &happened);
        }
        if happened == Happened::Wrote && told.own.contains(&path) {
            return Ok(());
        }
        let earlier = if is_kept {
            state(&change.earlier, |found| {
                run.objects.keep(&mut found.open()?).map(Some)
            })?
        } else {
            state(&change.earlier, |_| Ok(None))?
        };
        if let (State::Unread { size, .. }, true) = (&earlier, is_kept) {
            told.too_large.push((path.clone(), *size));
        }
        run.write(&Line::Change(Noted {
            step: self.step.clone(),
            path: path.clone(),
            happened: happened.clone(),
            earlier,
        }))?;
        match happened {
            Happened::Wrote => {
                told.own.insert(path.clone());
            }
            Happened::Created | Happened::Removed => {
                told.own.remove(&path);
            }
            Happened::Renamed { to } => {
                // What is below has other paths now; keeping it once more does no harm.
                told.own.retain(|own| !own.starts_with(&path));
                let with_it: Vec<PathBuf> = told
                    .paths
                    .iter()
                    .filter_map(|old| moved(old, &path, &to))
                    .collect();
                told.paths.extend(with_it);
                told.paths.insert(to);
            }
            Happened::Touched => {}
        }
        told.paths.insert(path);
        Ok(())
    }
}

impl Journal for CallJournal {
    fn before(&self, change: &Change<'_>) -> io::Result<()> {
        match &self.run {
            Some(run) => self.keep(run, change),
            None => Ok(()),
        }
    }

    fn failed(&self, path: &Path) {
        let Some(run) = &self.run else {
            return;
        };
        let mut natives = run.natives();
        natives.did_not(path);
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        told.own.remove(path);
        let line = Line::Failed {
            step: self.step.clone(),
            path: path.to_owned(),
        };
        if let Err(error) = run.write(&line) {
            // Undo then finds the path as it does not expect it, and asks.
            tracing::warn!(path = %path.display(), %error, "a change that failed is not written down");
        }
    }
}

impl Witness for CallJournal {
    fn overlooks(&self, directory: &OsStr) -> bool {
        natives::is_overlooked(directory)
    }

    fn before(&self, look: Result<Look, NotSeen>) -> io::Result<()> {
        if let Some(run) = &self.run {
            let mut natives = run.natives();
            let found = natives.before(&run.ground(), &self.step, look)?;
            run.enter(&self.step, &self.told);
            if let Err(error) = run.note(found, &self.told) {
                natives.after(&run.ground(), &self.step, Err(NotSeen::Nobody));
                return Err(error);
            }
        }
        self.processes.send_modify(|running| *running += 1);
        Ok(())
    }

    fn after(&self, look: Result<Look, NotSeen>) {
        if let Some(run) = &self.run {
            let mut natives = run.natives();
            let found = natives.after(&run.ground(), &self.step, look);
            if let Err(error) = run.note(found, &self.told) {
                let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
                told.notes.push(format!(
                    "what a native program changed could not be written down ({error}): `hotcell undo` does not know all of it"
                ));
            }
        }
        self.processes.send_modify(|running| *running -= 1);
    }
}

/// What is at a path now.
pub(super) fn look(workspace: &Workspace, path: &Path) -> io::Result<State> {
    match workspace.hold(path) {
        Ok(held) => state(&held.earlier(), |found| {
            objects::digest(&mut found.open()?).map(Some)
        }),
        Err(error) if error.is_absence() => Ok(State::Absent),
        Err(error) => Err(io::Error::other(error)),
    }
}

/// What there is. `content` answers the digest and the length of a file that is not too large, or
/// nothing where its content does not matter.
fn state(
    found: &Earlier<'_>,
    content: impl FnOnce(&Earlier<'_>) -> io::Result<Option<(Digest, u64)>>,
) -> io::Result<State> {
    let Some(metadata) = found.metadata()? else {
        return Ok(State::Absent);
    };
    if metadata.kind != Kind::File {
        return State::of_other(&metadata, || found.link_target());
    }
    let (size, mode, modified) = (metadata.size, metadata.mode, moment(metadata.modified));
    let known = if size > MOST_FILE_BYTES {
        None
    } else {
        content(found)?
    };
    Ok(match known {
        Some((digest, size)) => State::File {
            digest,
            size,
            mode,
            modified,
        },
        None => State::Unread {
            size,
            mode,
            modified,
        },
    })
}
