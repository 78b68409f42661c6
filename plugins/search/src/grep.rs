//! grep: the lines that match a regular expression.

use crate::Base;
use crate::deadline::{Deadline, Timed};
use crate::glob;
use crate::pattern::Pattern;
use crate::walk::{Kind, Walk};
use grep_matcher::Matcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{
    BinaryDetection, MmapChoice, Searcher, SearcherBuilder, Sink, SinkContext, SinkFinish,
    SinkMatch,
};
use hotcell_sdk::{Call, ToolError};
use std::fmt::Write as _;
use std::fs::File;
use std::io;
use std::path::Path;

const DEFAULT_LIMIT: u32 = 100;
const MAX_LIMIT: u32 = 1_000;
const MAX_CONTEXT: u32 = 20;
/// Bytes of matching text in an answer.
const MAX_OUTPUT: usize = 48 * 1024;
/// Bytes of a line that are shown, and how many of them come before the match.
const MAX_LINE: usize = 400;
const LEAD: usize = 100;
/// Bytes of the longest line that is searched. A file with a longer one is searched up to it.
const MAX_BUFFER: usize = 8 * 1024 * 1024;
/// Bytes that a compiled expression may take: enough for long alternations, little beside the
/// memory of a call.
const MAX_REGEX: usize = 8 * 1024 * 1024;
/// Files that a note names before it only counts.
const MAX_NAMED: usize = 3;

/// What to look for.
pub struct Query<'call> {
    pub pattern: &'call str,
    pub glob: Option<&'call str>,
    pub ignore_case: bool,
    pub context: u32,
    pub limit: u32,
}

pub const fn default_limit() -> u32 {
    DEFAULT_LIMIT
}

/// Runs the tool and renders its answer.
pub fn search(call: &Call<'_>, base: &Base, query: &Query<'_>) -> Result<String, ToolError> {
    check(query)?;
    let matcher = compile(query)?;
    let filter = query
        .glob
        .map(|text| {
            Pattern::filter(text)
                .map_err(|fault| ToolError::invalid_arguments(format!("`glob` `{text}`: {fault}")))
        })
        .transpose()?;
    let deadline = Deadline::of(call);
    let mut search = Search {
        call,
        matcher: &matcher,
        searcher: searcher(query.context as usize),
        deadline,
        limit: query.limit as usize,
        report: Report::default(),
    };

    if base.kind.is_file() {
        // Asked for by name: neither the filter nor the ignore rules count.
        search.file(&base.path);
        return Ok(search.report.render(query, base));
    }
    let mut walk = Walk::new(call.workspace(), &base.path, deadline);
    for (path, kind) in &mut walk {
        let relative = path.strip_prefix(&base.path).unwrap_or(&path);
        if kind != Kind::File || filter.as_ref().is_some_and(|glob| !glob.matches(relative)) {
            continue;
        }
        search.file(&path);
        if search.report.stop.is_some() {
            break;
        }
    }
    let mut out = search.report.render(query, base);
    glob::notes(&mut out, &walk);
    Ok(out)
}

fn check(query: &Query<'_>) -> Result<(), ToolError> {
    let fault = if query.pattern.is_empty() {
        "`pattern` is empty and would match every line; to read a file use read_file".to_owned()
    } else if query.limit == 0 || query.limit > MAX_LIMIT {
        format!("`limit` must be from 1 to {MAX_LIMIT}")
    } else if query.context > MAX_CONTEXT {
        format!("`context` must be at most {MAX_CONTEXT}")
    } else {
        return Ok(());
    };
    Err(ToolError::invalid_arguments(fault))
}

fn compile(query: &Query<'_>) -> Result<RegexMatcher, ToolError> {
    RegexMatcherBuilder::new()
        .case_insensitive(query.ignore_case)
        .multi_line(true)
        // `$` before CRLF too, while lines still end at LF alone. The order matters: `crlf` sets
        // the terminator as well.
        .crlf(true)
        .line_terminator(Some(b'\n'))
        .size_limit(MAX_REGEX)
        .dfa_size_limit(MAX_REGEX)
        .build(query.pattern)
        .map_err(|error| {
            let text = error.to_string();
            // The parser draws the expression above its message.
            let reason = text.rsplit("error: ").next().unwrap_or(&text).trim();
            let hint = if reason.contains(r#""\n""#) || query.pattern.contains(['\n']) {
                "; a match is within one line, so search for the part on one line"
            } else {
                "; escape special characters with a backslash to search for them as they are"
            };
            ToolError::invalid_arguments(format!(
                "`pattern` `{}` is not a regular expression that can be searched for: {reason}{hint}",
                query.pattern.escape_debug()
            ))
        })
}

