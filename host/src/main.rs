//! The `hotcell` binary: hands over to [`hotcell::cli`].

use std::process::ExitCode;

fn main() -> ExitCode {
    hotcell::cli::main()
}
