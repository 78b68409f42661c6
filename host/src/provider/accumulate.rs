//! Puts tool calls together from the pieces in which they are streamed.
//!
//! Owns the one accumulator of both protocols, and the rules by which the text of arguments
//! becomes an object. It exists because compatible servers disagree on how a piece names its call:
//! by index, by id, by both, or by neither. It must never know which protocol a piece came from.

use crate::protocol::{Message, ToolCall};
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::hash::{BuildHasher, Hasher};

/// A piece of a call, as the stream tells it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CallDelta<'a> {
    /// The place of the call among those of the answer, when the vendor counts.
    pub(super) index: Option<u64>,
    /// The vendor's id; blank counts as none.
    pub(super) id: Option<&'a str>,
    /// The tool's name; blank counts as none.
    pub(super) name: Option<&'a str>,
    /// The next piece of the arguments' text.
    pub(super) arguments: &'a str,
}

/// The calls of one answer, in the order in which they began.
#[derive(Debug, Default)]
pub(super) struct Calls {
    slots: Vec<Slot>,
}

#[derive(Debug, Default)]
struct Slot {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
}

impl Slot {
    /// Whether the arguments are a whole object, so that nothing can follow in the same call.
    fn is_complete(&self) -> bool {
        // The cheap look first: the text is parsed only where a piece starts over.
        self.arguments.trim_end().ends_with('}')
            && serde_json::from_str::<Map<String, Value>>(&self.arguments).is_ok()
    }
}

impl Calls {
    /// Adds a piece to the call it belongs to, or begins a call with it. Answers the place of the
    /// call in the order of the calls.
    pub(super) fn add(&mut self, delta: CallDelta<'_>) -> usize {
        let id = delta.id.filter(|id| !id.trim().is_empty());
        let name = delta.name.filter(|name| !name.trim().is_empty());
        let place = self.find(&delta, id, name).unwrap_or_else(|| {
            self.slots.push(Slot {
                index: delta.index,
                ..Slot::default()
            });
            self.slots.len() - 1
        });
        let slot = &mut self.slots[place];
        if slot.id.is_empty() {
            slot.id.push_str(id.unwrap_or_default());
        }
        if slot.name.is_empty() {
            slot.name.push_str(name.unwrap_or_default().trim());
        }
        slot.arguments.push_str(delta.arguments);
        place
    }

    /// The call a piece goes on with; `None` when it begins one.
    fn find(&self, delta: &CallDelta<'_>, id: Option<&str>, name: Option<&str>) -> Option<usize> {
        let same_index = |slot: &Slot| match (slot.index, delta.index) {
            (Some(mine), Some(theirs)) => mine == theirs,
            (_, None) => true,
            (None, Some(_)) => false,
        };
        // Different ids are different calls, whatever the index says: some servers give every call
        // the index 0, or none.
        let known = id.and_then(|id| {
            self.slots
                .iter()
                .rposition(|slot| same_index(slot) && slot.id == id)
        });
        if known.is_some() {
            return known;
        }
        // Without an id, the latest call of that index goes on, or the latest of all.
        let place = self.slots.iter().rposition(same_index)?;
        let slot = &self.slots[place];
        let other_id = id.is_some() && !slot.id.is_empty();
        // Some servers give no ids, and some repeat the name in each piece of one call: the name
        // begins another call where it differs, or where the arguments start over.
        let other_name = name.is_some_and(|name| !slot.name.is_empty() && slot.name != name.trim());
        let starts_over = name.is_some() && !delta.arguments.is_empty() && slot.is_complete();
        (!other_id && !other_name && !starts_over).then_some(place)
    }

    /// The finished calls. Ids are unique among themselves and in `history`: a missing or repeated
    /// one is replaced, which is safe since only the answer to this very call will carry it.
    pub(super) fn finish(self, history: &[Message]) -> Vec<ToolCall> {
        if self.slots.is_empty() {
            return Vec::new();
        }
        let ours: HashSet<&str> = self.slots.iter().map(|slot| slot.id.as_str()).collect();
        let mut taken: HashSet<String> = history
            .iter()
            .flat_map(Message::calls)
            .filter(|call| ours.contains(call.id.as_str()))
            .map(|call| call.id.clone())
            .collect();
        drop(ours);
        self.slots
            .into_iter()
            .map(|slot| {
                let mut id = slot.id;
                while id.is_empty() || taken.contains(&id) {
                    id = fresh_id();
                }
                taken.insert(id.clone());
                let (arguments, malformed) = parse_arguments(slot.arguments);
                ToolCall {
                    id,
                    name: slot.name,
                    arguments,
                    malformed,
                }
            })
            .collect()
    }
}

