//! How many calls a second, and what they cost the kernel.

use crate::process;
use crate::support::{Reading, runtime};
use crate::table::{Goal, Table};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

const CALLS: usize = 10_000;
const CONCURRENCY: usize = 64;
/// Each rate is the median of so many.
const ROUNDS: usize = 5;

pub fn measure(table: &Table, reading: &Arc<Reading>) {
    let both = runtime(2);
    let one = runtime(1);
    let [
        mut hotcell,
        mut raw,
        mut one_hotcell,
        mut one_raw,
        mut faults,
    ] = [const { Vec::new() }; 5];
    for round in 0..=ROUNDS {
        let before = process::page_faults();
        let by_two = rate(&both, reading, Way::Hotcell);
        let fresh = process::page_faults() - before;
        let by_wasmtime = rate(&both, reading, Way::Wasmtime);
        let alone = rate(&one, reading, Way::Hotcell);
        let alone_by_wasmtime = rate(&one, reading, Way::Wasmtime);
        // The first round only warms up.
        if round > 0 {
            hotcell.push(by_two);
            raw.push(by_wasmtime);
            one_hotcell.push(alone);
            one_raw.push(alone_by_wasmtime);
            faults.push(fresh as f64 / CALLS as f64);
        }
    }
    let [hotcell, raw, one_hotcell, one_raw, faults] =
        [hotcell, raw, one_hotcell, one_raw, faults].map(median);
    table.tell("calls a second, hotcell, two workers", hotcell, "/s");
    table.tell("calls a second, wasmtime alone, two workers", raw, "/s");
    table.judge(
        "throughput to wasmtime alone",
        100.0 * hotcell / raw,
        "%",
        Goal::AtLeast(65.0),
    );
    table.judge(
        "throughput of two workers to one",
        hotcell / one_hotcell,
        "x",
        Goal::AtLeast(1.8),
    );
    table.tell("the same, wasmtime alone", raw / one_raw, "x");
    table.judge("page faults a call", faults, "", Goal::AtMost(0.1));
}

#[derive(Clone, Copy)]
enum Way {
    Hotcell,
    Wasmtime,
}

/// Calls a second.
fn rate(runtime: &tokio::runtime::Runtime, reading: &Arc<Reading>, way: Way) -> f64 {
    let left = Arc::new(AtomicUsize::new(CALLS));
    let started = Instant::now();
    runtime.block_on(async {
        let workers: Vec<_> = (0..CONCURRENCY)
            .map(|_| {
                let (left, reading) = (Arc::clone(&left), Arc::clone(reading));
                tokio::spawn(async move {
                    let take = |left: usize| left.checked_sub(1);
                    while left
                        .fetch_update(Ordering::Relaxed, Ordering::Relaxed, take)
                        .is_ok()
                    {
                        match way {
                            Way::Hotcell => reading.by_hotcell().await,
                            Way::Wasmtime => reading.by_wasmtime().await,
                        }
                    }
                })
            })
            .collect();
        for worker in workers {
            worker.await.expect("no call panics");
        }
    });
    CALLS as f64 / started.elapsed().as_secs_f64()
}

/// The middle of some samples.
pub fn median(mut samples: Vec<f64>) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2]
}
