//! The guests of the tests, as an enum.
//!
//! Owns nothing but the list: one variant a file in `tests/guests`. It is an enum so that a guest
//! which no test mentions does not compile: the tests match on it without a wildcard. It must never
//! know what a guest is expected to do.

include!(concat!(env!("OUT_DIR"), "/guests.rs"));

/// Where the sample tool is, `sdk/examples/word-count` as a component.
pub const WORD_COUNT: &str = concat!(env!("OUT_DIR"), "/word_count.wasm");

impl Guest {
    /// The component.
    ///
    /// # Panics
    /// When the file that the build script made is not there any more.
    pub fn bytes(self) -> Vec<u8> {
        let path = self.path();
        std::fs::read(path).unwrap_or_else(|error| panic!("{path}: {error}; build again"))
    }
}
