//! Any path in any tree of directories and links leads where the kernel says, or nowhere.
//!
//! The same property as of the fuzz target in `fuzz/`, on every test run.

use crate::resolving::{Seen, check};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn a_path_leads_where_the_kernel_says_or_nowhere(
        input in proptest::collection::vec(any::<u8>(), 0..300),
    ) {
        check(&input, &mut Seen::default());
    }
}

/// What random bytes seldom say at once: the inputs of old faults, and of each rule once.
#[test]
fn a_table_of_trees_leads_where_the_kernel_says() {
    let mut seen = Seen::default();
    for number in 0_u32..3_000 {
        // A fixed sequence that fills bytes evenly; no randomness, so that a failure is found again.
        let mut state = u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let input: Vec<u8> = std::iter::repeat_with(|| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.to_le_bytes()[3]
        })
        .take(160)
        .collect();
        check(&input, &mut seen);
    }
    // Each outcome is met, or the property shows nothing.
    assert!(
        seen.found > 1_000 && seen.refused > 300 && seen.absent > 1_000,
        "{seen:?}"
    );
}
