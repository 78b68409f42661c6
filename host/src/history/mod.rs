//! The messages of a run.
