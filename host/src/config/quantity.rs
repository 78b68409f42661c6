//! Numbers as people write them: `50G`, `64MiB`, `2s`, `1_000`.

use crate::protocol::Limit;

/// A text that is no number, or one out of range.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidQuantity {
    /// Not a number with a known suffix.
    #[error("`{text}` is not a number; write {examples}")]
    NotANumber {
        /// As written.
        text: String,
        /// How to write one.
        examples: &'static str,
    },
    /// Too small or too large.
    #[error("`{text}` is out of range; write a number from {least} to {most}")]
    OutOfRange {
        /// As written.
        text: String,
        /// The smallest that is taken.
        least: u64,
        /// The largest that is taken.
        most: u64,
    },
}

/// A whole number within a range, with `_` between digits if wanted.
pub(super) fn parse_count(text: &str, least: u64, most: u64) -> Result<u64, InvalidQuantity> {
    parse(text, PLAIN, "a whole number such as 50", least, most)
}

/// A whole number within a range. Suffixes: `k`, `M`, `G` for thousands.
pub(super) fn parse_plain(text: &str, least: u64, most: u64) -> Result<u64, InvalidQuantity> {
    parse(text, PLAIN, "a whole number, or 500k, 20M, 5G", least, most)
}

/// Milliseconds within a range. Suffixes: `ms`, `s`, `min`, `h`.
pub(super) fn parse_time(text: &str, least: u64, most: u64) -> Result<u64, InvalidQuantity> {
    parse(text, TIME, "milliseconds, or 90s, 30min, 2h", least, most)
}

/// An amount of US dollars in millionths: `5`, `0.25`, `$1.50`.
pub(super) fn parse_dollars(text: &str) -> Result<u64, InvalidQuantity> {
    /// More than anybody means; the sum of many still fits.
    const MOST: u64 = 1_000_000;
    let not_a_number = || InvalidQuantity::NotANumber {
        text: text.to_owned(),
        examples: "US dollars such as 5 or 0.25",
    };
    let trimmed = text.trim();
    let plain = trimmed.strip_prefix('$').unwrap_or(trimmed);
    let (whole, part) = plain.split_once('.').unwrap_or((plain, "0"));
    let is_number = |digits: &str| {
        !digits.is_empty() && digits.len() <= 12 && digits.bytes().all(|b| b.is_ascii_digit())
    };
    if !is_number(whole) || !is_number(part) || part.len() > 6 {
        return Err(not_a_number());
    }
    let whole: u64 = whole.parse().map_err(|_| not_a_number())?;
    let millionths: u64 = format!("{part:0<6}").parse().map_err(|_| not_a_number())?;
    if whole > MOST {
        return Err(InvalidQuantity::OutOfRange {
            text: text.to_owned(),
            least: 0,
            most: MOST,
        });
    }
    Ok(whole * 1_000_000 + millionths)
}

/// A number of bytes within a range. Suffixes: `KiB`, `MiB`, `GiB`.
pub(super) fn parse_bytes(text: &str, least: u64, most: u64) -> Result<u64, InvalidQuantity> {
    parse(text, BYTES, "bytes, or 64MiB, 1GiB", least, most)
}

/// The value of a limit. Suffixes: `k`, `M`, `G` for thousands; `KiB`, `MiB`, `GiB` for bytes;
/// `ms`, `s`, `min` for the deadline.
///
/// # Errors
/// [`InvalidQuantity`] where the text is no number, is 0, or is more than any host can keep.
pub fn parse_limit(limit: Limit, text: &str) -> Result<u64, InvalidQuantity> {
    let (suffixes, examples) = match limit {
        Limit::Deadline => (TIME, "milliseconds, or 500ms, 90s, 2min"),
        Limit::Memory | Limit::Output => (BYTES, "bytes, or 64MiB, 1GiB"),
        Limit::Fuel | Limit::Tables | Limit::Resources | Limit::HostCalls => {
            (PLAIN, "a whole number, or 500k, 20M, 5G")
        }
    };
    parse(text, suffixes, examples, 1, ceiling(limit))
}

/// The most a limit can be set to: what the sandbox can hold to. Fuel is counted in an `i64`, a
/// component has at most four memories of 4 GiB, a slot of the pool at most 1 Mi table elements,
/// and a deadline of more than a day is none.
pub(super) const fn ceiling(limit: Limit) -> u64 {
    match limit {
        Limit::Fuel => i64::MAX as u64,
        Limit::Deadline => 24 * 60 * 60 * 1000,
        Limit::Memory => 16 << 30,
        Limit::Tables => 1 << 20,
        Limit::Resources => u32::MAX as u64,
        Limit::HostCalls => i64::MAX as u64,
        Limit::Output => 1 << 30,
    }
}

