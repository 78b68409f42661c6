//! `hotcell sessions`: what was kept of earlier runs.
//!
//! Owns the commands and the lists; how one session is shown is in `show`. Everything in a session
//! is foreign text and is escaped before it is shown.

mod show;

use super::args::{ExportFormat, SessionsArgs, SessionsCommand};
use super::exit::{CommandError, Exit};
use super::kept;
use crate::config::{Config, Environment};
use crate::render::{Paint, Palette, escape, write_json_pretty};
use crate::store::{Found, SessionInfo, Store};
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

pub(super) fn sessions(
    args: &SessionsArgs,
    environment: &Environment,
) -> Result<Exit, CommandError> {
    let config = Config::resolve(&args.flags(), environment)?;
    let store = kept::store(&config)?;
    let done = perform(&args.command, &store, &config);
    for loss in store.losses() {
        warn(&config, &loss)?;
    }
    done
}

fn perform(
    command: &SessionsCommand,
    store: &Store,
    config: &Config,
) -> Result<Exit, CommandError> {
    let palette = Palette::from(config.colors.stdout);
    let here = |all: &bool| (!all).then_some(config.workspace.as_path());
    let mut out = io::stdout().lock();
    match command {
        SessionsCommand::List { all, tag, json } => {
            let sessions = store.list(here(all), tag.as_deref())?;
            if *json {
                write_json_pretty(&mut out, &sessions)?;
            } else {
                out.write_all(list(&sessions, *all, palette).as_bytes())?;
            }
        }
        SessionsCommand::Search {
            terms,
            all,
            limit,
            json,
        } => {
            let found = store.search(here(all), terms, *limit as usize)?;
            if *json {
                write_json_pretty(&mut out, &found)?;
            } else {
                out.write_all(matches(&found, palette).as_bytes())?;
            }
        }
        SessionsCommand::Show { id, full, json } => {
            let session = show::Shown::read(store, store.find(id)?)?;
            if *json {
                write_json_pretty(&mut out, &session)?;
            } else {
                out.write_all(session.text(*full, palette).as_bytes())?;
            }
            tell_lost(config, &session)?;
        }
        SessionsCommand::Export { id, format } => {
            let session = show::Shown::read(store, store.find(id)?)?;
            match format {
                ExportFormat::Json => write_json_pretty(&mut out, &session)?,
                ExportFormat::Md => out.write_all(session.markdown().as_bytes())?,
            }
            tell_lost(config, &session)?;
        }
        SessionsCommand::Tag { id, tags, remove } => {
            let session = store.find(id)?;
            let (add, take) = if *remove {
                (&[][..], &tags[..])
            } else {
                (&tags[..], &[][..])
            };
            store.tag(&session, add, take)?;
        }
        SessionsCommand::Rm { ids } => {
            // All are found before the first is removed: a mistake in one removes none.
            let sessions = ids.iter().map(|id| store.find(id));
            for session in sessions.collect::<Result<Vec<_>, _>>()? {
                store.remove(&session)?;
            }
        }
    }
    Ok(Exit::Done)
}

fn tell_lost(config: &Config, session: &show::Shown) -> io::Result<()> {
    for number in &session.lost {
        warn(config, &format!("message {number} cannot be read"))?;
    }
    Ok(())
}

fn warn(config: &Config, message: &str) -> io::Result<()> {
    let mark = Palette::from(config.colors.stderr).paint(Paint::Warning, "!");
    writeln!(io::stderr(), "{mark} {}", escape::line(message))
}

/// A session a line, and the workspace below where several are listed.
fn list(sessions: &[SessionInfo], all: bool, palette: Palette) -> String {
    let mut text = String::new();
    for session in sessions {
        let tags: String = session.tags.iter().map(|tag| format!(" #{tag}")).collect();
        text.push_str(&format!(
            "{}  {}  {:>5} messages  {}{}\n",
            palette.paint(Paint::Strong, &session.id),
            date(session.updated),
            session.messages,
            escape::line(&session.title),
            palette.paint(Paint::Faint, escape::line(&tags)),
        ));
        if all {
            let place = escape::line(&session.workspace);
            text.push_str(&format!("    {}\n", palette.paint(Paint::Faint, place)));
        }
    }
    text
}

/// A message a paragraph, the newest first.
fn matches(found: &[Found], palette: Palette) -> String {
    let mut text = String::new();
    for one in found {
        text.push_str(&format!(
            "{}  {}\n    {}\n",
            palette.paint(Paint::Strong, format!("{}@{}", one.session.id, one.number)),
            escape::line(&one.session.title),
            escape::line(&one.excerpt),
        ));
    }
    text
}

/// The moment in UTC, such as `Sat, 14 Mar 2026 12:34:56 GMT`.
fn date(seconds: u64) -> String {
    httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_secs(seconds))
}

/// What the runs of a session are called by the undo store.
///
/// # Errors
/// When there is no such session, or it is of another workspace.
pub(super) fn runs(
    config: &Config,
    id: &str,
    workspace: &Path,
) -> Result<(SessionInfo, Vec<String>), CommandError> {
    let store = kept::store(config)?;
    let session = store.find(id)?;
    if session.workspace != workspace.to_string_lossy() {
        return Err(CommandError::OtherWorkspace {
            id: session.id,
            workspace: session.workspace,
        });
    }
    let runs = store.runs(&session)?;
    Ok((session, runs))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Role;

    fn session(id: &str, title: &str) -> SessionInfo {
        let store = Store::in_memory().expect("a store");
        let run = crate::store::NewRun {
            run: "r",
            workspace: Path::new("/w/\u{1b}[2K"),
            model: "m",
            prompt: title,
        };
        let begun = store.begin(&run).expect("a session");
        let mut session = store.find(begun.id()).expect("it is there");
        session.id = id.to_owned();
        (session.created, session.updated, session.messages) = (0, 1_798_675_199, 12);
        session.tags = vec!["release".to_owned(), "\u{202e}odd".to_owned()];
        session
    }

    #[test]
    fn lists_are_escaped_and_a_line_each() {
        let session = session("0123456789ab", "fix \u{1b}[2K the bug\r");
        let found = Found {
            number: 3,
            role: Role::User,
            excerpt: "…a \u{1b}]0;x\u{7} b…".to_owned(),
            session: session.clone(),
        };
        insta::assert_snapshot!(format!(
            "{}{}{}",
            list(std::slice::from_ref(&session), false, Palette::Plain),
            list(&[session], true, Palette::Plain),
            matches(&[found], Palette::Plain)
        ));
    }
}
