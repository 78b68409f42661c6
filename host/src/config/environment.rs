//! What the process was given: the one place that reads it.
//!
//! Owns [`Environment`], a value that tests make from a map, so that no test and no code path
//! depends on the machine. Variables from a `.env` file are laid below those of the process and
//! never exported: a process that hotcell starts must not inherit them.

use super::ConfigError;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Variables, the current directory and what the standard streams are.
#[derive(Clone)]
pub struct Environment {
    variables: BTreeMap<String, Variable>,
    current_dir: Option<PathBuf>,
    terminals: Terminals,
}

#[derive(Clone)]
struct Variable {
    value: OsString,
    file: Option<PathBuf>,
}

/// The operating system and architecture, such as `linux x86_64`.
pub fn platform() -> String {
    format!("{} {}", std::env::consts::OS, std::env::consts::ARCH)
}

/// The first argument of this process, before anything interprets the command line.
pub fn first_argument() -> Option<OsString> {
    std::env::args_os().nth(1)
}

/// The file this process runs from, to be started again.
///
/// # Errors
/// When the system does not say.
pub fn executable() -> std::io::Result<PathBuf> {
    std::env::current_exe()
}

/// Which standard streams are terminals. Only who prints may touch the streams, so it is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Terminals {
    /// Standard input.
    pub stdin: bool,
    /// Standard output.
    pub stdout: bool,
    /// Standard error.
    pub stderr: bool,
}

impl Environment {
    /// Reads the environment of this process, whose standard streams are such `terminals`.
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place that reads the environment"
    )]
    pub fn of_process(terminals: Terminals) -> Self {
        let variables =
            std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value)));
        Environment {
            current_dir: std::env::current_dir().ok(),
            ..Environment::from_map(variables, PathBuf::new())
        }
        .with_terminals(terminals)
    }

    /// An environment of exactly these variables, with no terminals.
    pub fn from_map<K: Into<String>, V: Into<OsString>>(
        variables: impl IntoIterator<Item = (K, V)>,
        current_dir: impl Into<PathBuf>,
    ) -> Self {
        let own = |value: OsString| Variable { value, file: None };
        Environment {
            variables: variables
                .into_iter()
                .map(|(name, value)| (name.into(), own(value.into())))
                .collect(),
            current_dir: Some(current_dir.into()),
            terminals: Terminals::default(),
        }
    }

    /// The same with these terminals.
    #[must_use]
    pub const fn with_terminals(mut self, terminals: Terminals) -> Self {
        self.terminals = terminals;
        self
    }

    /// Lays the variables of a `.env` file below those that are there.
    #[must_use]
    pub(super) fn with_file(mut self, file: &Path, pairs: Vec<(String, String)>) -> Self {
        for (name, value) in pairs {
            if self.os(&name).is_none() {
                let value = Variable {
                    value: value.into(),
                    file: Some(file.to_owned()),
                };
                self.variables.insert(name, value);
            }
        }
        self
    }

    /// Only what says where directories are and how terminals are: no setting, no key, no proxy.
    #[must_use]
    pub(super) fn without_settings(mut self) -> Self {
        const KEPT: &[&str] = &[
            "HOME",
            "USERPROFILE",
            "XDG_CACHE_HOME",
            "NO_COLOR",
            "CLICOLOR",
            "CLICOLOR_FORCE",
            "TERM",
        ];
        self.variables
            .retain(|name, _| KEPT.contains(&name.as_str()));
        self
    }

    /// A variable that may be any text; unset and empty are the same.
    pub fn os(&self, name: &str) -> Option<&OsStr> {
        self.variables
            .get(name)
            .map(|variable| variable.value.as_os_str())
            .filter(|value| !value.is_empty())
    }

    /// A variable that must be text; unset and empty are the same.
    ///
    /// # Errors
    /// [`ConfigError::NotText`] where it is not UTF-8.
    pub fn text(&self, name: &str) -> Result<Option<&str>, ConfigError> {
        self.os(name)
            .map(|value| {
                value.to_str().ok_or_else(|| ConfigError::NotText {
                    name: name.to_owned(),
                })
            })
            .transpose()
    }

    /// The `.env` file a variable was read from, where the process did not set it.
    pub(super) fn file_of(&self, name: &str) -> Option<&Path> {
        self.variables.get(name)?.file.as_deref()
    }

    /// The names of the variables that begin with `prefix`.
    pub(super) fn names_with<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = &'a str> {
        self.variables
            .keys()
            .map(String::as_str)
            .filter(move |name| name.starts_with(prefix))
    }

    /// The user's home, if it is absolute.
    pub(super) fn home(&self) -> Option<&Path> {
        ["HOME", "USERPROFILE"]
            .into_iter()
            .find_map(|name| self.absolute(name))
    }

    /// A variable that names an absolute path. The XDG specification says to ignore relative ones.
    pub(super) fn absolute(&self, name: &str) -> Option<&Path> {
        self.os(name)
            .map(Path::new)
            .filter(|path| path.is_absolute())
    }

    /// Where the process was started; `None` where that directory is gone.
    pub fn current_dir(&self) -> Option<&Path> {
        self.current_dir.as_deref()
    }

    /// The first argument of this process, before anything interprets the command line.
    pub fn first_argument() -> Option<OsString> {
        std::env::args_os().nth(1)
    }

    /// The file this process runs from, to be started again.
    ///
    /// # Errors
    /// When the system does not say.
    pub fn executable() -> std::io::Result<PathBuf> {
        std::env::current_exe()
    }

    /// Which standard streams are terminals.
    pub const fn terminals(&self) -> Terminals {
        self.terminals
    }
}

impl std::fmt::Debug for Environment {
    /// Names only: values may be keys.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Environment")
            .field("variables", &self.variables.keys())
            .field("current_dir", &self.current_dir)
            .field("terminals", &self.terminals)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_never_hides_what_the_process_was_given() {
        let environment = Environment::from_map([("SET", "process"), ("EMPTY", "")], "/w")
            .with_file(
                Path::new("/c/.env"),
                [("SET", "file"), ("EMPTY", "file"), ("NEW", "file")]
                    .map(|(name, value)| (name.to_owned(), value.to_owned()))
                    .to_vec(),
            );
        let read = |name| environment.text(name).expect("text");
        assert_eq!(read("SET"), Some("process"));
        assert_eq!(read("EMPTY"), Some("file"));
        assert_eq!(read("NEW"), Some("file"));
        assert_eq!(environment.file_of("SET"), None);
        assert_eq!(environment.file_of("NEW"), Some(Path::new("/c/.env")));
    }

    #[test]
    fn debug_shows_no_value() {
        let environment = Environment::from_map([("OPENAI_API_KEY", "sk-secret")], "/w");
        assert!(!format!("{environment:?}").contains("sk-secret"));
    }
}
