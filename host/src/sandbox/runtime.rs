//! The wasmtime engine of the process: its settings, allocator, clock and linker.
//!
//! Owns what every call shares. Exists apart from the calls because these settings decide whether
//! compiled code can be reused: they go into the cache key. It must never hold anything of a call.

use super::SandboxError;
use super::SandboxSettings;
use super::cache::CodeCache;
use super::imports;
use super::lane::Lane;
use super::state::SessionState;
use super::store::{Guest, OpenedDirectories};
use crate::process::Processes;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use wasmtime::component::Linker;
use wasmtime::{
    Config, Enabled, Engine, InstanceAllocationStrategy, PoolingAllocationConfig,
    WasmBacktraceDetails,
};

/// How often running guests are looked at: they yield, and their deadline is checked. A guest that
/// loops is cut at most this late; 5 ms costs nothing measurable.
const TICK: Duration = Duration::from_millis(5);

/// Linear memory, table and stack bytes that a slot keeps resident between calls, so that a warm
/// call takes no page fault. Small tools touch about this much.
const KEEP_RESIDENT: usize = 256 << 10;

/// Linear memories a component may have: its own, one of the preview1 adapter, and room for
/// languages that bring a second module.
const MEMORIES_PER_COMPONENT: u32 = 4;

/// How instances get their memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allocator {
    /// All slots reserved up front; unused pages are found by `PAGEMAP_SCAN`. The fastest.
    PoolingWithPagemapScan,
    /// All slots reserved up front.
    Pooling,
    /// Mapped for each call: slower, and slower still with more threads.
    OnDemand,
}

impl Allocator {
    /// The allocators in order of preference.
    const PREFERENCE: [Allocator; 3] = [
        Allocator::PoolingWithPagemapScan,
        Allocator::Pooling,
        Allocator::OnDemand,
    ];
}

/// What every call of this process shares.
pub struct Runtime {
    pub engine: Engine,
    pub linker: Linker<Guest>,
    pub cache: CodeCache,
    pub allocator: Allocator,
    /// One permit a slot: an exhausted pool is an error in wasmtime, and a wait here.
    pub slots: Semaphore,
    pub compile_lane: Lane,
    pub state: Arc<dyn SessionState>,
    pub temporary: Option<PathBuf>,
    pub processes: Option<Processes>,
    pub opened: OpenedDirectories,
    ticker: Ticker,
}

impl Runtime {
    pub fn new(settings: SandboxSettings) -> Result<Self, SandboxError> {
        let (engine, allocator) = start_engine(&settings)?;
        let linker = imports::linker(&engine).map_err(engine_error)?;
        let mut hasher = DefaultHasher::new();
        engine.precompile_compatibility_hash().hash(&mut hasher);
        let cache = CodeCache::open(settings.cache, hasher.finish())?;
        let ticker = Ticker::start(&engine);
        Ok(Runtime {
            engine,
            linker,
            cache,
            allocator,
            slots: Semaphore::new(settings.slots.max(1) as usize),
            compile_lane: Lane::default(),
            state: settings.state,
            temporary: settings.temporary,
            processes: settings.processes,
            opened: OpenedDirectories::default(),
            ticker,
        })
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        self.ticker.stop();
    }
}

fn engine_error(error: wasmtime::Error) -> SandboxError {
    SandboxError::Engine(format!("{error:#}"))
}

/// Starts the fastest engine that works here.
fn start_engine(settings: &SandboxSettings) -> Result<(Engine, Allocator), SandboxError> {
    let mut last = None;
    for allocator in Allocator::PREFERENCE {
        if allocator != Allocator::OnDemand && !settings.pooling {
            continue;
        }
        match Engine::new(&engine_config(settings, allocator)) {
            Ok(engine) => return Ok((engine, allocator)),
            Err(error) => {
                tracing::info!(?allocator, %error, "allocator not available");
                last = Some(error);
            }
        }
    }
    Err(last.map_or_else(
        || SandboxError::Engine("no allocator is available".to_owned()),
        engine_error,
    ))
}

fn engine_config(settings: &SandboxSettings, allocator: Allocator) -> Config {
    let mut config = Config::new();
    config
        .wasm_component_model(true)
        .consume_fuel(true)
        .epoch_interruption(true)
        // Component-model async is not offered; without it a call is cheaper.
        .concurrency_support(false)
        // Backtraces of guests say nothing to a model, and cost on every trap.
        .wasm_backtrace_max_frames(None)
        .wasm_backtrace_details(WasmBacktraceDetails::Disable)
        .max_wasm_stack(1 << 20)
        .async_stack_size(2 << 20);
    if allocator == Allocator::OnDemand {
        config.allocation_strategy(InstanceAllocationStrategy::OnDemand);
        return config;
    }
    let slots = settings.slots.max(1);
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(slots)
        .total_core_instances(slots * 8)
        .total_memories(slots * 2)
        .total_tables(slots * 8)
        .total_stacks(slots)
        .max_memories_per_component(MEMORIES_PER_COMPONENT)
        .max_memory_size(
            usize::try_from(settings.max_memory_bytes.min(4 << 30)).unwrap_or(usize::MAX),
        )
        .table_elements(1 << 20)
        .max_unused_warm_slots(slots)
        .linear_memory_keep_resident(KEEP_RESIDENT)
        .table_keep_resident(KEEP_RESIDENT)
        .async_stack_keep_resident(KEEP_RESIDENT);
    if allocator == Allocator::PoolingWithPagemapScan {
        pool.pagemap_scan(Enabled::Yes);
    }
    config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    config
}

/// Moves the engine's epoch on. Holds the engine weakly, and ends with it.
struct Ticker {
    stop: std::sync::mpsc::Sender<()>,
}

impl Ticker {
    fn start(engine: &Engine) -> Self {
        let weak = engine.weak();
        let (stop, stopped) = std::sync::mpsc::channel();
        let spawned = std::thread::Builder::new()
            .name("hotcell-epoch".to_owned())
            .spawn(move || {
                while stopped.recv_timeout(TICK) == Err(std::sync::mpsc::RecvTimeoutError::Timeout)
                {
                    match weak.upgrade() {
                        Some(engine) => engine.increment_epoch(),
                        None => return,
                    }
                }
            });
        if let Err(error) = spawned {
            // Without the thread no deadline of a looping guest would fire, so calls must fail:
            // they do, because fuel is limited too. Say it where a developer looks.
            tracing::error!(%error, "the epoch thread did not start");
        }
        Ticker { stop }
    }

    fn stop(&self) {
        // The thread may have ended already.
        let _ = self.stop.send(());
    }
}
