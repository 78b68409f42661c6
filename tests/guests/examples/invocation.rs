//! Answers what the host told it about the call.
hotcell_guests::guest!(|call| {
    hotcell_guests::text(format!(
        "{} {} {} {} {:?} {}",
        call.name, call.arguments, call.call_id, call.session_id, call.granted, call.deadline_ms
    ))
});
