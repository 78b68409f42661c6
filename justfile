# One-line recipes over cargo; nothing here that cargo cannot do alone.

# The agent at work on a sample project, without a key.
demo:
    cargo run -- demo

# Everything that a change must pass.
ci:
    bash .ci/run

test:
    cargo test --workspace

lint:
    cargo fmt --all --check && cargo clippy --workspace --all-targets -- -D warnings

# Benchmarks with their baselines; the table is in BENCHMARKS.md.
bench:
    cargo bench -p hotcell

# What each component describes itself as, after a change to its struct.
definitions:
    HOTCELL_UPDATE=1 cargo test --workspace definitions

# What native bash answers to the scripts of the shell's suite, recorded anew.
differential:
    HOTCELL_UPDATE=1 cargo test -p hotcell --test differential native
