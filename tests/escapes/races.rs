//! Names that change while tools work below them: a directory and a link out change places, again
//! and again, on another thread.

use crate::matrix::Bench;
use crate::raw::{call, grant, load, sandbox, text};
use crate::scene::{CANARY, Scene, difference};
use hotcell::policy::Mode;
use hotcell::protocol::Limits;
use hotcell_test_artifacts::Guest;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::json;
use std::os::unix::fs::symlink;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// How often each operation is tried.
const TIMES: usize = 150;

/// Changes the places of `ws/swap`, a directory, and `ws/other`, a link out, until it is dropped.
struct Swapping {
    is_over: Arc<AtomicBool>,
    swaps: Arc<AtomicU64>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Swapping {
    fn begin(scene: &Scene) -> Swapping {
        std::fs::create_dir(scene.at("ws/swap")).expect("made");
        std::fs::write(scene.at("ws/swap/f"), "harmless").expect("written");
        symlink(scene.at("outside"), scene.at("ws/other")).expect("linked");
        let (one, other) = (scene.at("ws/swap"), scene.at("ws/other"));
        let is_over = Arc::new(AtomicBool::new(false));
        let swaps = Arc::new(AtomicU64::new(0));
        let thread = {
            let (is_over, swaps) = (Arc::clone(&is_over), Arc::clone(&swaps));
            std::thread::spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    renameat_with(CWD, &one, CWD, &other, RenameFlags::EXCHANGE)
                        .expect("both are there");
                    swaps.fetch_add(1, Ordering::Relaxed);
                }
            })
        };
        Swapping {
            is_over,
            swaps,
            thread: Some(thread),
        }
    }

    fn swaps(&self) -> u64 {
        self.swaps.load(Ordering::Relaxed)
    }
}

impl Drop for Swapping {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().expect("it swaps");
        }
    }
}

/// Everything around the workspace, which the swapping leaves alone.
fn outside(scene: &Scene) -> std::collections::BTreeMap<std::path::PathBuf, String> {
    let mut picture = scene.picture();
    let inside = scene.at("ws");
    picture.retain(|path, _| !path.starts_with(&inside) && *path != scene.at(""));
    picture
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_link_swapped_in_leads_no_raw_operation_out() {
    let scene = Scene::new();
    let before = outside(&scene);
    let hands = load(&sandbox(), Guest::Files);
    let grant = grant(&scene, Mode::Act, Limits::default());
    let mut read = 0;
    {
        let swapping = Swapping::begin(&scene);
        for operation in [
            "read /workspace swap/f",
            "read /workspace sub/../swap/f",
            "read /workspace swap/../outside/f",
            "read-in /workspace swap f",
            "read-in /workspace swap ../outbox/f",
            "list /workspace swap",
            "write /workspace swap/f",
            "create /workspace swap/made",
            "truncate /workspace swap/made",
            "mkdir /workspace swap/dir",
            "mkdir-in /workspace swap dir",
            "touch /workspace swap/f",
            "rename /workspace swap/made swap/more",
            "link /workspace swap/f swap/linked",
            "unlink /workspace swap/linked",
            "unlink /workspace swap/more",
            "rmdir /workspace swap/dir",
            "symlink /workspace f swap/planted",
        ] {
            let earlier = swapping.swaps();
            for _ in 0..TIMES {
                let outcome = call(&hands, &grant, operation).await;
                let answer = text(&outcome);
                assert!(!answer.contains(CANARY), "{operation}: {answer}");
                read += usize::from(answer.starts_with("ok harmless"));
            }
            assert!(swapping.swaps() > earlier, "nothing was swapped");
        }
    }
    assert_eq!(difference(&before, &outside(&scene)), Vec::<String>::new());
    // Both sides were met, or this shows nothing.
    assert!(read > 0, "the directory was never there");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_link_swapped_in_leads_no_tool_out() {
    let bench = Bench::new().await;
    let before = outside(&bench.scene);
    {
        let _swapping = Swapping::begin(&bench.scene);
        for _ in 0..TIMES / 5 {
            for call in [
                ("read_file", json!({ "path": "swap/f" })),
                (
                    "write_file",
                    json!({ "path": "swap/f", "content": "owned" }),
                ),
                (
                    "edit_file",
                    json!({ "path": "swap/f", "old": "harm", "new": "owned" }),
                ),
                ("grep", json!({ "pattern": "CANARY", "path": "swap" })),
                ("glob", json!({ "pattern": "**/*.sh", "path": "swap" })),
                ("word_count", json!({ "path": "swap/f" })),
                (
                    "bash",
                    json!({ "command": "cat swap/f; echo owned > swap/made; ls swap; rm -rf swap/sub" }),
                ),
            ] {
                let (_, text) = bench.call(Mode::Act, &call).await;
                let told = call.1.to_string();
                assert!(!text.contains(CANARY), "{call:?}: {text}");
                assert!(
                    told.contains("CANARY") || !text.contains("script.sh"),
                    "{call:?}: {text}"
                );
            }
        }
    }
    let changed = difference(&before, &outside(&bench.scene));
    assert!(changed.is_empty(), "{changed:?}");
}
