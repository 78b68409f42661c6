//! Answers 48 MiB.
hotcell_guests::guest!(|_| hotcell_guests::text("x".repeat(48 << 20)));
