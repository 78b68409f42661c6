//! A list of edits on a text: all of them or none.
//!
//! Owns the order (each edit sees the result of the one before), what makes an edit ambiguous, and
//! the messages that tell the model how to correct one. It must never know files.

use super::Edit;
use super::ladder::{Match, Rung, Shift, search};
use super::nearest;
use super::splice::{TooShallow, replacement};
use hotcell_sdk::ToolError;

/// Line numbers listed for an ambiguous edit.
const MAX_LISTED: usize = 20;

/// What a list of edits has come to.
#[derive(Debug, PartialEq, Eq)]
pub struct Applied {
    /// The new text.
    pub body: String,
    /// Places that were replaced, over all edits.
    pub places: usize,
    /// What the model should know about how an edit was matched, a line each.
    pub notes: Vec<String>,
}

/// Applies `edits` to `body`, the text of the file that `shown` names, without byte order mark.
///
/// # Errors
/// Invalid arguments for an edit that can have no effect, not found, or conflict for one with more
/// than one match. Each names the edit and says what to change.
pub fn apply(body: &str, shown: &str, edits: &[Edit]) -> Result<Applied, ToolError> {
    let mut applied = Applied {
        body: body.to_owned(),
        places: 0,
        notes: Vec::new(),
    };
    for (index, edit) in edits.iter().enumerate() {
        let which = match edits.len() {
            1 => String::new(),
            count => format!("edit {} of {count}: ", index + 1),
        };
        let unchanged = match edits.len() {
            1 => "",
            _ => "\nnone of the edits was made",
        };
        applied = one(applied, shown, edit, &which).map_err(|error| {
            ToolError::new(
                error.kind(),
                format!("{which}{}{unchanged}", error.message()),
            )
        })?;
    }
    if applied.body == body {
        return Err(ToolError::invalid_arguments(format!(
            "the edits leave `{shown}` as it is (its line endings are kept whatever `new` has)"
        )));
    }
    Ok(applied)
}

fn one(applied: Applied, shown: &str, edit: &Edit, which: &str) -> Result<Applied, ToolError> {
    let Applied {
        body,
        places,
        mut notes,
    } = applied;
    if edit.old.is_empty() {
        return Err(ToolError::invalid_arguments(
            "`old` is empty: give the text to replace, or the line next to which `new` belongs; \
             write_file makes a new file",
        ));
    }
    if edit.old == edit.new {
        return Err(ToolError::invalid_arguments("`old` and `new` are the same"));
    }
    let Some((rung, matches)) = search(&body, &edit.old, edit.replace_all) else {
        return Err(not_found(&body, shown, edit));
    };
    if matches.len() > 1 && !edit.replace_all {
        return Err(ambiguous(&body, shown, rung, &matches));
    }
    notes.extend(note(which, rung, &matches));
    let mut out = String::with_capacity(body.len() + edit.new.len());
    let mut from = 0;
    for found in &matches {
        let text = replacement(&body, found, &edit.old, &edit.new)
            .map_err(|error| too_shallow(&body, error, found))?;
        out.push_str(&body[from..found.range.start]);
        out.push_str(&text);
        from = found.range.end;
    }
    out.push_str(&body[from..]);
    Ok(Applied {
        body: out,
        places: places + matches.len(),
        notes,
    })
}

fn note(which: &str, rung: Rung, matches: &[Match]) -> Option<String> {
    let how = match rung {
        Rung::Exact | Rung::LineEndings => return None,
        Rung::TrailingBlanks => "`old` matched but for blanks at the ends of lines".to_owned(),
        Rung::Indentation => match matches.first()?.shift.as_ref()? {
            Shift::Deeper(more) => format!(
                "the file is indented by {} more than `old`, and so is what was put in from `new`",
                blanks(more)
            ),
            Shift::Shallower(less) => format!(
                "the file is indented by {} less than `old`, and so is what was put in from `new`",
                blanks(less)
            ),
        },
    };
    Some(format!("[{which}{how}]"))
}

