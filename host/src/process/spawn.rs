//! From a command and a grant to a running process.
//!
//! Owns the checks before anything starts: the grant, the program, the working directory, the
//! environment, the layers. Then the launcher gets a plan, and a task follows the process to its
//! end. It must never start anything by itself but the launcher.

use super::child::Child;
use super::environment::{self, EnvironmentError};
use super::layers::{Layer, Layers};
use super::place::{Place, place};
use super::private::PrivateDirectory;
use super::programs::{Programs, Unavailable};
use super::settings::ProcessSettings;
use super::witness::Witness;
use crate::policy::Grant;
use crate::protocol::Capability;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{OnceCell, Semaphore};

#[cfg(target_os = "linux")]
use super::{
    plan::{Plan, Start, Workspace},
    tree::Exceptions,
    view::Scene,
    witness::{NotSeen, Watched},
};

/// Most processes that calls have started at once; those that these start are not counted here.
const MOST_RUNNING: usize = 64;

/// Most bytes of arguments. The kernel takes about 2 MiB, the environment included.
const MOST_ARGUMENT_BYTES: usize = 1 << 20;

/// Most bytes of one argument, as Linux takes it.
const MOST_BYTES_OF_ONE: usize = 128 << 10;

/// A program and how to start it. No shell is in between.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Command {
    /// A name among the programs of the grant.
    pub program: String,
    /// What follows the name.
    pub arguments: Vec<String>,
    /// Variables beside those that every process gets.
    pub environment: Vec<(String, String)>,
    /// At or below [`WORKSPACE_MOUNT`](super::WORKSPACE_MOUNT) or [`TEMPORARY_MOUNT`](super::TEMPORARY_MOUNT); empty for the first.
    pub directory: String,
}

/// Why a process was not started.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SpawnError {
    /// A rule stands in the way; names it.
    #[error("{0}")]
    Denied(String),
    /// The program is allowed and is not on this machine.
    #[error(
        "`{0}` is not installed, or not where the user's search path leads outside of the workspace"
    )]
    NotFound(String),
    /// The system could not start it.
    #[error("{0}")]
    Failed(String),
}

/// Native processes cannot be offered on this machine.
#[derive(Debug, thiserror::Error)]
pub enum ProcessesError {
    /// There is no directory for `/tmp`.
    #[error(
        "cannot make the private directory of native processes: {0}; set TMPDIR to a directory with room"
    )]
    Private(#[source] std::io::Error),
}

/// Starts native processes. Cheap to clone; the private directory goes with the last clone, or
/// when one is [closed](Processes::close).
#[derive(Clone)]
pub struct Processes {
    shared: Arc<Shared>,
}

pub(super) struct Shared {
    pub settings: ProcessSettings,
    pub programs: Programs,
    pub temporary: PathBuf,
    pub home: PathBuf,
    /// The private directory goes with it.
    keeper: Mutex<Option<Arc<PrivateDirectory>>>,
    pub layers: OnceCell<Layers>,
    pub running: Arc<Semaphore>,
    #[cfg(target_os = "linux")]
    pub scene: Scene,
}

impl Processes {
    /// Finds the programs and makes the private directory. Nothing is started.
    ///
    /// # Errors
    /// When the private directory cannot be made.
    pub fn new(mut settings: ProcessSettings) -> Result<Self, ProcessesError> {
        let programs = Programs::find(
            &settings.programs,
            &settings.search_path,
            &settings.workspace,
        );
        // Held by nothing else here, so that it can be let go of.
        let private = match settings.private.take() {
            Some(private) => private,
            None => Arc::new(PrivateDirectory::new().map_err(ProcessesError::Private)?),
        };
        furnish(&private.home(), settings.cargo_home.as_deref())
            .map_err(ProcessesError::Private)?;
        #[cfg(target_os = "linux")]
        let scene = {
            let sources = settings
                .cargo_home
                .iter()
                .flat_map(|home| CARGO_SOURCES.iter().map(|directory| home.join(directory)));
            let read: Vec<PathBuf> = settings.read_paths.iter().cloned().chain(sources).collect();
            Scene::look(&read)
        };
        Ok(Processes {
            shared: Arc::new(Shared {
                layers: OnceCell::new_with(settings.layers.clone()),
                programs,
                temporary: private.temporary(),
                home: private.home(),
                keeper: Mutex::new(Some(private)),
                running: Arc::new(Semaphore::new(MOST_RUNNING)),
                #[cfg(target_os = "linux")]
                scene,
                settings,
            }),
        })
    }

    /// The directory that processes see as `/tmp`.
    pub fn temporary_directory(&self) -> &Path {
        &self.shared.temporary
    }

    /// Lets go of the private directory, which goes with the last that holds it. For the end of the program, when clones may be in the hands
    /// of tasks that nobody waits for; nothing is started after it.
    pub fn close(&self) {
        let mut keeper = self
            .shared
            .keeper
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        drop(keeper.take());
    }

