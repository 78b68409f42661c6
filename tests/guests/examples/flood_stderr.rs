//! Logs without end.
hotcell_guests::guest!(|_| loop {
    eprintln!("a line that nobody asked for, again and again and again");
});
