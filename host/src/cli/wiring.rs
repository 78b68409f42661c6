//! From the settings to the parts.
//!
//! Owns how each part is built from [`Config`], so that commands differ in what they do and not
//! in what they do it with.

use super::exit::CommandError;
use crate::config::{
    self, Config, ConfigError, Environment, Origin, ProviderConfig, Shell, Sourced, platform,
};
use crate::engine::RunConfig;
use crate::policy::{Mode, PathRules, Policy, ProcessRules};
use crate::process::{PrivateDirectory, ProcessLimits, ProcessSettings, Processes, ProcessesError};
use crate::prompt::{Briefing, Instructions, SkillIndex, Surroundings};
use crate::protocol::{Capability, Event, NoticeLevel};
use crate::render::{JsonRenderer, Palette, Renderer, TextOptions, TextRenderer};
use crate::sandbox::{Sandbox, SandboxSettings, SessionState};
use crate::tools::{BUILTINS, Toolbox, ToolboxError};
use crate::undo::{Recorder, UndoError, UndoStore};
use crate::workspace::{Access, Workspace};
use std::io;
use std::ops::Deref;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use tempfile::TempDir;

/// Who starts native programs; `None` where nothing may be started.
///
/// # Errors
/// When the private directory of the programs cannot be made.
pub(super) fn processes(config: &Config) -> Result<Option<Processes>, ProcessesError> {
    processes_in(config, None)
}

fn processes_in(
    config: &Config,
    private: Option<Arc<PrivateDirectory>>,
) -> Result<Option<Processes>, ProcessesError> {
    let Some(settings) = process_settings(config) else {
        return Ok(None);
    };
    Processes::new(ProcessSettings {
        private,
        ..settings
    })
    .map(Some)
}

fn process_settings(config: &Config) -> Option<ProcessSettings> {
    if !config.allowed.contains(Capability::Process) {
        return None;
    }
    let process = &config.process;
    let launcher = match config::executable() {
        Ok(launcher) => launcher,
        Err(error) => {
            tracing::warn!(%error, "no native programs: this program does not know its own file");
            return None;
        }
    };
    Some(ProcessSettings {
        launcher,
        workspace: config.workspace.clone(),
        programs: process
            .programs
            .iter()
            .chain(&process.read_only_programs)
            .cloned()
            .chain(native_shell(config))
            .collect(),
        search_path: process.search_path.clone(),
        read_paths: process.read_paths.clone(),
        cargo_home: process.cargo_home.clone(),
        environment: process.environment.clone(),
        limits: ProcessLimits {
            processes: process.max_processes,
            file_bytes: process.file_bytes,
            address_space_bytes: process.address_space_bytes,
            open_files: process.open_files,
        },
        layers: None,
        private: None,
        shell: native_shell(config),
        without_sandbox: process.without_sandbox,
    })
}

/// The program that runs command lines, where it is not the tool itself. It is a program like the
/// others, and not one for plan mode unless the user lists it there.
fn native_shell(config: &Config) -> Option<String> {
    match config.process.shell {
        Shell::Component => None,
        Shell::Native => Some("bash".to_owned()),
    }
}

/// The sandbox of the process.
pub(super) fn sandbox(config: &Config) -> Result<OpenSandbox, CommandError> {
    sandbox_with(config, SandboxSettings::default().state)
}

/// The sandbox of a process whose tools keep their notes in `state`.
pub(super) fn sandbox_with(
    config: &Config,
    state: Arc<dyn SessionState>,
) -> Result<OpenSandbox, CommandError> {
    let defaults = SandboxSettings::default();
    let private = Arc::new(PrivateDirectory::new().map_err(ProcessesError::Private)?);
    let processes = processes_in(config, Some(Arc::clone(&private)))?;
    let sandbox = Sandbox::new(SandboxSettings {
        temporary: Some(private.temporary()),
        state,
        processes: processes.clone(),
        cache: config.directories.cache.clone(),
        max_memory_bytes: defaults.max_memory_bytes.max(config.limits.memory_bytes),
        ..defaults
    })?;
    Ok(OpenSandbox {
        sandbox,
        processes,
        _private: private,
    })
}

