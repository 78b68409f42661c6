//! A tool as the host and the model see it, made from the author's struct.
//!
//! Owns the shape of the schema that tools have in common: JSON Schema 2020-12 without references,
//! titles or notes that only a code generator reads, because every word of it costs the model
//! tokens in every request.

use crate::{Capability, Tool};
use schemars::Schema;
use schemars::generate::SchemaSettings;
use schemars::transform::transform_subschemas;
use serde::Serialize;
use serde_json::Value;

/// What a component says about one of its tools.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Definition {
    /// [`Tool::NAME`].
    pub name: String,
    /// The doc comment of the struct.
    pub description: String,
    /// JSON Schema of the arguments: always an object schema, marks of paths included.
    pub input_schema: Value,
    /// [`Tool::REQUIRES`].
    pub requires: Vec<Capability>,
    /// [`Tool::ACCEPTS`].
    pub accepts: Vec<Capability>,
}

/// The definition of `T`.
///
/// # Panics
/// When `T` has no doc comment, or is no struct with named fields (an empty one is fine): the model
/// could not use such a tool. [`assert_definitions_match`](crate::testing) or any other test that
/// calls this finds it before the component is built.
pub fn definition<T: Tool>() -> Definition {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let mut schema = settings
        .with_transform(tidy)
        .into_generator()
        .into_root_schema_for::<T>();
    let object = schema.ensure_object();
    let description = match object.get_mut("description") {
        Some(Value::String(text)) => std::mem::take(text),
        _ => panic!(
            "tool `{}`: `{}` has no doc comment, and the model reads nothing else about it",
            T::NAME,
            T::schema_name()
        ),
    };
    object.retain(|key, _| key != "description");
    assert!(
        object.get("type").and_then(Value::as_str) == Some("object"),
        "tool `{}`: `{}` must be a struct with named fields, because arguments are a JSON object",
        T::NAME,
        T::schema_name()
    );
    // Some providers refuse an object schema without the key.
    object
        .entry("properties")
        .or_insert_with(|| Value::Object(serde_json::Map::new()));
    Definition {
        name: T::NAME.to_owned(),
        description,
        input_schema: Value::Object(std::mem::take(object)),
        requires: T::REQUIRES.to_vec(),
        accepts: T::ACCEPTS.to_vec(),
    }
}

/// Removes what a model cannot use, keeps the order of the rest, and joins the lines of doc
/// comments.
fn tidy(schema: &mut Schema) {
    let numeric = is_numeric(schema);
    if let Some(object) = schema.as_object_mut() {
        object.retain(|key, value| match key.as_str() {
            "title" => false,
            // `uint32` and the like are schemars' own words, and say nothing beside `minimum`.
            "format" => !numeric,
            "default" => !value.is_null(),
            _ => true,
        });
    }
    if let Some(Value::String(text)) = schema.get_mut("description") {
        *text = join_lines(text);
    }
    transform_subschemas(&mut tidy, schema);
}

fn is_numeric(schema: &Schema) -> bool {
    let names_number = |value: &Value| matches!(value.as_str(), Some("integer" | "number"));
    match schema.get("type") {
        Some(Value::Array(types)) => types.iter().any(names_number),
        Some(name) => names_number(name),
        None => false,
    }
}

/// Joins the lines of each paragraph and each list item, which a doc comment wraps only for the
/// width of the source. Fenced blocks stay as they are.
fn join_lines(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut verbatim = false;
    let mut fresh = true;
    for line in text.lines() {
        let content = line.trim();
        let fence = content.starts_with("```");
        if verbatim || fence {
            if !out.is_empty() {
                out.push('\n');
            }
            out.push_str(line.trim_end());
            if fence {
                verbatim = !verbatim;
            }
            fresh = !verbatim;
            continue;
        }
        if content.is_empty() {
            if !out.is_empty() && !out.ends_with("\n\n") {
                out.push_str(if out.ends_with('\n') { "\n" } else { "\n\n" });
            }
            fresh = true;
            continue;
        }
        if fresh || starts_item(content) {
            if !out.is_empty() && !out.ends_with('\n') {
                out.push('\n');
            }
        } else {
            out.push(' ');
        }
        out.push_str(content);
        fresh = false;
    }
    out.truncate(out.trim_end().len());
    out
}

