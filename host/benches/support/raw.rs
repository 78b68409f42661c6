//! wasmtime alone: the floor that hotcell's own path is measured against.
//!
//! Owns a host with the engine settings of hotcell's sandbox and nothing else of it: an
//! `InstancePre`, a store, one call. No limits but fuel and epoch, which the settings force, no
//! schema, no policy, no locks, no events.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use wasmtime::component::types::ComponentItem;
use wasmtime::component::{Component, HasSelf, Linker, ResourceTable, ResourceType};
use wasmtime::{
    Config, Enabled, Engine, InstanceAllocationStrategy, PoolingAllocationConfig, Store,
    UpdateDeadline,
};
use wasmtime_wasi::p2::{DynInputStream, DynOutputStream, DynPollable};
use wasmtime_wasi::{FsPerms, WasiCtx, WasiCtxView, WasiView};

mod bindings {
    //! The contract, generated again: the sandbox does not let its own out.
    wasmtime::component::bindgen!({
        path: "../wit",
        world: "tool-component",
        imports: { default: trappable },
        exports: { default: async },
    });
}

use bindings::hotcell::tool::{progress, state, types};

type Values = Arc<Mutex<HashMap<String, state::Versioned>>>;

/// What a raw guest reaches.
pub struct RawGuest {
    wasi: WasiCtx,
    table: ResourceTable,
    values: Values,
    reports: Arc<AtomicUsize>,
}

impl WasiView for RawGuest {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView {
            ctx: &mut self.wasi,
            table: &mut self.table,
        }
    }
}

impl types::Host for RawGuest {}

