//! A text that must not be shown.
//!
//! Owns [`Secret`], so that a key cannot reach a log, an event or an error by way of `Debug` or
//! serde. It must never implement `Display` or `Serialize`.

use std::fmt;

/// A key or password. `Debug` shows that there is one, never what it is.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a text.
    pub fn new(text: impl Into<String>) -> Self {
        Secret(text.into())
    }

    /// The text itself, for the one header that carries it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}
