//! Has a tool whose schema is JSON and no schema of an object.
use hotcell_guests::{Definition, honest};

hotcell_guests::guest!(describe: vec![Definition {
    input_schema: "[1, 2]".to_owned(),
    ..honest()
}]);
