//! Panics, with a message.
hotcell_guests::guest!(|_| panic!("the guest's own words"));
