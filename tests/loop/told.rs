//! What a run told: its events, held to the grammar that programs rely on.

use crate::bench::Ended;
use serde_json::Value;
use std::collections::HashMap;

/// A run that has ended.
#[derive(Debug)]
pub struct Told {
    pub code: Option<i32>,
    pub events: Vec<Value>,
    pub err: String,
}

impl Told {
    /// Reads the events.
    ///
    /// # Panics
    /// When they are no JSON lines, or not in the order that is promised.
    pub fn of(ended: Ended) -> Told {
        let events: Vec<Value> = ended
            .out
            .lines()
            .map(|line| {
                serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))
            })
            .collect();
        if let Err(fault) = grammar(&events) {
            panic!("{fault} in\n{}\n{}", ended.out, ended.err);
        }
        Told {
            code: ended.code,
            events,
            err: ended.err,
        }
    }

    /// The terminal event.
    pub fn last(&self) -> &Value {
        self.events.last().expect("the grammar holds")
    }

    /// All events of one type.
    pub fn all(&self, kind: &str) -> Vec<&Value> {
        let of_kind = |event: &&Value| event["type"] == kind;
        self.events.iter().filter(of_kind).collect()
    }

    /// The text of all events of one type, joined.
    pub fn text(&self, kind: &str) -> String {
        let events = self.all(kind).into_iter();
        events.filter_map(|event| event["text"].as_str()).collect()
    }

    /// The result of a call.
    pub fn result(&self, id: &str) -> &Value {
        let mut results = self.all("tool_result").into_iter();
        results
            .find(|event| event["call_id"] == id)
            .unwrap_or_else(|| panic!("no result of {id}: {self:#?}"))
    }

    /// The ids of one type of event, in order.
    pub fn ids(&self, kind: &str) -> Vec<&str> {
        let events = self.all(kind).into_iter();
        events
            .filter_map(|event| event["call_id"].as_str())
            .collect()
    }

    /// The messages of the notices with this code.
    pub fn notices(&self, code: &str) -> Vec<&str> {
        let notices = self.all("notice").into_iter();
        notices
            .filter(|notice| notice["code"] == code)
            .filter_map(|notice| notice["message"].as_str())
            .collect()
    }

    /// Checks that the run did what it was asked to, and answers its last words.
    pub fn completed(&self) -> &str {
        let last = self.last();
        assert_eq!(last["reason"], "completed", "{self:#?}");
        assert_eq!(self.code, Some(0), "{self:#?}");
        assert_eq!(self.err, "", "everything is told by events");
        last["text"].as_str().expect("a text")
    }

    /// Checks that a fault ended the run, and answers what is said about it.
    pub fn failed(&self, kind: &str) -> &str {
        let last = self.last();
        assert_eq!(
            (&last["type"], &last["kind"]),
            (&"error".into(), &kind.into()),
            "{self:#?}"
        );
        assert_eq!(self.code, Some(1), "{self:#?}");
        last["message"].as_str().expect("a message")
    }
}

/// Turns count from 1, calls belong to turns and have exactly one result, and exactly one terminal
/// event is the last.
fn grammar(events: &[Value]) -> Result<(), String> {
    let mut turns = 0;
    let mut in_turn = false;
    // Whether the call is still open.
    let mut calls: HashMap<&str, bool> = HashMap::new();
    for (at, event) in events.iter().enumerate() {
        let kind = event["type"].as_str().unwrap_or_default();
        let id = event["call_id"].as_str().unwrap_or_default();
        let fault = |what: &str| Err(format!("event {at}: {what}: {event}"));
        let is_open = calls.get(id) == Some(&true);
        match kind {
            "session_opened" if at == 0 => {}
            "turn_started" => {
                turns += 1;
                if in_turn || event["turn"] != turns {
                    return fault("not the next turn");
                }
                in_turn = true;
            }
            "turn_done" => {
                if !in_turn || event["turn"] != turns || calls.values().any(|open| *open) {
                    return fault("the turn is not over");
                }
                in_turn = false;
            }
            "action_delta" | "thinking_delta" => {
                if !in_turn || event["text"].as_str().unwrap_or_default().is_empty() {
                    return fault("outside of a turn, or empty");
                }
            }
            "token_update" if in_turn => {}
            "tool_start" => {
                if !in_turn || calls.insert(id, true).is_some() {
                    return fault("outside of a turn, or begun twice");
                }
            }
            "tool_output" if is_open => {}
            "tool_result" => {
                if calls.insert(id, false) != Some(true) {
                    return fault("a result without its call");
                }
                let content = event["content"].as_array();
                let failed = !event["error"].is_null();
                if event["is_error"] != failed || content.is_none_or(Vec::is_empty) {
                    return fault("a result that contradicts itself");
                }
            }
            "notice" => {}
            "done" | "error" | "interrupted" => {
                if at + 1 != events.len() {
                    return fault("something follows");
                }
                let by_itself = kind == "done";
                if calls.values().any(|open| *open) || (by_itself && in_turn) {
                    return fault("something is not over");
                }
                return Ok(());
            }
            _ => return fault("unknown, or out of place"),
        }
    }
    Err("no terminal event".to_owned())
}

#[test]
fn the_grammar_refuses_what_programs_do_not_expect() {
    let good = r#"{"type":"turn_started","turn":1} {"type":"tool_start","call_id":"a"} {"type":"tool_result","call_id":"a","is_error":false,"content":[1]} {"type":"turn_done","turn":1} {"type":"done"}"#;
    let check = |lines: &[&str]| {
        let events: Vec<Value> = lines
            .iter()
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect();
        grammar(&events)
    };
    let good: Vec<&str> = good.split(' ').collect();
    check(&good).expect("a good run");
    for at in 0..good.len() {
        let mut lacking = good.clone();
        lacking.remove(at);
        check(&lacking).expect_err(good[at]);
        let mut double = good.clone();
        double.insert(at, good[at]);
        check(&double).expect_err(good[at]);
    }
}
