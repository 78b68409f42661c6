//! The arguments of a tool: checked before any instance exists.
//!
//! Owns compiled argument schemas and what is said to a model whose arguments do not fit. It
//! exists so that a wrong call costs no sandbox and names the argument to change. It must never
//! fetch a schema from elsewhere: a `$ref` stays inside its document.

mod coerce;
mod marks;
mod walk;

pub use marks::{Access, PathClaim};

use super::observation::quote;
use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{Draft, PatternOptions, ValidationError, Validator};
use serde_json::Value;

/// The most bytes of a schema as JSON text. The built-in ones stay under 4 KiB.
pub const MAX_SCHEMA_BYTES: usize = 64 << 10;

/// The most faults one observation lists.
const MAX_FAULTS: usize = 8;

/// A schema cannot be used. The text is for the author of the tool.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// Vendors take only an object at the top.
    #[error("its input schema must say `\"type\": \"object\"` at the top")]
    NotAnObject,
    /// Vendors refuse a choice at the top.
    #[error(
        "its input schema has `{0}` at the top, which model vendors refuse; choose inside a property"
    )]
    ChoiceAtTheTop(&'static str),
    /// Larger than [`MAX_SCHEMA_BYTES`].
    #[error("its input schema has {bytes} bytes, {MAX_SCHEMA_BYTES} are allowed")]
    TooLarge {
        /// Its size as JSON text.
        bytes: usize,
    },
    /// A path mark that is neither `read` nor `write`.
    #[error("its input schema marks a path with {0}; `x-hotcell-path` is \"read\" or \"write\"")]
    BadMark(String),
    /// Not a JSON Schema, or one that points outside itself.
    #[error("its input schema is not valid: {0}")]
    Invalid(String),
}

/// An argument schema, compiled once.
#[derive(Debug)]
pub struct Schema {
    source: Value,
    validator: Validator,
    marked: bool,
}

impl Schema {
    /// Compiles a schema, with the path marks still in it.
    ///
    /// # Errors
    /// When it is no object schema, too large, badly marked, or not valid.
    pub fn compile(source: &Value) -> Result<Schema, SchemaError> {
        if source.get("type").and_then(Value::as_str) != Some("object") {
            return Err(SchemaError::NotAnObject);
        }
        for choice in ["anyOf", "oneOf", "allOf", "enum", "not"] {
            if source.get(choice).is_some() {
                return Err(SchemaError::ChoiceAtTheTop(choice));
            }
        }
        let bytes = source.to_string().len();
        if bytes > MAX_SCHEMA_BYTES {
            return Err(SchemaError::TooLarge { bytes });
        }
        let marked = marks::check(source)?;
        // A linear-time regex engine: a pattern of a plugin must not stall the host.
        let validator = jsonschema::options()
            .with_draft(Draft::Draft202012)
            .with_pattern_options(PatternOptions::regex())
            .offline()
            .build(source)
            .map_err(|error| SchemaError::Invalid(quote(&error.to_string())))?;
        Ok(Schema {
            source: source.clone(),
            validator,
            marked,
        })
    }

    /// The schema as a model sees it: without path marks.
    pub fn for_model(&self) -> Value {
        marks::without(&self.source)
    }

    /// The arguments as the tool gets them: the given ones when they fit, else with values that
    /// came as JSON text turned into what the schema wants, and without `null`s for what is left
    /// out.
    ///
    /// # Errors
    /// An observation for the model: every argument that does not fit and what was expected.
    pub fn check(&self, arguments: &Value) -> Result<Value, String> {
        if self.validator.is_valid(arguments) {
            return Ok(arguments.clone());
        }
        let coerced = coerce::coerce(&self.source, arguments);
        if self.validator.is_valid(&coerced) {
            return Ok(coerced);
        }
        let mut faults = self.validator.iter_errors(&coerced);
        let mut lines: Vec<String> = faults
            .by_ref()
            .take(MAX_FAULTS)
            .map(|error| format!("- {}", self.fault(&error)))
            .collect();
        if faults.next().is_some() {
            lines.push("- and more".to_owned());
        }
        Err(lines.join("\n"))
    }

    /// The paths that these arguments name, by the marks of the schema.
    pub fn paths(&self, arguments: &Value) -> Vec<PathClaim> {
        if self.marked {
            marks::paths(&self.source, arguments)
        } else {
            Vec::new()
        }
    }

