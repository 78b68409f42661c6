//! What both protocols write in the same way, or must tell apart.
//!
//! Owns the one alphabet that vendors allow for names, and how what does not fit is spelled in
//! it: a model may call a tool by any text, and vendors reject a conversation that holds such a
//! call. Owns too the seal by which thinking without a vendor's own seal is known. It must never
//! know a protocol's fields.

use std::borrow::Cow;
use std::fmt::Write as _;

/// In front of the seal of thinking that came in a plain text field: the rest of it names the
/// field, in which the text is replayed. Vendors' own seals are base64, which has no colon.
pub(super) const FIELD_SEAL: &str = "field:";

/// The longest word that every vendor takes.
const LONGEST: usize = 64;

/// `word` itself when it is 1 to 64 ASCII letters, digits, `_` and `-`; otherwise a word of that
/// kind that is the same each time, and another one for another word as far as 64 characters go.
pub(super) fn api_word(word: &str) -> Cow<'_, str> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if !word.is_empty() && word.len() <= LONGEST && word.chars().all(fits) {
        return Cow::Borrowed(word);
    }
    let mut spelled = String::new();
    for c in word.chars() {
        if fits(c) {
            spelled.push(c);
        } else {
            write!(spelled, "_{:x}_", u32::from(c)).expect("a string takes all text");
        }
    }
    if spelled.is_empty() {
        spelled.push_str("unnamed");
    }
    if spelled.len() > LONGEST {
        // The end tells ids apart: vendors put what they share in front.
        spelled.drain(..spelled.len() - LONGEST);
    }
    Cow::Owned(spelled)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn words_that_fit_stay_and_others_are_spelled_out() {
        for (word, spelled) in [
            ("read_file", "read_file"),
            ("call_00-Ab", "call_00-Ab"),
            ("functions.read:0", "functions_2e_read_3a_0"),
            ("two words", "two_20_words"),
            ("", "unnamed"),
        ] {
            assert_eq!(api_word(word), spelled);
        }
    }

    proptest! {
        #[test]
        fn every_word_becomes_one_that_vendors_take(word in ".{0,100}") {
            let spelled = api_word(&word).into_owned();
            prop_assert!((1..=LONGEST).contains(&spelled.len()));
            prop_assert!(spelled.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-'));
            prop_assert_eq!(api_word(&spelled), spelled.as_str());
        }
    }
}
