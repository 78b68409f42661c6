//! Which lines two texts have in common.
//!
//! Owns the one use of the diff algorithm. It calls the algorithm itself and not the crate's
//! interface over all of them, which would make the component half as large again and slower to
//! compile on a user's machine. It must never know what is made of the answer.

use similar::DiffOp;
use similar::algorithms::{Capture, Compact, IdentifyDistinct, Replace, myers};
use std::time::{Duration, Instant};

/// After this the answer is no longer the shortest one; it is right all the same.
const TIMEOUT: Duration = Duration::from_secs(2);

/// The steps from the lines `old` to the lines `new`, in order and without a gap.
pub fn changes(old: &[&str], new: &[&str]) -> Vec<DiffOp> {
    let numbers = IdentifyDistinct::<u32>::new(old, 0..old.len(), new, 0..new.len());
    let (left, right) = (numbers.old_lookup(), numbers.new_lookup());
    let mut steps = Compact::new(Replace::new(Capture::new()), left, right);
    let Ok(()) = myers::diff_deadline(
        &mut steps,
        left,
        numbers.old_range(),
        right,
        numbers.new_range(),
        Some(Instant::now() + TIMEOUT),
    );
    steps.into_inner().into_inner().into_ops()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use similar::DiffTag;

    proptest! {
        #[test]
        fn the_steps_lead_from_one_text_to_the_other(
            old in prop::collection::vec("[ab]{0,2}", 0..12),
            new in prop::collection::vec("[ab]{0,2}", 0..12),
        ) {
            let old: Vec<&str> = old.iter().map(String::as_str).collect();
            let new: Vec<&str> = new.iter().map(String::as_str).collect();
            let (mut i, mut j) = (0, 0);
            for step in changes(&old, &new) {
                let (tag, left, right) = step.as_tag_tuple();
                prop_assert_eq!((left.start, right.start), (i, j));
                if tag == DiffTag::Equal {
                    prop_assert_eq!(&old[left.clone()], &new[right.clone()]);
                }
                (i, j) = (left.end, right.end);
            }
            prop_assert_eq!((i, j), (old.len(), new.len()));
        }
    }
}
