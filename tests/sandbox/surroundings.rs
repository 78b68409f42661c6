//! What a guest finds around it, and what is left of it.

use crate::support::{
    self, Heard, LIMITS, call, failure, grant_on, invocation, load, nothing, text,
};
use hotcell::protocol::{
    Capability, ImageBlock, Limits, OutputStream, ResultContent, ToolErrorKind,
};
use hotcell::sandbox::{Component, Sandbox};
use hotcell_test_artifacts::Guest;
use std::sync::Arc;

async fn answer(sandbox: &Sandbox, guest: Guest) -> String {
    let component = load(sandbox, guest);
    text(&call(&component, &nothing(LIMITS), "{}").await).to_owned()
}

#[tokio::test]
pub async fn a_guest_finds_nothing_of_the_process() {
    let sandbox = support::sandbox(true);
    assert_eq!(
        answer(&sandbox, Guest::Surroundings).await,
        r#"arguments [], variables [], input "", directories []"#
    );
}

#[tokio::test]
async fn a_guest_sees_the_directories_of_its_grant_and_no_others() {
    let directory = tempfile::tempdir().expect("a directory");
    let sandbox = support::sandbox(true);
    let component = load(&sandbox, Guest::Surroundings);
    for (capabilities, expected) in [
        (
            &[Capability::SessionState, Capability::Network][..],
            "directories []",
        ),
        (
            &[Capability::WorkspaceRead],
            r#"directories ["/workspace"]"#,
        ),
        (
            &[Capability::WorkspaceWrite],
            r#"directories ["/workspace"]"#,
        ),
        (&[Capability::Skills], r#"directories ["/skills"]"#),
        (
            &[Capability::WorkspaceRead, Capability::Skills],
            r#"directories ["/workspace", "/skills"]"#,
        ),
    ] {
        let skills = Some(directory.path());
        let grant = support::grant_with_skills(directory.path(), skills, capabilities, LIMITS);
        let outcome = call(&component, &grant, "{}").await;
        let answer = text(&outcome);
        assert!(answer.ends_with(expected), "{capabilities:?}: {answer}");
    }
}

#[tokio::test]
pub async fn no_stream_is_a_terminal() {
    let sandbox = support::sandbox(true);
    assert_eq!(
        answer(&sandbox, Guest::Terminals).await,
        "false false false"
    );
}

#[tokio::test]
pub async fn clocks_run_and_dice_roll() {
    let sandbox = support::sandbox(true);
    assert_eq!(
        answer(&sandbox, Guest::Clocks).await,
        "after 2020: true, time passes: true, dice roll: true"
    );
}

#[tokio::test]
pub async fn nothing_is_left_of_an_earlier_call() {
    for pooling in support::POOLING {
        let mut settings = support::settings(pooling);
        // One slot, so that the second call gets the memory of the first.
        settings.slots = 1;
        let sandbox = Sandbox::new(settings).expect("the engine starts");
        for _ in 0..3 {
            assert_eq!(answer(&sandbox, Guest::Remember).await, "call 1");
        }
    }
}

#[tokio::test]
pub async fn a_picture_arrives_encoded() {
    let sandbox = support::sandbox(true);
    let outcome = call(&load(&sandbox, Guest::Picture), &nothing(LIMITS), "{}").await;
    assert_eq!(
        outcome.result,
        Ok(vec![
            ResultContent::Text {
                text: "a picture".to_owned()
            },
            ResultContent::Image(ImageBlock {
                media_type: "image/png".to_owned(),
                data: "iVBORw==".to_owned(),
            }),
        ])
    );
}

#[tokio::test]
pub async fn a_guest_is_told_what_it_was_given() {
    let directory = tempfile::tempdir().expect("a directory");
    let sandbox = support::sandbox(true);
    let component = load(&sandbox, Guest::Invocation);
    let grant = grant_on(
        directory.path(),
        &[Capability::WorkspaceRead, Capability::SessionState],
        LIMITS,
    );
    let outcome = call(&component, &grant, r#"{"a":1}"#).await;
    let told = text(&outcome);
    let (told, deadline) = told.rsplit_once(' ').expect("the deadline comes last");
    assert_eq!(
        told,
        r#"guest {"a":1} call-1 session Capability(WORKSPACE_READ | SESSION_STATE)"#
    );
    let deadline: u64 = deadline.parse().expect("a number");
    assert!(deadline > 0 && deadline <= LIMITS.deadline_ms, "{deadline}");
}

#[tokio::test]
pub async fn what_a_guest_says_is_heard_where_it_belongs() {
    let sandbox = support::sandbox(true);
    let component = load(&sandbox, Guest::Speak);
    let heard = Arc::new(Heard::default());
    let output = Arc::clone(&heard);
    let outcome = component
        .call(&nothing(LIMITS), invocation("{}"), output)
        .await;
    assert_eq!(text(&outcome), "spoke");
    assert_eq!(
        heard.on(OutputStream::Stdout),
        "printed: é€😀\nprinted last\n"
    );
    assert_eq!(heard.on(OutputStream::Progress), "reported");
}

#[tokio::test]
async fn a_failure_of_the_tool_keeps_its_kind_and_its_words() {
    let sandbox = support::sandbox(true);
    let component = load(&sandbox, Guest::Fail);
    for (asked, kind) in [
        ("invalid-arguments", ToolErrorKind::InvalidArguments),
        ("not-found", ToolErrorKind::NotFound),
        ("denied", ToolErrorKind::Denied),
        ("conflict", ToolErrorKind::Conflict),
        ("failed", ToolErrorKind::Failed),
    ] {
        let outcome = call(&component, &nothing(LIMITS), asked).await;
        let message = format!("as asked: {asked}");
        assert_eq!(failure(&outcome), (kind, message.as_str()));
    }
}

#[tokio::test]
async fn the_same_call_uses_the_same_fuel() {
    let sandbox = support::sandbox(true);
    let component = load(&sandbox, Guest::Echo);
    let used = async |component: &Component, arguments: &str| {
        call(component, &nothing(LIMITS), arguments).await.stats
    };
    let first = used(&component, "the same words").await;
    let second = used(&component, "the same words").await;
    let longer = used(&component, &"many words ".repeat(60_000)).await;
    assert!(first.fuel > 0 && first.memory_bytes > 0, "{first:?}");
    assert_eq!(
        (first.fuel, first.memory_bytes, first.host_calls),
        (second.fuel, second.memory_bytes, second.host_calls)
    );
    assert!(
        longer.memory_bytes > first.memory_bytes,
        "{longer:?} against {first:?}"
    );
}

#[tokio::test]
async fn a_look_at_the_clock_is_no_call_into_the_host() {
    let sandbox = support::sandbox(true);
    let component = load(&sandbox, Guest::Spin);
    // Many times as long as the clock takes for a tick.
    let limits = Limits {
        deadline_ms: 200,
        fuel: u64::from(u32::MAX) << 16,
        ..LIMITS
    };
    let outcome = call(&component, &nothing(limits), "").await;
    assert_eq!(outcome.stats.host_calls, 0, "{outcome:?}");
}
