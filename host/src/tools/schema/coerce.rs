//! Values that came as JSON text.
//!
//! Owns the repair of two common slips. Models send `"[1, 2]"` where the schema says array: a
//! string is replaced where the schema takes no string and the text reads as something it takes.
//! And they send `null` for what they leave out: such a property is dropped where the schema takes
//! no `null` and does not require it. It must never change a value that fits.

use super::walk::{Key, MAX_DEPTH, alternatives, child};
use serde_json::{Map, Value};

/// `value` with such strings replaced, in all its parts.
pub(super) fn coerce(root: &Value, value: &Value) -> Value {
    // Some models send nothing at all where there are no arguments.
    match value {
        Value::Null => return Value::Object(Map::new()),
        Value::String(text) if text.trim().is_empty() => return Value::Object(Map::new()),
        _ => {}
    }
    walk(root, root, value, 0)
}

fn walk(root: &Value, schema: &Value, value: &Value, depth: usize) -> Value {
    if depth > MAX_DEPTH {
        return value.clone();
    }
    let below = |key, part: &Value| match child(root, schema, key) {
        Some(schema) => walk(root, schema, part, depth + 1),
        None => part.clone(),
    };
    match value {
        Value::String(text) => match read(root, schema, text) {
            Some(replaced) => walk(root, schema, &replaced, depth + 1),
            None => value.clone(),
        },
        Value::Array(items) => items
            .iter()
            .enumerate()
            .map(|(index, item)| below(Key::Item(index), item))
            .collect(),
        Value::Object(properties) => properties
            .iter()
            .filter(|(name, part)| !(part.is_null() && is_left_out(root, schema, name)))
            .map(|(name, part)| (name.clone(), below(Key::Property(name), part)))
            .collect::<Map<_, _>>()
            .into(),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// Whether `null` for a property can only mean that it is left out.
fn is_left_out(root: &Value, schema: &Value, name: &str) -> bool {
    let required = alternatives(root, schema)
        .into_iter()
        .filter_map(|schema| schema.get("required")?.as_array())
        .flatten()
        .any(|required| required == name);
    let takes_null = child(root, schema, Key::Property(name))
        .and_then(|property| types(root, property))
        .is_none_or(|types| types.contains(&"null"));
    !required && !takes_null
}

/// What `text` reads as, if the schema takes that and takes no string.
fn read(root: &Value, schema: &Value, text: &str) -> Option<Value> {
    let wanted = types(root, schema)?;
    let value: Value = serde_json::from_str(text.trim()).ok()?;
    let fits = |name: &&str| match *name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "boolean" => value.is_boolean(),
        "number" | "integer" => value.is_number(),
        "null" => value.is_null(),
        _ => false,
    };
    (!wanted.contains(&"string") && wanted.iter().any(fits)).then_some(value)
}

/// The types the schema names; `None` when it takes any.
fn types<'s>(root: &'s Value, schema: &'s Value) -> Option<Vec<&'s str>> {
    let mut named = Vec::new();
    for schema in alternatives(root, schema) {
        match schema.get("type") {
            Some(Value::String(one)) => named.push(one.as_str()),
            Some(Value::Array(several)) => named.extend(several.iter().filter_map(Value::as_str)),
            _ if schema.get("enum").is_some() || schema.get("const").is_some() => return None,
            _ => {}
        }
    }
    (!named.is_empty()).then_some(named)
}