    /// The programs that were found, by name.
    pub fn programs(&self) -> impl Iterator<Item = &str> {
        self.shared.programs.names()
    }

    /// The programs that a call with this grant can start, by name.
    pub fn available(&self, grant: &Grant) -> Vec<String> {
        let Some(processes) = grant.processes() else {
            return Vec::new();
        };
        self.shared
            .programs
            .names()
            .filter(|name| processes.programs.iter().any(|allowed| allowed == name))
            .map(str::to_owned)
            .collect()
    }

    /// The program by which a call with this grant should have command lines run, where the user
    /// wants one and the grant has it. Whether it is installed, starting it tells.
    pub fn shell(&self, grant: &Grant) -> Option<String> {
        let shell = self.shared.settings.shell.as_ref()?;
        let programs = &grant.processes()?.programs;
        programs.contains(shell).then(|| shell.clone())
    }

    /// What this machine gives, found out once.
    pub async fn layers(&self) -> &Layers {
        self.shared
            .layers
            .get_or_init(|| Layers::probe(&self.shared.settings.launcher))
            .await
    }

    /// Starts a program in a sandbox that allows no more than `grant`.
    ///
    /// # Errors
    /// As [`SpawnError`] says. Nothing runs then.
    pub async fn spawn(&self, command: Command, grant: &Grant) -> Result<Child, SpawnError> {
        self.spawn_watched(command, grant, None).await
    }

    /// As [`Processes::spawn`], and tells `witness` what the workspace looks like before and
    /// after, where the grant lets the process change it.
    ///
    /// # Errors
    /// As [`SpawnError`] says, and when the witness does not let it start.
    pub async fn spawn_watched(
        &self,
        command: Command,
        grant: &Grant,
        witness: Option<Arc<dyn Witness>>,
    ) -> Result<Child, SpawnError> {
        let Some(allowed) = grant.processes() else {
            return Err(SpawnError::Denied(format!(
                "the `{}` capability was not granted to this call",
                Capability::Process
            )));
        };
        let Some((workspace, _)) = grant.workspace() else {
            return Err(SpawnError::Denied(format!(
                "a process works in the workspace, and the `{}` capability was not granted to this call",
                Capability::WorkspaceRead
            )));
        };
        let pinned = self
            .shared
            .programs
            .get(&command.program, &allowed.programs)?
            .ok_or_else(|| SpawnError::NotFound(command.program.clone()))?;
        check_arguments(&command)?;
        let directory = place(&command.directory)?;
        let environment = environment::build(
            self.shared.programs.search_path(),
            &self.shared.settings.environment,
            &command.environment,
        )?;
        if !self.shared.settings.without_sandbox
            && let Some((layer, why)) = self.layers().await.first_lacking()
        {
            return Err(lacking(layer, why));
        }
        #[cfg(target_os = "linux")]
        {
            let prepared = Prepared {
                start: Start {
                    program: pinned.real.clone(),
                    name: pinned.found.display().to_string(),
                    arguments: command.arguments,
                    environment,
                    directory: directory.inside(),
                },
                directory,
                workspace: workspace.to_owned(),
                writable: allowed.writable,
                network: allowed.network,
                rules: grant.paths().clone(),
                witness: witness.filter(|_| allowed.writable),
            };
            prepared.start(&self.shared).await
        }
        #[cfg(not(target_os = "linux"))]
        {
            let _ = (pinned, directory, environment, workspace, witness);
            Err(SpawnError::Denied(ONLY_LINUX.to_owned()))
        }
    }
}

/// Of a cargo home, what holds downloaded sources and no token.
const CARGO_SOURCES: [&str; 2] = ["registry", "git"];

/// Makes what programs look for in a home directory.
fn furnish(home: &Path, cargo_home: Option<&Path>) -> std::io::Result<()> {
    let cargo = home.join(".cargo");
    std::fs::create_dir_all(&cargo)?;
    #[cfg(unix)]
    if let Some(real) = cargo_home.and_then(|home| home.canonicalize().ok()) {
        for directory in CARGO_SOURCES {
            let source = real.join(directory);
            if source.is_dir() {
                std::os::unix::fs::symlink(source, cargo.join(directory))?;
            }
        }
    }
    #[cfg(not(unix))]
    let _ = cargo_home;
    Ok(())
}

/// The refusal where a layer lacks.
pub(super) fn lacking(layer: Layer, why: &str) -> SpawnError {
    SpawnError::Denied(format!(
        "native processes need the layer `{layer}` of the sandbox, which this machine does not give: {why}; \
         `hotcell doctor` lists the layers, and --unsafe-no-process-sandbox runs processes without any"
    ))
}

