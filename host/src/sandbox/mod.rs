//! Runs components.