fn searcher(context: usize) -> Searcher {
    SearcherBuilder::new()
        .line_number(true)
        .before_context(context)
        .after_context(context)
        .binary_detection(BinaryDetection::quit(0))
        .heap_limit(Some(MAX_BUFFER))
        .memory_map(MmapChoice::never())
        .build()
}

struct Search<'call> {
    call: &'call Call<'call>,
    matcher: &'call RegexMatcher,
    searcher: Searcher,
    deadline: Deadline<'call>,
    limit: usize,
    report: Report,
}

impl Search<'_> {
    fn file(&mut self, path: &Path) {
        let shown = self.call.display(path);
        let mut lines = Lines {
            matcher: self.matcher,
            path: &shown,
            text: String::new(),
            matches: 0,
            wanted: self.limit - self.report.matches,
            room: MAX_OUTPUT.saturating_sub(self.report.text.len()),
            stop: None,
            binary: false,
        };
        let result = File::open(path).and_then(|file| {
            let reader = Timed::new(file, self.deadline);
            self.searcher
                .search_reader(self.matcher, reader, &mut lines)
        });
        let Lines {
            text,
            matches,
            stop,
            binary,
            ..
        } = lines;
        let report = &mut self.report;
        match result {
            Err(error) if error.kind() == io::ErrorKind::TimedOut => {
                report.stop = Some(Stop::Deadline);
            }
            Err(error) => report.failed(format!("`{shown}`: {error}")),
            Ok(()) if binary => {
                report.binary += 1;
                return;
            }
            Ok(()) => {
                report.searched += 1;
                report.stop = stop;
            }
        }
        report.add(&text, matches);
    }
}

/// Why a search ended before its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stop {
    Limit,
    Output,
    Deadline,
}

#[derive(Default)]
struct Report {
    text: String,
    matches: usize,
    /// Files with a match.
    files: usize,
    /// Files searched to their end, or to the limit.
    searched: u64,
    binary: u64,
    failures: Vec<String>,
    failed: usize,
    stop: Option<Stop>,
}

impl Report {
    fn add(&mut self, text: &str, matches: usize) {
        if matches == 0 {
            return;
        }
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(text);
        self.matches += matches;
        self.files += 1;
    }

    fn failed(&mut self, failure: String) {
        self.failed += 1;
        if self.failures.len() < MAX_NAMED {
            self.failures.push(failure);
        }
    }

    fn render(&mut self, query: &Query<'_>, base: &Base) -> String {
        let mut out = std::mem::take(&mut self.text);
        if !out.is_empty() {
            out.push('\n');
        }
        let searched = self.searched;
        if self.matches == 0 {
            let _ = write!(
                out,
                "no line matches `{}` below `{}` ({searched} files searched)",
                query.pattern, base.shown
            );
            if let (0, Some(glob)) = (searched, query.glob) {
                let _ = write!(out, "; no file there matches the glob `{glob}`");
            }
        } else {
            let _ = write!(
                out,
                "{} matching {} in {} {} ({searched} searched)",
                self.matches,
                plural(self.matches, "line", "lines"),
                self.files,
                plural(self.files, "file", "files"),
            );
        }
        match self.stop {
            Some(Stop::Limit) if query.limit < MAX_LIMIT => {
                let _ = write!(
                    out,
                    "\nstopped at the limit of {}, there may be more: narrow `pattern`, `path` or \
                     `glob`, or raise `limit` (at most {MAX_LIMIT})",
                    query.limit
                );
            }
            Some(Stop::Limit) => {
                let _ = write!(
                    out,
                    "\nstopped at the limit of {MAX_LIMIT}, there may be more: narrow `pattern`, \
                     `path` or `glob`"
                );
            }
            Some(Stop::Output) => out.push_str(
                "\nstopped because the answer is long, there may be more: narrow `pattern`, `path` \
                 or `glob`",
            ),
            Some(Stop::Deadline) => out.push_str(
                "\nthe time of the call was up before everything was searched: the answer is \
                 incomplete; narrow `path` or `glob`",
            ),
            None => {}
        }
        if self.binary > 0 {
            let _ = write!(out, "\nbinary files, not searched: {}", self.binary);
        }
        for failure in &self.failures {
            let _ = write!(out, "\nnot searched to its end: {failure}");
        }
        if self.failed > self.failures.len() {
            let _ = write!(out, "\nand {} more", self.failed - self.failures.len());
        }
        out
    }
}

