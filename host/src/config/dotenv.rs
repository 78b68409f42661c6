//! Reads `.env` files: the configuration directory's, or the one that was named.
//!
//! Never the workspace's: a repository must not set the agent's own settings. Nothing is put into
//! the environment of the process.

use super::ConfigError;
use super::file::read_limited;
use std::path::Path;

/// The assignments of a file, in order, first one of a name first.
pub(super) fn read(file: &Path) -> Result<Vec<(String, String)>, ConfigError> {
    let text = read_limited(file)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    dotenvy::from_read_iter(text.as_bytes())
        .collect::<Result<Vec<_>, _>>()
        // The error of the parser holds the line, which may hold a key.
        .map_err(|_| ConfigError::EnvFileSyntax {
            file: file.to_owned(),
        })
}
