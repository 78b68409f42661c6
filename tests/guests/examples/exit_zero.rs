//! Leaves as if all were well, without an answer.
hotcell_guests::guest!(|_| std::process::exit(0));
