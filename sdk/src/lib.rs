//! What a Rust author of a hotcell tool depends on.
