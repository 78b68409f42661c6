//! Numbers as people read them.

/// Microseconds, in the unit that needs the fewest digits: `850 µs`, `12.3 ms`, `1.23 s`.
pub(super) fn duration(us: u64) -> String {
    let us_f = us as f64;
    match us {
        0..1_000 => format!("{us} µs"),
        1_000..1_000_000 => format!("{:.1} ms", us_f / 1e3),
        _ => format!("{:.2} s", us_f / 1e6),
    }
}

/// A count, with at most one decimal: `812`, `41.2k`, `1.3M`.
pub(super) fn count(number: u64) -> String {
    let (divisor, suffix) = match number {
        0..1_000 => return number.to_string(),
        1_000..1_000_000 => (1e3, "k"),
        1_000_000..1_000_000_000 => (1e6, "M"),
        _ => (1e9, "G"),
    };
    let scaled = number as f64 / divisor;
    if scaled < 100.0 {
        format!("{scaled:.1}{suffix}")
    } else {
        format!("{scaled:.0}{suffix}")
    }
}

/// `1 turn`, `2 turns`.
pub(super) fn plural(number: u64, word: &str) -> String {
    match number {
        1 => format!("1 {word}"),
        _ => format!("{number} {word}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        for (us, shown) in [
            (0, "0 µs"),
            (999, "999 µs"),
            (1_234, "1.2 ms"),
            (45_678, "45.7 ms"),
            (1_234_567, "1.23 s"),
        ] {
            assert_eq!(duration(us), shown);
        }
        for (number, shown) in [
            (999, "999"),
            (1_000, "1.0k"),
            (41_234, "41.2k"),
            (412_345, "412k"),
            (1_300_000, "1.3M"),
            (50_000_000_000, "50.0G"),
        ] {
            assert_eq!(count(number), shown);
        }
    }
}
