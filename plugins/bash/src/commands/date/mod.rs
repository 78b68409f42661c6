//! `date`. What a text means as a time is `parse_datetime`'s to know, what a time zone is jiff's.
//!
//! Owns the options and the formats of GNU. It must never know the zone of the host: the shell's
//! `TZ` counts, and UTC without one.

mod format;

use super::reason;
use bashkit::{Builtin, BuiltinContext, ExecResult, Result, async_trait, normalize_path};
pub use format::format;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use parse_datetime::parse_datetime_at_date;
use std::time::SystemTime;

/// `date` that reads times as GNU's does. bashkit's knows a few forms of `-d`, and no time zone.
pub struct Date;

#[async_trait]
impl Builtin for Date {
    async fn execute(&self, ctx: BuiltinContext<'_>) -> Result<ExecResult> {
        let options = match parse(ctx.args) {
            Ok(options) => options,
            Err(message) => return Ok(ExecResult::err(format!("date: {message}\n"), 1)),
        };
        let zone = if options.utc {
            TimeZone::UTC
        } else {
            zone(ctx.env.get("TZ").map(String::as_str))
        };
        let now = Zoned::now().with_time_zone(zone.clone());
        let mut texts = Vec::new();
        let (mut out, mut err) = (String::new(), String::new());
        match &options.source {
            Source::Now => out.push_str(&line(&options.format, &now)),
            Source::Text(text) => texts.push(text.clone()),
            Source::Reference(file) => {
                let path = normalize_path(&ctx.cwd.join(file));
                match ctx.fs.stat(&path).await {
                    Ok(metadata) => {
                        let time = at(metadata.modified, &zone).unwrap_or(now.clone());
                        out.push_str(&line(&options.format, &time));
                    }
                    Err(error) => err.push_str(&format!("date: {file}: {}\n", reason(&error))),
                }
            }
            Source::Lines(file) if file == "-" => {
                let input = ctx.stdin.map(|input| input.as_bytes().to_vec());
                let input = input.unwrap_or_default();
                texts.extend(String::from_utf8_lossy(&input).lines().map(str::to_owned));
            }
            Source::Lines(file) => {
                match ctx.fs.read_file(&normalize_path(&ctx.cwd.join(file))).await {
                    Ok(bytes) => {
                        texts.extend(String::from_utf8_lossy(&bytes).lines().map(str::to_owned));
                    }
                    Err(error) => err.push_str(&format!("date: {file}: {}\n", reason(&error))),
                }
            }
        }
        for text in &texts {
            match meant(text, &now) {
                Some(time) => {
                    let time = time.with_time_zone(zone.clone());
                    out.push_str(&line(&options.format, &time));
                }
                None => err.push_str(&format!("date: invalid date '{text}'\n")),
            }
        }
        Ok(ExecResult {
            exit_code: i32::from(!err.is_empty()),
            stdout: out.into(),
            stderr: err.into(),
            ..ExecResult::default()
        })
    }
}

fn line(format: &str, time: &Zoned) -> String {
    let mut line = self::format(format, time);
    line.push('\n');
    line
}

/// The time that `text` names at `now`, if it names one. A text of blanks is the day's beginning.
fn meant(text: &str, now: &Zoned) -> Option<Zoned> {
    let text = text.trim();
    if text.is_empty() {
        return now.start_of_day().ok();
    }
    parse_datetime_at_date(now.clone(), text).ok()?.into_zoned()
}

/// A time of the file system in `zone`.
pub fn at(time: SystemTime, zone: &TimeZone) -> Option<Zoned> {
    let time = Timestamp::try_from(time).ok()?;
    Some(time.to_zoned(zone.clone()))
}

/// The zone of a value of `TZ`: a name, a rule of POSIX, or UTC where it is none of these.
pub fn zone(name: Option<&str>) -> TimeZone {
    let name = name.unwrap_or_default().trim_start_matches(':');
    if matches!(name, "" | "UTC" | "UTC0" | "GMT") {
        return TimeZone::UTC;
    }
    // A path would be a file of the host.
    let is_name = !name.starts_with('/') && !name.contains("..");
    is_name
        .then(|| TimeZone::get(name).or_else(|_| TimeZone::posix(name)).ok())
        .flatten()
        .unwrap_or(TimeZone::UTC)
}

/// What time to show.
enum Source {
    Now,
    Text(String),
    Reference(String),
    Lines(String),
}

struct Options {
    source: Source,
    format: String,
    utc: bool,
}

/// The format without one, that of `-R`, and those of `-I` and `--rfc-3339`.
const PLAIN: &str = "%a %b %e %H:%M:%S %Z %Y";
const EMAIL: &str = "%a, %d %b %Y %H:%M:%S %z";

