//! From a plan to a running process, and from there to its end.
//!
//! Owns the launcher as a child of the host: its socket, the streams it passes on, and the task
//! that follows it. The end is told when the launcher has ended, because it ends after everything
//! in its sandbox. It must never lose a process: whatever goes wrong ends it.

use super::child::{Child, Ended, Exit};
use super::layers::Layers;
use super::place::WORKSPACE_MOUNT;
use super::plan::{Plan, ProcessLimits, Report, View};
use super::settings;
use super::spawn::{Shared, SpawnError, lacking};
use super::tree::{Exceptions, undo_forbidden};
use super::view::Scene;
use super::witness::{NotSeen, Watched};
use super::{LAUNCH, plan, wire};
use crate::policy::PathRules;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as BlockingStream;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio_util::sync::CancellationToken;

/// How long a launcher may take to end what it was told to end. The kernel does it at once; after
/// this the launcher itself is ended, and everything else with it.
const PATIENCE: Duration = Duration::from_secs(10);

/// What happens after a process, and what is held for as long as it runs.
pub(super) struct Aftermath {
    _permit: OwnedSemaphorePermit,
    /// Keeps the private directory.
    _shared: Arc<Shared>,
    checked: Option<Checked>,
    watched: Option<Watched>,
}

/// What has to be looked at again.
struct Checked {
    workspace: PathBuf,
    rules: PathRules,
    /// `None` where nothing was forbidden, because there was no sandbox.
    before: Option<Exceptions>,
}

impl Aftermath {
    pub(super) fn new(permit: OwnedSemaphorePermit, shared: Arc<Shared>) -> Self {
        Aftermath {
            _permit: permit,
            _shared: shared,
            checked: None,
            watched: None,
        }
    }

    /// Looks afterwards for what the process made although it is protected, and tells who watches
    /// what is there then. Without `before` nothing was protected.
    pub(super) fn check(
        &mut self,
        workspace: PathBuf,
        rules: PathRules,
        before: Option<Exceptions>,
        watched: Option<Watched>,
    ) {
        self.watched = watched;
        self.checked = Some(Checked {
            workspace,
            rules,
            before,
        });
    }

    async fn notes(&mut self) -> Vec<String> {
        let Some(checked) = self.checked.take() else {
            return Vec::new();
        };
        let watched = self.watched.take();
        tokio::task::spawn_blocking(move || checked.look(watched))
            .await
            .unwrap_or_else(|error| {
                vec![format!(
                    "it could not be checked whether the process made protected paths: {error}"
                )]
            })
    }
}

impl Checked {
    fn look(&self, watched: Option<Watched>) -> Vec<String> {
        let witness = watched.as_ref().and_then(Watched::witness);
        let witness = witness.as_deref();
        let (notes, look) = match &self.before {
            Some(before) => undo_forbidden(&self.workspace, &self.rules, before, witness),
            None => match Exceptions::find(&self.workspace, &self.rules, witness) {
                Ok((_, look)) => (Vec::new(), look),
                Err(error) => (Vec::new(), Err(NotSeen::Unreadable(error.to_string()))),
            },
        };
        if let Some(watched) = watched {
            watched.end(look);
        }
        notes
    }
}

/// Starts the launcher with a plan, and answers when the program runs.
pub(super) async fn start(
    launcher: &Path,
    plan: &Plan,
    aftermath: Aftermath,
) -> Result<Child, SpawnError> {
    let mut launched = Launched::start(launcher, plan)
        .await
        .map_err(|error| SpawnError::Failed(format!("cannot start the launcher: {error}")))?;
    match launched.report().await {
        Some(Report::Started) => {}
        Some(Report::Lacking { layer, why }) => return Err(lacking(layer, &why)),
        Some(Report::NotStarted { why }) => return Err(SpawnError::Failed(why)),
        Some(Report::Ended(_) | Report::TooMany(_)) | None => {
            return Err(SpawnError::Failed(
                "the launcher ended before the program began".to_owned(),
            ));
        }
    }
    let (stdin, stdout, stderr) = launched.streams.take().unwrap_or_default();
    let (tell, ended) = watch::channel(None);
    let stop = CancellationToken::new();
    tokio::spawn(follow(launched, stop.clone(), aftermath, tell));
    Ok(Child {
        stdin: stdin.map(|end| Box::new(end) as _),
        stdout: stdout.map(|end| Box::new(end) as _),
        stderr: stderr.map(|end| Box::new(end) as _),
        ended,
        stop: stop.drop_guard(),
    })
}

