//! The component of glob and grep.
