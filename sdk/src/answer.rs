//! What a tool answers with: text, pictures, or both.
//!
//! It must never know how much of it a model is shown: the host bounds and offloads.

/// The answer to one call, in parts that the model reads in order. An empty one is allowed: the
/// host then shows the model a marker.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Answer {
    parts: Vec<Content>,
}

/// One part of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Content {
    /// Text for the model.
    Text(String),
    /// A picture for the model.
    Image {
        /// `image/png`, `image/jpeg`, `image/gif` or `image/webp`.
        media_type: String,
        /// The file's bytes.
        data: Vec<u8>,
    },
}

impl Answer {
    /// An answer of one text.
    pub fn text(text: impl Into<String>) -> Self {
        Answer {
            parts: vec![Content::Text(text.into())],
        }
    }

    /// Adds a text after what is there.
    #[must_use]
    pub fn and_text(mut self, text: impl Into<String>) -> Self {
        self.parts.push(Content::Text(text.into()));
        self
    }

    /// Adds a picture after what is there. `media_type` is one of those that
    /// [`Content::Image`] lists; the host refuses others.
    #[must_use]
    pub fn and_image(mut self, media_type: impl Into<String>, data: impl Into<Vec<u8>>) -> Self {
        self.parts.push(Content::Image {
            media_type: media_type.into(),
            data: data.into(),
        });
        self
    }

    /// The parts in order.
    pub fn parts(&self) -> &[Content] {
        &self.parts
    }

    /// The parts in order, by value.
    pub fn into_parts(self) -> Vec<Content> {
        self.parts
    }

    /// All text joined, pictures left out: what most tests compare.
    pub fn to_text(&self) -> String {
        self.parts
            .iter()
            .filter_map(|part| match part {
                Content::Text(text) => Some(text.as_str()),
                Content::Image { .. } => None,
            })
            .collect()
    }
}

impl From<String> for Answer {
    fn from(text: String) -> Self {
        Answer::text(text)
    }
}

impl From<&str> for Answer {
    fn from(text: &str) -> Self {
        Answer::text(text)
    }
}
