//! Events as text, for people.
//!
//! The rule of the two streams: standard output carries the model's answer and nothing else, so
//! that `hotcell run … > file` is the answer; all that tells how it came about goes to standard
//! error. On a terminal the text streams as it comes. Elsewhere the text of a turn is held until
//! the turn shows what it is: words before a tool call are commentary, the last words the answer.

use super::quantity::{count, duration, plural};
use super::{Paint, Palette, Renderer, escape, summary};
use crate::protocol::{
    CallStats, Cost, DoneReason, Event, NoticeLevel, OutputStream, ResultContent, ToolErrorKind,
    Usage,
};
use std::collections::HashMap;
use std::io::{self, Write};

/// How text is laid out.
#[derive(Debug, Clone, Copy)]
pub struct TextOptions {
    /// Whether the model's text is shown as it comes: standard output is a terminal.
    pub stream: bool,
    /// Also show turns, tokens and the first lines of each result.
    pub verbose: bool,
    /// Colours of standard error. The answer itself is never coloured.
    pub palette: Palette,
}

/// Most lines of a result that are shown, in verbose mode.
const PREVIEW_LINES: usize = 14;
/// Most characters of such a line, and of a line that a running tool shows.
const LINE: usize = 160;
/// Most lines a running tool can show; a flood ends in one line that says so.
pub(super) const OUTPUT_LINES: usize = 200;

/// Shows a run to a person.
#[derive(Debug)]
pub struct TextRenderer<O, E> {
    out: O,
    err: E,
    options: TextOptions,
    unfinished: Unfinished,
    /// The text of this turn, where it is not streamed.
    held: String,
    calls: HashMap<String, Call>,
    /// The session, to be told at the end.
    session: Option<String>,
}

/// The stream whose last line has no end yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unfinished {
    None,
    Answer,
    Thinking,
}

#[derive(Debug, Default)]
struct Call {
    name: String,
    arguments: String,
    output_lines: usize,
    /// The lines of its standard output that were shown: a result that repeats them need not.
    shown: Vec<String>,
}

impl<O: Write, E: Write> TextRenderer<O, E> {
    /// A renderer of answers to `out` and of everything else to `err`.
    pub fn new(out: O, err: E, options: TextOptions) -> Self {
        TextRenderer {
            out,
            err,
            options,
            unfinished: Unfinished::None,
            held: String::new(),
            calls: HashMap::new(),
            session: None,
        }
    }

    fn paint(&self, paint: Paint, text: impl std::fmt::Display) -> String {
        self.options.palette.paint(paint, text).to_string()
    }

    /// Ends a line that is still open, so that what follows starts at the left.
    fn finish_line(&mut self) -> io::Result<()> {
        match self.unfinished {
            Unfinished::None => {}
            Unfinished::Answer => self.out.write_all(b"\n")?,
            Unfinished::Thinking => self.err.write_all(b"\n")?,
        }
        self.out.flush()?;
        self.unfinished = Unfinished::None;
        Ok(())
    }

    /// A whole line of its own on standard error.
    fn line(&mut self, line: impl std::fmt::Display) -> io::Result<()> {
        self.finish_line()?;
        writeln!(self.err, "{line}")
    }

    fn answer(&mut self, text: &str) -> io::Result<()> {
        if !self.options.stream {
            self.held.push_str(text);
            return Ok(());
        }
        if self.unfinished == Unfinished::Thinking {
            self.finish_line()?;
        }
        self.out.write_all(escape::text(text).as_bytes())?;
        self.left_open(text, Unfinished::Answer);
        Ok(())
    }

    fn thinking(&mut self, text: &str) -> io::Result<()> {
        if self.unfinished == Unfinished::Answer {
            self.finish_line()?;
        }
        if self.unfinished == Unfinished::None {
            let label = self.paint(Paint::Faint, "thinking: ");
            write!(self.err, "{label}")?;
        }
        let faint = self.paint(Paint::Faint, escape::text(text));
        self.err.write_all(faint.as_bytes())?;
        // A paragraph of thinking goes on over line ends, so it is only finished by another event.
        self.unfinished = Unfinished::Thinking;
        Ok(())
    }

    fn left_open(&mut self, text: &str, stream: Unfinished) {
        if !text.is_empty() {
            self.unfinished = if text.ends_with('\n') {
                Unfinished::None
            } else {
                stream
            };
        }
    }

    /// The words before a tool call are commentary.
    fn release_commentary(&mut self) -> io::Result<()> {
        let held = std::mem::take(&mut self.held);
        match held.trim() {
            "" => Ok(()),
            words => self.line(escape::text(words)),
        }
    }