const fn plural(count: usize, one: &'static str, many: &'static str) -> &'static str {
    if count == 1 { one } else { many }
}

/// The lines of one file, kept apart until it is known not to be binary.
struct Lines<'file> {
    matcher: &'file RegexMatcher,
    path: &'file str,
    text: String,
    matches: usize,
    /// How many matching lines may still be shown, and bytes of text.
    wanted: usize,
    room: usize,
    stop: Option<Stop>,
    binary: bool,
}

impl Lines<'_> {
    fn line(&mut self, number: Option<u64>, mark: char, bytes: &[u8], at: usize) {
        let number = number.unwrap_or_default();
        let _ = write!(self.text, "{}{mark}{number}{mark} ", self.path);
        push_line(&mut self.text, bytes, at);
        self.text.push('\n');
    }
}

impl Sink for Lines<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        let bytes = found.bytes();
        let at = match self.matcher.find(bytes) {
            Ok(Some(place)) => place.start(),
            _ => 0,
        };
        self.line(found.line_number(), ':', bytes, at);
        self.matches += 1;
        if self.matches >= self.wanted {
            self.stop = Some(Stop::Limit);
        } else if self.text.len() >= self.room {
            self.stop = Some(Stop::Output);
        }
        Ok(self.stop.is_none())
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> Result<bool, io::Error> {
        self.line(context.line_number(), '-', context.bytes(), 0);
        Ok(true)
    }

    fn context_break(&mut self, _: &Searcher) -> Result<bool, io::Error> {
        self.text.push_str("--\n");
        Ok(true)
    }

    fn finish(&mut self, _: &Searcher, finish: &SinkFinish) -> Result<(), io::Error> {
        self.binary = finish.binary_byte_offset().is_some();
        Ok(())
    }
}

/// Adds a line without its ending; a long one is cut around `at`, with `…` where something is left
/// out. What is no UTF-8 becomes `U+FFFD`.
fn push_line(out: &mut String, bytes: &[u8], at: usize) {
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
    if bytes.len() <= MAX_LINE {
        out.push_str(&String::from_utf8_lossy(bytes));
        return;
    }
    // Not inside a character: at most three bytes are its continuation.
    let inside = |at: usize| bytes.get(at).is_some_and(|byte| byte & 0xc0 == 0x80);
    let mut start = at.saturating_sub(LEAD).min(bytes.len() - MAX_LINE);
    let mut end = start + MAX_LINE;
    for _ in 0..3 {
        start += usize::from(inside(start));
        end -= usize::from(inside(end));
    }
    if start > 0 {
        out.push('…');
    }
    out.push_str(&String::from_utf8_lossy(&bytes[start..end]));
    if end < bytes.len() {
        out.push('…');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_cut_around_the_match() {
        let line = |before: usize, after: usize| {
            format!("{}needle{}", "a".repeat(before), "b".repeat(after))
        };
        let table = [
            (line(0, 394), 0, line(0, 394)),
            (line(0, 395), 0, format!("needle{}…", "b".repeat(394))),
            (
                line(1_000, 1_000),
                1_000,
                format!("…{}needle{}…", "a".repeat(100), "b".repeat(294)),
            ),
            (line(1_000, 0), 1_000, format!("…{}needle", "a".repeat(394))),
            (
                format!("x{}", "ä".repeat(300)),
                0,
                format!("x{}…", "ä".repeat(199)),
            ),
        ];
        for (line, at, shown) in table {
            for ending in ["", "\n", "\r\n"] {
                let mut out = String::new();
                push_line(&mut out, format!("{line}{ending}").as_bytes(), at);
                assert_eq!(out, shown);
            }
        }
    }

    #[test]
    fn a_cut_never_splits_a_character() {
        for width in 0..8 {
            let line = format!("{}{}", "a".repeat(width), "🦀".repeat(500));
            for at in (0..line.len()).step_by(7) {
                let mut out = String::new();
                push_line(&mut out, line.as_bytes(), at);
                assert!(!out.contains('\u{fffd}'), "{width} {at}");
                assert!(out.len() <= MAX_LINE + 2 * '…'.len_utf8());
            }
        }
    }
}
