//! `hotcell prompt`: what would be sent to the model, and nothing is sent.

use super::args::PromptArgs;
use super::exit::{CommandError, Exit};
use super::wiring;
use crate::config::{Config, Environment};
use crate::prompt;
use crate::protocol::{Event, Message, ToolDefinition};
use crate::render::{escape, write_json_pretty};
use serde::Serialize;
use std::io::{self, Write};

/// A request as it would be made, before a provider puts it into its own words.
#[derive(Serialize)]
struct Sent {
    system: String,
    messages: Vec<Message>,
    tools: Vec<ToolDefinition>,
}

pub(super) async fn prompt(
    args: &PromptArgs,
    environment: &Environment,
) -> Result<Exit, CommandError> {
    let config = Config::resolve(&args.flags(), environment)?;
    let sandbox = wiring::sandbox(&config)?;
    let toolbox = wiring::toolbox(&sandbox, &config).await?;
    let briefed = wiring::briefing(&config)?;
    let policy = wiring::policy(&config)?;
    for notice in wiring::notices(&config) {
        if let Event::Notice { message, .. } = notice {
            writeln!(io::stderr(), "{}", escape::line(&message))?;
        }
    }
    let system = prompt::system(&policy, &briefed.briefing);
    let typed = args.prompt.as_deref();
    let asked = typed
        .map(|typed| briefed.briefing.skills.expand(typed))
        .transpose()
        .map_err(wiring::unreadable_skill)?;
    let mut out = io::stdout().lock();
    if args.json {
        let sent = Sent {
            system,
            messages: asked.map(Message::user).into_iter().collect(),
            tools: toolbox.offered(&policy).to_vec(),
        };
        write_json_pretty(&mut out, &sent)?;
        return Ok(Exit::Done);
    }
    writeln!(out, "{}", escape::text(&system))?;
    if let Some(asked) = asked {
        writeln!(out, "\n---\n\n{}", escape::text(&asked))?;
    }
    Ok(Exit::Done)
}
