//! What every guest of the tests shares: the bindings, and a way to be a tool in one line.
//!
//! Owns nothing a guest does; each behaviour is one file in `examples/`. Exists on the plain
//! bindings and not on the SDK, because a hostile author would not use one. It must never make a
//! guest better behaved than it says.

/// What `wit-bindgen` makes of the contract.
pub mod bindings {
    #![allow(missing_docs)] // generated from wit/tool.wit, where the documentation is
    wit_bindgen::generate!({
        path: "../../wit",
        world: "tool-component-with-process",
        generate_all,
        pub_export_macro: true,
    });
}

pub use bindings::exports::hotcell::tool::tool::Guest as Tool;
pub use bindings::hotcell::tool::{process, progress, state, types};
pub use types::{Capability, Content, Definition, ErrorKind, Image, Invocation};

/// What a call answers.
pub type Answer = Result<Vec<Content>, types::CallError>;

/// An answer of one text.
pub fn text(text: impl Into<String>) -> Answer {
    Ok(vec![Content::Text(text.into())])
}

/// A failure of the tool's own.
pub fn failure(kind: ErrorKind, message: impl Into<String>) -> Answer {
    Err(types::CallError {
        kind,
        message: message.into(),
    })
}

/// A definition with nothing wrong in it.
pub fn honest() -> Definition {
    Definition {
        name: "guest".to_owned(),
        description: "A guest of the tests".to_owned(),
        input_schema: r#"{"type":"object"}"#.to_owned(),
        requires: Capability::empty(),
        accepts: Capability::empty(),
    }
}

/// Makes the crate a component that answers a call by `$run`, and describes itself honestly unless
/// told otherwise.
#[macro_export]
macro_rules! guest {
    (|$call:pat_param| $run:expr) => {
        $crate::guest!(describe: vec![$crate::honest()], |$call| $run);
    };
    (describe: $describe:expr) => {
        $crate::guest!(describe: $describe, |call| $crate::text(call.arguments));
    };
    (describe: $describe:expr, |$call:pat_param| $run:expr) => {
        struct Guest;

        impl $crate::Tool for Guest {
            fn describe() -> Vec<$crate::Definition> {
                $describe
            }

            fn invoke($call: $crate::Invocation) -> $crate::Answer {
                $run
            }
        }

        $crate::bindings::export!(Guest with_types_in $crate::bindings);
    };
}
