//! What a call was refused, for the model.
//!
//! Owns the short list of refusals of one call. A guest sees a code without text, and what it makes
//! of that seldom says more than "not permitted"; the rule reaches the model past it, whichever
//! tool asked.

use crate::workspace::Refusal;

/// How many are kept. A call that is refused more often repeats itself.
const MOST: usize = 5;

/// How long one may be, in characters.
const LONGEST: usize = 400;

/// The refusals of a call, each once, in order. Asking for a masked path is one: it is told whether
/// or not something is there.
#[derive(Debug, Default)]
pub struct Refusals {
    kept: Vec<String>,
    further: u64,
}

impl Refusals {
    /// Keeps it, unless it is there or there are enough.
    pub fn note(&mut self, refusal: &Refusal) {
        if self.kept.len() == MOST {
            self.further += 1;
            return;
        }
        let mut text = refusal.to_string();
        if let Some((end, _)) = text.char_indices().nth(LONGEST) {
            text.truncate(end);
            text.push('…');
        }
        if !self.kept.contains(&text) {
            self.kept.push(text);
        }
    }

    /// One line each.
    pub fn into_lines(self) -> Vec<String> {
        let mut lines: Vec<String> = self
            .kept
            .iter()
            .map(|text| format!("refused: {text}"))
            .collect();
        if self.further > 0 {
            lines.push(format!("refused: {} further times", self.further));
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Rule;

    fn refusal(path: &str, rule: Rule) -> Refusal {
        Refusal {
            path: path.into(),
            rule,
        }
    }

    #[test]
    fn each_is_said_once_and_not_without_end() {
        let mut refusals = Refusals::default();
        for index in 0..100 {
            refusals.note(&refusal("same", Rule::ReadOnly));
            refusals.note(&refusal(&format!("file-{index}"), Rule::ReadOnly));
        }
        let lines = refusals.into_lines();
        assert_eq!(lines.len(), MOST + 1);
        assert_eq!(
            lines[0],
            "refused: same cannot be changed: this call may only read"
        );
        assert!(lines[MOST].ends_with("further times"), "{lines:?}");
    }

    #[test]
    fn a_long_name_is_cut_and_an_odd_one_stays_one_line() {
        let mut refusals = Refusals::default();
        refusals.note(&refusal(&"é".repeat(1_000), Rule::ReadOnly));
        refusals.note(&refusal("a\nb", Rule::ReadOnly));
        let lines = refusals.into_lines();
        assert!(lines[0].chars().count() < LONGEST + 20);
        assert!(lines[1].starts_with("refused: \"a\\nb\""), "{lines:?}");
    }
}
