//! A component: its bytes, its compiled code, its definitions.
//!
//! Owns the way from bytes to something that can be called: checked, compiled once however many
//! wait for it, kept in the cache, linked ahead of every call. It must never hold anything that a
//! call changes.

use super::bindings::v0_1;
use super::call::{self, CallOutcome, CallOutput, Invocation};
use super::inspect;
use super::runtime::Runtime;
use super::store::Guest;
use crate::policy::Grant;
use crate::protocol::{Capabilities, Capability, Digest, Limits, ToolDefinition};
use futures::FutureExt;
use futures::future::{BoxFuture, Shared};
use sha2::{Digest as _, Sha256};
use std::borrow::Cow;
use std::sync::{Arc, OnceLock};
use v0_1::hotcell::tool::types;

/// Why a component cannot be used as a tool.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The bytes are not WebAssembly.
    #[error(
        "not a WebAssembly component: the file does not begin like one; build the tool for wasm32-wasip2"
    )]
    NotWasm,
    /// The file ends too early.
    #[error("a truncated WebAssembly file; copy or build it again")]
    Truncated,
    /// The bytes are a core module.
    #[error(
        "a core WebAssembly module, not a component; build for wasm32-wasip2, or wrap it by `wasm-tools component new`"
    )]
    CoreModule,
    /// wasmtime could not read or compile it.
    #[error("not a valid component: {0}")]
    Invalid(String),
    /// It needs something this host does not offer.
    #[error("imports `{0}`, which this version of hotcell does not offer")]
    UnknownImport(String),
    /// It was built against another version of the contract.
    #[error("exports `{0}`, and this version of hotcell speaks {version}; build the tool with the matching SDK", version = super::CONTRACT)]
    OtherVersion(String),
    /// It exports no tool.
    #[error("exports no `hotcell:tool/tool`; a tool implements the world `tool-component` of {version}", version = super::CONTRACT)]
    NoTool,
    /// `describe` did not answer.
    #[error("cannot describe itself: {0}")]
    Describe(String),
    /// `describe` answered something that is no definition.
    #[error("describes `{tool}` wrongly: {reason}")]
    Definition {
        /// The tool.
        tool: String,
        /// What is wrong.
        reason: String,
    },
}

type Prepared = v0_1::ToolComponentPre<Guest>;
type Ready = Shared<BoxFuture<'static, Result<Arc<PreparedComponent>, LoadError>>>;

/// What is left once a component is compiled and linked.
pub struct PreparedComponent {
    pub pre: Prepared,
}

/// A component of this process. Cheap to clone.
#[derive(Clone)]
pub struct Component {
    inner: Arc<Inner>,
}

struct Inner {
    runtime: Arc<Runtime>,
    bytes: Cow<'static, [u8]>,
    digest: Digest,
    ready: OnceLock<Ready>,
}

impl Component {
    pub(super) fn new(runtime: Arc<Runtime>, bytes: Cow<'static, [u8]>) -> Result<Self, LoadError> {
        inspect::check_bytes(&bytes)?;
        let digest = digest(&bytes);
        Ok(Component {
            inner: Arc::new(Inner {
                runtime,
                bytes,
                digest,
                ready: OnceLock::new(),
            }),
        })
    }

    /// SHA-256 of the component's bytes.
    pub fn digest(&self) -> &Digest {
        &self.inner.digest
    }

    /// How large the component is, in bytes.
    pub fn size(&self) -> usize {
        self.inner.bytes.len()
    }

    /// Starts compiling in the background, if it has not begun. Must be called on a tokio runtime.
    pub fn prepare(&self) {
        // The future runs by itself; waiting for it is up to whoever needs it.
        drop(self.readiness());
    }

    /// Whether a call would start at once.
    pub fn is_ready(&self) -> bool {
        self.inner
            .ready
            .get()
            .is_some_and(|ready| ready.peek().is_some())
    }

    /// Waits until the component is compiled and linked. Concurrent callers wait for one
    /// compilation.
    ///
    /// # Errors
    /// When the bytes are not a tool of this contract.
    pub async fn ready(&self) -> Result<(), LoadError> {
        self.prepared().await.map(|_| ())
    }

    pub(super) async fn prepared(&self) -> Result<Arc<PreparedComponent>, LoadError> {
        self.readiness().await
    }

    pub(super) fn runtime(&self) -> &Arc<Runtime> {
        &self.inner.runtime
    }

    fn readiness(&self) -> Ready {
        self.inner.ready.get_or_init(|| self.start()).clone()
    }

    /// Compiles on a blocking thread. The task belongs to nobody, so a caller that gives up does
    /// not lose the work for the others.
    fn start(&self) -> Ready {
        let component = self.clone_parts();
        // Here and not in the task, which begins whenever the runtime likes.
        let turn = component.0.compile_lane.turn(component.1.len());
        let task = tokio::spawn(async move {
            let turn = turn.await;
            tokio::task::spawn_blocking(move || {
                let _turn = turn;
                let (runtime, bytes, digest) = component;
                prepare(&runtime, &bytes, &digest).map(Arc::new)
            })
            .await
            .unwrap_or_else(|fault| {
                Err(LoadError::Invalid(format!("the compiler failed: {fault}")))
            })
        });
        task.map(|joined| {
            joined.unwrap_or_else(|fault| {
                Err(LoadError::Invalid(format!("the compiler failed: {fault}")))
            })
        })
        .boxed()
        .shared()
    }