fn blanks(text: &str) -> String {
    let count = |c: char, word: &str| match text.chars().filter(|found| *found == c).count() {
        0 => None,
        1 => Some(format!("1 {word}")),
        many => Some(format!("{many} {word}s")),
    };
    let parts = [count('\t', "tab"), count(' ', "space")];
    parts
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(" and ")
}

fn line_at(body: &str, at: usize) -> usize {
    memchr::memchr_iter(b'\n', &body.as_bytes()[..at]).count() + 1
}

fn ambiguous(body: &str, shown: &str, rung: Rung, matches: &[Match]) -> ToolError {
    let lines: Vec<String> = matches
        .iter()
        .take(MAX_LISTED)
        .map(|found| line_at(body, found.range.start).to_string())
        .collect();
    let more = match matches.len() - lines.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let aside = match rung {
        Rung::Exact => "",
        Rung::LineEndings => ", line endings aside",
        Rung::TrailingBlanks => ", blanks at the ends of lines aside",
        Rung::Indentation => ", indentation aside",
    };
    ToolError::conflict(format!(
        "`old` matches {} places in `{shown}`{aside}, at lines {}{more}: add lines before or after \
         it until it matches one place only, or set `replace_all` to replace each",
        matches.len(),
        lines.join(", ")
    ))
}

fn not_found(body: &str, shown: &str, edit: &Edit) -> ToolError {
    let mut message = format!("`old` is not in `{shown}`");
    if has_line_numbers(&edit.old) {
        message.push_str(
            "; it seems to hold the line numbers that read_file shows: leave out the number and the tab",
        );
    } else if !edit.new.trim().is_empty()
        && let Some(at) = body.find(&edit.new)
    {
        let line = line_at(body, at);
        message.push_str(&format!(
            "; `new` is already there at line {line}, so this edit may have been made before"
        ));
    }
    let nearest = nearest::describe(body, &edit.old);
    message.push_str(if nearest.is_empty() {
        ", nor anything like it; read_file shows what is there"
    } else {
        "; "
    });
    message.push_str(&nearest);
    ToolError::not_found(message)
}

/// Whether every line starts as `read_file` shows it.
fn has_line_numbers(text: &str) -> bool {
    text.lines().all(|line| {
        line.split_once('\t').is_some_and(|(number, _)| {
            let number = number.trim_start();
            !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())
        })
    })
}

