//! The glue of the tool: its arguments, what the model reads about it, and the component.
//!
//! The counting itself is in `count`, which knows nothing of hotcell.

mod count;

use count::{Counts, Stopped};
use hotcell_sdk::{Answer, Call, Capability, Deserialize, JsonSchema, ReadPath, Tool, ToolError};
use std::fs::{self, File};
use std::io::BufReader;
use std::time::Duration;

/// What is kept of the deadline to write the answer with.
const RESERVE: Duration = Duration::from_millis(200);

/// Counts lines, words and bytes of a text file, and on request how often one word is in it. Use it
/// instead of reading a whole file only to measure it.
///
/// Answers with one line a number. A file too large for the time of the call is counted in part,
/// and the answer says so.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WordCount {
    /// File to count: relative to the workspace, or absolute below `/workspace`.
    path: ReadPath,
    /// A word to count on its own: whole words only, upper and lower case are different.
    #[serde(default)]
    word: Option<String>,
}

impl Tool for WordCount {
    const NAME: &'static str = "word_count";
    const REQUIRES: &'static [Capability] = &[Capability::WorkspaceRead];

    fn run(self, call: &Call<'_>) -> Result<Answer, ToolError> {
        let word = self.word.as_deref();
        if word.is_some_and(|word| word.is_empty() || word.contains(char::is_whitespace)) {
            return Err(ToolError::invalid_arguments(
                "`word` must be one word, without spaces",
            ));
        }

        let shown = self.path.as_str();
        let file = call.resolve(shown)?;
        let io = |error: std::io::Error| ToolError::io(shown, &error);
        // Look before opening: a named pipe would wait for a writer for ever.
        if !fs::metadata(&file).map_err(io)?.is_file() {
            return Err(ToolError::invalid_arguments(format!(
                "`{shown}` is not a regular file"
            )));
        }

        let reader = BufReader::new(File::open(&file).map_err(io)?);
        let go_on = || call.time_left() > RESERVE;
        let (counts, stopped) = count::count(reader, word, go_on).map_err(io)?;
        Ok(render(&counts, word, stopped).into())
    }
}

fn render(counts: &Counts, word: Option<&str>, stopped: Stopped) -> String {
    let mut text = format!(
        "lines: {}\nwords: {}\nbytes: {}\n",
        counts.lines, counts.words, counts.bytes
    );
    if let Some(word) = word {
        text.push_str(&format!("`{word}`: {}\n", counts.matches));
    }
    if stopped == Stopped::Early {
        text.push_str("the time of the call was up: the rest of the file is not counted\n");
    }
    text
}

hotcell_sdk::export!(WordCount);

#[cfg(test)]
mod tests {
    use super::*;
    use hotcell_sdk::ErrorKind;
    use hotcell_sdk::testing::{MockHost, assert_definitions_match, json};

    fn workspace() -> tempfile::TempDir {
        let directory = tempfile::tempdir().expect("a temporary directory");
        fs::write(directory.path().join("a.txt"), "to be or\nnot to be\n").expect("writable");
        directory
    }

    #[test]
    fn a_file_is_measured() {
        let workspace = workspace();
        let host = MockHost::new(workspace.path());
        let answer = host.call::<WordCount>(json!({ "path": "a.txt", "word": "be" }));
        assert_eq!(
            answer.map(|answer| answer.to_text()),
            Ok("lines: 2\nwords: 6\nbytes: 19\n`be`: 2\n".to_owned())
        );
    }

    #[test]
    fn a_failure_says_what_to_do() {
        let workspace = workspace();
        let host = MockHost::new(workspace.path());
        let table = [
            (json!({ "path": "b.txt" }), ErrorKind::NotFound),
            (json!({ "path": "." }), ErrorKind::InvalidArguments),
            (json!({ "path": "../b.txt" }), ErrorKind::Denied),
            (
                json!({ "path": "a.txt", "word": "a b" }),
                ErrorKind::InvalidArguments,
            ),
            (json!({ "file": "a.txt" }), ErrorKind::InvalidArguments),
        ];
        for (arguments, kind) in table {
            let error = host
                .call::<WordCount>(arguments.clone())
                .expect_err("refused");
            assert_eq!(error.kind(), kind, "{arguments}: {error}");
        }
    }

    #[test]
    fn when_the_time_is_up_the_answer_says_so() {
        let workspace = workspace();
        let host = MockHost::new(workspace.path()).with_deadline(Duration::ZERO);
        let answer = host
            .call::<WordCount>(json!({ "path": "a.txt" }))
            .expect("an answer");
        assert!(answer.to_text().ends_with("is not counted\n"));
    }

    #[test]
    fn the_model_reads_what_was_reviewed() {
        assert_definitions_match(
            concat!(env!("CARGO_MANIFEST_DIR"), "/definitions.json"),
            &[hotcell_sdk::definition::<WordCount>()],
        );
    }
}
