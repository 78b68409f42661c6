//! The formats of `date`: conversions with the flags and widths of GNU. It must never know where
//! a time comes from.

use jiff::Zoned;
use jiff::fmt::strtime;

/// Conversions that jiff has under the same letter, in the C locale.
const SAME: &str = "aAbBCdDeFgGhHIjklmMnpPsStTuUVwWyYzZ";

/// Writes `time` as `format` says. What is no conversion stays as it is written.
pub fn format(format: &str, time: &Zoned) -> String {
    let mut out = String::new();
    let mut rest = format;
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        let spec = &rest[at + 1..];
        let flags_end = spec.find(|c| !"-_0^#+".contains(c)).unwrap_or(spec.len());
        let (flags, after) = spec.split_at(flags_end);
        let width_end = after
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(after.len());
        let (width, after) = after.split_at(width_end);
        // Modifiers of locales that are not C.
        let after = after.strip_prefix(['E', 'O']).unwrap_or(after);
        let colons = after.len() - after.trim_start_matches(':').len();
        let after = &after[colons..];
        let converted = after
            .chars()
            .next()
            .and_then(|letter| convert(flags, width, colons, letter, time));
        match converted {
            Some(text) => {
                out.push_str(&text);
                rest = &after[1..];
            }
            None => {
                out.push('%');
                rest = spec;
            }
        }
    }
    out.push_str(rest);
    out
}

/// One conversion; None where there is none of this letter.
fn convert(flags: &str, width: &str, colons: usize, letter: char, time: &Zoned) -> Option<String> {
    let composed = match letter {
        'c' => "%a %b %e %H:%M:%S %Y",
        'x' => "%m/%d/%y",
        'X' => "%H:%M:%S",
        'r' => "%I:%M:%S %p",
        'R' => "%H:%M",
        '+' => "%Y-%m-%d",
        _ => "",
    };
    if !composed.is_empty() && colons == 0 {
        return Some(format(composed, time));
    }
    match letter {
        '%' => Some("%".to_owned()),
        'N' => Some(fraction(flags, width, time)),
        'q' => Some(((time.month() - 1) / 3 + 1).to_string()),
        'z' if colons > 0 => Some(offset(colons, time)),
        // jiff pads numbers by itself, but does not take every flag for every letter.
        _ if SAME.contains(letter) && colons == 0 => {
            let flags: String = flags.chars().filter(|flag| *flag != '+').collect();
            strtime::format(format!("%{flags}{width}{letter}"), time)
                .or_else(|_| strtime::format(format!("%{letter}"), time))
                .ok()
        }
        _ => None,
    }
}

/// Nanoseconds, as many digits as `width` says; with `-` without the zeros at the end.
fn fraction(flags: &str, width: &str, time: &Zoned) -> String {
    let digits = format!("{:09}", time.subsec_nanosecond());
    let width: usize = width.parse().unwrap_or(9);
    let digits = &digits[..width.clamp(1, 9)];
    if flags.contains('-') {
        let trimmed = digits.trim_end_matches('0');
        return if trimmed.is_empty() { "0" } else { trimmed }.to_owned();
    }
    digits.to_owned()
}

/// `+01:00` for one colon, `+01:00:00` for two, and as short as can be for three.
fn offset(colons: usize, time: &Zoned) -> String {
    let seconds = time.offset().seconds();
    let sign = if seconds < 0 { '-' } else { '+' };
    let seconds = seconds.unsigned_abs();
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match colons {
        1 => format!("{sign}{hours:02}:{minutes:02}"),
        2 => format!("{sign}{hours:02}:{minutes:02}:{seconds:02}"),
        _ if seconds > 0 => format!("{sign}{hours:02}:{minutes:02}:{seconds:02}"),
        _ if minutes > 0 => format!("{sign}{hours:02}:{minutes:02}"),
        _ => format!("{sign}{hours:02}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversions_flags_and_widths_are_those_of_gnu() {
        let time: Zoned = "2026-01-05T03:04:05.006007008+01:00[+01:00]"
            .parse()
            .expect("a time");
        let cases = [
            ("%F %T", "2026-01-05 03:04:05"),
            ("%-d %_d %e %-m %k %l", "5  5  5 1  3  3"),
            ("%N %3N %6N", "006007008 006 006007"),
            ("%a %^a %A %b %p %P", "Mon MON Monday Jan AM am"),
            ("%j %U %V %W %u %w %G %g", "005 01 02 01 1 1 2026 26"),
            (
                "%c|%x|%X|%R|%r",
                "Mon Jan  5 03:04:05 2026|01/05/26|03:04:05|03:04|03:04:05 AM",
            ),
            ("%z %:z %::z %:::z", "+0100 +01:00 +01:00:00 +01"),
            ("%s %q %% %n|", "1767578645 1 % \n|"),
            ("100% %Q %", "100% %Q %"),
        ];
        for (text, expected) in cases {
            assert_eq!(format(text, &time), expected, "{text}");
        }
    }
}
