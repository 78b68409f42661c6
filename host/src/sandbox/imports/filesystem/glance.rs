//! One look at a path for two questions.
//!
//! Owns what the last look found. C libraries ask twice about a path for one `stat`, once for its
//! sizes and times and once for its identity, in calls that follow each other; a listing asks a
//! third time. Answered from one look, the answers also fit each other. It must never answer an
//! operation that opens or changes something: those look themselves.

use crate::workspace::Metadata;

/// How many calls after the look are answered by it. Two, so that a guest which asks again and again
/// looks again and again.
const FURTHER: u8 = 2;

/// The last look at a path.
#[derive(Debug, Default)]
pub struct Glance(Option<Look>);

#[derive(Debug)]
struct Look {
    asked: Asked,
    found: Metadata,
    /// The number of the host call that looked, or was answered by it last.
    call: u64,
    left: u8,
}

/// What was asked about.
#[derive(Debug, PartialEq, Eq)]
pub struct Asked {
    /// The handle of the directory, by its number in the table.
    pub directory: u32,
    /// Whether a link at the end is followed.
    pub follow: bool,
    /// As the guest wrote it.
    pub path: String,
}

impl Glance {
    /// What the last look found, if it was at the same and the guest has called nothing since.
    pub fn again(&mut self, call: u64, asked: &Asked) -> Option<Metadata> {
        let look = self.0.as_mut()?;
        if look.left == 0 || look.call + 1 != call || look.asked != *asked {
            return None;
        }
        look.left -= 1;
        look.call = call;
        Some(look.found)
    }

    /// Remembers a look.
    pub fn remember(&mut self, call: u64, asked: Asked, found: Metadata) {
        self.0 = Some(Look {
            asked,
            found,
            call,
            left: FURTHER,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::PathRules;
    use crate::workspace::{Access, Workspace};

    fn asked(directory: u32, follow: bool, path: &str) -> Asked {
        Asked {
            directory,
            follow,
            path: path.to_owned(),
        }
    }

    #[test]
    fn only_the_same_question_in_the_next_calls_is_answered() {
        let directory = tempfile::tempdir().expect("a directory");
        let workspace = Workspace::open(directory.path(), Access::ReadOnly, PathRules::default())
            .expect("opens");
        let found = workspace.directory().metadata().expect("it is there");
        let mut glance = Glance::default();
        assert_eq!(glance.again(1, &asked(3, true, "a")), None);
        let table: &[(u64, Asked, bool)] = &[
            (11, asked(3, true, "a"), true),
            (11, asked(3, false, "a"), false),
            (11, asked(4, true, "a"), false),
            (11, asked(3, true, "b"), false),
            // Something else was called in between.
            (12, asked(3, true, "a"), false),
            (10, asked(3, true, "a"), false),
        ];
        for (call, question, is_answered) in table {
            glance.remember(10, asked(3, true, "a"), found);
            let answer = glance.again(*call, question);
            assert_eq!(answer.is_some(), *is_answered, "{call} {question:?}");
        }
        glance.remember(10, asked(3, true, "a"), found);
        let answered = (11..20).filter(|call| glance.again(*call, &asked(3, true, "a")).is_some());
        assert_eq!(answered.count(), usize::from(FURTHER));
    }
}