impl Layers {
    /// Builds every layer once, with nothing in it, and says how far that came.
    pub async fn probe(launcher: &Path) -> Layers {
        let Ok(empty) = tempfile::tempdir() else {
            return Layers::lacking(
                super::Layer::PrivateRoot,
                "no temporary directory can be made",
            );
        };
        let plan = Plan {
            limits: ProcessLimits::default(),
            view: Some(probe_view(empty.path())),
            program: None,
        };
        let mut launched = match Launched::start(launcher, &plan).await {
            Ok(launched) => launched,
            Err(error) => {
                return Layers::lacking(
                    super::Layer::UserNamespace,
                    format!("the launcher {} cannot start: {error}", launcher.display()),
                );
            }
        };
        let report = launched.report().await;
        launched.end().await;
        match report {
            Some(Report::Started) => Layers::complete(),
            Some(Report::Lacking { layer, why }) => Layers::lacking(layer, why),
            _ => Layers::lacking(
                super::Layer::UserNamespace,
                "the launcher ended without a word",
            ),
        }
    }
}

fn probe_view(empty: &Path) -> View {
    let workspace = plan::Workspace::new(empty, WORKSPACE_MOUNT, true, Vec::new());
    Scene::look(&settings::ProcessSettings::default().read_paths).view(
        workspace,
        None,
        empty.to_owned(),
        false,
    )
}

type Ends = (
    Option<pipe::Sender>,
    Option<pipe::Receiver>,
    Option<pipe::Receiver>,
);

/// A launcher at work.
struct Launched {
    child: tokio::process::Child,
    reports: BufReader<UnixStream>,
    streams: Option<Ends>,
}

impl Launched {
    async fn start(launcher: &Path, plan: &Plan) -> io::Result<Self> {
        let plan = serde_json::to_vec(plan)?;
        let (ours, theirs) = BlockingStream::pair()?;
        let (stdin, stdin_inside) = pipe::pipe()?;
        let (stdout_inside, stdout) = pipe::pipe()?;
        let (stderr_inside, stderr) = pipe::pipe()?;
        let child = tokio::process::Command::new(launcher)
            .arg(LAUNCH)
            .env_clear()
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()?;
        let inside = [
            stdin_inside.into_blocking_fd()?,
            stdout_inside.into_blocking_fd()?,
            stderr_inside.into_blocking_fd()?,
        ];
        wire::send_streams(&ours, &inside, plan.len())?;
        drop(inside);
        ours.set_nonblocking(true)?;
        let mut socket = UnixStream::from_std(ours)?;
        socket.write_all(&plan).await?;
        Ok(Launched {
            child,
            reports: BufReader::new(socket),
            streams: Some((Some(stdin), Some(stdout), Some(stderr))),
        })
    }

    /// The next report; `None` when there will be none.
    async fn report(&mut self) -> Option<Report> {
        let mut line = Vec::new();
        let most = wire::MOST_REPORT_BYTES as u64 + 1;
        let mut limited = (&mut self.reports).take(most);
        limited.read_until(b'\n', &mut line).await.ok()?;
        serde_json::from_slice(&line).ok()
    }

    /// Has the launcher end everything, and waits for that.
    async fn end(&mut self) {
        // It looks at nothing but the end of this direction.
        let _ = self.reports.get_mut().shutdown().await;
        if tokio::time::timeout(PATIENCE, self.child.wait())
            .await
            .is_err()
        {
            let _ = self.child.kill().await;
        }
    }
}

/// Follows a process to its end, and tells it.
async fn follow(
    mut launched: Launched,
    stop: CancellationToken,
    mut aftermath: Aftermath,
    tell: watch::Sender<Option<Ended>>,
) {
    let mut exit = None;
    let mut notes = Vec::new();
    loop {
        let report = tokio::select! {
            report = launched.report() => report,
            () = stop.cancelled() => None,
        };
        match report {
            Some(Report::Ended(how)) => exit = Some(how),
            Some(Report::TooMany(most)) => notes.push(format!(
                "the process was ended, because it and what it started were more than {most} processes"
            )),
            Some(_) => {}
            None => break,
        }
    }
    launched.end().await;
    notes.extend(aftermath.notes().await);
    // Nobody may want to know any more.
    let _ = tell.send(Some(Ended {
        exit: exit.unwrap_or(Exit::Signal(9)),
        notes,
    }));
}