/// The sandbox for as long as a command works. A compilation that nobody waits for may hold the
/// sandbox itself until the program is gone, and then nothing would clean up.
pub(super) struct OpenSandbox {
    sandbox: Sandbox,
    processes: Option<Processes>,
    /// Goes with this value.
    _private: Arc<PrivateDirectory>,
}

impl Deref for OpenSandbox {
    type Target = Sandbox;

    fn deref(&self) -> &Sandbox {
        &self.sandbox
    }
}

impl Drop for OpenSandbox {
    fn drop(&mut self) {
        if let Some(processes) = &self.processes {
            processes.close();
        }
    }
}

/// The built-in tools and the plugins.
pub(super) async fn toolbox(sandbox: &Sandbox, config: &Config) -> Result<Toolbox, ToolboxError> {
    Toolbox::load(sandbox, BUILTINS, &config.plugins).await
}

/// What the tools may touch, but for skills: those come with a [`Briefed`].
///
/// # Errors
/// When a glob of the settings cannot be read.
pub(super) fn policy(config: &Config) -> Result<Policy, ConfigError> {
    Ok(Policy {
        mode: if config.plan { Mode::Plan } else { Mode::Act },
        allowed: config.allowed,
        workspace: config.workspace.clone(),
        skills: None,
        paths: path_rules(config)?,
        processes: ProcessRules {
            programs: config
                .process
                .programs
                .iter()
                .cloned()
                .chain(native_shell(config))
                .collect(),
            read_only_programs: config.process.read_only_programs.clone(),
            network: config.process.network,
        },
        limits: config.limits,
    })
}

/// `config` does not know what a glob is, and `policy` not where one comes from.
fn path_rules(config: &Config) -> Result<PathRules, ConfigError> {
    for (key, globs) in [("masked", &config.masked), ("protected", &config.protected)] {
        for glob in globs {
            PathRules::new(std::slice::from_ref(&glob.value), &[]).map_err(|error| {
                ConfigError::Value {
                    origin: glob.origin.clone(),
                    key: key.to_owned(),
                    problem: format!("has a wrong entry: {error}"),
                }
            })?;
        }
    }
    let texts = |globs: &[Sourced<String>]| -> Vec<String> {
        globs.iter().map(|glob| glob.value.clone()).collect()
    };
    let (masked, protected) = (texts(&config.masked), texts(&config.protected));
    PathRules::new(&masked, &protected).map_err(|error| ConfigError::Value {
        origin: Origin::Default,
        key: "masked".to_owned(),
        problem: format!("and `protected` are too much together: {error}"),
    })
}

/// What the model is told, and the copy of the skills that its tools see, which goes with it.
pub(super) struct Briefed {
    pub(super) briefing: Briefing,
    skills: Option<TempDir>,
}

/// Gathers what a run begins with. Blocks on files.
///
/// # Errors
/// When a glob of the settings cannot be read, or the machine has no room for the skills.
pub(super) fn briefing(config: &Config) -> Result<Briefed, CommandError> {
    let workspace = if config.trust.is_given() {
        let rules = policy(config)?.paths;
        let opened = Workspace::open(&config.workspace, Access::ReadOnly, rules);
        Some(opened.map_err(|why| CommandError::Machine {
            doing: "open the workspace",
            why,
        })?)
    } else {
        None
    };
    // A run that ignores settings is the same for everybody.
    let user = config.directories.config.as_deref();
    let user = user.filter(|_| !config.ignores_settings);
    let instructions = Instructions::read(user, workspace.as_ref(), &config.place);
    let mut index = SkillIndex::default();
    if config.allowed.contains(Capability::Skills) {
        index = SkillIndex::read(&config.skills);
    }
    let skills = lay_out(&mut index, config).map_err(|why| CommandError::Machine {
        doing: "copy the skills for this run",
        why,
    })?;
    Ok(Briefed {
        briefing: Briefing {
            skills: index,
            instructions,
            surroundings: Surroundings {
                workspace: config.workspace.display().to_string(),
                platform: platform(),
                date: date(SystemTime::now()),
            },
        },
        skills,
    })
}

