//! `hotcell tools`: which tools there are, and what each may touch.

use super::args::ToolsArgs;
use super::exit::{CommandError, Exit};
use super::wiring;
use crate::config::{Config, Environment};
use crate::policy::{Decision, Policy};
use crate::protocol::{Capabilities, ToolDefinition};
use crate::render::{Paint, Palette, escape, write_json_pretty};
use crate::tools::{Source, ToolListing};
use serde::Serialize;
use std::io::{self, Write};

pub(super) async fn tools(
    args: &ToolsArgs,
    environment: &Environment,
) -> Result<Exit, CommandError> {
    let config = Config::resolve(&args.flags(), environment)?;
    let sandbox = wiring::sandbox(&config)?;
    let toolbox = wiring::toolbox(&sandbox, &config).await?;
    let policy = wiring::policy(&config)?;
    let rows: Vec<Row> = toolbox
        .list()
        .into_iter()
        .map(|tool| Row::new(tool, &policy))
        .collect();
    let mut out = io::stdout().lock();
    if args.json {
        write_json_pretty(&mut out, &rows)?;
    } else {
        let palette = Palette::from(config.colors.stdout);
        out.write_all(table(&rows, palette).as_bytes())?;
    }
    Ok(Exit::Done)
}

/// One tool, as it is listed.
#[derive(Debug, Serialize)]
struct Row {
    name: String,
    description: String,
    requires: Capabilities,
    accepts: Capabilities,
    /// Requires nothing but looking: offered in plan mode as well.
    read_only: bool,
    /// What it gets with these settings; `null` where the model is not offered it.
    granted: Option<Capabilities>,
    source: String,
    digest: String,
}

impl Row {
    fn new(tool: ToolListing, policy: &Policy) -> Self {
        let read_only = tool.definition.is_read_only();
        let granted = match policy.decide(&tool.definition) {
            Decision::Grant(grant) => Some(grant.capabilities()),
            Decision::Deny(_) => None,
        };
        let ToolDefinition {
            name,
            description,
            requires,
            accepts,
            ..
        } = tool.definition;
        Row {
            name,
            description,
            requires,
            accepts,
            read_only,
            granted,
            source: match tool.source {
                Source::BuiltIn(_) => "built-in".to_owned(),
                Source::Plugin(path) => path.display().to_string(),
            },
            digest: tool.digest.to_string(),
        }
    }

    /// The cells of its line. A capability in brackets is used when given, and not missed.
    fn cells(&self) -> [String; 5] {
        let required = self.requires.iter().map(|one| one.name().to_owned());
        let accepted = self.accepts.iter().map(|one| format!("[{}]", one.name()));
        let capabilities: Vec<String> = required.chain(accepted).collect();
        let access = match self.granted {
            None => "not offered",
            Some(granted) if granted.is_read_only() => "read-only",
            Some(_) => "changes",
        };
        [
            escape::line(&self.name).into_owned(),
            access.to_owned(),
            capabilities.join(" "),
            escape::line(&self.source).into_owned(),
            self.digest.chars().take(12).collect(),
        ]
    }
}

fn table(rows: &[Row], palette: Palette) -> String {
    let head = ["tool", "access", "capabilities", "source", "digest"].map(str::to_owned);
    let lines: Vec<[String; 5]> = std::iter::once(head)
        .chain(rows.iter().map(Row::cells))
        .collect();
    let width = |column: usize| {
        let cells = lines.iter().map(|line| line[column].chars().count());
        cells.max().unwrap_or_default()
    };
    let widths: [usize; 5] = std::array::from_fn(width);
    let mut table = String::new();
    for (index, line) in lines.iter().enumerate() {
        let cells: Vec<String> = line
            .iter()
            .zip(widths)
            .map(|(cell, width)| format!("{cell:width$}"))
            .collect();
        let line = cells.join("  ");
        let line = line.trim_end();
        let shown = match index {
            0 => palette.paint(Paint::Faint, line).to_string(),
            _ => line.to_owned(),
        };
        table.push_str(&shown);
        table.push('\n');
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{Mode, PathRules, ProcessRules};
    use crate::protocol::{Capability, Digest, Limits};

    fn row(
        mode: Mode,
        name: &str,
        requires: &[Capability],
        accepts: &[Capability],
        source: Source,
    ) -> Row {
        let policy = Policy {
            mode,
            allowed: Capabilities::ALL,
            workspace: "/w".into(),
            skills: None,
            paths: PathRules::default(),
            processes: ProcessRules::default(),
            limits: Limits::default(),
        };
        let tool = ToolListing {
            definition: ToolDefinition {
                name: name.to_owned(),
                description: "Does it.".to_owned(),
                input_schema: serde_json::json!({"type": "object"}),
                requires: requires.iter().copied().collect(),
                accepts: accepts.iter().copied().collect(),
            },
            source,
            digest: Digest("0123456789abcdef".to_owned()),
        };
        Row::new(tool, &policy)
    }

    #[test]
    fn tools_are_listed_with_what_they_may_touch() {
        let rows = |mode| {
            [
                row(
                    mode,
                    "bash",
                    &[Capability::WorkspaceRead],
                    &[Capability::WorkspaceWrite],
                    Source::BuiltIn("bash"),
                ),
                row(
                    mode,
                    "edit_file",
                    &[Capability::WorkspaceRead, Capability::WorkspaceWrite],
                    &[],
                    Source::BuiltIn("files"),
                ),
                row(
                    mode,
                    "sum",
                    &[],
                    &[],
                    Source::Plugin("/p/\u{1b}[2Ksum.wasm".into()),
                ),
            ]
        };
        let [act, plan] = [Mode::Act, Mode::Plan].map(rows);
        insta::assert_snapshot!(format!(
            "{}\n--plan\n{}",
            table(&act, Palette::Plain),
            table(&plan, Palette::Plain)
        ));
        insta::assert_json_snapshot!(plan);
    }
}
