//! What a call was refused, for the model.
//!
//! Owns the short list of refusals of one call. A guest sees a code without text, and what it makes
//! of that seldom says more than "not permitted"; the rule reaches the model past it, whichever
//! tool asked.

use crate::workspace::{Refusal, Rule};

/// How many are kept. A call that is refused more often repeats itself.
const MOST: usize = 5;

/// How long one may be, in characters.
const LONGEST: usize = 400;

/// The refusals of a call, each once, in order.
#[derive(Debug, Default)]
pub struct Refusals {
    kept: Vec<Kept>,
    further: u64,
}

#[derive(Debug)]
struct Kept {
    text: String,
    /// Asking for what is masked is no attempt at anything.
    is_missing: bool,
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
        if self.kept.iter().all(|kept| kept.text != text) {
            self.kept.push(Kept {
                text,
                is_missing: matches!(refusal.rule, Rule::Masked { .. }),
            });
        }
    }

    /// One line each. `all` includes paths that are masked and were only asked for.
    pub fn lines(&self, all: bool) -> Vec<String> {
        let shown = self.kept.iter().filter(|kept| all || !kept.is_missing);
        let mut lines: Vec<String> = shown
            .map(|kept| format!("refused: {}", kept.text))
            .collect();
        if self.further > 0 && !lines.is_empty() {
            lines.push(format!("refused: {} further times", self.further));
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let lines = refusals.lines(false);
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
        let lines = refusals.lines(false);
        assert!(lines[0].chars().count() < LONGEST + 20);
        assert!(lines[1].starts_with("refused: \"a\\nb\""), "{lines:?}");
    }

    #[test]
    fn asking_for_what_is_masked_is_told_only_where_it_failed() {
        let mut refusals = Refusals::default();
        let glob = ".env*".to_owned();
        refusals.note(&refusal(".env", Rule::Masked { glob }));
        assert_eq!(refusals.lines(false), Vec::<String>::new());
        assert_eq!(refusals.lines(true).len(), 1);
    }
}