    fn clone_parts(&self) -> (Arc<Runtime>, Cow<'static, [u8]>, Digest) {
        let inner = &self.inner;
        (
            Arc::clone(&inner.runtime),
            inner.bytes.clone(),
            inner.digest.clone(),
        )
    }

    /// The tools in this component, as it describes them with nothing granted; kept by digest, so
    /// a component known from an earlier start is not compiled for it.
    ///
    /// # Errors
    /// When the component cannot be used, traps, or describes itself wrongly.
    pub async fn describe(&self) -> Result<Vec<ToolDefinition>, LoadError> {
        let cache = &self.inner.runtime.cache;
        if let Some(known) = cache.definitions(self.digest()) {
            return Ok(known);
        }
        let prepared = self.prepared().await?;
        let described = call::describe(&self.inner.runtime, &prepared)
            .await
            .map_err(|failure| LoadError::Describe(failure.message))?;
        let definitions = described
            .into_iter()
            .map(definition)
            .collect::<Result<Vec<_>, _>>()?;
        cache.keep_definitions(self.digest(), &definitions);
        Ok(definitions)
    }

    /// Runs one call in a fresh store. Dropping the future ends the call.
    pub async fn call(
        &self,
        grant: &Grant,
        invocation: Invocation,
        output: Arc<dyn CallOutput>,
    ) -> CallOutcome {
        call::call(self, grant, invocation, output).await
    }
}

/// The limits under which a component describes itself: it has nothing to do but answer.
pub const DESCRIBE_LIMITS: Limits = Limits {
    fuel: 2_000_000_000,
    deadline_ms: 20_000,
    memory_bytes: 256 << 20,
    table_elements: 200_000,
    resources: 64,
    host_calls: 100_000,
    output_bytes: 4 << 20,
};

fn digest(bytes: &[u8]) -> Digest {
    Digest::of_bytes(&Sha256::digest(bytes))
}

/// From bytes to a linked component: by the cache, or by Cranelift.
fn prepare(
    runtime: &Runtime,
    bytes: &[u8],
    digest: &Digest,
) -> Result<PreparedComponent, LoadError> {
    let known = from_cache(runtime, digest);
    let is_known = known.is_some();
    let compiled = match known {
        Some(component) => component,
        None => {
            tracing::debug!(%digest, bytes = bytes.len(), "compiling a component");
            wasmtime::component::Component::new(&runtime.engine, bytes)
                .map_err(|error| LoadError::Invalid(format!("{:#}", error.root_cause())))?
        }
    };
    inspect::check_exports(&compiled)?;
    let pre = runtime
        .linker
        .instantiate_pre(&compiled)
        .and_then(Prepared::new)
        .map_err(|error| {
            inspect::unknown_import(&compiled)
                .unwrap_or_else(|| LoadError::Invalid(format!("{error:#}")))
        })?;
    // Kept only now: what is no tool leaves nothing behind.
    if !is_known && let Ok(code) = compiled.serialize() {
        runtime.cache.keep_code(digest, &code);
    }
    Ok(PreparedComponent { pre })
}

#[expect(
    unsafe_code,
    reason = "wasmtime trusts compiled code; the cache says why this may be trusted"
)]
fn from_cache(runtime: &Runtime, digest: &Digest) -> Option<wasmtime::component::Component> {
    let code = runtime.cache.code(digest)?;
    // SAFETY: the bytes are what `Component::serialize` gave to `CodeCache::keep_code` of this
    // user: the directory is 0700 and owned by this user, the entry is a regular file and its
    // checksum holds. wasmtime itself checks version and settings.
    match unsafe { wasmtime::component::Component::deserialize(&runtime.engine, &code) } {
        Ok(component) => Some(component),
        Err(error) => {
            tracing::warn!(%error, %digest, "the engine refused a cache entry");
            runtime.cache.remove_code(digest);
            None
        }
    }
}

fn definition(described: types::Definition) -> Result<ToolDefinition, LoadError> {
    let input_schema =
        serde_json::from_str(&described.input_schema).map_err(|error| LoadError::Definition {
            tool: described.name.clone(),
            reason: format!("its input schema is not JSON: {error}"),
        })?;
    Ok(ToolDefinition {
        name: described.name,
        description: described.description,
        input_schema,
        requires: capabilities(described.requires),
        accepts: capabilities(described.accepts),
    })
}

/// The flags of the contract beside our words, in one table for both directions.
const FLAGS: [(types::Capability, Capability); 6] = [
    (types::Capability::WORKSPACE_READ, Capability::WorkspaceRead),
    (
        types::Capability::WORKSPACE_WRITE,
        Capability::WorkspaceWrite,
    ),
    (types::Capability::PROCESS, Capability::Process),
    (types::Capability::NETWORK, Capability::Network),
    (types::Capability::SESSION_STATE, Capability::SessionState),
    (types::Capability::SKILLS, Capability::Skills),
];

fn capabilities(flags: types::Capability) -> Capabilities {
    FLAGS
        .into_iter()
        .filter(|(flag, _)| flags.contains(*flag))
        .map(|(_, capability)| capability)
        .collect()
}

pub(super) fn flags(set: Capabilities) -> types::Capability {
    FLAGS
        .into_iter()
        .filter(|(_, capability)| set.contains(*capability))
        .fold(types::Capability::empty(), |flags, (flag, _)| flags | flag)
}
