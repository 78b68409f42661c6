//! Where a value comes from, so that every message can say so.

use std::fmt;
use std::path::PathBuf;

/// The place a value was read from. Displays as a person would look it up: `FILE:LINE`, the name
/// of a variable, a flag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// Nobody said anything.
    Default,
    /// A settings file.
    File {
        /// The file.
        path: PathBuf,
        /// From 1.
        line: usize,
    },
    /// A variable of the process.
    Variable {
        /// Its name.
        name: String,
        /// The `.env` file that set it, where the process did not.
        file: Option<PathBuf>,
    },
    /// A flag of the command line, with its dashes.
    Flag(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Default => f.write_str("default"),
            Origin::File { path, line } => write!(f, "{}:{line}", path.display()),
            Origin::Variable { name, file: None } => f.write_str(name),
            Origin::Variable {
                name,
                file: Some(file),
            } => write!(f, "{name} in {}", file.display()),
            Origin::Flag(flag) => f.write_str(flag),
        }
    }
}

/// A value and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sourced<T> {
    /// The value.
    pub value: T,
    /// Where it comes from.
    pub origin: Origin,
}

impl<T> Sourced<T> {
    pub(super) const fn default(value: T) -> Self {
        Sourced {
            value,
            origin: Origin::Default,
        }
    }
}
