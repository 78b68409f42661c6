//! Whether this machine can show what the process sandbox does.
//!
//! Owns the one reason for which a test of native processes ends early: the kernel gives no
//! sandbox, or a program that the test runs is not installed. What hotcell does there, to refuse by
//! the name of the layer, is shown on every machine.

use hotcell::process::Layers;
use std::path::Path;
use std::sync::OnceLock;

/// Whether this machine lacks something; what it is, is said once.
#[expect(clippy::print_stderr, reason = "a test that ends early has to say so")]
pub fn lacks(programs: &[&str], directories: &[&str]) -> bool {
    static LACKING: OnceLock<Option<String>> = OnceLock::new();
    let lacking = LACKING.get_or_init(|| {
        let lacking = missing(programs, directories).or_else(layer);
        if let Some(what) = &lacking {
            eprintln!("not shown on this machine: {what}");
        }
        lacking
    });
    lacking.is_some()
}

fn missing(programs: &[&str], directories: &[&str]) -> Option<String> {
    let is_there = |program: &&&str| {
        let mut places = directories.iter().map(Path::new);
        places.any(|directory| directory.join(program).is_file())
    };
    let program = programs.iter().find(|program| !is_there(program))?;
    Some(format!("`{program}` is not in {directories:?}"))
}

/// The first layer that the kernel does not give.
fn layer() -> Option<String> {
    // A test may be on a runtime already, which must not be blocked.
    let probe = std::thread::spawn(|| {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        runtime.block_on(Layers::probe(Path::new(env!("CARGO_BIN_EXE_hotcell"))))
    });
    let layers = probe.join().expect("the probe ends");
    let (layer, why) = layers.first_lacking()?;
    Some(format!("no {layer} ({why}); {}", layer.remedy()))
}