    /// One fault: where, what was expected, what was there.
    fn fault(&self, error: &ValidationError<'_>) -> String {
        let path = argument_path(error.instance_path().as_str());
        let place = if path.is_empty() {
            "the arguments".to_owned()
        } else {
            format!("`{}`", quote(&path))
        };
        let inside = |name: &str| {
            let name = quote(name);
            if path.is_empty() {
                format!("`{name}`")
            } else {
                format!("`{}.{name}`", quote(&path))
            }
        };
        match error.kind() {
            ValidationErrorKind::Type { kind } => {
                let expected = match kind {
                    TypeKind::Single(one) => one.to_string(),
                    TypeKind::Multiple(types) => {
                        let mut names: Vec<String> =
                            types.iter().map(|one| one.to_string()).collect();
                        names.sort_by_key(|name| name == "null");
                        names.join(" or ")
                    }
                };
                format!(
                    "{place}: expected {expected}, got {}",
                    kind_of(error.instance())
                )
            }
            ValidationErrorKind::Required { property } => {
                let name = property.as_str().unwrap_or_default();
                format!("{}: missing", inside(name))
            }
            ValidationErrorKind::AdditionalProperties { unexpected }
            | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
                let names: Vec<String> = unexpected.iter().map(|name| inside(name)).collect();
                let known = walk::resolve_at(&self.source, error.instance_path().as_str())
                    .and_then(|schema| schema.get("properties"))
                    .and_then(Value::as_object)
                    .map(|properties| {
                        properties
                            .keys()
                            .map(|name| format!("`{}`", quote(name)))
                            .collect::<Vec<_>>()
                            .join(", ")
                    });
                match known {
                    Some(known) if !known.is_empty() => {
                        format!("{}: no such argument; there are {known}", names.join(", "))
                    }
                    _ => format!("{}: no such argument", names.join(", ")),
                }
            }
            ValidationErrorKind::Enum { options } => {
                format!("{place}: expected one of {}", quote(&options.to_string()))
            }
            ValidationErrorKind::Constant { expected_value } => {
                format!("{place}: expected {}", quote(&expected_value.to_string()))
            }
            _ => format!(
                "{place}: {}",
                quote(&error.masked_with("the value").to_string())
            ),
        }
    }
}