type Suffixes = &'static [(&'static str, u64)];

const PLAIN: Suffixes = &[
    ("", 1),
    ("k", 1_000),
    ("K", 1_000),
    ("M", 1_000_000),
    ("G", 1_000_000_000),
];

const BYTES: Suffixes = &[
    ("", 1),
    ("B", 1),
    ("k", 1_000),
    ("kB", 1_000),
    ("M", 1_000_000),
    ("MB", 1_000_000),
    ("G", 1_000_000_000),
    ("GB", 1_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
];

const TIME: Suffixes = &[
    ("", 1),
    ("ms", 1),
    ("s", 1_000),
    ("min", 60_000),
    ("h", 3_600_000),
];

fn parse(
    text: &str,
    suffixes: Suffixes,
    examples: &'static str,
    least: u64,
    most: u64,
) -> Result<u64, InvalidQuantity> {
    let not_a_number = || InvalidQuantity::NotANumber {
        text: text.to_owned(),
        examples,
    };
    let trimmed = text.trim();
    let end = trimmed
        .find(|c: char| !c.is_ascii_digit() && c != '_')
        .unwrap_or(trimmed.len());
    let (digits, suffix) = trimmed.split_at(end);
    if !digits.starts_with(|c: char| c.is_ascii_digit()) {
        return Err(not_a_number());
    }
    let (_, factor) = suffixes
        .iter()
        .find(|(name, _)| *name == suffix.trim_start())
        .ok_or_else(not_a_number)?;
    digits
        .replace('_', "")
        .parse::<u64>()
        .ok()
        .and_then(|number| number.checked_mul(*factor))
        .filter(|number| (least..=most).contains(number))
        .ok_or_else(|| InvalidQuantity::OutOfRange {
            text: text.to_owned(),
            least,
            most,
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use Limit::{Deadline, Fuel, Memory, Resources};

    #[test]
    fn a_table_of_quantities() {
        let cases: &[(Limit, &str, Option<u64>)] = &[
            (Fuel, "50000", Some(50_000)),
            (Fuel, "50_000", Some(50_000)),
            (Fuel, "50G", Some(50_000_000_000)),
            (Fuel, "5k", Some(5_000)),
            (Fuel, " 7 M ", Some(7_000_000)),
            (Fuel, "0", None),
            (Fuel, "-1", None),
            (Fuel, "", None),
            (Fuel, "_1", None),
            (Fuel, "1.5G", None),
            (Fuel, "1MiB", None),
            (Fuel, "99999999999999999999", None),
            (Fuel, "18446744073709551615G", None),
            (Memory, "64MiB", Some(64 << 20)),
            (Memory, "64MB", Some(64_000_000)),
            (Memory, "1 GiB", Some(1 << 30)),
            (Memory, "1GIB", None),
            (Memory, "17GiB", None),
            (Deadline, "250", Some(250)),
            (Deadline, "250ms", Some(250)),
            (Deadline, "90s", Some(90_000)),
            (Deadline, "2min", Some(120_000)),
            (Deadline, "2m", None),
            (Deadline, "25_000_000_000", None),
            (Resources, "1k", Some(1_000)),
        ];
        for (limit, text, expected) in cases {
            assert_eq!(
                parse_limit(*limit, text).ok(),
                *expected,
                "{limit} {text:?}"
            );
        }
    }

    #[test]
    fn a_table_of_dollars() {
        for (text, expected) in [
            ("5", Some(5_000_000)),
            ("0.25", Some(250_000)),
            (" $1.50 ", Some(1_500_000)),
            ("0.000001", Some(1)),
            ("1000000", Some(1_000_000_000_000)),
            ("1000001", None),
            ("0.0000001", None),
            ("-1", None),
            ("1e3", None),
            (".5", None),
            ("5.", None),
            ("", None),
            ("1,5", None),
        ] {
            assert_eq!(parse_dollars(text).ok(), expected, "{text:?}");
        }
    }

    #[test]
    fn the_defaults_are_in_range() {
        let defaults = crate::protocol::Limits::default();
        for limit in Limit::ALL {
            let value = limit.of(&defaults);
            assert_eq!(parse_limit(limit, &value.to_string()), Ok(value), "{limit}");
        }
    }
}
