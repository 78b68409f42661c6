//! Asks the host for the time without end.
hotcell_guests::guest!(|_| loop {
    std::hint::black_box(wasip2::clocks::monotonic_clock::now());
});
