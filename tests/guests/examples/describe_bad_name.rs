//! Has a tool whose name would leave a directory.
use hotcell_guests::{Definition, honest};

hotcell_guests::guest!(describe: vec![Definition {
    name: "../../bin/sh".to_owned(),
    ..honest()
}]);
