//! Answers whether clocks run and dice roll.
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use wasip2::random::random::get_random_u64;

const TWENTY_TWENTY: Duration = Duration::from_secs(1_577_836_800);

hotcell_guests::guest!(|_| {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let started = Instant::now();
    std::thread::sleep(Duration::from_millis(2));
    hotcell_guests::text(format!(
        "after 2020: {}, time passes: {}, dice roll: {}",
        now.is_ok_and(|now| now > TWENTY_TWENTY),
        started.elapsed() >= Duration::from_millis(2),
        get_random_u64() != get_random_u64(),
    ))
});