fn starts_item(line: &str) -> bool {
    let digits = line.len() - line.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    line.starts_with("- ")
        || line.starts_with("* ")
        || (digits > 0
            && line
                .get(digits..)
                .is_some_and(|rest| rest.starts_with(". ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Answer, Call, Deserialize, JsonSchema, ReadPath, ToolError, WritePath};
    use serde_json::json;

    /// Copies a file.
    ///
    /// The copy replaces what is there; this sentence is wrapped
    /// in the source only.
    /// - `from` stays as
    ///   it is
    /// - links are not followed
    #[derive(Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only described")]
    struct Copy {
        /// The file to copy, or
        /// each of several.
        from: Vec<ReadPath>,
        /// Where to.
        to: WritePath,
        #[serde(default)]
        also: Option<ReadPath>,
        #[serde(default = "three")]
        attempts: u32,
        mode: Mode,
    }

    fn three() -> u32 {
        3
    }

    #[derive(Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    enum Mode {
        /// Bytes only.
        Plain,
        /// Times and modes too.
        WithTimes,
    }

    impl Tool for Copy {
        const NAME: &'static str = "copy";
        const REQUIRES: &'static [Capability] = &[Capability::WorkspaceRead];
        const ACCEPTS: &'static [Capability] = &[Capability::WorkspaceWrite];

        fn run(self, _: &Call<'_>) -> Result<Answer, ToolError> {
            Ok(Answer::default())
        }
    }

    #[test]
    fn one_struct_gives_description_schema_and_capabilities() {
        let definition = serde_json::to_value(definition::<Copy>()).expect("plain data");
        assert_eq!(
            definition,
            json!({
                "name": "copy",
                "description": "Copies a file.\n\nThe copy replaces what is there; this sentence is \
                    wrapped in the source only.\n- `from` stays as it is\n- links are not followed",
                "input_schema": {
                    "type": "object",
                    "properties": {
                        "from": {
                            "description": "The file to copy, or each of several.",
                            "type": "array",
                            "items": { "type": "string", "x-hotcell-path": "read" },
                        },
                        "to": {
                            "description": "Where to.",
                            "type": "string",
                            "x-hotcell-path": "write",
                        },
                        "also": { "type": ["string", "null"], "x-hotcell-path": "read" },
                        "attempts": { "type": "integer", "minimum": 0, "default": 3 },
                        "mode": {
                            "oneOf": [
                                { "description": "Bytes only.", "type": "string", "const": "plain" },
                                {
                                    "description": "Times and modes too.",
                                    "type": "string",
                                    "const": "with_times",
                                },
                            ],
                        },
                    },
                    "additionalProperties": false,
                    "required": ["from", "to", "mode"],
                },
                "requires": ["workspace-read"],
                "accepts": ["workspace-write"],
            })
        );
    }

    #[test]
    fn wrapped_lines_are_joined_and_blocks_are_kept() {
        let table = [
            ("one\ntwo", "one two"),
            ("one\n\n\ntwo\n", "one\n\ntwo"),
            ("a:\n1. x\n   y\n2. z", "a:\n1. x y\n2. z"),
            (
                "see\n```\na\n  b\n\nc\n```\nend",
                "see\n```\na\n  b\n\nc\n```\nend",
            ),
            ("3.5 is\n2.5 more", "3.5 is 2.5 more"),
        ];
        for (text, joined) in table {
            assert_eq!(join_lines(text), joined, "{text:?}");
        }
    }

    #[derive(Deserialize, JsonSchema)]
    struct Silent {}

    impl Tool for Silent {
        const NAME: &'static str = "silent";
        const REQUIRES: &'static [Capability] = &[];

        fn run(self, _: &Call<'_>) -> Result<Answer, ToolError> {
            Ok(Answer::default())
        }
    }

    #[test]
    #[should_panic(expected = "tool `silent`: `Silent` has no doc comment")]
    fn a_tool_without_a_description_is_named() {
        definition::<Silent>();
    }

    /// Answers with the time.
    #[derive(Deserialize, JsonSchema)]
    struct Positional(#[expect(dead_code, reason = "only described")] u8);

    impl Tool for Positional {
        const NAME: &'static str = "positional";
        const REQUIRES: &'static [Capability] = &[];

        fn run(self, _: &Call<'_>) -> Result<Answer, ToolError> {
            Ok(Answer::default())
        }
    }

    #[test]
    #[should_panic(expected = "`Positional` must be a struct with named fields")]
    fn arguments_that_are_no_object_are_named() {
        definition::<Positional>();
    }
}
