//! Traps when asked what it is.
hotcell_guests::guest!(describe: panic!("nobody may know"));
