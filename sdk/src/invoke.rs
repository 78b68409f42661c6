//! From the JSON text of a call to the tool's answer.

use crate::{Answer, Call, Tool, ToolError};

/// Parses `arguments` and runs the tool.
///
/// The host has checked them against the schema already, so what fails here is what a schema cannot
/// say, such as a serde `try_from`.
pub(crate) fn run<T: Tool>(arguments: &str, call: &Call<'_>) -> Result<Answer, ToolError> {
    parse::<T>(arguments)?.run(call)
}

fn parse<T: Tool>(arguments: &str) -> Result<T, ToolError> {
    let mut json = serde_json::Deserializer::from_str(arguments);
    let tool = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let path = error.path().to_string();
        let inner = error.into_inner();
        let message = describe(&inner);
        ToolError::invalid_arguments(if path == "." {
            message
        } else {
            format!("`{path}`: {message}")
        })
    })?;
    json.end()
        .map_err(|error| ToolError::invalid_arguments(describe(&error)))?;
    Ok(tool)
}

/// The message of serde. Where the text is JSON and only its meaning is wrong, without the position
/// in it: models do not count columns, and the path says where.
fn describe(error: &serde_json::Error) -> String {
    let message = error.to_string();
    if !error.is_data() {
        return format!("the arguments are not JSON: {message}");
    }
    match message.rsplit_once(" at line ") {
        Some((meaning, _)) => meaning.to_owned(),
        None => message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Capability, Deserialize, JsonSchema};

    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only parsed")]
    struct Edit {
        path: String,
        edits: Vec<Replacement>,
    }

    #[derive(Debug, Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only parsed")]
    struct Replacement {
        old: String,
    }

    impl Tool for Edit {
        const NAME: &'static str = "edit";
        const REQUIRES: &'static [Capability] = &[];

        fn run(self, _: &Call<'_>) -> Result<Answer, ToolError> {
            Ok(Answer::default())
        }
    }

    #[test]
    fn wrong_arguments_are_named_with_their_place() {
        let table = [
            (
                r#"{"path":"a","edits":[{"old":"x"},{"old":1}]}"#,
                "`edits[1].old`: invalid type: integer `1`, expected a string",
            ),
            (r#"{"path":"a"}"#, "missing field `edits`"),
            (
                r#"{"path":"a","edits":[],"pth":1}"#,
                "`pth`: unknown field `pth`, expected `path` or `edits`",
            ),
            (
                r#"{"path":"a","edits":[]} {}"#,
                "the arguments are not JSON: trailing characters at line 1 column 25",
            ),
            (
                r#"{"path":"#,
                "`path`: the arguments are not JSON: EOF while parsing a value at line 1 column 8",
            ),
            (
                "",
                "the arguments are not JSON: EOF while parsing a value at line 1 column 0",
            ),
        ];
        for (arguments, message) in table {
            let error = parse::<Edit>(arguments).expect_err(arguments);
            assert_eq!(error.kind(), crate::ErrorKind::InvalidArguments);
            assert_eq!(error.message(), message);
        }
    }
}
