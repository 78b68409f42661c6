//! The table of settings for people, as `docs/config.md` shows it.

use super::layer::Settings;
use super::setting::{ROWS, Setting};
use std::fmt::Write;

/// The table of every setting in Markdown. A test keeps `docs/config.md` equal to it.
pub fn reference() -> String {
    let defaults = Settings::default();
    let mut table = String::from(
        "| `hotcell.toml` | variable | flag | takes | default | workspace may | what it does |\n\
         |---|---|---|---|---|---|---|\n",
    );
    for row in ROWS {
        let flag = match row.flag {
            "" => "none".to_owned(),
            flags => flags
                .split(", ")
                .map(|flag| format!("`{flag}`"))
                .collect::<Vec<_>>()
                .join(", "),
        };
        let default = match row.setting {
            // Depends on the machine.
            Setting::MaxParallelCalls => "cores, at least 4".to_owned(),
            setting => match defaults.shown(setting).0 {
                text if text.is_empty() => "none".to_owned(),
                text => format!("`{text}`"),
            },
        };
        let variable = match row.setting {
            Setting::Prices => "none".to_owned(),
            _ => format!("`{}`", row.variable()),
        };
        let workspace = if row.workspace_may_tighten() {
            "tighten"
        } else {
            "not set"
        };
        writeln!(
            table,
            "| `{}` | {} | {flag} | {} | {default} | {workspace} | {} |",
            row.key, variable, row.takes, row.about,
        )
        .expect("writing to a string cannot fail");
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_holds_the_table_of_the_code() {
        let document = include_str!("../../../docs/config.md");
        let table = reference();
        assert!(
            document.contains(&table),
            "docs/config.md must hold exactly this table:\n{table}"
        );
    }
}
