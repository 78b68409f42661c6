//! Asks whether it talks to a person.
use std::io::IsTerminal;

hotcell_guests::guest!(|_| hotcell_guests::text(format!(
    "{} {} {}",
    std::io::stdin().is_terminal(),
    std::io::stdout().is_terminal(),
    std::io::stderr().is_terminal(),
)));