impl progress::Host for RawGuest {
    fn report(&mut self, _line: String) -> wasmtime::Result<()> {
        self.reports.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

impl state::Host for RawGuest {
    fn get(
        &mut self,
        key: String,
    ) -> wasmtime::Result<Result<Option<state::Versioned>, state::StateError>> {
        let values = self.values.lock().expect("no panic holds the lock");
        Ok(Ok(values.get(&key).cloned()))
    }

    fn compare_and_swap(
        &mut self,
        key: String,
        value: Vec<u8>,
        expected: u64,
    ) -> wasmtime::Result<Result<u64, state::StateError>> {
        let mut values = self.values.lock().expect("no panic holds the lock");
        let present = values.get(&key).map_or(0, |found| found.version);
        if present != expected {
            return Ok(Err(state::StateError::Conflict));
        }
        let version = expected + 1;
        values.insert(key, state::Versioned { value, version });
        Ok(Ok(version))
    }
}

/// wasmtime, a linked component and a directory.
pub struct RawHost {
    engine: Engine,
    pre: bindings::ToolComponentPre<RawGuest>,
    workspace: PathBuf,
    values: Values,
    /// Whether wasmtime-wasi does what blocks on the thread of the guest, which has to be asked for.
    /// As it comes, it does so on other threads.
    pub on_calling_thread: bool,
    /// How many lines guests have reported.
    pub reports: Arc<AtomicUsize>,
    _ticker: std::sync::mpsc::Sender<()>,
}

impl RawHost {
    /// Compiles the component and links it. `slots` is how many instances can live at once.
    pub fn new(component: &[u8], workspace: &Path, slots: u32) -> Self {
        let engine = Engine::new(&config(slots, true))
            .or_else(|_| Engine::new(&config(slots, false)))
            .expect("the engine starts");
        let component = Component::new(&engine, component).expect("the component compiles");
        let mut linker = Linker::new(&engine);
        stub_programs(&engine, &component, &mut linker).expect("native programs link");
        wasmtime_wasi::p2::add_to_linker_async(&mut linker).expect("WASI links");
        type Own = HasSelf<RawGuest>;
        types::add_to_linker::<RawGuest, Own>(&mut linker, |guest| guest).expect("types link");
        state::add_to_linker::<RawGuest, Own>(&mut linker, |guest| guest).expect("state links");
        progress::add_to_linker::<RawGuest, Own>(&mut linker, |guest| guest)
            .expect("progress links");
        let pre = linker
            .instantiate_pre(&component)
            .and_then(bindings::ToolComponentPre::new)
            .expect("the component links");
        let (stop, stopped) = std::sync::mpsc::channel();
        let ticking = engine.weak();
        std::thread::spawn(move || {
            let tick = std::time::Duration::from_millis(5);
            while stopped.recv_timeout(tick) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
                let Some(engine) = ticking.upgrade() else {
                    return;
                };
                engine.increment_epoch();
            }
        });
        RawHost {
            engine,
            pre,
            workspace: workspace.to_owned(),
            values: Values::default(),
            on_calling_thread: true,
            reports: Arc::default(),
            _ticker: stop,
        }
    }

    /// One call in a fresh store.
    pub async fn call(&self, tool: &str, arguments: &str) {
        let mut builder = WasiCtx::builder();
        builder
            .allow_blocking_current_thread(self.on_calling_thread)
            .preopened_dir(&self.workspace, "/workspace", FsPerms::ReadWrite)
            .expect("the workspace opens");
        let guest = RawGuest {
            wasi: builder.build(),
            table: ResourceTable::new(),
            values: Arc::clone(&self.values),
            reports: Arc::clone(&self.reports),
        };
        let mut store = Store::new(&self.engine, guest);
        store.set_fuel(u64::MAX).expect("fuel is on");
        store.set_epoch_deadline(1);
        store.epoch_deadline_callback(|_| Ok(UpdateDeadline::Yield(1)));
        let guest = self
            .pre
            .instantiate_async(&mut store)
            .await
            .expect("the component instantiates");
        let granted = types::Capability::WORKSPACE_READ
            | types::Capability::WORKSPACE_WRITE
            | types::Capability::SESSION_STATE;
        let invocation = types::Invocation {
            name: tool.to_owned(),
            arguments: arguments.to_owned(),
            call_id: "call".to_owned(),
            session_id: "session".to_owned(),
            granted,
            deadline_ms: 600_000,
        };
        guest
            .hotcell_tool_tool()
            .call_invoke(&mut store, &invocation)
            .await
            .expect("the call runs")
            .expect("the tool answers");
    }
}

/// Native programs: imported by bash, and used by nothing that is measured.
fn stub_programs(
    engine: &Engine,
    component: &Component,
    linker: &mut Linker<RawGuest>,
) -> wasmtime::Result<()> {
    for (name, import) in component.component_type().imports(engine) {
        let ComponentItem::ComponentInstance(instance) = import.ty else {
            continue;
        };
        if !name.starts_with("hotcell:tool/process@") {
            continue;
        }
        let mut programs = linker.instance(name)?;
        for (name, export) in instance.exports(engine) {
            match export.ty {
                ComponentItem::Resource(_) => {
                    let resource = match name {
                        "input-stream" => ResourceType::host::<DynInputStream>(),
                        "output-stream" => ResourceType::host::<DynOutputStream>(),
                        "pollable" => ResourceType::host::<DynPollable>(),
                        _ => ResourceType::host::<()>(),
                    };
                    programs.resource(name, resource, |_, _| Ok(()))?;
                }
                ComponentItem::ComponentFunc(_) => {
                    programs.func_new(name, |_, _, _, _| wasmtime::bail!("no programs here"))?;
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// The engine settings of the sandbox: see `host/src/sandbox/runtime.rs`.
fn config(slots: u32, pagemap_scan: bool) -> Config {
    const KEEP_RESIDENT: usize = 256 << 10;
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(slots)
        .total_core_instances(slots * 8)
        .total_memories(slots * 2)
        .total_tables(slots * 8)
        .total_stacks(slots)
        .max_memories_per_component(4)
        .max_memory_size(4 << 30)
        .table_elements(1 << 20)
        .max_unused_warm_slots(slots)
        .linear_memory_keep_resident(KEEP_RESIDENT)
        .table_keep_resident(KEEP_RESIDENT)
        .async_stack_keep_resident(KEEP_RESIDENT)
        .pagemap_scan(if pagemap_scan {
            Enabled::Yes
        } else {
            Enabled::No
        });
    let mut config = Config::new();
    config
        .wasm_component_model(true)
        .consume_fuel(true)
        .epoch_interruption(true)
        .concurrency_support(false)
        .wasm_backtrace_max_frames(None)
        .max_wasm_stack(1 << 20)
        .async_stack_size(2 << 20)
        .allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    config
}