/// `edits.0.old` for `/edits/0/old`.
fn argument_path(pointer: &str) -> String {
    pointer
        .split('/')
        .skip(1)
        .map(|part| part.replace("~1", "/").replace("~0", "~"))
        .collect::<Vec<_>>()
        .join(".")
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn edit() -> Value {
        json!({
            "type": "object",
            "properties": {
                "path": {"$ref": "#/$defs/WritePath"},
                "edits": {"type": "array", "items": {"$ref": "#/$defs/Edit"}, "minItems": 1},
                "limit": {"type": ["integer", "null"], "minimum": 1},
                "sort": {"enum": ["name", "time"]},
                "strict": {"type": "boolean"},
                "note": {"type": "string"},
                "any": {},
                "either": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "integer"}}]},
                "maybe": {"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "null"}]},
            },
            "required": ["path"],
            "additionalProperties": false,
            "$defs": {
                "WritePath": {"type": "string", "x-hotcell-path": "write"},
                "Edit": {
                    "type": "object",
                    "properties": {"old": {"type": "string"}, "new": {"type": "string"}},
                    "required": ["old", "new"],
                },
            },
        })
    }

    fn schema() -> Schema {
        Schema::compile(&edit()).expect("a valid schema")
    }

    #[test]
    fn a_value_that_only_slipped_is_coerced_when_the_schema_says_so() {
        let cases = [
            // (sent, expected)
            (json!({"path": "a"}), json!({"path": "a"})),
            (
                json!({"path": "a", "edits": "[{\"old\": \"x\", \"new\": \"y\"}]"}),
                json!({"path": "a", "edits": [{"old": "x", "new": "y"}]}),
            ),
            (
                json!({"path": "a", "edits": ["{\"old\": \"1\", \"new\": \"2\"}"]}),
                json!({"path": "a", "edits": [{"old": "1", "new": "2"}]}),
            ),
            (
                json!({"path": "a", "limit": "12", "strict": "true"}),
                json!({"path": "a", "limit": 12, "strict": true}),
            ),
            (
                json!({"path": "a", "maybe": "[1, 2]"}),
                json!({"path": "a", "maybe": [1, 2]}),
            ),
            // What is left out, sent as null.
            (
                json!({"path": "a", "note": null, "edits": null}),
                json!({"path": "a"}),
            ),
            (
                json!({"path": "a", "limit": null, "any": null, "strict": null}),
                json!({"path": "a", "limit": null, "any": null}),
            ),
            // The whole of it sent as text.
            (json!("{\"path\": \"a\"}"), json!({"path": "a"})),
            // A string is what the schema wants: it stays one, whatever it looks like.
            (
                json!({"path": "a", "note": "[1]", "limit": "3"}),
                json!({"path": "a", "note": "[1]", "limit": 3}),
            ),
            (
                json!({"path": "a", "any": "[1]", "either": "[1]", "limit": "3"}),
                json!({"path": "a", "any": "[1]", "either": "[1]", "limit": 3}),
            ),
        ];
        for (sent, expected) in cases {
            assert_eq!(schema().check(&sent), Ok(expected), "{sent}");
        }
    }

    #[test]
    fn what_does_not_fit_is_named_with_its_place() {
        let cases = [
            (json!({}), "`path`: missing"),
            (json!(null), "`path`: missing"),
            (json!(""), "`path`: missing"),
            (json!([1]), "the arguments: expected object, got array"),
            (
                json!("{\"path\""),
                "the arguments: expected object, got string",
            ),
            (json!({"path": 1}), "`path`: expected string, got number"),
            (json!({"path": null}), "`path`: expected string, got null"),
            (
                json!({"path": "a", "edits": [{"old": "x"}]}),
                "`edits.0.new`: missing",
            ),
            (
                json!({"path": "a", "edits": "[{\"old\": 1, \"new\": \"\"}]"}),
                "`edits.0.old`: expected string, got number",
            ),
            (
                json!({"path": "a", "edits": "[{"}),
                "`edits`: expected array, got string",
            ),
            (
                json!({"path": "a", "limit": "many"}),
                "`limit`: expected integer or null, got string",
            ),
            (json!({"path": "a", "limit": 0}), "`limit`: "),
            (
                json!({"path": "a", "sort": "size"}),
                "`sort`: expected one of [\"name\",\"time\"]",
            ),
            (
                json!({"path": "a", "pth": 1}),
                "`pth`: no such argument; there are `path`, `edits`",
            ),
        ];
        for (sent, expected) in cases {
            let message = schema().check(&sent).expect_err("does not fit");
            assert!(message.contains(expected), "{sent}: {message}");
        }
    }

    #[test]
    fn a_large_wrong_value_does_not_flood_the_observation() {
        let sent = json!({"path": "a", "either": {"x": "y".repeat(1 << 20)}, "n\u{1b}[2K": 1});
        let message = schema().check(&sent).expect_err("does not fit");
        assert!(message.len() < 2_000, "{}", message.len());
        assert!(!message.contains('\u{1b}'));
    }

    #[test]
    fn what_is_no_argument_schema_is_refused_and_the_reason_named() {
        let long = "x".repeat(MAX_SCHEMA_BYTES);
        let cases = [
            (json!({}), "\"type\": \"object\""),
            (json!(true), "\"type\": \"object\""),
            (json!({"type": "array"}), "\"type\": \"object\""),
            (json!({"type": ["object"]}), "\"type\": \"object\""),
            (json!({"type": "object", "oneOf": []}), "`oneOf` at the top"),
            (json!({"type": "object", "properties": 1}), "not valid"),
            (
                json!({"type": "object", "properties": {"a": {"type": "strng"}}}),
                "not valid",
            ),
            (
                json!({"type": "object", "properties": {"a": {"$ref": "https://example.com/x"}}}),
                "not valid",
            ),
            (
                json!({"type": "object", "properties": {"a": {"$ref": "file:///etc/passwd"}}}),
                "not valid",
            ),
            (
                json!({"type": "object", "properties": {"a": {"pattern": "(a+)+\\1"}}}),
                "not valid",
            ),
            (
                json!({"type": "object", "properties": {"a": {"x-hotcell-path": "execute"}}}),
                "\"execute\"",
            ),
            (
                json!({"type": "object", "description": long}),
                "are allowed",
            ),
        ];
        for (source, expected) in cases {
            let error = Schema::compile(&source).expect_err("refused").to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