/// An id that no other call of the session has, up to a chance of one in 2^64.
fn fresh_id() -> String {
    // The standard library seeds each `RandomState` afresh: enough for a name, not for a secret.
    let random = std::collections::hash_map::RandomState::new()
        .build_hasher()
        .finish();
    format!("call_{random:016x}")
}

/// The object a text of arguments means, and the text itself where it means none.
///
/// Nothing, and `null`, mean no arguments. An object inside a JSON string is taken out: the
/// arguments are an object in every schema, so nothing else can be meant.
pub(super) fn parse_arguments(text: String) -> (Value, Option<String>) {
    if text.trim().is_empty() {
        return (Value::Object(Map::new()), None);
    }
    match serde_json::from_str::<Value>(&text) {
        Ok(value) => object_of(value).map_or_else(
            || (Value::Object(Map::new()), Some(text)),
            |object| (Value::Object(object), None),
        ),
        Err(_) => (Value::Object(Map::new()), Some(text)),
    }
}

fn object_of(value: Value) -> Option<Map<String, Value>> {
    match value {
        Value::Object(object) => Some(object),
        Value::Null => Some(Map::new()),
        Value::String(inner) => serde_json::from_str(&inner).ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::ContentBlock;
    use proptest::prelude::*;
    use serde_json::json;

    /// (index, id, name, arguments)
    type Piece = (
        Option<u64>,
        Option<&'static str>,
        Option<&'static str>,
        &'static str,
    );

    fn calls(pieces: &[Piece]) -> Vec<ToolCall> {
        let mut calls = Calls::default();
        for (index, id, name, arguments) in pieces {
            calls.add(CallDelta {
                index: *index,
                id: *id,
                name: *name,
                arguments,
            });
        }
        calls.finish(&[])
    }

    #[test]
    fn pieces_find_their_call_however_a_server_names_it() {
        let a = ("read", json!({"path": "a"}));
        let b = ("grep", json!({"pattern": "b"}));
        let none = ("list", json!({}));
        let cases: &[(&str, &[Piece], &[&(&str, Value)])] = &[
            (
                "index, id only in the first piece",
                &[
                    (Some(0), Some("1"), Some("read"), ""),
                    (Some(0), None, None, "{\"path\""),
                    (Some(1), Some("2"), Some("grep"), ""),
                    (Some(1), None, None, "{\"pattern\":\"b\"}"),
                    (Some(0), None, None, ":\"a\"}"),
                ],
                &[&a, &b],
            ),
            (
                "blank first, more later",
                &[
                    (Some(0), Some("1"), Some(""), ""),
                    (Some(0), Some(""), Some("read"), ""),
                    (Some(0), Some(""), Some(""), "{\"path\":"),
                    (Some(0), None, None, "\"a\"}"),
                ],
                &[&a],
            ),
            (
                "all with index 0, different ids",
                &[
                    (Some(0), Some("1"), Some("read"), "{\"path\":\"a\"}"),
                    (Some(0), Some("2"), Some("grep"), "{\"pattern\":"),
                    (Some(0), None, None, "\"b\"}"),
                ],
                &[&a, &b],
            ),
            (
                "no index, different ids",
                &[
                    (None, Some("1"), Some("read"), "{\"path\":\"a\"}"),
                    (None, Some("2"), Some("grep"), "{\"pattern\":\"b\"}"),
                ],
                &[&a, &b],
            ),
            (
                "id and name in every piece",
                &[
                    (Some(0), Some("1"), Some("read"), "{\"path\":"),
                    (Some(0), Some("1"), Some("read"), "\"a\"}"),
                    (Some(0), Some("1"), Some("read"), ""),
                ],
                &[&a],
            ),
            (
                "index and name in every piece, no id",
                &[
                    (Some(0), None, Some("read"), "{\"path\":"),
                    (Some(0), None, Some("read"), "\"a\"}"),
                    (Some(0), None, Some("read"), ""),
                ],
                &[&a],
            ),
            (
                "whole calls, neither index nor id",
                &[
                    (None, None, Some("read"), "{\"path\":\"a\"}"),
                    (None, None, Some("grep"), "{\"pattern\":\"b\"}"),
                ],
                &[&a, &b],
            ),
            (
                "whole calls, all with index 0, no id",
                &[
                    (Some(0), None, Some("read"), "{\"path\":\"a\"}"),
                    (Some(0), None, Some("grep"), "{\"pattern\":\"b\"}"),
                ],
                &[&a, &b],
            ),
            (
                "no arguments, neither index nor id",
                &[
                    (None, None, Some("list"), ""),
                    (None, None, Some("read"), "{\"path\":\"a\"}"),
                ],
                &[&none, &a],
            ),
            (
                "an id only for the second of two whole calls",
                &[
                    (None, None, Some("read"), "{\"path\":\"a\"}"),
                    (None, Some("2"), Some("grep"), "{\"pattern\":\"b\"}"),
                ],
                &[&a, &b],
            ),
            (
                "the id comes after the name",
                &[
                    (Some(0), None, Some("read"), ""),
                    (Some(0), Some("1"), None, "{\"path\":\"a\"}"),
                ],
                &[&a],
            ),
            (
                "one id for two indices",
                &[
                    (Some(0), Some("1"), Some("read"), "{\"path\":\"a\"}"),
                    (Some(1), Some("1"), Some("grep"), "{\"pattern\":\"b\"}"),
                ],
                &[&a, &b],
            ),
        ];
        for (what, pieces, expected) in cases {
            let calls = calls(pieces);
            let found: Vec<(&str, &Value)> = calls
                .iter()
                .map(|call| (call.name.as_str(), &call.arguments))
                .collect();
            let expected: Vec<(&str, &Value)> = expected
                .iter()
                .map(|(name, arguments)| (*name, arguments))
                .collect();
            assert_eq!(found, expected, "{what}");
            let ids: HashSet<&str> = calls.iter().map(|call| call.id.as_str()).collect();
            assert_eq!(ids.len(), calls.len(), "{what}: ids are unique");
            assert!(!ids.contains(""), "{what}: no id is blank");
        }
    }

    #[test]
    fn arguments_become_an_object_or_are_kept_as_malformed() {
        for (text, object, malformed) in [
            ("", json!({}), false),
            ("  \n", json!({}), false),
            ("null", json!({}), false),
            ("{}", json!({}), false),
            (" {\"a\": [1, 2]} ", json!({"a": [1, 2]}), false),
            (r#""{\"a\": 1}""#, json!({"a": 1}), false),
            ("{\"a\": ", json!({}), true),
            ("[1]", json!({}), true),
            ("7", json!({}), true),
            ("\"text\"", json!({}), true),
            ("{\"a\":1}{\"b\":2}", json!({}), true),
        ] {
            let (arguments, raw) = parse_arguments(text.to_owned());
            assert_eq!(arguments, object, "{text:?}");
            assert_eq!(raw.as_deref(), malformed.then_some(text), "{text:?}");
        }
    }

    #[test]
    fn an_id_that_the_conversation_already_has_is_replaced() {
        let history = [Message::assistant(vec![ContentBlock::ToolCall(ToolCall {
            id: "call_0".into(),
            name: "read".into(),
            arguments: json!({}),
            malformed: None,
        })])];
        let mut calls = Calls::default();
        for id in ["call_0", "call_1"] {
            calls.add(CallDelta {
                id: Some(id),
                name: Some("read"),
                ..CallDelta::default()
            });
        }
        let calls = calls.finish(&history);
        assert_ne!(calls[0].id, "call_0");
        assert_eq!(calls[1].id, "call_1");
    }

    proptest! {
        #[test]
        fn calls_do_not_depend_on_how_arguments_are_split_or_interleaved(
            values in prop::collection::vec("[a-z\"\\\\{} é]{0,12}", 1..5),
            order in prop::collection::vec((any::<prop::sample::Index>(), 1..4_usize), 0..60),
        ) {
            let texts: Vec<String> = values.iter().map(|v| json!({ "v": v }).to_string()).collect();
            let mut left: Vec<&str> = texts.iter().map(String::as_str).collect();
            let mut calls = Calls::default();
            for (index, _) in texts.iter().enumerate() {
                let id = format!("id{index}");
                calls.add(CallDelta {
                    index: Some(index as u64), id: Some(&id), name: Some("tool"), arguments: "",
                });
            }
            let all: Vec<(usize, usize)> = order
                .iter()
                .map(|(which, size)| (which.index(texts.len()), *size))
                .chain((0..texts.len()).map(|which| (which, usize::MAX)))
                .collect();
            for (which, size) in all {
                let end = left[which].char_indices().nth(size).map_or(left[which].len(), |(at, _)| at);
                let (piece, rest) = left[which].split_at(end);
                left[which] = rest;
                calls.add(CallDelta { index: Some(which as u64), arguments: piece, ..CallDelta::default() });
            }
            let found: Vec<Value> = calls.finish(&[]).into_iter().map(|call| call.arguments).collect();
            let expected: Vec<Value> = values.iter().map(|v| json!({ "v": v })).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
