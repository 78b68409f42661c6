//! What tokens cost.

use super::Usage;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::AddAssign;

/// Tokens that a price is for.
const PER: u128 = 1_000_000;

/// An amount of money in millionths of a US dollar, so that sums are exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Cost(pub u64);

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Cost) {
        self.0 = self.0.saturating_add(other.0);
    }
}

impl fmt::Display for Cost {
    /// In dollars, with four digits after the point: `$0.0123`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "${}.{:04}", self.0 / 1_000_000, self.0 % 1_000_000 / 100)
    }
}

/// What a million tokens of a model cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Price {
    /// Sent.
    pub input: Cost,
    /// Generated.
    pub output: Cost,
    /// Sent, and read from the vendor's cache.
    pub cache_read: Cost,
    /// Sent, and written to the vendor's cache.
    pub cache_write: Cost,
}

impl Price {
    /// What `usage` costs, each kind of token rounded up.
    pub fn of(&self, usage: Usage) -> Cost {
        let Usage {
            input_tokens,
            output_tokens,
            cache_read_tokens,
            cache_write_tokens,
        } = usage;
        let fresh =
            input_tokens.saturating_sub(cache_read_tokens.saturating_add(cache_write_tokens));
        [
            (fresh, self.input),
            (output_tokens, self.output),
            (cache_read_tokens, self.cache_read),
            (cache_write_tokens, self.cache_write),
        ]
        .into_iter()
        .fold(Cost::default(), |mut sum, (tokens, price)| {
            let cost = (u128::from(tokens) * u128::from(price.0)).div_ceil(PER);
            sum += Cost(u64::try_from(cost).unwrap_or(u64::MAX));
            sum
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_of_costs() {
        let price = Price {
            input: Cost(3_000_000),
            output: Cost(15_000_000),
            cache_read: Cost(300_000),
            cache_write: Cost(3_750_000),
        };
        let usage = |input_tokens, output_tokens, cache_read_tokens, cache_write_tokens| Usage {
            input_tokens,
            output_tokens,
            cache_read_tokens,
            cache_write_tokens,
        };
        for (usage, cost, shown) in [
            (usage(0, 0, 0, 0), 0, "$0.0000"),
            (usage(1_000_000, 0, 0, 0), 3_000_000, "$3.0000"),
            (usage(1_000, 1_000, 0, 0), 18_000, "$0.0180"),
            (usage(1_000, 0, 600, 400), 180 + 1_500, "$0.0016"),
            // Cached tokens are a part of the input; a vendor that counts otherwise owes nothing.
            (usage(0, 0, 600, 0), 180, "$0.0001"),
            (usage(1, 0, 0, 0), 3, "$0.0000"),
            (
                usage(u64::MAX, u64::MAX, 0, 0),
                u64::MAX,
                "$18446744073709.5516",
            ),
        ] {
            let found = price.of(usage);
            assert_eq!(
                (found, found.to_string()),
                (Cost(cost), shown.to_owned()),
                "{usage:?}"
            );
        }
    }
}
