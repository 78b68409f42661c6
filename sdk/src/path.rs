//! Argument types that name a file, so that the host can see which arguments are paths.
//!
//! The mark goes into the schema as `x-hotcell-path`; the host takes its locks, applies its path
//! rules and asks for approval by it. A path in a plain `String` gets none of that.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;

macro_rules! path_argument {
    ($(#[$doc:meta])* $name:ident, $access:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// The path as the model wrote it. Give it to [`Call::resolve`](crate::Call::resolve).
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl From<&str> for $name {
            fn from(path: &str) -> Self {
                $name(path.to_owned())
            }
        }

        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string", "x-hotcell-path": $access })
            }
        }
    };
}

path_argument!(
    /// A path that the tool reads: other readers may run beside it, writers of the path wait.
    ReadPath,
    "read"
);

path_argument!(
    /// A path that the tool creates, changes or removes: no other call has it meanwhile.
    WritePath,
    "write"
);
