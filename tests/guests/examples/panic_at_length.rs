//! Panics, with a message of half a mebibyte whose end matters.
hotcell_guests::guest!(|_| panic!("{}the very end", "x".repeat(512 << 10)));
