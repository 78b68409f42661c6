//! Fails with a message of 48 MiB.
use hotcell_guests::ErrorKind;

hotcell_guests::guest!(|_| hotcell_guests::failure(ErrorKind::Failed, "x".repeat(48 << 20)));
