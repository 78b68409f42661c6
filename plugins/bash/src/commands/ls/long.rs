//! The long form of `ls`: columns, sizes and times. It must never know where an entry comes from.

use super::{Entry, Options};
use bashkit::FileType;
use std::time::{SystemTime, UNIX_EPOCH};

/// Owner and group of everything: there are none behind WASI.
const OWNER: &str = "user";
const OWNER_ID: &str = "1000";

/// Age from which the year is shown and not the hour: half a year, as GNU has it.
const RECENT_SECS: i64 = 31_556_952 / 2;

const DAY_SECS: i64 = 86_400;

/// A line for each entry, and the total that `ls -l` prints over a directory.
pub fn lines(entries: &[Entry], options: &Options, whole_directory: bool) -> String {
    let now = seconds(SystemTime::now());
    let owner = if options.numeric { OWNER_ID } else { OWNER };
    let sizes: Vec<String> = entries
        .iter()
        .map(|entry| size(entry.metadata.size, options.human))
        .collect();
    let width = sizes.iter().map(String::len).max().unwrap_or(0);
    let mut text = String::new();
    if whole_directory {
        // Blocks of 4 KiB, which is what most file systems hand out.
        let blocks: u64 = entries.iter().map(|e| e.metadata.size.div_ceil(4096)).sum();
        let total = if options.human {
            size(blocks * 4096, true)
        } else {
            (blocks * 4).to_string()
        };
        text.push_str(&format!("total {total}\n"));
    }
    for (entry, size) in entries.iter().zip(&sizes) {
        text.push_str(&mode(entry.metadata.file_type, entry.metadata.mode));
        text.push_str(" 1");
        if !options.no_owner {
            text.push_str(&format!(" {owner}"));
        }
        if !options.no_group {
            text.push_str(&format!(" {owner}"));
        }
        let time = time(seconds(entry.metadata.modified), now);
        text.push_str(&format!(" {size:>width$} {time} {}", entry.shown(options)));
        if let Some(target) = &entry.target {
            text.push_str(&format!(" -> {}", target.display()));
        }
        text.push('\n');
    }
    text
}

fn mode(kind: FileType, mode: u32) -> String {
    let mut text = String::with_capacity(10);
    text.push(match kind {
        FileType::File => '-',
        FileType::Directory => 'd',
        FileType::Symlink => 'l',
        FileType::Fifo => 'p',
    });
    for shift in [6, 3, 0] {
        for (bit, letter) in [(4, 'r'), (2, 'w'), (1, 'x')] {
            text.push(if mode >> shift & bit != 0 {
                letter
            } else {
                '-'
            });
        }
    }
    if mode & 0o1000 != 0 {
        text.pop();
        text.push('t');
    }
    text
}

/// Bytes, or with one digit after the point below 10, rounded up, as GNU has it.
fn size(bytes: u64, human: bool) -> String {
    if !human || bytes < 1024 {
        return bytes.to_string();
    }
    let mut unit = 1_u64;
    for letter in ['K', 'M', 'G', 'T', 'P'] {
        unit *= 1024;
        let tenths = (u128::from(bytes) * 10).div_ceil(u128::from(unit));
        if tenths < 100 {
            return format!("{}.{}{letter}", tenths / 10, tenths % 10);
        }
        let whole = bytes.div_ceil(unit);
        if whole < 1024 || letter == 'P' {
            return format!("{whole}{letter}");
        }
    }
    bytes.to_string()
}

fn seconds(time: SystemTime) -> i64 {
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_secs()).unwrap_or(i64::MAX),
        Err(before) => -i64::try_from(before.duration().as_secs()).unwrap_or(i64::MAX),
    }
}

/// `Mar  4 05:06`, or `Mar  4  2001` for what is long ago or yet to come. In UTC.
fn time(at: i64, now: i64) -> String {
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let (year, month, day) = date(at.div_euclid(DAY_SECS));
    let of_day = at.rem_euclid(DAY_SECS);
    let month = MONTHS[month];
    if at <= now && now - at < RECENT_SECS {
        format!(
            "{month} {day:>2} {:02}:{:02}",
            of_day / 3600,
            of_day / 60 % 60
        )
    } else {
        format!("{month} {day:>2} {year:>5}")
    }
}

/// Year, month from 0 and day of the month for a day counted from 1970-01-01. The year is taken to
/// begin in March, so that the leap day is its last (the method of Howard Hinnant).
fn date(days: i64) -> (i64, usize, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = (from_march + 2) % 12;
    let year = year_of_era + era * 400 + i64::from(month < 2);
    (year, month as usize, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_dates() {
        // Expected values from GNU date.
        let now = 1_782_000_000;
        let cases = [
            (0, "Jan  1  1970"),
            (951_782_400, "Feb 29  2000"),
            (-1, "Dec 31  1969"),
            (1_781_999_999, "Jun 20 23:59"),
            (1_782_000_001, "Jun 21  2026"),
            (4_102_444_800, "Jan  1  2100"),
            (1_772_333_999, "Mar  1 02:59"),
        ];
        for (at, expected) in cases {
            assert_eq!(time(at, now), expected, "{at}");
        }
    }

    #[test]
    fn sizes_are_rounded_up() {
        // Expected values from GNU ls.
        let cases = [
            (0, "0"),
            (1023, "1023"),
            (1024, "1.0K"),
            (1025, "1.1K"),
            (10_239, "10K"),
            (10_240, "10K"),
            (1_048_575, "1.0M"),
            (1_047_553, "1.0M"),
            (1_047_552, "1023K"),
            (5_000_000_000, "4.7G"),
        ];
        for (bytes, expected) in cases {
            assert_eq!(size(bytes, true), expected, "{bytes}");
            assert_eq!(size(bytes, false), bytes.to_string());
        }
    }

    #[test]
    fn modes_are_letters() {
        assert_eq!(mode(FileType::File, 0o644), "-rw-r--r--");
        assert_eq!(mode(FileType::Directory, 0o755), "drwxr-xr-x");
        assert_eq!(mode(FileType::Directory, 0o1777), "drwxrwxrwt");
        assert_eq!(mode(FileType::Symlink, 0o777), "lrwxrwxrwx");
    }
}
