//! `hotcell undo` and `hotcell diff`: what runs changed, and taking it back.

use super::args::{DiffArgs, UndoArgs};
use super::exit::{CommandError, Exit};
use super::{sessions, wiring};
use crate::config::{Config, Environment, Flags};
use crate::render::{Paint, Palette, escape};
use crate::undo::{Preview, Restored, RunSummary, Selection, UndoError, UndoStore};
use crate::workspace::{Access, Workspace};
use std::io::{self, Write};
use std::time::{Duration, UNIX_EPOCH};

pub(super) fn undo(args: &UndoArgs, environment: &Environment) -> Result<Exit, CommandError> {
    let place = Place::of(&args.flags(), environment)?;
    let mut out = io::stdout().lock();
    if args.list {
        let runs = place.store.runs_of(&place.config.workspace)?;
        out.write_all(list(&runs).as_bytes())?;
        return Ok(Exit::Done);
    }
    let selection = asked(args.what.as_deref())?;
    let workspace = place.workspace(Access::ReadWrite)?;
    let store = &place.store;
    let root = &place.config.workspace;
    let preview = store.preview(root, &workspace, &selection)?;
    out.write_all(colored(&preview.diff(true), place.palette()).as_bytes())?;
    if args.dry_run {
        return Ok(Exit::Done);
    }
    let run = wiring::new_id();
    let restored = match store.restore(root, &workspace, &selection, &run, args.force) {
        Ok(restored) => restored,
        Err(error) => {
            if let UndoError::Conflicts { conflicts, .. } = &error {
                for conflict in conflicts {
                    let line = format!("{}: {}", conflict.path.display(), conflict.why);
                    writeln!(io::stderr(), "{}", escape::line(&line))?;
                }
            }
            return Err(error.into());
        }
    };
    out.flush()?;
    tell(&restored)
}

pub(super) fn diff(args: &DiffArgs, environment: &Environment) -> Result<Exit, CommandError> {
    let place = Place::of(&args.flags(), environment)?;
    let workspace = place.workspace(Access::ReadOnly)?;
    let preview = match &args.session {
        Some(id) => of_session(&place, &workspace, id)?,
        None => {
            let selection = asked(args.what.as_deref())?;
            place
                .store
                .preview(&place.config.workspace, &workspace, &selection)?
        }
    };
    let text = colored(&preview.diff(false), place.palette());
    io::stdout().lock().write_all(text.as_bytes())?;
    Ok(Exit::Done)
}

/// What the runs of a session changed, together: each path as it was before the first of them.
fn of_session(place: &Place, workspace: &Workspace, id: &str) -> Result<Preview, CommandError> {
    let root = &place.config.workspace;
    let (session, runs) = sessions::runs(&place.config, id, root)?;
    let changed = place.store.runs_of(root)?;
    let mut whole = Preview {
        run: session.id,
        paths: Vec::new(),
        renamed: Vec::new(),
    };
    for run in runs {
        // Most runs change nothing, and old ones are forgotten.
        if !changed.iter().any(|known| known.run == run) {
            continue;
        }
        let selection = asked(Some(&run))?;
        let part = place.store.preview(root, workspace, &selection)?;
        whole.renamed.extend(part.renamed);
        for change in part.paths {
            if !whole.paths.iter().any(|known| known.path == change.path) {
                whole.paths.push(change);
            }
        }
    }
    Ok(whole)
}

/// Where it is about.
struct Place {
    config: Config,
    store: UndoStore,
}

impl Place {
    fn of(flags: &Flags, environment: &Environment) -> Result<Self, CommandError> {
        let config = Config::resolve(flags, environment)?;
        let data = config.directories.data.as_deref();
        let store = UndoStore::new(data.ok_or(UndoError::NoStore)?);
        Ok(Place { config, store })
    }

    fn workspace(&self, access: Access) -> Result<Workspace, CommandError> {
        let rules = wiring::policy(&self.config)?.paths;
        let path = &self.config.workspace;
        Workspace::open(path, access, rules).map_err(|error| {
            let path = path.clone();
            UndoError::Workspace { path, error }.into()
        })
    }

    fn palette(&self) -> Palette {
        Palette::from(self.config.colors.stdout)
    }
}

/// What a person typed, or the last run.
fn asked(what: Option<&str>) -> Result<Selection, CommandError> {
    let parsed = what.map(str::parse).transpose().map_err(UndoError::from)?;
    Ok(parsed.unwrap_or_default())
}

fn tell(restored: &Restored) -> Result<Exit, CommandError> {
    let mut err = io::stderr().lock();
    for (path, why) in &restored.lost {
        let line = format!("not brought back: {}: {why}", path.display());
        writeln!(err, "{}", escape::line(&line))?;
    }
    writeln!(
        err,
        "{} of {} paths are as they were; `hotcell undo {}` takes this back",
        restored.paths.len(),
        restored.paths.len() + restored.lost.len(),
        restored.run
    )?;
    Ok(if restored.lost.is_empty() {
        Exit::Done
    } else {
        Exit::Failed
    })
}

/// A run a paragraph, the newest last, where a person looks first.
fn list(runs: &[RunSummary]) -> String {
    let mut text = String::new();
    for run in runs {
        let started = httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_secs(run.started));
        let title = escape::line(&run.title);
        text.push_str(&format!(
            "{}  {started}  {} paths  {title}\n",
            run.run, run.paths
        ));
        for (name, tool) in &run.calls {
            text.push_str(&format!("    {}:{name}  {}\n", run.run, escape::line(tool)));
        }
    }
    text
}

/// A unified diff as a terminal shows it: nothing in a file moves the cursor.
fn colored(diff: &str, palette: Palette) -> String {
    let mut text = String::new();
    for line in diff.lines() {
        let safe = escape::line(line);
        let shown = match line.as_bytes().first() {
            Some(b'+') => palette.paint(Paint::Good, &safe).to_string(),
            Some(b'-') => palette.paint(Paint::Bad, &safe).to_string(),
            _ => safe.into_owned(),
        };
        text.push_str(&shown);
        text.push('\n');
    }
    text
}
