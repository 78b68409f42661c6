//! Many calls at once: slots, one compilation, and calls that nobody waits for any more.

use crate::support::{
    self, LIMITS, POOLING, Relay, call, failure, invocation, load, nothing, text,
};
use hotcell::policy::Grant;
use hotcell::protocol::{Limits, ToolErrorKind};
use hotcell::sandbox::{Component, Sandbox};
use hotcell_test_artifacts::Guest;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::task::JoinHandle;

fn spawn_call(
    component: &Component,
    grant: &Grant,
    arguments: String,
) -> JoinHandle<hotcell::sandbox::CallOutcome> {
    let (component, grant) = (component.clone(), grant.clone());
    tokio::spawn(async move { call(&component, &grant, &arguments).await })
}

fn of_slots(slots: u32, pooling: bool) -> Sandbox {
    let mut settings = support::settings(pooling);
    settings.slots = slots;
    Sandbox::new(settings).expect("the engine starts")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_calls_over_four_slots_all_answer() {
    for pooling in POOLING {
        let sandbox = of_slots(4, pooling);
        let component = load(&sandbox, Guest::Echo);
        let grant = nothing(LIMITS);
        let calls: Vec<_> = (0..200)
            .map(|index| spawn_call(&component, &grant, index.to_string()))
            .collect();
        for (index, call) in calls.into_iter().enumerate() {
            assert_eq!(text(&call.await.expect("it ends")), index.to_string());
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn guests_that_spin_on_every_worker_are_cut_and_good_calls_go_on() {
    let sandbox = of_slots(16, true);
    let spinner = load(&sandbox, Guest::Spin);
    let neighbour = load(&sandbox, Guest::Echo);
    let endless = Limits {
        fuel: u64::MAX >> 1,
        deadline_ms: 500,
        ..LIMITS
    };
    let spinning: Vec<_> = (0..8)
        .map(|_| spawn_call(&spinner, &nothing(endless), String::new()))
        .collect();
    let good: Vec<_> = (0..40)
        .map(|index| spawn_call(&neighbour, &nothing(LIMITS), index.to_string()))
        .collect();
    for (index, call) in good.into_iter().enumerate() {
        assert_eq!(text(&call.await.expect("it ends")), index.to_string());
    }
    for call in spinning {
        let outcome = call.await.expect("it ends");
        let (kind, message) = failure(&outcome);
        assert_eq!(kind, ToolErrorKind::LimitExceeded, "{message}");
        assert!(message.contains("`deadline_ms`"), "{message}");
    }
}

/// Waits until the guest has begun, drops the call, and waits until its store is gone.
async fn drop_while_it_runs(sandbox: &Sandbox, guest: Guest) {
    let component = load(sandbox, guest);
    let endless = nothing(Limits {
        fuel: u64::MAX >> 1,
        deadline_ms: 3_600_000,
        ..LIMITS
    });
    let (relay, mut heard) = Relay::new();
    {
        let running = component.call(&endless, invocation("{}"), relay);
        tokio::select! {
            outcome = running => panic!("{} ended: {outcome:?}", guest.name()),
            begun = heard.recv() => assert!(begun.is_some(), "{}", guest.name()),
        }
    }
    // The store held the only sender: had the guest been left running, this would wait for it.
    assert_eq!(heard.recv().await, None, "{}", guest.name());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_is_dropped_ends_with_all_it_held() {
    for pooling in POOLING {
        // One slot: a call that is not ended would keep all others out.
        let sandbox = of_slots(1, pooling);
        for guest in [Guest::ReportAndSpin, Guest::Sleep] {
            drop_while_it_runs(&sandbox, guest).await;
            let after = call(&load(&sandbox, Guest::Echo), &nothing(LIMITS), "after").await;
            assert_eq!(text(&after), "after");
        }
    }
}

#[tokio::test]
async fn a_single_thread_is_shared_with_a_guest_that_spins() {
    let sandbox = of_slots(2, true);
    drop_while_it_runs(&sandbox, Guest::ReportAndSpin).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_callers_wait_for_one_compilation() {
    let log = Log::default();
    log.listen();
    let sandbox = support::sandbox(true);
    // No other test compiles this one, and its line in the log is its own.
    let component = support::load_distinct(&sandbox, Guest::Files, "compiled once");
    assert!(!component.is_ready());
    let waiting: Vec<_> = (0..32)
        .map(|_| {
            let component = component.clone();
            tokio::spawn(async move { component.ready().await })
        })
        .collect();
    for ready in waiting {
        assert_eq!(ready.await.expect("it ends"), Ok(()));
    }
    assert!(component.is_ready());
    let compilations = log.lines_with(&format!("digest={}", component.digest()));
    assert_eq!(compilations.len(), 1, "{compilations:?}");
}

/// What the host logs. Set up for the whole process, so lines of other tests are in it too.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn listen(&self) {
        let log = self.clone();
        tracing_subscriber::fmt()
            .with_env_filter("hotcell::sandbox=debug")
            .with_ansi(false)
            .with_writer(move || log.clone())
            .init();
    }

    fn lines_with(&self, part: &str) -> Vec<String> {
        let written = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&written);
        let lines = text.lines().filter(|line| line.contains("compiling"));
        lines
            .filter(|line| line.contains(part))
            .map(str::to_owned)
            .collect()
    }
}

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut written = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        written.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_caller_that_gives_up_does_not_take_the_compilation_along() {
    let sandbox = support::sandbox(true);
    let component = load(&sandbox, Guest::Echo);
    {
        // Polled once, which starts it, and dropped.
        let mut ready = std::pin::pin!(component.ready());
        tokio::select! {
            biased;
            _ = &mut ready => {}
            () = std::future::ready(()) => {}
        }
    }
    let outcome = call(&component, &nothing(LIMITS), "still here").await;
    assert_eq!(text(&outcome), "still here");
}