    fn tool_start(&mut self, call_id: &str, name: &str, arguments: String) -> io::Result<()> {
        self.release_commentary()?;
        let line = format!(
            "{} {}{}",
            self.paint(Paint::Strong, "▸"),
            self.paint(Paint::Strong, summary::cut(name, 64)),
            spaced(&arguments),
        );
        let call = Call {
            name: summary::cut(name, 64),
            arguments,
            ..Call::default()
        };
        self.calls.insert(call_id.to_owned(), call);
        self.line(line)
    }

    fn tool_output(&mut self, call_id: &str, stream: OutputStream, text: &str) -> io::Result<()> {
        let side_by_side = self.calls.len() > 1;
        for line in text.lines() {
            let call = self.calls.entry(call_id.to_owned()).or_default();
            call.output_lines += 1;
            let of = match side_by_side {
                true => format!("{}: ", call.name),
                false => String::new(),
            };
            let shown = match call.output_lines {
                lines if lines > OUTPUT_LINES + 1 => return Ok(()),
                lines if lines > OUTPUT_LINES => "… more lines are not shown".to_owned(),
                _ => aside_line(line),
            };
            if stream == OutputStream::Stdout {
                call.shown.push(shown.clone());
            }
            self.aside(&format!("{of}{shown}"))?;
        }
        Ok(())
    }

    /// A line that belongs to the one above.
    fn aside(&mut self, text: &str) -> io::Result<()> {
        let line = self.paint(Paint::Faint, format!("  │ {text}").trim_end());
        self.line(line)
    }

    fn tool_result(
        &mut self,
        call_id: &str,
        name: &str,
        error: Option<ToolErrorKind>,
        content: &[ResultContent],
        stats: &CallStats,
    ) -> io::Result<()> {
        let call = self.calls.remove(call_id).unwrap_or_default();
        let (mark, paint) = match error {
            None => ("✓", Paint::Good),
            Some(_) => ("✗", Paint::Bad),
        };
        let used = format!(
            "{}, {} fuel",
            duration(stats.duration_us),
            count(stats.fuel)
        );
        let said = match error {
            None if self.options.verbose => String::new(),
            error => format!(": {}", summary::result(content, error.is_some())),
        };
        let line = format!(
            "{} {}{}  {}{}",
            self.paint(paint, mark),
            summary::cut(name, 64),
            spaced(&call.arguments),
            self.paint(Paint::Faint, used),
            said,
        );
        self.line(line)?;
        if self.options.verbose && error.is_none() {
            self.preview(content, &call.shown)?;
        }
        Ok(())
    }

    /// The first lines of a result, without those at its beginning that were `shown` already.
    fn preview(&mut self, content: &[ResultContent], shown: &[String]) -> io::Result<()> {
        for part in content {
            match part {
                ResultContent::Text { text } => {
                    let mut lines: Vec<String> = text.trim_end().lines().map(aside_line).collect();
                    if !shown.is_empty() && lines.starts_with(shown) {
                        lines.drain(..shown.len());
                    }
                    // Hiding a single line behind "1 more line" helps nobody.
                    let shown = match lines.len() {
                        all if all <= PREVIEW_LINES + 1 => all,
                        _ => PREVIEW_LINES,
                    };
                    for line in &lines[..shown] {
                        self.aside(line)?;
                    }
                    if let more @ 1.. = lines.len() - shown {
                        self.aside(&format!("… {} more lines", more))?;
                    }
                }
                ResultContent::Image(image) => {
                    self.aside(&format!("image, {}", summary::cut(&image.media_type, 40)))?;
                }
            }
        }
        Ok(())
    }

    fn done(
        &mut self,
        reason: DoneReason,
        turns: u32,
        usage: &Usage,
        cost: Option<Cost>,
        text: &str,
    ) -> io::Result<()> {
        self.finish_line()?;
        self.held.clear();
        if !self.options.stream && !text.trim().is_empty() {
            writeln!(self.out, "{}", escape::text(text.trim_end()))?;
            self.out.flush()?;
        }
        let turns = u64::from(turns);
        match reason {
            DoneReason::Completed => {}
            // A notice told why.
            DoneReason::Cut | DoneReason::Refused => {}
            DoneReason::Empty => self.warn("the model answered nothing")?,
            DoneReason::MaxTurns => self.warn(&format!(
                "stopped after {} by max_turns; pass --max-turns {} to go on longer, 0 for no limit",
                plural(turns, "turn"),
                turns.saturating_mul(2).max(1),
            ))?,
            DoneReason::MaxTime => self.stopped("max_time_ms", "--max-time")?,
            DoneReason::MaxTokens => self.stopped("max_tokens", "--max-tokens")?,
            DoneReason::MaxFuel => self.stopped("max_fuel", "--max-run-fuel")?,
            DoneReason::MaxCost => self.stopped("max_cost", "--max-cost")?,
            DoneReason::Repetition => self.warn(
                "stopped because one call was repeated with nothing changed; say what is missing, or pass --max-repeats 0 for no limit",
            )?,
        }
        let cost = cost.map_or(String::new(), |cost| format!(", {cost}"));
        let line = format!("done: {}, {}{cost}", plural(turns, "turn"), tokens(usage));
        let line = self.paint(Paint::Faint, line);
        self.line(line)
    }

