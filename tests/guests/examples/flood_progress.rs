//! Reports without end.
hotcell_guests::guest!(|_| loop {
    hotcell_guests::progress::report("a line that nobody asked for, again and again");
});
