//! A component says what it is before anybody trusts it.

use crate::support::{self, LIMITS, call, load, nothing, settings, text};
use hotcell::sandbox::{LoadError, Sandbox};
use hotcell::tools::{BUILTINS, Toolbox};
use hotcell_test_artifacts::Guest;
use std::path::PathBuf;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
pub async fn a_component_that_cannot_describe_itself_is_refused() {
    let sandbox = support::sandbox(true);
    for (guest, part) in [
        (
            Guest::DescribeSpin,
            "cannot describe itself: the call reached its limit `fuel`",
        ),
        (Guest::DescribeTrap, "nobody may know"),
        (
            Guest::DescribeBadSchema,
            "describes `guest` wrongly: its input schema is not JSON",
        ),
    ] {
        let component = load(&sandbox, guest);
        let error = component.describe().await.expect_err("nothing good");
        let message = error.to_string();
        assert!(message.contains(part), "{}: {message}", guest.name());
        assert!(matches!(
            error,
            LoadError::Describe(_) | LoadError::Definition { .. }
        ));
    }
    let component = load(&sandbox, Guest::DescribeTrap);
    let outcome = call(&component, &nothing(LIMITS), "and yet it runs").await;
    assert_eq!(text(&outcome), "and yet it runs");
}

#[tokio::test]
pub async fn what_a_component_says_of_itself_is_checked() {
    let sandbox = support::sandbox(true);
    for (guest, parts) in [
        (
            Guest::DescribeNothing,
            ["describes 0 tools", "describe_nothing"],
        ),
        (
            Guest::DescribeBadName,
            ["../../bin/sh", "begins with a letter"],
        ),
        (
            Guest::DescribeAsBuiltIn,
            ["`read_file` is in built-in `files`", "names are unique"],
        ),
        (Guest::DescribeTwice, ["`guest`", "names are unique"]),
        (Guest::DescribeWrongSchema, ["`guest`", "schema"]),
        (Guest::DescribeBadSchema, ["`guest`", "not JSON"]),
    ] {
        let plugin = PathBuf::from(guest.path());
        let error = Toolbox::load(&sandbox, BUILTINS, &[plugin]).await.err();
        let message = error.map(|error| error.to_string()).unwrap_or_default();
        for part in parts {
            assert!(
                message.contains(part),
                "{}: no {part:?} in {message:?}",
                guest.name()
            );
        }
    }
}

#[tokio::test]
pub async fn what_is_described_first_stays() {
    let directory = tempfile::tempdir().expect("a directory");
    let open = || {
        let mut settings = settings(true);
        settings.cache = Some(directory.path().join("cache"));
        Sandbox::new(settings).expect("the engine starts")
    };
    let sandbox = open();
    let first = load(&sandbox, Guest::DescribeAtRandom).describe().await;
    let first = first.expect("a definition");
    assert_eq!(
        load(&sandbox, Guest::DescribeAtRandom)
            .describe()
            .await
            .as_ref(),
        Ok(&first)
    );
    assert_eq!(
        load(&open(), Guest::DescribeAtRandom)
            .describe()
            .await
            .as_ref(),
        Ok(&first)
    );
    // The guest does vary: only the kept answer hides it.
    let elsewhere = support::sandbox(true);
    let other = load(&elsewhere, Guest::DescribeAtRandom).describe().await;
    assert_ne!(other.as_ref(), Ok(&first));
}

#[tokio::test]
pub async fn nothing_is_given_for_it() {
    let sandbox = support::sandbox(true);
    let described = load(&sandbox, Guest::DescribeWhatIsGiven).describe().await;
    let described = described.expect("a definition");
    assert_eq!(
        described[0].description,
        "0 directories, 0 variables, state false"
    );
}
