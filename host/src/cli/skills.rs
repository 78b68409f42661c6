//! `hotcell skills`: which there are, and what keeps one from being listed.

use super::args::{SkillsArgs, SkillsCommand};
use super::exit::{CommandError, Exit};
use super::wiring;
use crate::config::{Config, Environment, Flags};
use crate::prompt::SkillIndex;
use crate::protocol::Event;
use crate::render::{escape, write_json_pretty};
use serde::Serialize;
use std::io::{self, Write};
use std::path::Path;

pub(super) fn skills(args: &SkillsArgs, environment: &Environment) -> Result<Exit, CommandError> {
    match &args.command {
        SkillsCommand::List { json, place } => list(*json, &place.flags(), environment),
        SkillsCommand::Check { skill } => check(skill),
    }
}

/// One skill, as it is listed.
#[derive(Serialize)]
struct Row<'a> {
    name: &'a str,
    description: &'a str,
    home: String,
}

fn list(json: bool, flags: &Flags, environment: &Environment) -> Result<Exit, CommandError> {
    let config = Config::resolve(flags, environment)?;
    let index = SkillIndex::read(&config.skills);
    let mut out = io::stdout().lock();
    if json {
        let rows = index.skills.iter().map(|skill| Row {
            name: &skill.name,
            description: &skill.description,
            home: skill.home.display().to_string(),
        });
        write_json_pretty(&mut out, &rows.collect::<Vec<_>>())?;
    } else {
        for skill in &index.skills {
            let home = skill.home.display().to_string();
            writeln!(out, "{}  {}", skill.name, escape::line(&home))?;
            writeln!(out, "    {}", escape::line(&skill.description))?;
        }
    }
    for notice in wiring::notices(&config) {
        if let Event::Notice { message, .. } = notice {
            writeln!(io::stderr(), "{}", escape::line(&message))?;
        }
    }
    for notice in &index.notices {
        writeln!(io::stderr(), "{}", escape::line(&notice.to_string()))?;
    }
    Ok(Exit::Done)
}

fn check(skill: &Path) -> Result<Exit, CommandError> {
    // `.` has a name as well.
    let home = skill
        .canonicalize()
        .map_err(|error| CommandError::Unreadable {
            file: skill.to_owned(),
            why: error.to_string(),
        })?;
    match SkillIndex::check(&home) {
        Ok(skill) => {
            let line = format!("{}: {}", skill.name, skill.description);
            writeln!(io::stdout(), "{}", escape::line(&line))?;
            Ok(Exit::Done)
        }
        Err(notice) => {
            writeln!(io::stderr(), "{}", escape::line(&notice.to_string()))?;
            Ok(Exit::Failed)
        }
    }
}
