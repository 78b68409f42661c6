//! One fresh store a call.
//!
//! Owns what a guest can reach while it runs, and the counters of its limits. A store can only be
//! made from a grant. It must never outlive its call, and never take anything from the process
//! (arguments, environment, standard streams).

use super::call::CallOutput;
use super::failure::LimitReached;
use super::imports::filesystem::{Glance, Refusals};
use super::imports::process::Endings;
use super::imports::stdio::{LogStream, ProgramOutput};
use super::runtime::Runtime;
use crate::policy::{Grant, PathRules};
use crate::protocol::{Capabilities, Limit, Limits};
use crate::workspace::{Access, Workspace};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use wasmtime::component::ResourceTable;
use wasmtime::{CallHook, ResourceLimiter, Store, UpdateDeadline};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};
use wasmtime_wasi_io::IoView;

/// Where the guest sees the workspace.
pub const WORKSPACE_MOUNT: &str = "/workspace";
/// Where the guest sees the installed skills.
pub const SKILLS_MOUNT: &str = "/skills";

/// Where the guest sees the private directory of the session.
pub const TEMPORARY_MOUNT: &str = "/tmp";

/// The most bytes in the private directory of a session that guests can bring it to. More than a
/// tool keeps between two calls, and no way to fill the disk.
const MOST_TEMPORARY_BYTES: u64 = 512 << 20;

/// What a guest can reach, and what it has used.
pub struct Guest {
    pub wasi: WasiCtx,
    /// The directories of the grant and where the guest sees them.
    pub mounts: Vec<(&'static str, Workspace)>,
    /// What the rules for files refused.
    pub refusals: Refusals,
    /// The last look at a path.
    pub glance: Glance,
    pub table: ResourceTable,
    pub capabilities: Capabilities,
    pub grant: Grant,
    /// Of the native processes that the call has started.
    pub endings: Endings,
    pub call: CallIdentity,
    pub output: Arc<dyn CallOutput>,
    pub runtime: Arc<Runtime>,
    pub log: LogStream,
    pub reported_bytes: u64,
    limits: Limits,
    usage: Usage,
}

/// Whose call it is, as the imports need it.
pub struct CallIdentity {
    pub session: String,
    /// The namespace of the `state` import.
    pub component: String,
}

/// What the call has used so far.
#[derive(Debug, Default)]
struct Usage {
    memory_bytes: u64,
    peak_memory_bytes: u64,
    table_elements: u64,
    host_calls: u64,
}

impl Guest {
    /// Calls into the host so far.
    pub const fn host_calls(&self) -> u64 {
        self.usage.host_calls
    }

    /// The most linear memory at one time, in bytes.
    pub const fn peak_memory_bytes(&self) -> u64 {
        self.usage.peak_memory_bytes
    }

    /// The limits of the call.
    pub const fn limits(&self) -> &Limits {
        &self.limits
    }

    fn count_host_call(&mut self) -> wasmtime::Result<()> {
        self.usage.host_calls += 1;
        LimitReached::check(Limit::HostCalls, self.usage.host_calls, &self.limits)?;
        Ok(())
    }

    /// Takes back a count: the engine comes by the same way when it looks at the clock, which is
    /// nothing the guest asked for and depends on how busy the machine is.
    const fn uncount_tick(&mut self) {
        self.usage.host_calls = self.usage.host_calls.saturating_sub(1);
    }
}

impl WasiView for Guest {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView {
            ctx: &mut self.wasi,
            table: &mut self.table,
        }
    }
}

impl IoView for Guest {
    fn table(&mut self) -> &mut ResourceTable {
        &mut self.table
    }
}

/// Counts memory and tables over the whole call, and refuses growth with an error of ours rather
/// than a failed `memory.grow`, which most languages turn into an unreadable abort.
impl ResourceLimiter for Guest {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let wanted = self.usage.memory_bytes + desired.saturating_sub(current) as u64;
        LimitReached::check(Limit::Memory, wanted, &self.limits)?;
        self.usage.memory_bytes = wanted;
        self.usage.peak_memory_bytes = self.usage.peak_memory_bytes.max(wanted);
        Ok(true)
    }

    fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let wanted = self.usage.table_elements + desired.saturating_sub(current) as u64;
        LimitReached::check(Limit::Tables, wanted, &self.limits)?;
        self.usage.table_elements = wanted;
        Ok(true)
    }
}

