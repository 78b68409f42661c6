//! Speaks on every stream that somebody hears.
use hotcell_guests::progress::report;

hotcell_guests::guest!(|_| {
    println!("printed: é€😀");
    eprintln!("logged");
    report("reported");
    println!("printed last");
    hotcell_guests::text("spoke")
});
