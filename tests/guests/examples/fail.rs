//! Fails in the way its arguments name.
use hotcell_guests::ErrorKind;

hotcell_guests::guest!(|call| {
    let kind = match call.arguments.as_str() {
        "invalid-arguments" => ErrorKind::InvalidArguments,
        "not-found" => ErrorKind::NotFound,
        "denied" => ErrorKind::Denied,
        "conflict" => ErrorKind::Conflict,
        _ => ErrorKind::Failed,
    };
    hotcell_guests::failure(kind, format!("as asked: {}", call.arguments))
});
