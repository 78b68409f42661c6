//! The `hotcell` binary: hands over to [`hotcell::cli`].

fn main() {}
