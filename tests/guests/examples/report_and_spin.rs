//! Says that it begins, and never comes back.
hotcell_guests::guest!(|_| {
    hotcell_guests::progress::report("spinning");
    loop {
        std::hint::black_box(());
    }
});
