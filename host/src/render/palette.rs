//! The few styles in use, and whether they are shown at all.
//!
//! Whether to colour was resolved in `config`; here it is a yes or no.

use anstyle::{AnsiColor, Style};
use std::fmt;

/// Whether a stream is coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Palette {
    /// No escape sequence at all.
    Plain,
    /// ANSI colours.
    Colored,
}

/// What a piece of text is, from which its style follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paint {
    /// Numbers, previews, thinking: there when wanted.
    Faint,
    /// Names.
    Strong,
    /// It worked.
    Good,
    /// It failed.
    Bad,
    /// Something to know.
    Warning,
}

impl From<bool> for Palette {
    fn from(colored: bool) -> Self {
        if colored {
            Palette::Colored
        } else {
            Palette::Plain
        }
    }
}

impl Palette {
    /// `text` in the style of `paint`.
    pub fn paint<T: fmt::Display>(self, paint: Paint, text: T) -> impl fmt::Display {
        let style = match (self, paint) {
            (Palette::Plain, _) => Style::new(),
            (_, Paint::Faint) => Style::new().dimmed(),
            (_, Paint::Strong) => Style::new().bold(),
            (_, Paint::Good) => AnsiColor::Green.on_default(),
            (_, Paint::Bad) => AnsiColor::Red.on_default(),
            (_, Paint::Warning) => AnsiColor::Yellow.on_default(),
        };
        fmt::from_fn(move |f| write!(f, "{style}{text}{style:#}"))
    }
}
