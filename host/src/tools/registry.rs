//! Which tools there are.
//!
//! Owns [`Toolbox`]: the built-in components and the plugins, their definitions checked and their
//! names unique, so that a plugin cannot stand in for a built-in tool. It must never decide who
//! may call what: that is the policy.

use super::builtin::Builtin;
use super::definition::{self, DefinitionError};
use super::locks::PathLocks;
use super::schema::Schema;
use crate::policy::Policy;
use crate::protocol::{Digest, ToolDefinition};
use crate::sandbox::{Component, LoadError, Sandbox};
use futures::future::join_all;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::OnceCell;

/// The most bytes of a component file. The largest that guest toolchains make, an interpreter
/// with its library, have about 20 MB.
pub const MAX_COMPONENT_BYTES: u64 = 128 << 20;

/// The most tools of one component: a model is told about all of them in every request.
pub const MAX_TOOLS: usize = 64;

/// Where a tool comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A component that is part of the binary, by its name.
    BuiltIn(&'static str),
    /// A component file.
    Plugin(PathBuf),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::BuiltIn(name) => write!(f, "built-in `{name}`"),
            Source::Plugin(path) => write!(f, "plugin {}", path.display()),
        }
    }
}

/// A component cannot be used. The text is one line for people.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ToolboxError {
    /// The file cannot be read.
    #[error("cannot read {origin}: {reason}")]
    Unreadable {
        /// The plugin.
        origin: Source,
        /// Why not.
        reason: io::Error,
    },
    /// The file is larger than [`MAX_COMPONENT_BYTES`].
    #[error("{origin} has {bytes} bytes, {MAX_COMPONENT_BYTES} are allowed")]
    TooLarge {
        /// The plugin.
        origin: Source,
        /// The size of the file.
        bytes: u64,
    },
    /// The sandbox does not take it.
    #[error("cannot load {origin}: {reason}")]
    Load {
        /// The component.
        origin: Source,
        /// What the sandbox says.
        reason: LoadError,
    },
    /// It describes no tool, or more than [`MAX_TOOLS`].
    #[error("{origin} describes {tools} tools; 1 to {MAX_TOOLS} are allowed")]
    Count {
        /// The component.
        origin: Source,
        /// How many.
        tools: usize,
    },
    /// One of its definitions cannot be used.
    #[error("cannot load {origin}: {reason}")]
    Definition {
        /// The component.
        origin: Source,
        /// What is wrong with it.
        reason: DefinitionError,
    },
    /// Two tools have one name.
    #[error(
        "tool `{name}` is in {first} and in {second}; names are unique, rename the one or leave out the other"
    )]
    Duplicate {
        /// The name.
        name: String,
        /// Who had it first.
        first: Source,
        /// Who wants it too.
        second: Source,
    },
    /// A built-in component and the definitions embedded beside it do not fit together: a fault of
    /// the build.
    #[error(
        "{origin} describes itself otherwise than this build expects: {reason}; build hotcell again"
    )]
    Mismatch {
        /// The component.
        origin: Source,
        /// What differs.
        reason: String,
    },
}

/// The tools of one process.
pub struct Toolbox {
    pub(super) tools: BTreeMap<String, Arc<Tool>>,
    pub(super) locks: PathLocks,
}

/// A tool, ready to be called.
pub(super) struct Tool {
    pub(super) definition: ToolDefinition,
    /// The definition as the model sees it.
    for_model: ToolDefinition,
    pub(super) schema: Schema,
    pub(super) plugin: Arc<Plugin>,
}

/// A component and where it comes from.
pub(super) struct Plugin {
    pub(super) source: Source,
    pub(super) component: Component,
    /// Set once the component described itself as its embedded definitions say; from the start
    /// where the definitions came from the component.
    verified: OnceCell<()>,
    definitions: Vec<ToolDefinition>,
}

impl Toolbox {
    /// Loads the built-in components, which are not compiled for it, and the plugins, which have to
    /// describe themselves and so are waited for.
    ///
    /// # Errors
    /// The first component that cannot be used, in the order given.
    pub async fn load(
        sandbox: &Sandbox,
        builtins: &[Builtin],
        plugins: &[PathBuf],
    ) -> Result<Toolbox, ToolboxError> {
        let mut toolbox = Toolbox {
            tools: BTreeMap::new(),
            locks: PathLocks::new(),
        };
        for builtin in builtins {
            toolbox.add(load_builtin(sandbox, builtin)?)?;
        }
        for plugin in join_all(plugins.iter().map(|path| load_plugin(sandbox, path))).await {
            toolbox.add(plugin?)?;
        }
        Ok(toolbox)
    }

    /// The tools that `policy` offers a model, sorted by name, without path marks.
    pub fn offered(&self, policy: &Policy) -> Arc<[ToolDefinition]> {
        self.tools
            .values()
            .filter(|tool| policy.offers(&tool.definition))
            .map(|tool| tool.for_model.clone())
            .collect()
    }

    /// Starts compiling every component that is not ready, in the background: small ones first, so
    /// that they are at work while a large one compiles. Must be called on a tokio runtime.
    pub fn prepare(&self) {
        for plugin in self.plugins() {
            plugin.component.prepare();
        }
    }

