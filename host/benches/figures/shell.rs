//! Whole calls of bash: against the native one, and over wasmtime-wasi's file system.

use crate::support::raw::RawHost;
use crate::support::{SLOTS, Unwatched, policy, runtime, toolbox};
use crate::table::{Goal, Table};
use crate::throughput::median;
use hotcell::protocol::ToolCall;
use hotcell::tools::{BUILTINS, Toolbox};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;
use tempfile::TempDir;

/// Command substitutions, each of which is a process in a native bash.
const SUBSTITUTIONS: &str = "for i in {1..500}; do x=$(echo $i); done; echo $x";

const SEARCHES: [&str; 2] = ["find . -name '*.rs'", "grep -rn needle ."];

pub fn measure(table: &Table) {
    let runtime = runtime(2);
    let tree = tree();
    let shells = runtime.block_on(Shells::new(&tree));
    runtime.block_on(async {
        shells
            .against_native(table, "echo hi", 200, Goal::AtMost(0.5))
            .await;
        // At least 20 times faster.
        shells
            .against_native(table, SUBSTITUTIONS, 10, Goal::AtMost(0.05))
            .await;
        for command in SEARCHES {
            shells.against_wasmtime(table, command, 15).await;
        }
    });
}

/// A tree of 1,000 files: ten directories of ten of ten, one file in three Rust.
fn tree() -> TempDir {
    let directory = tempfile::tempdir().expect("a temporary directory");
    for index in 0..1_000 {
        let below = directory
            .path()
            .join(format!("{}/{}", index / 100, index / 10 % 10));
        std::fs::create_dir_all(&below).expect("made");
        let ending = if index % 3 == 0 { "rs" } else { "txt" };
        let text = format!("line {index}\n").repeat(40) + "needle\n";
        std::fs::write(below.join(format!("file-{index}.{ending}")), text).expect("written");
    }
    directory
}

/// bash behind both file systems.
struct Shells {
    toolbox: Toolbox,
    stock: RawHost,
    inline: RawHost,
    workspace: PathBuf,
    _cache: TempDir,
}

impl Shells {
    async fn new(tree: &TempDir) -> Self {
        let bash = BUILTINS
            .iter()
            .find(|builtin| builtin.name == "bash")
            .expect("bash is built in");
        let cache = tempfile::tempdir().expect("a temporary directory");
        let builtins = std::slice::from_ref(bash);
        let inline = RawHost::new(bash.wasm, tree.path(), SLOTS);
        let mut stock = RawHost::new(bash.wasm, tree.path(), SLOTS);
        stock.on_calling_thread = false;
        Shells {
            toolbox: toolbox(builtins, &cache.path().join("cache")).await,
            stock,
            inline,
            workspace: tree.path().to_owned(),
            _cache: cache,
        }
    }

    async fn by_hotcell(&self, command: &str) -> f64 {
        let call = ToolCall {
            id: "call".to_owned(),
            name: "bash".to_owned(),
            arguments: serde_json::json!({ "command": command }),
            malformed: None,
        };
        let policy = policy(&self.workspace);
        let watcher = Arc::new(Unwatched);
        let begun = Instant::now();
        let result = self.toolbox.call(&policy, "session", &call, watcher).await;
        let took = millis(begun);
        assert!(!result.is_error(), "{}", result.text());
        assert!(
            result.text().contains("[exit status 0"),
            "{}",
            result.text()
        );
        took
    }

    async fn natively(&self, command: &str) -> f64 {
        let begun = Instant::now();
        let output = tokio::process::Command::new("bash")
            .args(["-c", command])
            .current_dir(&self.workspace)
            .output()
            .await
            .expect("bash runs");
        let took = millis(begun);
        assert!(output.status.success() && !output.stdout.is_empty());
        took
    }

    async fn against_native(&self, table: &Table, command: &str, rounds: usize, goal: Goal) {
        let [mut hotcell, mut native, mut ratios] = [const { Vec::new() }; 3];
        for round in 0..=rounds {
            let (here, there) = (self.by_hotcell(command).await, self.natively(command).await);
            // The first round only warms up.
            if round > 0 {
                hotcell.push(here);
                native.push(there);
                ratios.push(here / there);
            }
        }
        let name = match command {
            SUBSTITUTIONS => "500 command substitutions".to_owned(),
            command => format!("bash: `{command}`"),
        };
        table.tell(&format!("{name}, hotcell"), median(hotcell), "ms");
        table.tell(&format!("{name}, native"), median(native), "ms");
        let name = format!("{name}, hotcell to native");
        table.judge(&name, median(ratios), "x", goal);
    }

    async fn against_wasmtime(&self, table: &Table, command: &str, rounds: usize) {
        let arguments = serde_json::json!({ "command": command }).to_string();
        let raw = async |host: &RawHost| {
            let begun = Instant::now();
            host.call("bash", &arguments).await;
            millis(begun)
        };
        let [
            mut hotcell,
            mut stock,
            mut inline,
            mut ratios,
            mut inline_ratios,
        ] = [const { Vec::new() }; 5];
        for round in 0..=rounds {
            let here = self.by_hotcell(command).await;
            let (there, on_thread) = (raw(&self.stock).await, raw(&self.inline).await);
            if round > 0 {
                hotcell.push(here);
                stock.push(there);
                inline.push(on_thread);
                ratios.push(here / there);
                inline_ratios.push(here / on_thread);
            }
        }
        let name = format!("bash: `{command}`, 1,000 files");
        table.tell(&format!("{name}, hotcell"), median(hotcell), "ms");
        table.tell(&format!("{name}, wasmtime-wasi"), median(stock), "ms");
        let on_thread = "wasmtime-wasi on the calling thread";
        table.tell(&format!("{name}, {on_thread}"), median(inline), "ms");
        let against = format!("{name}, hotcell to wasmtime-wasi");
        table.judge(&against, median(ratios), "x", Goal::AtMost(0.5));
        let against = format!("{name}, hotcell to {on_thread}");
        table.tell(&against, median(inline_ratios), "x");
    }
}

fn millis(begun: Instant) -> f64 {
    begun.elapsed().as_secs_f64() * 1e3
}
