//! Asks the host for a tebibyte of random bytes.
hotcell_guests::guest!(|_| {
    let bytes = wasip2::random::random::get_random_bytes(1 << 40);
    hotcell_guests::text(bytes.len().to_string())
});