/// The copy lies in the cache directory, which no workspace contains.
fn lay_out(index: &mut SkillIndex, config: &Config) -> io::Result<Option<TempDir>> {
    if index.skills.is_empty() {
        return Ok(None);
    }
    let mut place = tempfile::Builder::new();
    place.prefix("skills-");
    let directory = match &config.directories.cache {
        Some(cache) => {
            config::private_directory(cache)?;
            place.tempdir_in(cache)?
        }
        None => place.tempdir()?,
    };
    index.lay_out(directory.path());
    Ok(Some(directory))
}

/// A skill that a prompt names and whose file is gone.
pub(super) fn unreadable_skill(why: io::Error) -> CommandError {
    CommandError::Machine {
        doing: "read the skill that the prompt names",
        why,
    }
}

/// Everything a run depends on.
///
/// # Errors
/// As [`policy`].
pub(super) fn run_config(
    config: &Config,
    model: &str,
    answers: Answers,
    briefed: &Briefed,
) -> Result<RunConfig, ConfigError> {
    let now = SystemTime::now();
    let policy = Policy {
        skills: briefed.skills.as_ref().map(|copy| copy.path().to_owned()),
        ..policy(config)?
    };
    Ok(RunConfig {
        policy,
        session_id: session_id(now),
        model: model.to_owned(),
        max_output_tokens: answers.max_output_tokens,
        stream: answers.stream,
        limits: config.run,
        reminders: config.reminders,
        think: config.think,
        max_parallel_calls: config.max_parallel_calls,
        briefing: briefed.briefing.clone(),
        recorder: Recorder::off(),
        transcript: None,
    })
}

/// Who keeps what the run changes, and what a person has to know where nobody does.
pub(super) fn recorder(
    config: &Config,
    run: &RunConfig,
    run_id: &str,
    title: &str,
) -> (Recorder, Option<Event>) {
    let off = |why: String| {
        let notice = Event::Notice {
            level: NoticeLevel::Warning,
            code: "undo_off".to_owned(),
            message: format!("`hotcell undo` will not know this run: {why}"),
        };
        (Recorder::off(), Some(notice))
    };
    let Some(data) = &config.directories.data else {
        return off(UndoError::NoStore.to_string());
    };
    let place = &config.workspace;
    match Workspace::open(place, Access::ReadOnly, run.policy.paths.clone()) {
        Ok(workspace) => {
            let store = UndoStore::new(data);
            let recorder = Recorder::new(store, run_id, place, workspace, title);
            (recorder, None)
        }
        Err(error) => off(error.to_string()),
    }
}

/// How the model is asked to answer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Answers {
    /// The most tokens of one answer.
    pub max_output_tokens: u32,
    /// Whether it is streamed.
    pub stream: bool,
}

impl From<&ProviderConfig> for Answers {
    fn from(config: &ProviderConfig) -> Self {
        Answers {
            max_output_tokens: config.max_output_tokens,
            stream: config.stream,
        }
    }
}

/// How events are shown.
#[derive(Debug, Clone, Copy)]
pub(super) struct Show {
    /// As JSON lines.
    pub json: bool,
    /// With turns, tokens and results.
    pub verbose: bool,
}

/// The renderer for the streams of this process.
pub(super) fn renderer(
    show: Show,
    config: &Config,
    environment: &Environment,
) -> Box<dyn Renderer> {
    if show.json {
        return Box::new(JsonRenderer::new(io::stdout()));
    }
    let options = TextOptions {
        stream: environment.terminals().stdout,
        verbose: show.verbose,
        palette: Palette::from(config.colors.stderr),
    };
    Box::new(TextRenderer::new(io::stdout(), io::stderr(), options))
}

