//! `column`. It must never know which file system it reads from.

use super::guarded::run;
use super::reason;
use bashkit::{Builtin, BuiltinContext, ExecResult, Result, async_trait, normalize_path};

/// `column` that fills columns; bashkit's makes tables only.
pub struct Column;

/// Columns that there are without a terminal.
const COLUMNS: usize = 80;

#[async_trait]
impl Builtin for Column {
    async fn execute(&self, ctx: BuiltinContext<'_>) -> Result<ExecResult> {
        let mut width = COLUMNS;
        let mut by_rows = false;
        let mut files = Vec::new();
        let mut args = ctx.args.iter().map(String::as_str);
        while let Some(arg) = args.next() {
            match arg {
                "-c" | "--output-width" => {
                    let number = args.next().and_then(|number| number.parse().ok());
                    width = number.unwrap_or(COLUMNS);
                }
                "-x" | "--fillrows" => by_rows = true,
                "-" => {}
                _ if !arg.starts_with('-') => files.push(arg),
                // A table, or something that only bashkit's own can refuse.
                _ => return run("column", ctx.args, 1, &ctx).await,
            }
        }
        let mut text = Vec::new();
        for file in &files {
            match ctx.fs.read_file(&normalize_path(&ctx.cwd.join(file))).await {
                Ok(bytes) => text.extend(bytes),
                Err(error) => {
                    let why = reason(&error);
                    return Ok(ExecResult::err(format!("column: {file}: {why}\n"), 1));
                }
            }
        }
        if files.is_empty() {
            text.extend(ctx.stdin.map_or(&[][..], |input| input.as_bytes()));
        }
        let text = String::from_utf8_lossy(&text).into_owned();
        let entries: Vec<&str> = text
            .lines()
            .filter(|line| !line.trim().is_empty())
            .collect();
        Ok(ExecResult {
            stdout: filled(&entries, width, by_rows).into(),
            ..ExecResult::default()
        })
    }
}

/// Entries in columns that begin at tabs.
fn filled(entries: &[&str], width: usize, by_rows: bool) -> String {
    const TAB: usize = 8;
    let next_tab = |column: usize| (column / TAB + 1) * TAB;
    let longest = entries.iter().map(|entry| entry.chars().count()).max();
    let each = next_tab(longest.unwrap_or(0));
    let columns = (width / each).max(1);
    let rows = entries.len().div_ceil(columns);
    let mut text = String::new();
    for row in 0..rows {
        let line: Vec<&&str> = if by_rows {
            entries.iter().skip(row * columns).take(columns).collect()
        } else {
            entries.iter().skip(row).step_by(rows).collect()
        };
        let mut column = 0;
        for (number, entry) in line.iter().enumerate() {
            while column < number * each {
                text.push('\t');
                column = next_tab(column);
            }
            text.push_str(entry);
            column += entry.chars().count();
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_fill_columns_or_rows() {
        let entries = ["a", "bb", "c", "long one", "e"];
        let cases = [
            (40, false, "a\t\tlong one\nbb\t\te\nc\n"),
            (40, true, "a\t\tbb\nc\t\tlong one\ne\n"),
            (10, false, "a\nbb\nc\nlong one\ne\n"),
        ];
        for (width, by_rows, expected) in cases {
            assert_eq!(
                filled(&entries, width, by_rows),
                expected,
                "{width} {by_rows}"
            );
        }
        assert_eq!(filled(&[], 80, false), "");
    }
}
