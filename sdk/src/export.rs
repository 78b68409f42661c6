//! `export!`: from tool types to a component.
//!
//! Owns what can be wrong with the list of tools, and says it when the crate is compiled.

/// Makes the crate a component with these tools. Used once, in the `lib.rs` of a crate with
/// `crate-type = ["cdylib"]` that is built for `wasm32-wasip2`. For other targets it only checks its
/// arguments, so that the crate's tests compile natively.
///
/// ```
/// # use hotcell_sdk::{Answer, Call, Capability, Deserialize, JsonSchema, Tool, ToolError};
/// # /// Greets.
/// # #[derive(Deserialize, JsonSchema)]
/// # struct Greet {}
/// # impl Tool for Greet {
/// #     const NAME: &'static str = "greet";
/// #     const REQUIRES: &'static [Capability] = &[];
/// #     fn run(self, _: &Call<'_>) -> Result<Answer, ToolError> { Ok("hello".into()) }
/// # }
/// hotcell_sdk::export!(Greet);
/// # fn main() {}
/// ```
///
/// # Errors when compiling
/// Nothing to export:
/// ```compile_fail
/// hotcell_sdk::export!();
/// ```
/// A type that is no [`Tool`](crate::Tool):
/// ```compile_fail
/// struct Plain;
/// hotcell_sdk::export!(Plain);
/// # fn main() {}
/// ```
/// A name that no provider takes, and one name twice:
/// ```compile_fail
/// # use hotcell_sdk::{Answer, Call, Capability, Deserialize, JsonSchema, Tool, ToolError};
/// # /// Greets.
/// # #[derive(Deserialize, JsonSchema)]
/// # struct Greet {}
/// # impl Tool for Greet {
/// const NAME: &'static str = "Greet Me";
/// #     const REQUIRES: &'static [Capability] = &[];
/// #     fn run(self, _: &Call<'_>) -> Result<Answer, ToolError> { Ok("hello".into()) }
/// # }
/// hotcell_sdk::export!(Greet);
/// # fn main() {}
/// ```
/// ```compile_fail
/// # use hotcell_sdk::{Answer, Call, Capability, Deserialize, JsonSchema, Tool, ToolError};
/// # /// Greets.
/// # #[derive(Deserialize, JsonSchema)]
/// # struct Greet {}
/// # impl Tool for Greet {
/// #     const NAME: &'static str = "greet";
/// #     const REQUIRES: &'static [Capability] = &[];
/// #     fn run(self, _: &Call<'_>) -> Result<Answer, ToolError> { Ok("hello".into()) }
/// # }
/// hotcell_sdk::export!(Greet, Greet);
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! export {
    () => {
        ::core::compile_error!("export! needs at least one tool: `hotcell_sdk::export!(MyTool);`");
    };
    ($($tool:path),+ $(,)?) => {
        const _: () = {
            const NAMES: &[&str] = &[$(<$tool as $crate::Tool>::NAME),+];
            $(
                ::core::assert!(
                    $crate::__private::valid_name(<$tool as $crate::Tool>::NAME),
                    ::core::concat!(
                        "the NAME of `", ::core::stringify!($tool),
                        "` must be a lower-case letter, then up to 63 of a-z, 0-9 and _"
                    )
                );
            )+
            ::core::assert!(
                $crate::__private::names_differ(NAMES),
                "two tools of this export! have the same NAME"
            );
        };
        $crate::__export_tools!($($tool),+);
    };
    ($($other:tt)*) => {
        ::core::compile_error!(
            "export! takes the types of tools: `hotcell_sdk::export!(MyTool);` or `export!(One, Two);`"
        );
    };
}

/// The component's two exports.
#[cfg(all(target_os = "wasi", target_env = "p2"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __export_tools {
    ($($tool:path),+) => {
        const _: () = {
            struct Exported;

            impl $crate::__private::Guest for Exported {
                fn describe() -> ::std::vec::Vec<$crate::__private::wire::Definition> {
                    ::std::vec![$($crate::__private::describe::<$tool>()),+]
                }

                fn invoke(
                    call: $crate::__private::wire::Invocation,
                ) -> ::core::result::Result<
                    ::std::vec::Vec<$crate::__private::wire::Content>,
                    $crate::__private::wire::CallError,
                > {
                    $(
                        if call.name == <$tool as $crate::Tool>::NAME {
                            return $crate::__private::invoke::<$tool>(call);
                        }
                    )+
                    ::core::result::Result::Err($crate::__private::unknown_tool(&call.name))
                }
            }

            $crate::__private::export_component!(Exported with_types_in $crate::component);
        };
    };
}

/// Natively there is nothing to export: tests call the tool through a mock host.
#[cfg(not(all(target_os = "wasi", target_env = "p2")))]
#[doc(hidden)]
#[macro_export]
macro_rules! __export_tools {
    ($($tool:path),+) => {};
}

/// Whether the contract allows the name: `[a-z][a-z0-9_]{0,63}`.
pub const fn valid_name(name: &str) -> bool {
    let bytes = name.as_bytes();
    if bytes.is_empty() || bytes.len() > 64 || !bytes[0].is_ascii_lowercase() {
        return false;
    }
    let mut at = 1;
    while at < bytes.len() {
        if !matches!(bytes[at], b'a'..=b'z' | b'0'..=b'9' | b'_') {
            return false;
        }
        at += 1;
    }
    true
}

/// Whether no name is there twice.
pub const fn names_differ(names: &[&str]) -> bool {
    let mut left = 0;
    while left < names.len() {
        let mut right = left + 1;
        while right < names.len() {
            if same(names[left].as_bytes(), names[right].as_bytes()) {
                return false;
            }
            right += 1;
        }
        left += 1;
    }
    true
}

const fn same(left: &[u8], right: &[u8]) -> bool {
    if left.len() != right.len() {
        return false;
    }
    let mut at = 0;
    while at < left.len() {
        if left[at] != right[at] {
            return false;
        }
        at += 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_contract() {
        for name in ["a", "read_file", "x9", &"a".repeat(64)] {
            assert!(valid_name(name), "{name}");
        }
        for name in ["", "A", "1a", "_a", "a-b", "a b", "ä", &"a".repeat(65)] {
            assert!(!valid_name(name), "{name}");
        }
        assert!(names_differ(&["glob", "grep", "glo"]));
        assert!(!names_differ(&["glob", "grep", "glob"]));
    }
}