    /// Waits until every component is compiled, and checks that each built-in is what it is
    /// expected to be. Answers with one entry for each component that cannot be used.
    pub async fn verify(&self) -> Vec<ToolboxError> {
        join_all(self.plugins().into_iter().map(|plugin| plugin.verify()))
            .await
            .into_iter()
            .filter_map(Result::err)
            .collect()
    }

    /// The components, each once, small ones first.
    fn plugins(&self) -> Vec<&Plugin> {
        let mut plugins: Vec<&Plugin> = self.tools.values().map(|tool| &*tool.plugin).collect();
        plugins.sort_by_key(|plugin| (plugin.component.size(), plugin.digest()));
        plugins.dedup_by_key(|plugin| plugin.digest());
        plugins
    }

    fn add(&mut self, plugin: Plugin) -> Result<(), ToolboxError> {
        let count = plugin.definitions.len();
        if count == 0 || count > MAX_TOOLS {
            return Err(ToolboxError::Count {
                origin: plugin.source,
                tools: count,
            });
        }
        let plugin = Arc::new(plugin);
        for definition in &plugin.definitions {
            let schema =
                definition::check(definition).map_err(|reason| ToolboxError::Definition {
                    origin: plugin.source.clone(),
                    reason,
                })?;
            if let Some(first) = self.tools.get(&definition.name) {
                return Err(ToolboxError::Duplicate {
                    name: definition.name.clone(),
                    first: first.plugin.source.clone(),
                    second: plugin.source.clone(),
                });
            }
            let tool = Tool {
                for_model: ToolDefinition {
                    input_schema: schema.for_model(),
                    ..definition.clone()
                },
                definition: definition.clone(),
                schema,
                plugin: Arc::clone(&plugin),
            };
            self.tools.insert(definition.name.clone(), Arc::new(tool));
        }
        Ok(())
    }
}

impl Plugin {
    /// The digest of the component.
    pub(super) fn digest(&self) -> &Digest {
        self.component.digest()
    }

    /// Whether [`Plugin::verify`] returns at once.
    pub(super) fn is_ready(&self) -> bool {
        self.verified.initialized() && self.component.is_ready()
    }

    /// Waits for the compilation; a built-in also describes itself once and is compared with what
    /// the model was told.
    pub(super) async fn verify(&self) -> Result<(), ToolboxError> {
        let load_error = |reason| ToolboxError::Load {
            origin: self.source.clone(),
            reason,
        };
        self.component.ready().await.map_err(load_error)?;
        self.verified
            .get_or_try_init(|| async {
                let described = self.component.describe().await.map_err(load_error)?;
                match difference(&self.definitions, &described) {
                    None => Ok(()),
                    Some(reason) => Err(ToolboxError::Mismatch {
                        origin: self.source.clone(),
                        reason,
                    }),
                }
            })
            .await
            .copied()
    }
}

/// What is not the same in two lists of definitions, whatever their order.
fn difference(expected: &[ToolDefinition], described: &[ToolDefinition]) -> Option<String> {
    if expected.len() != described.len() {
        return Some(format!(
            "{} tools, expected {}",
            described.len(),
            expected.len()
        ));
    }
    expected
        .iter()
        .find(|tool| !described.contains(tool))
        .map(|tool| format!("tool `{}` is not as expected", tool.name))
}

fn load_builtin(sandbox: &Sandbox, builtin: &Builtin) -> Result<Plugin, ToolboxError> {
    let source = Source::BuiltIn(builtin.name);
    let definitions =
        serde_json::from_str(builtin.definitions).map_err(|error| ToolboxError::Mismatch {
            origin: source.clone(),
            reason: format!("its definitions cannot be read: {error}"),
        })?;
    let component = sandbox
        .load(Cow::Borrowed(builtin.wasm))
        .map_err(|reason| ToolboxError::Load {
            origin: source.clone(),
            reason,
        })?;
    Ok(Plugin {
        source,
        component,
        verified: OnceCell::new(),
        definitions,
    })
}

async fn load_plugin(sandbox: &Sandbox, path: &Path) -> Result<Plugin, ToolboxError> {
    let source = Source::Plugin(path.to_owned());
    let load_error = |reason| ToolboxError::Load {
        origin: source.clone(),
        reason,
    };
    let component = sandbox
        .load(Cow::Owned(read(path, &source).await?))
        .map_err(load_error)?;
    let definitions = component.describe().await.map_err(load_error)?;
    Ok(Plugin {
        component,
        verified: OnceCell::new_with(Some(())),
        definitions,
        source,
    })
}

/// The bytes of a regular file of bounded size: a FIFO would block and a device never end.
async fn read(path: &Path, source: &Source) -> Result<Vec<u8>, ToolboxError> {
    let unreadable = |reason| ToolboxError::Unreadable {
        origin: source.clone(),
        reason,
    };
    let metadata = tokio::fs::metadata(path).await.map_err(unreadable)?;
    if !metadata.is_file() {
        return Err(unreadable(io::Error::other("it is not a regular file")));
    }
    if metadata.len() > MAX_COMPONENT_BYTES {
        return Err(ToolboxError::TooLarge {
            origin: source.clone(),
            bytes: metadata.len(),
        });
    }
    tokio::fs::read(path).await.map_err(unreadable)
}
