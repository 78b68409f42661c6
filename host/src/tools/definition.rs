//! What a tool may say about itself.
//!
//! Owns the checks on a definition before it is registered: a definition ends up in requests to a
//! model and in what people read, so its size and its letters are bounded. It must never know
//! where the definition comes from.

use super::observation::quote;
use super::schema::{Schema, SchemaError};
use crate::protocol::ToolDefinition;

/// The most bytes of a description. Vendors take 1 KiB and more; the rest of hotcell's own prompt
/// is smaller than this.
pub const MAX_DESCRIPTION_BYTES: usize = 8 << 10;

/// The most characters of a name: what every vendor takes.
const MAX_NAME: usize = 64;

/// A definition cannot be used. The text is for the author of the tool.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DefinitionError {
    /// The name is not of the form that every vendor takes.
    #[error(
        "a tool is named \"{0}\"; a name has 1 to {MAX_NAME} characters, a to z, 0 to 9 or `_`, and begins with a letter"
    )]
    BadName(String),
    /// There is no description, or one that is too large.
    #[error(
        "the description of tool `{tool}` has {bytes} bytes; 1 to {MAX_DESCRIPTION_BYTES} are allowed"
    )]
    BadDescription {
        /// The tool.
        tool: String,
        /// The size of its description.
        bytes: usize,
    },
    /// The input schema cannot be used.
    #[error("tool `{tool}` cannot be used: {reason}")]
    BadSchema {
        /// The tool.
        tool: String,
        /// What is wrong with its schema.
        reason: SchemaError,
    },
}

/// Checks a definition and compiles its schema.
pub(super) fn check(definition: &ToolDefinition) -> Result<Schema, DefinitionError> {
    let name = &definition.name;
    if !is_name(name) {
        return Err(DefinitionError::BadName(quote(name)));
    }
    let bytes = definition.description.len();
    if definition.description.trim().is_empty() || bytes > MAX_DESCRIPTION_BYTES {
        return Err(DefinitionError::BadDescription {
            tool: name.clone(),
            bytes,
        });
    }
    Schema::compile(&definition.input_schema).map_err(|reason| DefinitionError::BadSchema {
        tool: name.clone(),
        reason,
    })
}

/// Whether `name` matches `[a-z][a-z0-9_]{0,63}`.
fn is_name(name: &str) -> bool {
    name.len() <= MAX_NAME
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Capabilities;
    use serde_json::json;

    fn definition(name: &str, description: &str) -> ToolDefinition {
        ToolDefinition {
            name: name.into(),
            description: description.into(),
            input_schema: json!({"type": "object"}),
            requires: Capabilities::NONE,
            accepts: Capabilities::NONE,
        }
    }

    #[test]
    fn a_table_of_names() {
        let long = "a".repeat(64);
        let longer = "a".repeat(65);
        for good in ["a", "read_file", "x9_", &long] {
            assert!(check(&definition(good, "d")).is_ok(), "{good}");
        }
        for bad in [
            "",
            "..",
            "a/b",
            "A",
            "9a",
            "_a",
            "a-b",
            "a b",
            "ä",
            "a\u{1b}[2K",
            "a\n",
            &longer,
        ] {
            let error = check(&definition(bad, "d")).expect_err(bad).to_string();
            assert!(!error.contains(char::is_control), "{error:?}");
        }
    }

    #[test]
    fn a_description_is_there_and_bounded() {
        let long = "d".repeat(MAX_DESCRIPTION_BYTES + 1);
        for bad in ["", " \n", &long] {
            assert!(matches!(
                check(&definition("a", bad)),
                Err(DefinitionError::BadDescription { .. })
            ));
        }
    }
}
