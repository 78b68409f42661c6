//! Has a tool whose schema is no JSON.
use hotcell_guests::{Definition, honest};

hotcell_guests::guest!(describe: vec![Definition {
    input_schema: "{\"type\": ".to_owned(),
    ..honest()
}]);
