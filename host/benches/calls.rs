//! One warm `read_file` of 4 KiB: by hotcell's whole path, by wasmtime alone, by a native `cat`.

mod support;

use criterion::{Criterion, criterion_group, criterion_main};
use support::{Reading, runtime};

fn calls(criterion: &mut Criterion) {
    let runtime = runtime(2);
    let reading = runtime.block_on(Reading::new());
    let mut group = criterion.benchmark_group("read_file 4 KiB");
    group.bench_function("wasmtime alone", |bencher| {
        bencher.to_async(&runtime).iter(|| reading.by_wasmtime());
    });
    group.bench_function("hotcell", |bencher| {
        bencher.to_async(&runtime).iter(|| reading.by_hotcell());
    });
    group.bench_function("native cat", |bencher| {
        bencher.to_async(&runtime).iter(|| reading.by_cat());
    });
    group.finish();
}

criterion_group!(benches, calls);
criterion_main!(benches);