fn too_shallow(body: &str, error: TooShallow, found: &Match) -> ToolError {
    let by = match &found.shift {
        Some(Shift::Shallower(less)) => blanks(less),
        _ => String::new(),
    };
    ToolError::conflict(format!(
        "`old` matches at line {} only when it is indented by {by} less, and line {} of `new` cannot be: \
         give both with the indentation that the file has",
        line_at(body, found.range.start),
        error.line
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hotcell_sdk::ErrorKind;
    use proptest::prelude::*;

    fn edit(old: &str, new: &str, replace_all: bool) -> Edit {
        Edit {
            old: old.into(),
            new: new.into(),
            replace_all,
        }
    }

    #[test]
    fn edits_build_on_one_another() {
        let edits = [
            edit("a", "b", false),
            edit("b\n", "c\n", false),
            edit("x", "y", true),
        ];
        let applied = apply("a\nx x\n", "f", &edits).expect("they apply");
        assert_eq!((applied.body.as_str(), applied.places), ("c\ny y\n", 4));
        assert!(applied.notes.is_empty());
    }

    #[test]
    fn lenient_matches_are_noted() {
        let cases = [
            (
                "a  \nb\n",
                "a\nb",
                "[`old` matched but for blanks at the ends of lines]",
            ),
            (
                "    a\n    b\n",
                "a\nb\n",
                "[the file is indented by 4 spaces more than `old`, and so is what was put in from `new`]",
            ),
            (
                "a\nb\n",
                "\t a\n\t b\n",
                "[the file is indented by 1 tab and 1 space less than `old`, and so is what was put in from `new`]",
            ),
        ];
        for (body, old, expected) in cases {
            let applied = apply(body, "f", &[edit(old, "", false)]).expect(old);
            assert_eq!(applied.notes, [expected], "{old:?}");
        }
    }

    #[test]
    fn a_refused_edit_says_which_and_what_to_change() {
        use ErrorKind::{Conflict, InvalidArguments, NotFound};
        let body = "x = 1\ny = 2\nx = 1\n";
        let cases: &[(&[Edit], ErrorKind, &str)] = &[
            (&[edit("", "a", false)], InvalidArguments, "`old` is empty"),
            (&[edit("x", "x", false)], InvalidArguments, "the same"),
            (
                &[edit("y = 2\n", "y = 2\r\n", false)],
                InvalidArguments,
                "leave `f` as it is",
            ),
            (
                &[edit("x = 1", "x", false)],
                Conflict,
                "matches 2 places in `f`, at lines 1, 3: add lines",
            ),
            (
                &[edit("y = 2", "z", false), edit("y", "z", false)],
                NotFound,
                "edit 2 of 2: `old` is not in `f`",
            ),
            (
                &[edit("y = 3", "y = 4", false)],
                NotFound,
                "nearest is line 2:\n     2\ty = 2\nline 2 differs",
            ),
            (
                &[edit("     2\ty = 2\n", "y = 3\n", false)],
                NotFound,
                "leave out the number and the tab",
            ),
            (
                &[edit("y = 1", "y = 2", false)],
                NotFound,
                "`new` is already there at line 2",
            ),
            (
                &[edit("  x = 1\n  y = 2\n", " x = 3\n", false)],
                Conflict,
                "line 1 of `new` cannot be",
            ),
        ];
        for (edits, kind, message) in cases {
            let error = apply(body, "f", edits).expect_err(message);
            assert_eq!(error.kind(), *kind, "{error}");
            assert!(error.message().contains(message), "{error}");
        }
    }

    /// A file with unusual endings, blanks and no final newline, in which a marker is once.
    fn file() -> impl Strategy<Value = (String, String, String)> {
        let line = "[ \tab$é\u{FEFF}]{0,6}(\r\n|\n|\r| \n)";
        let text = |last: &'static str| {
            (prop::collection::vec(line, 0..6), last)
                .prop_map(|(lines, last)| lines.concat() + &last)
        };
        (
            text("[ \tab]{0,4}"),
            "[A-Z]{3}(\r\n|\n)?[A-Z]{3}",
            text("[ \tab]{0,4}\r?"),
        )
    }

    proptest! {
        #[test]
        fn every_byte_outside_the_match_stays(
            (before, marker, after) in file(),
            new in "[ab$&\\\\1` \n]{0,12}",
        ) {
            let body = format!("{before}{marker}{after}");
            let old = marker.replace("\r\n", "\n");
            let applied = apply(&body, "f", &[edit(&old, &new, false)]).expect("it is there once");
            prop_assert!(applied.body.starts_with(&before));
            prop_assert!(applied.body.ends_with(&after));
            let between = &applied.body[before.len()..applied.body.len() - after.len()];
            prop_assert_eq!(between.replace("\r\n", "\n"), new);
        }

        #[test]
        fn to_replace_one_line_leaves_every_other_line_byte_for_byte(
            lines in prop::collection::vec(("[ \t]{0,3}[a-z]{0,3}[ \t]{0,3}", "\r\n|\n"), 1..8),
            at in 0usize..8,
            final_newline in any::<bool>(),
        ) {
            // The model sees the whole file without trailing blanks and with LF, and changes a line.
            let at = at % lines.len();
            let mut file: Vec<String> = lines.iter().map(|(text, ending)| format!("{text}{ending}")).collect();
            if !final_newline {
                let last = file.len() - 1;
                file[last] = "end".to_owned();
            }
            file[at] = format!("MARK{}", crate::endings::part(&file[at]).1.unwrap_or(""));
            let seen: Vec<String> = file
                .iter()
                .map(|line| match crate::endings::part(line) {
                    (text, Some(_)) => format!("{}\n", text.trim_end()),
                    (text, None) => text.to_owned(),
                })
                .collect();
            let old = seen.concat();
            let applied = apply(&file.concat(), "f", &[edit(&old, &old.replace("MARK", "DONE"), false)]);
            let expected = file.concat().replace("MARK", "DONE");
            prop_assert_eq!(applied.expect("it applies").body, expected);
        }
    }
}
