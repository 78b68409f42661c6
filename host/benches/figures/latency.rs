//! How long one call takes, by each way of making it.

use crate::model::{Model, turns};
use crate::support::{Reading, runtime};
use crate::table::{Goal, Table};
use std::time::{Duration, Instant};

/// How often the ways take turns.
const ROUNDS: usize = 200;
/// Calls of one way before the next has its turn.
const CALLS: usize = 25;
/// Processes started in a round.
const PROCESSES: usize = 2;

pub fn measure(table: &Table, reading: &Reading) {
    let [mut in_run, mut hotcell, mut raw, mut cat] = [const { Vec::new() }; 4];
    runtime(2).block_on(async {
        for round in 0..ROUNDS + 4 {
            let mut samples = [const { Vec::new() }; 4];
            let model = Model::calling(reading.call(), CALLS);
            samples[0] = turns(model, &reading.toolbox, &reading.policy, Vec::new()).await;
            for _ in 0..CALLS {
                samples[1].push(timed(reading.by_hotcell()).await);
                samples[2].push(timed(reading.by_wasmtime()).await);
            }
            for _ in 0..PROCESSES {
                samples[3].push(timed(reading.by_cat()).await);
            }
            // The first rounds only warm up.
            if round >= 4 {
                for (all, fresh) in [&mut in_run, &mut hotcell, &mut raw, &mut cat]
                    .into_iter()
                    .zip(samples)
                {
                    all.extend(fresh);
                }
            }
        }
    });
    let [in_run, hotcell, raw, cat] = [in_run, hotcell, raw, cat].map(Times::of);
    for (name, times) in [
        ("a turn of a run that makes the call", &in_run),
        ("the call, by hotcell", &hotcell),
        ("the call, by wasmtime alone", &raw),
        ("`cat` as a native process", &cat),
    ] {
        table.tell(&format!("{name}: p50"), times.p50, "µs");
        table.tell(&format!("{name}: p99"), times.p99, "µs");
    }
    let ratio = in_run.p50 / raw.p50;
    table.judge(
        "turn with the call, p50 to wasmtime alone",
        ratio,
        "x",
        Goal::AtMost(1.5),
    );
    let ratio = hotcell.p50 / raw.p50;
    table.judge("call, p50 to wasmtime alone", ratio, "x", Goal::AtMost(1.5));
    let ratio = in_run.p50 / cat.p50;
    table.judge(
        "turn with the call, p50 to a native process",
        ratio,
        "x",
        Goal::AtMost(0.1),
    );
    let ratio = hotcell.p50 / cat.p50;
    table.judge(
        "call, p50 to a native process",
        ratio,
        "x",
        Goal::AtMost(0.1),
    );
    let ratio = hotcell.p99 / hotcell.p50;
    table.judge("call, p99 to its own p50", ratio, "x", Goal::AtMost(3.0));
}

async fn timed(call: impl Future<Output = ()>) -> Duration {
    let started = Instant::now();
    call.await;
    started.elapsed()
}

/// In microseconds.
struct Times {
    p50: f64,
    p99: f64,
}

impl Times {
    fn of(mut samples: Vec<Duration>) -> Times {
        samples.sort_unstable();
        let at = |percent: usize| samples[(samples.len() - 1) * percent / 100].as_secs_f64() * 1e6;
        Times {
            p50: at(50),
            p99: at(99),
        }
    }
}
