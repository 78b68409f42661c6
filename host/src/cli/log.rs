//! The log for developers: to standard error, by `HOTCELL_LOG`, and off without it.
//!
//! Only what hotcell itself says is logged. The libraries below see whole requests, headers with
//! keys included, so their lines are dropped whatever the filter asks for.

use super::exit::CommandError;
use crate::config::Environment;
use std::io;
use tracing_subscriber::filter::{EnvFilter, FilterExt, filter_fn};
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

/// The variable with the filter.
const VARIABLE: &str = "HOTCELL_LOG";

/// Starts the log, if one is wanted.
pub(super) fn start(environment: &Environment) -> Result<(), CommandError> {
    let Some(filter) = environment.text(VARIABLE)? else {
        return Ok(());
    };
    let filter = EnvFilter::try_new(filter).map_err(|why| CommandError::Log(why.to_string()))?;
    let ours = filter_fn(|metadata| {
        let target = metadata.target();
        target == "hotcell" || target.starts_with("hotcell::")
    });
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(io::stderr)
        .with_filter(filter.and(ours));
    // A second start in one process could only be a test's; the first log stays.
    let _ = tracing_subscriber::registry().with(lines).try_init();
    Ok(())
}