fn check_arguments(command: &Command) -> Result<(), SpawnError> {
    let bytes: usize = command.arguments.iter().map(|text| text.len() + 1).sum();
    if bytes > MOST_ARGUMENT_BYTES
        || command
            .arguments
            .iter()
            .any(|text| text.len() >= MOST_BYTES_OF_ONE)
    {
        return Err(SpawnError::Failed(format!(
            "the arguments are too long: at most {MOST_ARGUMENT_BYTES} bytes together and {MOST_BYTES_OF_ONE} each; use standard input or xargs"
        )));
    }
    if command.arguments.iter().any(|text| text.contains('\0')) {
        return Err(SpawnError::Failed("an argument holds a NUL".to_owned()));
    }
    Ok(())
}

impl From<Unavailable> for SpawnError {
    fn from(error: Unavailable) -> Self {
        SpawnError::Denied(error.to_string())
    }
}

impl From<EnvironmentError> for SpawnError {
    fn from(error: EnvironmentError) -> Self {
        SpawnError::Denied(error.to_string())
    }
}

/// What is said on machines where nobody has built the sandbox yet.
#[cfg(not(target_os = "linux"))]
const ONLY_LINUX: &str = "native processes run in a sandbox that is built from parts of Linux; this machine has another system";

#[cfg(not(target_os = "linux"))]
impl Layers {
    /// No layer is known here.
    pub async fn probe(_launcher: &Path) -> Layers {
        Layers::lacking(Layer::UserNamespace, ONLY_LINUX)
    }
}

/// Everything that was checked.
#[cfg(target_os = "linux")]
struct Prepared {
    start: Start,
    directory: Place,
    workspace: PathBuf,
    writable: bool,
    network: bool,
    rules: crate::policy::PathRules,
    /// Who is told of changes; nobody where there can be none.
    witness: Option<Arc<dyn Witness>>,
}

/// What a look before the start came to.
#[cfg(target_os = "linux")]
type Looked = (Exceptions, Option<Watched>);

#[cfg(target_os = "linux")]
impl Prepared {
    async fn start(mut self, shared: &Arc<Shared>) -> Result<Child, SpawnError> {
        use super::follow::Aftermath;
        let permit = Arc::clone(&shared.running)
            .try_acquire_owned()
            .map_err(|_| {
                SpawnError::Failed(format!(
                    "{MOST_RUNNING} processes run already, the most at once; wait for one to end"
                ))
            })?;
        let mut aftermath = Aftermath::new(permit, Arc::clone(shared));
        let view = if shared.settings.without_sandbox {
            // Without an own root there is no mount of the workspace.
            self.start.directory = self.directory.outside(&self.workspace, &shared.temporary);
            if self.witness.is_some() {
                let (_, watched) = self.look(false).await?;
                aftermath.check(self.workspace, self.rules, None, watched);
            }
            None
        } else {
            if !shared.scene.can_read(&self.start.program) {
                return Err(SpawnError::Denied(format!(
                    "`{}` is outside of what processes can read; the user can add its directory to `process.read_paths` in their hotcell.toml",
                    self.start.program.display()
                )));
            }
            let (exceptions, watched) = self.look(true).await?;
            let workspace = Workspace::new(
                &self.workspace,
                super::WORKSPACE_MOUNT,
                self.writable,
                exceptions.found.clone(),
            );
            if self.writable {
                aftermath.check(self.workspace, self.rules, Some(exceptions), watched);
            }
            // What a process leaves there stays, which is more than looking.
            let temporary = self.writable.then(|| shared.temporary.clone());
            let home = shared.home.clone();
            Some(shared.scene.view(workspace, temporary, home, self.network))
        };
        let plan = Plan {
            limits: shared.settings.limits,
            view,
            program: Some(self.start),
        };
        super::follow::start(&shared.settings.launcher, &plan, aftermath).await
    }

    /// Looks at the workspace, and tells the witness. Where the process is guarded, what cannot be
    /// looked at keeps it from starting.
    async fn look(&self, is_guarded: bool) -> Result<Looked, SpawnError> {
        let (path, rules) = (self.workspace.clone(), self.rules.clone());
        let witness = self.witness.clone();
        let look = move || {
            let (exceptions, look) = match Exceptions::find(&path, &rules, witness.as_deref()) {
                Ok(looked) => looked,
                Err(error) if is_guarded => return Err(SpawnError::Denied(error.to_string())),
                Err(error) => (
                    Exceptions::default(),
                    Err(NotSeen::Unreadable(error.to_string())),
                ),
            };
            let watched = witness
                .map(|witness| Watched::begin(witness, look))
                .transpose()
                .map_err(|error| {
                    SpawnError::Failed(format!(
                        "nothing was started: what the program may change cannot be kept for `hotcell undo`: {error}"
                    ))
                })?;
            Ok((exceptions, watched))
        };
        tokio::task::spawn_blocking(look)
            .await
            .map_err(|error| SpawnError::Failed(error.to_string()))?
    }
}
