//! The `x-hotcell-path` marks of a schema.
//!
//! Owns finding them, what paths a call names by them, and the schema without them. The host locks
//! by these paths. It must never be the boundary: a tool without marks reaches no further, that is
//! the sandbox's business.

use super::SchemaError;
use super::quote;
use super::walk::{Key, MAX_DEPTH, alternatives, child, children_mut};
use serde_json::Value;

/// The keyword that marks a property as a path.
const MARK: &str = "x-hotcell-path";

/// What a call does with a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Access {
    /// It looks.
    Read,
    /// It creates, changes or removes.
    Write,
}

/// A path that a call names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathClaim {
    /// The path as the model wrote it.
    pub path: String,
    /// What the call does with it.
    pub access: Access,
}

fn access(mark: &Value) -> Option<Access> {
    match mark.as_str() {
        Some("read") => Some(Access::Read),
        Some("write") => Some(Access::Write),
        _ => None,
    }
}

/// Whether there is any mark.
pub(super) fn check(schema: &Value) -> Result<bool, SchemaError> {
    let mut copy = schema.clone();
    let mut found = Ok(false);
    visit(&mut copy, &mut |node| {
        let Some(mark) = node.get(MARK) else { return };
        match access(mark) {
            Some(_) => {
                if let Ok(any) = &mut found {
                    *any = true;
                }
            }
            None => found = Err(SchemaError::BadMark(quote(&mark.to_string()))),
        }
    });
    found
}

/// The schema without marks. Only where `x-hotcell-path` is a keyword: a property may bear that name.
pub(super) fn without(schema: &Value) -> Value {
    let mut copy = schema.clone();
    visit(&mut copy, &mut |node| {
        if let Some(keywords) = node.as_object_mut() {
            keywords.shift_remove(MARK);
        }
    });
    copy
}

fn visit(schema: &mut Value, act: &mut dyn FnMut(&mut Value)) {
    act(schema);
    children_mut(schema, &mut |child| visit(child, act));
}

/// The paths that `arguments` name. A marked property that is absent counts with its default.
pub(super) fn paths(root: &Value, arguments: &Value) -> Vec<PathClaim> {
    let mut claims = Vec::new();
    collect(root, root, Some(arguments), 0, &mut claims);
    claims
}

fn collect(
    root: &Value,
    schema: &Value,
    value: Option<&Value>,
    depth: usize,
    claims: &mut Vec<PathClaim>,
) {
    if depth > MAX_DEPTH {
        return;
    }
    let same = alternatives(root, schema);
    let value = value.or_else(|| same.iter().find_map(|schema| schema.get("default")));
    match value {
        Some(Value::String(path)) => {
            // A path marked both ways is written.
            let strongest = same
                .iter()
                .filter_map(|schema| access(schema.get(MARK)?))
                .max();
            if let Some(access) = strongest {
                claims.push(PathClaim {
                    path: path.clone(),
                    access,
                });
            }
        }
        Some(Value::Array(items)) => {
            for (index, item) in items.iter().enumerate() {
                if let Some(schema) = child(root, schema, Key::Item(index)) {
                    collect(root, schema, Some(item), depth + 1, claims);
                }
            }
        }
        Some(Value::Object(properties)) => {
            for (name, part) in properties {
                if let Some(schema) = child(root, schema, Key::Property(name)) {
                    collect(root, schema, Some(part), depth + 1, claims);
                }
            }
            let absent = same
                .iter()
                .filter_map(|schema| schema.get("properties")?.as_object())
                .flatten()
                .filter(|(name, _)| !properties.contains_key(*name));
            for (_, schema) in absent {
                collect(root, schema, None, depth + 1, claims);
            }
        }
        Some(Value::Null | Value::Bool(_) | Value::Number(_)) | None => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "path": {"type": "string", "x-hotcell-path": "read"},
                "into": {"anyOf": [{"$ref": "#/$defs/WritePath"}, {"type": "null"}]},
                "below": {"type": "string", "x-hotcell-path": "read", "default": "."},
                "moves": {"type": "array", "items": {"type": "object", "properties": {
                    "from": {"$ref": "#/$defs/WritePath"},
                    "to": {"$ref": "#/$defs/WritePath"},
                }}},
                "more": {"type": "array", "items": {"type": "string", "x-hotcell-path": "read"}},
                "x-hotcell-path": {"type": "string"},
                "self": {"$ref": "#"},
            },
            "$defs": {"WritePath": {"type": "string", "x-hotcell-path": "write"}},
        })
    }

    #[test]
    fn every_marked_path_of_a_call_is_found() {
        let cases = [
            (json!({}), vec![("read", ".")]),
            (
                json!({"path": "a", "below": "src"}),
                vec![("read", "a"), ("read", "src")],
            ),
            (
                json!({"into": "b", "x-hotcell-path": "no path", "below": "s"}),
                vec![("write", "b"), ("read", "s")],
            ),
            (json!({"into": null, "below": "s"}), vec![("read", "s")]),
            (
                json!({"moves": [{"from": "a", "to": "b"}, {"to": "c"}], "below": "s"}),
                vec![
                    ("write", "a"),
                    ("write", "b"),
                    ("write", "c"),
                    ("read", "s"),
                ],
            ),
            (
                json!({"more": ["a", "b"], "below": "s"}),
                vec![("read", "a"), ("read", "b"), ("read", "s")],
            ),
            (
                json!({"self": {"path": "deep", "below": "s"}, "below": "s"}),
                vec![("read", "deep"), ("read", "s"), ("read", "s")],
            ),
        ];
        for (arguments, expected) in cases {
            let found: Vec<(&str, String)> = paths(&schema(), &arguments)
                .into_iter()
                .map(|claim| {
                    let access = match claim.access {
                        Access::Read => "read",
                        Access::Write => "write",
                    };
                    (access, claim.path)
                })
                .collect();
            let expected: Vec<(&str, String)> = expected
                .into_iter()
                .map(|(access, path)| (access, path.to_owned()))
                .collect();
            assert_eq!(found, expected, "{arguments}");
        }
    }

    #[test]
    fn the_schema_for_the_model_has_no_mark_and_keeps_a_property_of_that_name() {
        let clean = without(&schema());
        assert_eq!(check(&schema()), Ok(true));
        assert_eq!(check(&clean), Ok(false));
        assert!(clean["properties"].get("x-hotcell-path").is_some());
        let text = clean.to_string();
        assert_eq!(text.matches("x-hotcell-path").count(), 1, "{text}");
    }
}
