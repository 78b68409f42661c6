//! Reads and swaps values of the session, as its arguments say.
use hotcell_guests::state::{self, StateError};

fn shown(error: StateError) -> String {
    match error {
        StateError::TooLarge(limit) => format!("too large, over {limit}"),
        StateError::Quota(limit) => format!("over the quota of {limit}"),
        StateError::Conflict => "conflict".to_owned(),
        StateError::Unavailable(why) => format!("unavailable: {why}"),
    }
}

fn act(words: &[&str]) -> Result<String, StateError> {
    match words {
        ["get", key] => Ok(state::get(key)?.map_or("absent".to_owned(), |found| {
            format!(
                "{} {}",
                found.version,
                String::from_utf8_lossy(&found.value)
            )
        })),
        ["swap", key, expected, value] => {
            let expected = expected.parse().expect("a number");
            let version = state::compare_and_swap(key, value.as_bytes(), expected)?;
            Ok(format!("now {version}"))
        }
        ["swap-bytes", key, bytes] => {
            let bytes = vec![b'x'; bytes.parse().expect("a number")];
            let version = state::compare_and_swap(key, &bytes, 0)?;
            Ok(format!("now {version}"))
        }
        ["fill", bytes] => {
            let bytes = vec![b'x'; bytes.parse().expect("a number")];
            for key in 0..10_000 {
                state::compare_and_swap(&format!("fill-{key}"), &bytes, 0)?;
            }
            Ok("no end".to_owned())
        }
        other => panic!("what is {other:?}?"),
    }
}

hotcell_guests::guest!(|call| {
    let words: Vec<&str> = call.arguments.split(' ').collect();
    hotcell_guests::text(act(&words).unwrap_or_else(shown))
});
