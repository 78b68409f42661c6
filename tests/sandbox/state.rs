//! Values of the session: swapped on a version, bounded, apart.

use crate::support::{self, Heard, LIMITS, invocation, load, nothing, text};
use hotcell::policy::Grant;
use hotcell::protocol::Capability;
use hotcell::sandbox::Component;
use hotcell_test_artifacts::Guest;
use std::path::Path;
use std::sync::Arc;

fn stateful() -> Grant {
    support::grant_on(Path::new("/nowhere"), &[Capability::SessionState], LIMITS)
}

async fn ask(component: &Component, grant: &Grant, session: &str, arguments: &str) -> String {
    let mut invocation = invocation(arguments);
    invocation.session_id = session.to_owned();
    let outcome = component
        .call(grant, invocation, Arc::new(Heard::default()))
        .await;
    text(&outcome).to_owned()
}

#[tokio::test]
pub async fn a_table_of_operations_on_state() {
    let sandbox = support::sandbox(true);
    let component = load(&sandbox, Guest::KeepState);
    let grant = stateful();
    for (session, arguments, expected) in [
        ("one", "get key", "absent"),
        ("one", "swap key 0 first", "now 1"),
        ("one", "get key", "1 first"),
        ("one", "swap key 0 again", "conflict"),
        ("one", "swap key 7 again", "conflict"),
        ("one", "get key", "1 first"),
        ("one", "swap key 1 second", "now 2"),
        ("one", "get key", "2 second"),
        ("two", "get key", "absent"),
        ("two", "swap key 0 other", "now 1"),
        ("one", "get key", "2 second"),
        ("one", "swap-bytes large 262144", "now 1"),
        ("one", "swap-bytes larger 262145", "too large, over 262144"),
        ("one", "fill 200000", "over the quota of 8388608"),
        ("one", "get key", "2 second"),
        ("two", "swap more 0 room", "now 1"),
    ] {
        let answer = ask(&component, &grant, session, arguments).await;
        assert_eq!(answer, expected, "{session}: {arguments}");
    }
}

#[tokio::test]
async fn state_without_the_grant_is_unavailable_and_says_what_to_grant() {
    let sandbox = support::sandbox(true);
    let component = load(&sandbox, Guest::KeepState);
    let stateful = stateful();
    assert_eq!(
        ask(&component, &stateful, "s", "swap key 0 kept").await,
        "now 1"
    );
    for arguments in ["get key", "swap key 1 changed"] {
        let answer = ask(&component, &nothing(LIMITS), "s", arguments).await;
        assert!(answer.starts_with("unavailable"), "{answer}");
        assert!(answer.contains("`session-state`"), "{answer}");
    }
    assert_eq!(ask(&component, &stateful, "s", "get key").await, "1 kept");
}

#[tokio::test]
async fn another_component_of_the_session_does_not_see_the_values() {
    let sandbox = support::sandbox(true);
    let one = load(&sandbox, Guest::KeepState);
    let other = support::load_distinct(&sandbox, Guest::KeepState, "other");
    assert_ne!(one.digest(), other.digest());
    assert_eq!(
        ask(&one, &stateful(), "s", "swap key 0 mine").await,
        "now 1"
    );
    assert_eq!(ask(&other, &stateful(), "s", "get key").await, "absent");
    // The same component, loaded again, is the same namespace.
    let again = load(&sandbox, Guest::KeepState);
    assert_eq!(ask(&again, &stateful(), "s", "get key").await, "1 mine");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_concurrent_swaps_on_one_version_one_wins() {
    let sandbox = support::sandbox(true);
    let component = load(&sandbox, Guest::KeepState);
    let grant = Arc::new(stateful());
    let swaps = (0..16).map(|index| {
        let (component, grant) = (component.clone(), Arc::clone(&grant));
        tokio::spawn(
            async move { ask(&component, &grant, "s", &format!("swap key 0 {index}")).await },
        )
    });
    let mut won = 0;
    for swap in swaps.collect::<Vec<_>>() {
        match swap.await.expect("it ends").as_str() {
            "now 1" => won += 1,
            other => assert_eq!(other, "conflict"),
        }
    }
    assert_eq!(won, 1);
}