/// What the settings have to say, before a run begins.
pub(super) fn notices(config: &Config) -> impl Iterator<Item = Event> {
    let settings = config.notices.iter().map(|message| Event::Notice {
        level: NoticeLevel::Warning,
        code: "settings".to_owned(),
        message: message.clone(),
    });
    let unsafe_processes = config.process.without_sandbox.then(|| Event::Notice {
        level: NoticeLevel::Warning,
        code: "unsafe_no_process_sandbox".to_owned(),
        message: "native programs run without any sandbox, because of --unsafe-no-process-sandbox: they can read and change whatever you can".to_owned(),
    });
    let untrusted = (!config.trust.left_out.is_empty()).then(|| Event::Notice {
        level: NoticeLevel::Info,
        code: "workspace_not_trusted".to_owned(),
        message: format!(
            "{} of this workspace {} not read, because you did not say that you trust it; if you do: hotcell trust",
            list(&config.trust.left_out),
            if config.trust.left_out.len() == 1 { "is" } else { "are" },
        ),
    });
    settings.chain(unsafe_processes).chain(untrusted)
}

/// `a`, `a and b`, `a, b and c`.
pub(super) fn list(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [some @ .., last] => format!("{} and {last}", some.join(", ")),
    }
}

/// The day in UTC, as `2026-03-14`.
fn date(now: SystemTime) -> String {
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    // `Sat, 14 Mar 2026 12:34:56 GMT`
    let http = httpdate::fmt_http_date(now);
    let words: Vec<&str> = http.split(' ').collect();
    let [_, day, month, year, ..] = words.as_slice() else {
        return http;
    };
    let month = MONTHS.iter().position(|name| name == month).unwrap_or(0) + 1;
    format!("{year}-{month:02}-{day}")
}

/// The id of something that begins now.
pub(super) fn new_id() -> String {
    session_id(SystemTime::now())
}

/// Unique on this machine: the moment and the process.
fn session_id(now: SystemTime) -> String {
    let moment = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("{:x}-{:x}", moment.as_nanos(), std::process::id())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::PathClass;
    use crate::{config, provider};
    use std::time::Duration;

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (seconds, shown) in [
            (0, "1970-01-01"),
            (951_782_400, "2000-02-29"),
            (1_798_675_199, "2026-12-30"),
        ] {
            assert_eq!(date(UNIX_EPOCH + Duration::from_secs(seconds)), shown);
        }
    }

    #[test]
    fn a_wrong_glob_is_told_with_where_it_was_set() {
        let workspace = tempfile::tempdir().expect("a workspace");
        let policy_of = |masked: &str| {
            let environment = Environment::from_map([("HOTCELL_MASKED", masked)], workspace.path());
            let config = Config::resolve(&config::Flags::default(), &environment);
            policy(&config.expect("settings"))
        };
        let policy = policy_of("*.secret:/deploy").expect("good globs");
        let class = |path: &str| policy.paths.class(std::path::Path::new(path));
        assert_eq!(class("a/x.secret"), PathClass::Masked);
        assert_eq!(class("a/deploy"), PathClass::Open);
        let error = policy_of("*.secret:!.env").expect_err("a wrong glob");
        assert_eq!(
            error.to_string(),
            "HOTCELL_MASKED: `masked` has a wrong entry: `!.env` begins with `!`, but globs only add: nothing opens again what is closed"
        );
    }

    /// `config` has to know the key of a provider before `provider` exists for it.
    #[test]
    fn the_settings_know_the_providers_that_there_are() {
        let mut known: Vec<_> = config::known_providers().collect();
        let mut there: Vec<_> = provider::PROVIDERS
            .iter()
            .map(|entry| (entry.name, entry.key_variable))
            .collect();
        known.sort_unstable();
        there.sort_unstable();
        assert_eq!(known, there);
    }
}
