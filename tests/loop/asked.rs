//! What the model was asked, read the same for both protocols.

use crate::model_server::{Protocol, Recorded};
use serde_json::Value;
use std::collections::BTreeMap;

/// One request.
#[derive(Debug)]
pub struct Asked {
    pub protocol: Protocol,
    pub body: Value,
}

/// One part of the conversation in a request.
#[derive(Debug, Clone, PartialEq)]
pub enum Piece {
    User(String),
    Model(String),
    Thought(String),
    Call {
        id: String,
        name: String,
        arguments: Value,
    },
    Returned(Returned),
    Image {
        media_type: String,
        data: String,
    },
}

/// The result of a call, as the model reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Returned {
    pub id: String,
    pub text: String,
    pub failed: bool,
}

impl Asked {
    pub fn new(recorded: Recorded) -> Asked {
        Asked {
            protocol: recorded.protocol,
            body: recorded.body,
        }
    }

    /// The system prompt.
    pub fn system(&self) -> &str {
        let system = match self.protocol {
            Protocol::OpenAi => &self.body["messages"][0]["content"],
            Protocol::Anthropic => &self.body["system"][0]["text"],
        };
        system.as_str().expect("a system prompt")
    }

    /// The tools that can be called, with the schemas of their arguments.
    pub fn tools<'a>(&'a self) -> BTreeMap<&'a str, &'a Value> {
        if self.body["tool_choice"]["type"] == "none" {
            return BTreeMap::new();
        }
        let tool = |tool: &'a Value| match self.protocol {
            Protocol::OpenAi => named(&tool["function"], "parameters"),
            Protocol::Anthropic => named(tool, "input_schema"),
        };
        items(&self.body["tools"]).iter().map(tool).collect()
    }

    /// The conversation behind the system prompt.
    pub fn conversation(&self) -> Vec<Piece> {
        let mut pieces = Vec::new();
        for message in items(&self.body["messages"]) {
            match self.protocol {
                Protocol::OpenAi => openai(message, &mut pieces),
                Protocol::Anthropic => anthropic(message, &mut pieces),
            }
        }
        pieces
    }

    /// What came back since the model spoke last, in order.
    pub fn returned(&self) -> Vec<Returned> {
        let mut returned = Vec::new();
        for piece in self.conversation() {
            match piece {
                Piece::Returned(result) => returned.push(result),
                Piece::Call { .. } | Piece::Model(_) => returned.clear(),
                _ => {}
            }
        }
        returned
    }

    /// Likewise, of which there must be exactly so many.
    pub fn returned_times<const N: usize>(&self) -> [Returned; N] {
        let returned = self.returned();
        let shown = format!("{returned:#?}");
        let exact = returned.try_into();
        exact.unwrap_or_else(|_| panic!("not {N} results: {shown}"))
    }
}

impl Returned {
    /// Checks that the call worked and its answer says `part`.
    pub fn says(&self, part: &str) {
        assert!(
            !self.failed && self.text.contains(part),
            "{part:?} is not in {self:#?}"
        );
    }

    /// Checks that the call failed in this way, and says `part` about it.
    pub fn refuses(&self, kind: &str, part: &str) {
        assert!(
            self.failed && self.text.contains(&format!("{kind}: ")) && self.text.contains(part),
            "{kind} with {part:?} is not in {self:#?}"
        );
    }
}

fn named<'a>(tool: &'a Value, schema: &str) -> (&'a str, &'a Value) {
    (tool["name"].as_str().expect("a name"), &tool[schema])
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn openai(message: &Value, pieces: &mut Vec<Piece>) {
    match message["role"].as_str() {
        Some("tool") => {
            let text = text(&message["content"]);
            pieces.push(Piece::Returned(Returned {
                id: message["tool_call_id"]
                    .as_str()
                    .unwrap_or_default()
                    .to_owned(),
                failed: text.starts_with("[error: "),
                text,
            }));
        }
        Some("user") => {
            pieces.extend(
                message["content"]
                    .as_str()
                    .map(|text| Piece::User(text.to_owned())),
            );
            for part in items(&message["content"]) {
                let url = part["image_url"]["url"].as_str();
                let image = url.and_then(|url| url.strip_prefix("data:")?.split_once(";base64,"));
                pieces.push(match image {
                    Some((media_type, data)) => Piece::Image {
                        media_type: media_type.to_owned(),
                        data: data.to_owned(),
                    },
                    None => Piece::User(text(&part["text"])),
                });
            }
        }
        Some("assistant") => {
            let thought = message["reasoning_content"].as_str();
            pieces.extend(thought.map(|text| Piece::Thought(text.to_owned())));
            let said = message["content"].as_str();
            pieces.extend(said.map(|text| Piece::Model(text.to_owned())));
            for call in items(&message["tool_calls"]) {
                let arguments = text(&call["function"]["arguments"]);
                pieces.push(Piece::Call {
                    id: text(&call["id"]),
                    name: text(&call["function"]["name"]),
                    arguments: serde_json::from_str(&arguments).expect("the server looks"),
                });
            }
        }
        _ => {}
    }
}

fn anthropic(message: &Value, pieces: &mut Vec<Piece>) {
    for block in items(&message["content"]) {
        match (block["type"].as_str(), message["role"].as_str()) {
            (Some("text"), Some("user")) => pieces.push(Piece::User(text(&block["text"]))),
            (Some("text"), _) => pieces.push(Piece::Model(text(&block["text"]))),
            (Some("thinking"), _) => pieces.push(Piece::Thought(text(&block["thinking"]))),
            (Some("tool_use"), _) => pieces.push(Piece::Call {
                id: text(&block["id"]),
                name: text(&block["name"]),
                arguments: block["input"].clone(),
            }),
            (Some("tool_result"), _) => {
                let parts = items(&block["content"]).iter();
                pieces.push(Piece::Returned(Returned {
                    id: text(&block["tool_use_id"]),
                    text: parts.map(|part| text(&part["text"])).collect(),
                    failed: block["is_error"] == true,
                }));
                let images = items(&block["content"]).iter();
                pieces.extend(images.filter(|part| part["type"] == "image").map(|part| {
                    Piece::Image {
                        media_type: text(&part["source"]["media_type"]),
                        data: text(&part["source"]["data"]),
                    }
                }));
            }
            _ => {}
        }
    }
}
