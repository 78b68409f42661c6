//! Starts 100,000 timers and waits for none.
use wasip2::clocks::monotonic_clock::subscribe_duration;

hotcell_guests::guest!(|_| {
    let timers: Vec<_> = (0..100_000).map(|_| subscribe_duration(1)).collect();
    hotcell_guests::text(timers.len().to_string())
});