/// Makes the store of one call.
///
/// # Errors
/// When a directory of the grant cannot be opened.
pub fn new_store(
    runtime: &Arc<Runtime>,
    grant: &Grant,
    call: CallIdentity,
    output: Arc<dyn CallOutput>,
    started: Instant,
) -> wasmtime::Result<Store<Guest>> {
    let limits = *grant.limits();
    let journal = output.journal();
    let mounts = runtime.opened.of(grant, runtime.temporary.as_deref())?;
    let mounts = mounts
        .into_iter()
        .map(|(mount, directory)| match mount {
            WORKSPACE_MOUNT => (mount, directory.with_journal(Arc::clone(&journal))),
            // Nothing that goes with the session needs to be taken back.
            _ => (mount, directory),
        })
        .collect();
    let log = LogStream::new(limits.output_bytes);
    let mut builder = WasiCtx::builder();
    builder
        .stdout(ProgramOutput::new(Arc::clone(&output), limits.output_bytes))
        .stderr(log.clone());
    let mut table = ResourceTable::new();
    table.set_max_capacity(usize::try_from(limits.resources).unwrap_or(usize::MAX));
    let guest = Guest {
        wasi: builder.build(),
        mounts,
        refusals: Refusals::default(),
        glance: Glance::default(),
        table,
        capabilities: grant.capabilities(),
        grant: grant.clone(),
        endings: Endings::default(),
        call,
        output,
        runtime: Arc::clone(runtime),
        log,
        reported_bytes: 0,
        limits,
        usage: Usage::default(),
    };
    let mut store = Store::new(&runtime.engine, guest);
    store.limiter(|guest| guest);
    store.set_fuel(limits.fuel)?;
    // Bounds what one host call can make the host copy out of the guest.
    store.set_hostcall_fuel(usize::try_from(limits.output_bytes).unwrap_or(usize::MAX));
    store.call_hook(|mut store, hook| match hook {
        CallHook::CallingHost => store.data_mut().count_host_call(),
        _ => Ok(()),
    });
    let deadline = Duration::from_millis(limits.deadline_ms);
    store.set_epoch_deadline(1);
    store.epoch_deadline_callback(move |mut store| {
        store.data_mut().uncount_tick();
        // The check is here and not only in a timer: a timer fires late when every worker runs a
        // guest that does not wait.
        let used = started.elapsed();
        if used >= deadline {
            let used_ms = u64::try_from(used.as_millis()).unwrap_or(u64::MAX);
            return Err(LimitReached::new(Limit::Deadline, used_ms, &limits).into());
        }
        Ok(UpdateDeadline::Yield(1))
    });
    Ok(store)
}

/// Directories opened once and shared by all calls with the same grant: a call then costs no
/// `open`, and a workspace that is swapped under a running session is not followed.
#[derive(Default)]
pub struct OpenedDirectories {
    opened: Mutex<Vec<Opened>>,
}

struct Opened {
    path: PathBuf,
    rules: PathRules,
    workspace: Workspace,
}

impl OpenedDirectories {
    /// The directories of this grant.
    fn of(
        &self,
        grant: &Grant,
        temporary: Option<&Path>,
    ) -> wasmtime::Result<Vec<(&'static str, Workspace)>> {
        let mut mounts = Vec::with_capacity(3);
        if let Some((path, writable)) = grant.workspace() {
            let access = if writable {
                Access::ReadWrite
            } else {
                Access::ReadOnly
            };
            mounts.push((
                WORKSPACE_MOUNT,
                self.open(path, access, grant.paths(), None)?,
            ));
        }
        if let Some(path) = grant.skills() {
            let skills = self.open(path, Access::ReadOnly, grant.paths(), None)?;
            mounts.push((SKILLS_MOUNT, skills));
        }
        if let Some(path) = temporary.filter(|_| grant.temporary()) {
            let most = Some(MOST_TEMPORARY_BYTES);
            let temporary = self.open(path, Access::ReadWrite, grant.paths(), most)?;
            mounts.push((TEMPORARY_MOUNT, temporary));
        }
        Ok(mounts)
    }

    fn open(
        &self,
        path: &Path,
        access: Access,
        rules: &PathRules,
        most_bytes: Option<u64>,
    ) -> wasmtime::Result<Workspace> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let found = opened.iter().find(|known| {
            known.path == path && known.workspace.access() == access && known.rules == *rules
        });
        if let Some(found) = found {
            return Ok(found.workspace.clone());
        }
        let workspace = Workspace::open(path, access, rules.clone()).map_err(|error| {
            let kind = error.kind();
            io::Error::new(
                kind,
                format!("the directory {} cannot be opened: {error}", path.display()),
            )
        })?;
        let workspace = match most_bytes {
            Some(most) => workspace.limited_to(most),
            None => workspace,
        };
        opened.push(Opened {
            path: path.to_owned(),
            rules: rules.clone(),
            workspace: workspace.clone(),
        });
        Ok(workspace)
    }
}
