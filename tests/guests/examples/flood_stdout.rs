//! Prints without end.
hotcell_guests::guest!(|_| loop {
    println!("a line that nobody asked for, again and again and again");
});
