//! Answers a text that is no text.
hotcell_guests::guest!(|_| {
    // SAFETY: none; the string is invalid on purpose, and nothing here looks into it.
    hotcell_guests::text(unsafe { String::from_utf8_unchecked(vec![b'a', 0xff, b'b']) })
});
