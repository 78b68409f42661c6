//! What is no tool does not load, and says why.

use crate::support::{self, LIMITS, POOLING, call, failure, load, nothing, try_load};
use hotcell::protocol::{Limits, ToolErrorKind};
use hotcell::sandbox::{LoadError, Sandbox};
use hotcell_test_artifacts::Guest;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

async fn load_error(sandbox: &Sandbox, name: &str, bytes: Vec<u8>) -> LoadError {
    let component = match try_load(sandbox, bytes) {
        Ok(component) => component,
        Err(error) => return error,
    };
    let error = component.ready().await.expect_err(name);
    // Every way in says the same.
    assert_eq!(component.describe().await, Err(error.clone()));
    let outcome = call(&component, &nothing(LIMITS), "{}").await;
    let (kind, message) = failure(&outcome);
    assert_eq!(kind, ToolErrorKind::Failed);
    assert!(message.contains(&error.to_string()), "{message}");
    error
}

fn wat(text: &str) -> Vec<u8> {
    wat::parse_str(text).expect("the text is right")
}

fn cut(guest: Guest, numerator: usize, denominator: usize) -> Vec<u8> {
    let mut bytes = guest.bytes();
    bytes.truncate(bytes.len() * numerator / denominator);
    bytes
}

/// A name, the bytes, and parts of what the error says.
fn wrong_files() -> Vec<(&'static str, Vec<u8>, &'static [&'static str])> {
    vec![
        ("nothing", Vec::new(), &["truncated"]),
        ("half a header", b"\0asm\x0d".to_vec(), &["truncated"]),
        (
            "only a header",
            b"\0asm\x0d\0\x01\0".to_vec(),
            &["no `hotcell:tool/tool`"],
        ),
        (
            "a script",
            b"#!/bin/sh\nexit 0\n".to_vec(),
            &["not a WebAssembly component"],
        ),
        (
            "a native program",
            b"\x7fELF\x02\x01\x01\0\0\0".to_vec(),
            &["not a WebAssembly component"],
        ),
        (
            "text",
            b"(component)".to_vec(),
            &["not a WebAssembly component"],
        ),
        (
            "a core module",
            wat("(module)"),
            &["core WebAssembly module", "wasm32-wasip2"],
        ),
        (
            "a component without exports",
            wat("(component)"),
            &["no `hotcell:tool/tool`", "0.1.0"],
        ),
        (
            "another layer",
            b"\0asm\x0d\0\x02\0".to_vec(),
            &["not a WebAssembly component"],
        ),
        (
            "a tool in name only",
            wat(r#"(component (instance $i) (export "hotcell:tool/tool@0.1.0" (instance $i)))"#),
            &["not a valid component", "describe"],
        ),
        ("a tool cut in half", cut(Guest::Echo, 1, 2), &["truncated"]),
        (
            "a tool without its end",
            cut(Guest::Echo, 99, 100),
            &["truncated"],
        ),
        (
            "sockets",
            Guest::Sockets.bytes(),
            &["imports `wasi:sockets/", "does not offer"],
        ),
        (
            "an unknown import",
            Guest::UnknownImport.bytes(),
            &["imports `hostile:unknown/thing@1.2.3`"],
        ),
        (
            "another version",
            Guest::OtherVersion.bytes(),
            &["hotcell:tool/tool@0.2.0", "hotcell:tool@0.1.0"],
        ),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
pub async fn a_table_of_what_is_no_tool() {
    for pooling in POOLING {
        let sandbox = support::sandbox(pooling);
        for (name, bytes, parts) in wrong_files() {
            let message = load_error(&sandbox, name, bytes).await.to_string();
            for part in parts {
                assert!(message.contains(part), "{name}: no {part:?} in {message}");
            }
            assert_eq!(message.lines().count(), 1, "{name}: {message}");
        }
        let outcome = call(&load(&sandbox, Guest::Echo), &nothing(LIMITS), "fine").await;
        assert_eq!(support::text(&outcome), "fine");
    }
}

#[tokio::test]
async fn a_tool_whose_functions_are_others_is_refused_when_it_describes_itself() {
    let other = wat(r#"(component
        (core module $m (func (export "f") (result i32) (i32.const 0)))
        (core instance $c (instantiate $m))
        (func $f (result u32) (canon lift (core func $c "f")))
        (instance $i (export "describe" (func $f)) (export "invoke" (func $f)))
        (export "hotcell:tool/tool@0.1.0" (instance $i)))"#);
    let component = try_load(&support::sandbox(true), other).expect("it begins like a component");
    let error = component.describe().await.expect_err("it is no tool");
    let message = error.to_string();
    assert!(message.contains("broke the contract"), "{message}");
    assert!(message.contains("expected `list` found `u32`"), "{message}");
}

#[test]
fn no_damage_to_a_file_takes_the_host_along() {
    let whole = Guest::Fine.bytes();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let sandbox = support::sandbox(false);
    // Damage can leave a component that does anything at all, so it gets little.
    let grant = nothing(Limits {
        fuel: 1_000_000,
        deadline_ms: 1_000,
        ..LIMITS
    });
    let damages = (any::<prop::sample::Index>(), any::<u8>(), any::<bool>());
    let outcome = TestRunner::new(Config::with_cases(256)).run(&damages, |(place, byte, cuts)| {
        let mut bytes = whole.clone();
        let place = place.index(bytes.len());
        bytes[place] ^= byte;
        if cuts {
            bytes.truncate(place);
        }
        runtime.block_on(async {
            match try_load(&sandbox, bytes) {
                // However it ends, it ends.
                Ok(component) => {
                    let _ = component.describe().await;
                    let outcome = call(&component, &grant, "{}").await;
                    prop_assert!(!cuts || outcome.result.is_err(), "a cut file answers");
                }
                Err(error) => prop_assert!(!error.to_string().is_empty()),
            }
            let whole = try_load(&sandbox, whole.clone()).expect("it is a component");
            let after = call(&whole, &grant, "{}").await;
            prop_assert_eq!(support::text(&after), "fine");
            Ok(())
        })
    });
    outcome.expect("every damaged file is refused or comes to an end");
}