    fn stopped(&mut self, key: &str, flag: &str) -> io::Result<()> {
        self.warn(&format!(
            "stopped by run.{key}; pass {flag} with more to go on longer, 0 for no limit"
        ))
    }

    fn warn(&mut self, message: &str) -> io::Result<()> {
        let line = format!("{} {message}", self.paint(Paint::Warning, "!"));
        self.line(line)
    }
}

impl<O: Write, E: Write> Renderer for TextRenderer<O, E> {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        match event {
            Event::SessionOpened {
                session_id,
                messages,
                ..
            } => {
                self.session = Some(session_id.clone());
                if let 1.. = *messages {
                    let after = plural(*messages, "message");
                    let session = escape::line(session_id);
                    let line = format!("· session {session} goes on after {after}");
                    let line = self.paint(Paint::Faint, line);
                    self.line(line)?;
                }
            }
            Event::TurnStarted { turn } => {
                if self.options.verbose {
                    let line = self.paint(Paint::Faint, format!("── turn {turn} ──"));
                    self.line(line)?;
                }
            }
            Event::ActionDelta { text } => self.answer(text)?,
            Event::ThinkingDelta { text } => self.thinking(text)?,
            Event::ToolStart {
                call_id,
                name,
                arguments,
            } => self.tool_start(call_id, name, summary::arguments(arguments))?,
            Event::ToolOutput {
                call_id,
                stream,
                text,
            } => self.tool_output(call_id, *stream, text)?,
            Event::ToolResult {
                call_id,
                name,
                error,
                content,
                stats,
                ..
            } => self.tool_result(call_id, name, *error, content, stats)?,
            Event::ApprovalRequired { question, .. } => {
                // Never cut: a person decides by it.
                let line = format!("? {}", escape::line(question));
                self.line(line)?;
            }
            Event::Compaction {
                tokens_before,
                tokens_after,
            } => {
                let line = format!(
                    "the history was shortened from about {} to {} tokens",
                    count(*tokens_before),
                    count(*tokens_after)
                );
                self.warn(&line)?;
            }
            Event::Notice { level, message, .. } => match level {
                NoticeLevel::Info => {
                    let line = format!("· {}", escape::line(message));
                    let line = self.paint(Paint::Faint, line);
                    self.line(line)?;
                }
                NoticeLevel::Warning => self.warn(&escape::line(message))?,
            },
            Event::TurnDone { usage, .. } => {
                self.finish_line()?;
                if self.options.verbose {
                    let line = self.paint(Paint::Faint, tokens(usage));
                    self.line(line)?;
                }
            }
            Event::Done {
                reason,
                turns,
                usage,
                cost,
                text,
            } => self.done(*reason, *turns, usage, *cost, text)?,
            Event::Error { message, .. } => {
                self.release_commentary()?;
                let label = self.paint(Paint::Bad, "error:");
                self.line(format!("{label} {}", escape::line(message)))?;
            }
            Event::Interrupted { turns, usage } => {
                self.release_commentary()?;
                self.warn(&format!(
                    "interrupted in turn {turns}, after {}",
                    tokens(usage)
                ))?;
            }
            // Counts of the request under way are for programs; the turn's sum is shown.
            Event::TokenUpdate { .. } => {}
        }
        if event.is_terminal()
            && let Some(session) = self.session.take()
        {
            let line = format!("session {}", escape::line(&session));
            let line = self.paint(Paint::Faint, line);
            self.line(line)?;
        }
        self.out.flush()?;
        self.err.flush()
    }
}

/// A line below another one: escaped and cut, with its indentation, which `cut` would trim.
fn aside_line(line: &str) -> String {
    /// Most columns of indentation.
    const INDENT: usize = 40;
    let content = line.trim_start();
    let indent = line[..line.len() - content.len()].replace('\t', "  ");
    let indent: String = indent.chars().take(INDENT).collect();
    format!("{}{}", escape::line(&indent), summary::cut(content, LINE))
}

/// A space before a text that is not empty.
fn spaced(text: &str) -> String {
    if text.is_empty() {
        String::new()
    } else {
        format!(" {text}")
    }
}

fn tokens(usage: &Usage) -> String {
    let cached = match usage.cache_read_tokens {
        0 => String::new(),
        cached => format!(" ({} cached)", count(cached)),
    };
    format!(
        "{} tokens in{cached}, {} out",
        count(usage.input_tokens),
        count(usage.output_tokens)
    )
}
