//! Ways through a schema.
//!
//! Owns which keywords hold schemas and how a local `$ref` is followed, in one place for marks and
//! coercion. It must never judge a value.

use serde_json::Value;

/// How deep a schema is followed. A `$ref` can point at itself; real arguments end long before.
pub(super) const MAX_DEPTH: usize = 32;

/// Calls `visit` with each schema that lies directly in `schema`.
pub(super) fn children_mut(schema: &mut Value, visit: &mut dyn FnMut(&mut Value)) {
    let Some(keywords) = schema.as_object_mut() else {
        return;
    };
    for (keyword, value) in keywords {
        match keyword.as_str() {
            // The keys are names here, not keywords.
            "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas" => {
                value
                    .as_object_mut()
                    .into_iter()
                    .flat_map(serde_json::Map::values_mut)
                    .for_each(&mut *visit);
            }
            "allOf" | "anyOf" | "oneOf" | "prefixItems" => {
                value
                    .as_array_mut()
                    .into_iter()
                    .flatten()
                    .for_each(&mut *visit);
            }
            "additionalProperties"
            | "contains"
            | "else"
            | "if"
            | "items"
            | "not"
            | "propertyNames"
            | "then"
            | "unevaluatedItems"
            | "unevaluatedProperties" => {
                visit(value);
            }
            _ => {}
        }
    }
}

/// The schemas that apply to the same value as `schema`: itself, what its `$ref` names, and the
/// members of its choices, each resolved in turn.
pub(super) fn alternatives<'s>(root: &'s Value, schema: &'s Value) -> Vec<&'s Value> {
    let mut found = Vec::new();
    collect(root, schema, 0, &mut found);
    found
}

fn collect<'s>(root: &'s Value, schema: &'s Value, depth: usize, found: &mut Vec<&'s Value>) {
    // A hostile schema can branch at each level: bound the breadth too.
    if depth > MAX_DEPTH || found.len() >= MAX_DEPTH * MAX_DEPTH {
        return;
    }
    found.push(schema);
    if let Some(target) = reference(root, schema) {
        collect(root, target, depth + 1, found);
    }
    for choice in ["allOf", "anyOf", "oneOf"] {
        let members = schema.get(choice).and_then(Value::as_array);
        for member in members.into_iter().flatten() {
            collect(root, member, depth + 1, found);
        }
    }
}

/// What a `$ref` of `schema` names, inside the same document.
pub(super) fn reference<'s>(root: &'s Value, schema: &Value) -> Option<&'s Value> {
    let pointer = schema.get("$ref")?.as_str()?.strip_prefix('#')?;
    root.pointer(pointer)
}

/// The schema of a property of an object, or of an item of an array, by alternatives in order.
pub(super) fn child<'s>(root: &'s Value, schema: &'s Value, key: Key<'_>) -> Option<&'s Value> {
    alternatives(root, schema)
        .into_iter()
        .find_map(|schema| match key {
            Key::Property(name) => schema
                .get("properties")
                .and_then(|properties| properties.get(name))
                .or_else(|| schema.get("additionalProperties").filter(|s| s.is_object())),
            Key::Item(index) => schema
                .get("prefixItems")
                .and_then(|items| items.get(index))
                .or_else(|| schema.get("items")),
        })
}

/// A step from a value into one of its parts.
#[derive(Clone, Copy)]
pub(super) enum Key<'k> {
    /// A property of an object.
    Property(&'k str),
    /// An item of an array.
    Item(usize),
}

/// The schema that applies at a JSON pointer into the arguments, with its `$ref` followed.
pub(super) fn resolve_at<'s>(root: &'s Value, pointer: &str) -> Option<&'s Value> {
    let mut schema = root;
    for part in pointer.split('/').skip(1) {
        let name = part.replace("~1", "/").replace("~0", "~");
        schema = child(root, schema, Key::Property(&name)).or_else(|| {
            let index = name.parse().ok()?;
            child(root, schema, Key::Item(index))
        })?;
    }
    alternatives(root, schema)
        .into_iter()
        .find(|schema| schema.get("properties").is_some())
}