fn parse(args: &[String]) -> std::result::Result<Options, String> {
    let mut options = Options {
        source: Source::Now,
        format: String::new(),
        utc: false,
    };
    let mut args = args.iter().map(String::as_str);
    while let Some(arg) = args.next() {
        if let Some(format) = arg.strip_prefix('+') {
            options.set_format(format)?;
        } else if let Some(long) = arg.strip_prefix("--").filter(|long| !long.is_empty()) {
            let (name, value) = match long.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (long, None),
            };
            let mut needed = || {
                let value = value.or_else(|| args.next());
                value
                    .map(str::to_owned)
                    .ok_or(format!("option '--{name}' requires an argument"))
            };
            match name {
                "date" => options.source = Source::Text(needed()?),
                "reference" => options.source = Source::Reference(needed()?),
                "file" => options.source = Source::Lines(needed()?),
                "utc" | "universal" | "uct" => options.utc = true,
                "rfc-email" | "rfc-2822" | "rfc-822" => options.set_format(EMAIL)?,
                "iso-8601" => options.set_format(iso(value.unwrap_or("date"))?)?,
                "rfc-3339" => options.set_format(rfc_3339(&needed()?)?)?,
                "debug" => {}
                _ => return Err(format!("unrecognized option '{arg}'")),
            }
        } else if arg.len() > 1 && arg.starts_with('-') && arg != "--" {
            let mut letters = arg[1..].chars();
            while let Some(letter) = letters.next() {
                match letter {
                    'u' => options.utc = true,
                    'R' => options.set_format(EMAIL)?,
                    'I' => {
                        let spec = letters.as_str();
                        options.set_format(iso(if spec.is_empty() { "date" } else { spec })?)?;
                        break;
                    }
                    'd' | 'r' | 'f' => {
                        let value = match letters.as_str() {
                            "" => args.next(),
                            rest => Some(rest),
                        };
                        let value = value
                            .ok_or(format!("option requires an argument -- '{letter}'"))?
                            .to_owned();
                        options.source = match letter {
                            'd' => Source::Text(value),
                            'r' => Source::Reference(value),
                            _ => Source::Lines(value),
                        };
                        break;
                    }
                    's' => return Err("cannot set date: Operation not permitted".to_owned()),
                    _ => return Err(format!("invalid option -- '{letter}'")),
                }
            }
        } else if arg != "--" {
            return Err(format!("invalid date '{arg}'"));
        }
    }
    if options.format.is_empty() {
        options.format = PLAIN.to_owned();
    }
    Ok(options)
}

impl Options {
    fn set_format(&mut self, format: &str) -> std::result::Result<(), String> {
        if !self.format.is_empty() {
            return Err("multiple output formats specified".to_owned());
        }
        format.clone_into(&mut self.format);
        Ok(())
    }
}

fn iso(spec: &str) -> std::result::Result<&'static str, String> {
    Ok(match spec {
        "date" => "%Y-%m-%d",
        "hours" => "%Y-%m-%dT%H%:z",
        "minutes" => "%Y-%m-%dT%H:%M%:z",
        "seconds" | "s" => "%Y-%m-%dT%H:%M:%S%:z",
        "ns" => "%Y-%m-%dT%H:%M:%S,%N%:z",
        _ => return Err(format!("invalid argument '{spec}' for '--iso-8601'")),
    })
}

fn rfc_3339(spec: &str) -> std::result::Result<&'static str, String> {
    Ok(match spec {
        "date" => "%Y-%m-%d",
        "seconds" => "%Y-%m-%d %H:%M:%S%:z",
        "ns" => "%Y-%m-%d %H:%M:%S.%N%:z",
        _ => return Err(format!("invalid argument '{spec}' for '--rfc-3339'")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_the_time_that_gnu_reads_in_it() {
        let zone = TimeZone::UTC;
        let now: Zoned = "2026-01-05T10:20:30[UTC]".parse().expect("a time");
        let cases = [
            ("now", "2026-01-05 10:20:30"),
            ("yesterday", "2026-01-04 10:20:30"),
            ("2 hours ago", "2026-01-05 08:20:30"),
            ("2026-02-28 + 1 day", "2026-03-01 00:00:00"),
            ("2026-01-31 next month", "2026-03-03 00:00:00"),
            ("@86400", "1970-01-02 00:00:00"),
            ("5 Jan 2026", "2026-01-05 00:00:00"),
            ("January 5, 2026", "2026-01-05 00:00:00"),
            ("01/05/2026", "2026-01-05 00:00:00"),
            ("20260105", "2026-01-05 00:00:00"),
            ("2026-01-05 5pm", "2026-01-05 17:00:00"),
            ("2026-01-05T10:00:00+02:00", "2026-01-05 08:00:00"),
            ("Mon, 05 Jan 2026 10:00:00 +0000", "2026-01-05 10:00:00"),
            ("", "2026-01-05 00:00:00"),
            ("not a date", "none"),
        ];
        for (text, expected) in cases {
            let time = meant(text, &now).map(|time| time.with_time_zone(zone.clone()));
            let time = time.map_or("none".to_owned(), |time| format("%F %T", &time));
            assert_eq!(time, expected, "{text}");
        }
    }
}
