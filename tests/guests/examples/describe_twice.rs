//! Has two tools of one name.
hotcell_guests::guest!(describe: vec![hotcell_guests::honest(), hotcell_guests::honest()]);
