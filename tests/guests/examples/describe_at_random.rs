//! Describes itself differently each time.
use hotcell_guests::{Definition, honest};

hotcell_guests::guest!(describe: vec![Definition {
    description: wasip2::random::random::get_random_u64().to_string(),
    ..honest()
}]);
