//! Counts its calls in memory, which no call may find again.
use std::sync::atomic::{AtomicU32, Ordering};

static CALLS: AtomicU32 = AtomicU32::new(0);

hotcell_guests::guest!(|_| {
    hotcell_guests::text(format!(
        "call {}",
        CALLS.fetch_add(1, Ordering::Relaxed) + 1
    ))
});
