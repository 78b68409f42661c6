//! The long form of `ls`: columns, sizes and times. It must never know where an entry comes from.

use super::super::date;
use super::{Entry, Options};
use bashkit::FileType;
use jiff::tz::TimeZone;
use std::time::{Duration, SystemTime};

/// Owner and group of everything: there are none behind WASI.
const OWNER: &str = "user";
const OWNER_ID: &str = "1000";

/// Age from which the year is shown and not the hour: half a year, as GNU has it.
const RECENT: Duration = Duration::from_secs(31_556_952 / 2);

/// A line for each entry, and the total that `ls -l` prints over a directory.
pub fn lines(entries: &[Entry], options: &Options, whole_directory: bool) -> String {
    let now = SystemTime::now();
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
        let time = time(entry.metadata.modified, now, options);
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

/// The time of an entry: in the style asked for, or `Mar  4 05:06`, and `Mar  4  2001` for what is
/// long ago or yet to come.
fn time(at: SystemTime, now: SystemTime, options: &Options) -> String {
    let Some(time) = date::at(at, options.zone.as_ref().unwrap_or(&TimeZone::UTC)) else {
        return "?".to_owned();
    };
    let age = now.duration_since(at).ok();
    let is_recent = age.is_some_and(|age| age < RECENT);
    let style = match (&options.time_style, is_recent) {
        (Some(style), _) => style.as_str(),
        (None, true) => "%b %e %H:%M",
        (None, false) => "%b %e  %Y",
    };
    date::format(style, &time)
}
