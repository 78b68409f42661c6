//! Reads a path by the standard library, as a tool would.
hotcell_guests::guest!(|call| {
    hotcell_guests::text(match std::fs::read_to_string(&call.arguments) {
        Ok(content) => format!("ok {content}"),
        Err(error) => format!("refused {}", error.kind()),
    })
});
