//! Says that it begins, and waits for an hour in the host.
hotcell_guests::guest!(|_| {
    hotcell_guests::progress::report("sleeping");
    std::thread::sleep(std::time::Duration::from_secs(3600));
    hotcell_guests::text("slept")
});
