//! All sources together: one [`Config`], checked and complete.
//!
//! Reads as the order of the sources. Nothing after it looks at a file, a variable or a flag.

use super::layer::{Layer, Settings, Think};
use super::origin::Sourced;
use super::process::{ProcessConfig, ProcessKey};
use super::raw::{Base, Raw};
use super::setting::{ROWS, Row, Setting, VARIABLE_PREFIX};
use super::{
    Colors, ConfigError, Directories, Environment, Flags, Origin, ProviderConfig, directories,
    dotenv, error, file, provider, tighten,
};
use super::{Trust, TrustFile, WORKSPACE_SKILLS};
use crate::protocol::{Capabilities, Capability, Limits, Reminders, RunLimits};
use std::path::{Path, PathBuf};

/// Everything a command needs to know, resolved.
#[derive(Debug, Clone)]
pub struct Config {
    /// Whom to ask, or why nobody can be asked: only commands that ask a model need it.
    pub provider: Result<ProviderConfig, ConfigError>,
    /// Where the tools work, canonical, and apart from hotcell's own files.
    pub workspace: PathBuf,
    /// Where in the workspace the user stands, relative to it; its root where they stand outside.
    pub place: PathBuf,
    /// Whether what the workspace says is interpreted.
    pub trust: Trust,
    /// Where skills are installed: the user's first, then those of a trusted workspace.
    pub skills: Vec<PathBuf>,
    /// What tools do not see, beside the defaults.
    pub masked: Vec<Sourced<String>>,
    /// What tools do not change, beside the defaults.
    pub protected: Vec<Sourced<String>>,
    /// Whether only looking is allowed.
    pub plan: bool,
    /// Whether the model first thinks.
    pub think: Think,
    /// What bounds a run.
    pub run: RunLimits,
    /// What a run is reminded of.
    pub reminders: Reminders,
    /// The most tool calls at work at once; at least 1.
    pub max_parallel_calls: u32,
    /// The limits of each tool call.
    pub limits: Limits,
    /// What tools are given at most.
    pub allowed: Capabilities,
    /// Native processes.
    pub process: ProcessConfig,
    /// Whether the user's settings were left out, as for the demo.
    pub ignores_settings: bool,
    /// Components to load beside the built-in ones.
    pub plugins: Vec<PathBuf>,
    /// Whether and where sessions are kept.
    pub sessions: Sessions,
    /// hotcell's own directories.
    pub directories: Directories,
    /// Whether to colour.
    pub colors: Colors,
    /// The variables that may hold a key, and whether they do.
    pub keys: Vec<Key>,
    /// What the user may not expect, one line each.
    pub notices: Vec<String>,
    /// What somebody set, and where, for `doctor`. Never a key.
    pub reported: Vec<Reported>,
}

/// Whether and where sessions are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sessions {
    /// Whether runs are kept.
    pub enabled: bool,
    /// The file, an absolute path outside of the workspace; `None` where there is no place for it.
    pub db: Option<PathBuf>,
}

/// One setting that is not at its default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reported {
    /// The key in `hotcell.toml`.
    pub key: &'static str,
    /// Its value, for people.
    pub value: String,
    /// Where it comes from.
    pub origin: Origin,
}

/// Whether a key is there. Never the key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// The variable.
    pub variable: String,
    /// Where it is set; `None` where it is not.
    pub origin: Option<Origin>,
}

/// The capabilities that this version can give; `network` has no host side yet, and `process` only
/// on Linux.
pub fn offered() -> Capabilities {
    let writing = Capabilities::from_iter([Capability::WorkspaceWrite]);
    let process = Capabilities::from_iter([Capability::Process]);
    let offered = Capabilities::READ_ONLY.union(writing);
    if cfg!(target_os = "linux") {
        offered.union(process)
    } else {
        offered
    }
}

impl Config {
    /// Only where things are: the workspace and hotcell's own directories. For a command that must
    /// work when a settings file is wrong.
    ///
    /// # Errors
    /// When there is no such workspace, or it holds hotcell's own files.
    pub fn of_place(flags: &Flags, environment: &Environment) -> Result<Config, ConfigError> {
        let flags = Flags {
            ignore_settings: true,
            ..flags.clone()
        };
        Config::resolve(&flags, environment)
    }

    /// Resolves all sources.
    ///
    /// # Errors
    /// [`ConfigError`] with the file and line, the variable or the flag to correct.
    pub fn resolve(flags: &Flags, environment: &Environment) -> Result<Config, ConfigError> {
        let directories = Directories::of(environment);
        let (environment, env_file) = if flags.ignore_settings {
            (environment.clone().without_settings(), None)
        } else {
            with_env_file(flags, environment, &directories)?
        };
        let workspace = directories::workspace(flags.workspace.as_deref(), &environment)?;
        directories.check_apart(&workspace, env_file.as_deref(), None)?;

        let trust = if flags.ignore_settings {
            Trust::of_nobody()
        } else {
            trust(&workspace, &directories)?
        };

        let mut settings = Settings::default();
        let mut notices = Vec::new();
        if !flags.ignore_settings {
            let user_file = directories.settings_file();
            let home = environment.home();
            if let Some(file) = &user_file
                && let Some(layer) = file::layer(file, home)?
            {
                settings.apply(layer);
            }
            if trust.is_given()
                && let Some(layer) = file::layer(&workspace.join("hotcell.toml"), home)?
            {
                tighten::check(&settings, &layer, user_file.as_deref())?;
                settings.apply(layer);
            }
            settings.apply(from_variables(&environment)?);
            notices.extend(misspelt_variables(&environment));
        }
        settings.apply(from_flags(flags, &settings, &environment)?);

        let db = settings.sessions_db.as_ref().map(|db| &db.value);
        let db = db.map(|db| below_current(db, &environment));
        directories.check_apart(&workspace, None, db.as_deref())?;
        let sessions = Sessions {
            enabled: settings.sessions_enabled.value,
            db: db.or_else(|| directories.sessions_file()),
        };
        let script = flags
            .script
            .as_deref()
            .map(|file| below_current(file, &environment));
        let provider = provider::resolve(
            &settings,
            script.as_deref(),
            &environment,
            env_file.or_else(|| directories.env_file()).as_deref(),
            &mut notices,
        );
        let model = provider.as_ref().ok().map(|provider| &*provider.model);
        let run = settings.guards.limits(settings.max_turns.value, model)?;
        let reported = settings
            .shown_all()
            .map(|(key, value, origin)| Reported {
                key,
                value,
                origin: origin.clone(),
            })
            .collect();
        let keys = keys(&settings, &environment);
        let users_skills = match settings.skills {
            Some(asked) => Some(skills_directory(asked)?),
            None if flags.ignore_settings => None,
            None => directories
                .config
                .as_ref()
                .map(|config| config.join("skills"))
                .filter(|skills| skills.is_dir()),
        };
        let skills = users_skills
            .into_iter()
            .chain(workspace_skills(&workspace, &trust))
            .collect();
        Ok(Config {
            provider,
            place: place(&workspace, &environment),
            workspace,
            trust,
            skills,
            masked: settings.masked,
            protected: settings.protected,
            plan: settings.plan.value,
            think: settings.think.value,
            run,
            reminders: settings.guards.reminders(),
            max_parallel_calls: settings.max_parallel_calls.value,
            limits: settings.limits,
            allowed: settings.capabilities.value,
            process: settings.process.resolve(&environment, flags),
            ignores_settings: flags.ignore_settings,
            plugins: settings.plugins.value,
            sessions,
            directories,
            colors: Colors::resolve(settings.color.value, &environment),
            keys,
            notices,
            reported,
        })
    }
}

/// The environment with the `.env` file below it, and which file that was.
fn with_env_file(
    flags: &Flags,
    environment: &Environment,
    directories: &Directories,
) -> Result<(Environment, Option<PathBuf>), ConfigError> {
    let file = match &flags.env_file {
        // A file that was named has to be there.
        Some(named) => Some(below_current(named, environment)),
        None => directories.env_file().filter(|file| file.exists()),
    };
    let Some(file) = file else {
        return Ok((environment.clone(), None));
    };
    let pairs = dotenv::read(&file)?;
    Ok((environment.clone().with_file(&file, pairs), Some(file)))
}

fn below_current(path: &Path, environment: &Environment) -> PathBuf {
    environment
        .current_dir()
        .map_or_else(|| path.to_owned(), |current| current.join(path))
}

fn from_variables(environment: &Environment) -> Result<Layer, ConfigError> {
    let base = Base {
        directory: environment.current_dir(),
        home: environment.home(),
    };
    let mut layer = Layer::default();
    for row in ROWS {
        if row.setting == Setting::Prices {
            continue;
        }
        let name = row.variable();
        let Some(value) = environment.os(&name) else {
            continue;
        };
        let text = || environment.text(&name).map(Option::unwrap_or_default);
        let raw = match row.setting {
            Setting::Plugins => Raw::Paths(
                // An empty entry, as a `:` at an end makes, names nothing.
                std::env::split_paths(value)
                    .filter(|path| !path.as_os_str().is_empty())
                    .collect(),
            ),
            Setting::Skills | Setting::SessionsDb => Raw::Paths(vec![value.into()]),
            Setting::Masked | Setting::Protected => Raw::List(
                std::env::split_paths(text()?)
                    .filter_map(|glob| glob.into_os_string().into_string().ok())
                    .filter(|glob| !glob.is_empty())
                    .collect(),
            ),
            Setting::Process(ProcessKey::ReadPaths) => Raw::List(
                std::env::split_paths(text()?)
                    .filter_map(|path| path.into_os_string().into_string().ok())
                    .collect(),
            ),
            Setting::Capabilities
            | Setting::Process(
                ProcessKey::Programs | ProcessKey::ReadOnlyPrograms | ProcessKey::Environment,
            ) => Raw::List(
                text()?
                    .split(',')
                    .map(str::trim)
                    .filter(|name| !name.is_empty())
                    .map(str::to_owned)
                    .collect(),
            ),
            _ => Raw::Text(text()?.to_owned()),
        };
        let origin = Origin::Variable {
            file: environment.file_of(&name).map(Path::to_owned),
            name,
        };
        layer.set(row.setting, raw, origin, &base)?;
    }
    Ok(layer)
}

/// Variables of ours that are no settings: one for the log, one for the build.
const OTHER_VARIABLES: [&str; 2] = ["HOTCELL_LOG", "HOTCELL_COMPONENTS"];

/// Variables that look meant for us and are not. A notice only: others may use the prefix.
fn misspelt_variables(environment: &Environment) -> Vec<String> {
    let known: Vec<String> = ROWS.iter().map(Row::variable).collect();
    environment
        .names_with(VARIABLE_PREFIX)
        .filter(|name| !OTHER_VARIABLES.contains(name) && !known.iter().any(|known| known == name))
        .filter_map(|name| {
            let rest = |name: &str| name[VARIABLE_PREFIX.len()..].to_owned();
            let rests: Vec<_> = known.iter().map(|name| rest(name)).collect();
            let near = error::nearest(&rest(name), rests.iter().map(String::as_str))?;
            Some(format!(
                "{name} is not a setting, did you mean {VARIABLE_PREFIX}{near}"
            ))
        })
        .collect()
}

fn from_flags(
    flags: &Flags,
    standing: &Settings,
    environment: &Environment,
) -> Result<Layer, ConfigError> {
    let base = Base {
        directory: environment.current_dir(),
        home: None,
    };
    let number = |number: u32| Raw::Number(number.to_string());
    let mut asked: Vec<(Setting, Raw)> = Vec::new();
    let mut ask = |setting, raw: Option<Raw>| asked.extend(raw.map(|raw| (setting, raw)));
    ask(Setting::Provider, flags.provider.clone().map(Raw::Text));
    ask(Setting::Model, flags.model.clone().map(Raw::Text));
    ask(Setting::BaseUrl, flags.base_url.clone().map(Raw::Text));
    ask(
        Setting::MaxOutputTokens,
        flags.max_output_tokens.map(number),
    );
    ask(
        Setting::Stream,
        flags.no_stream.then_some(Raw::Switch(false)),
    );
    ask(
        Setting::Think,
        flags.think.map(|think| named(think, &Think::ALL)),
    );
    ask(Setting::Plan, flags.plan.then_some(Raw::Switch(true)));
    ask(Setting::MaxTurns, flags.max_turns.map(number));
    ask(
        Setting::MaxParallelCalls,
        flags.max_parallel_calls.map(number),
    );
    ask(
        Setting::Capabilities,
        capabilities(flags, standing).map(|set| {
            Raw::List(
                set.iter()
                    .map(|capability| capability.to_string())
                    .collect(),
            )
        }),
    );
    ask(
        Setting::Plugins,
        (!flags.plugins.is_empty()).then(|| Raw::Paths(flags.plugins.clone())),
    );
    ask(
        Setting::Skills,
        flags.skills.clone().map(|path| Raw::Paths(vec![path])),
    );
    ask(
        Setting::Color,
        flags.color.map(|when| named(when, &super::ColorWhen::ALL)),
    );
    ask(
        Setting::SessionsEnabled,
        flags.no_session.then_some(Raw::Switch(false)),
    );
    ask(
        Setting::SessionsDb,
        flags.db.clone().map(|path| Raw::Paths(vec![path])),
    );
    for (guard, value) in &flags.guards {
        ask(Setting::Guard(*guard), Some(Raw::Text(value.clone())));
    }
    for (limit, value) in &flags.limits {
        ask(Setting::Limit(*limit), Some(Raw::Number(value.to_string())));
    }
    let mut layer = Layer::default();
    for (setting, raw) in asked {
        let origin = Origin::Flag(setting.row().flag.to_owned());
        layer.set(setting, raw, origin, &base)?;
    }
    Ok(layer)
}

fn named<T: PartialEq>(value: T, names: &[(&'static str, T)]) -> Raw {
    let name = names.iter().find(|(_, other)| *other == value);
    Raw::Text(name.map_or("", |(name, _)| name).to_owned())
}

/// What stands, with what `--allow` adds and without what `--deny` takes away.
fn capabilities(flags: &Flags, standing: &Settings) -> Option<Capabilities> {
    if flags.allow.is_empty() && flags.deny.is_empty() {
        return None;
    }
    let set = |items: &[Capability]| items.iter().copied().collect::<Capabilities>();
    Some(
        standing
            .capabilities
            .value
            .union(set(&flags.allow))
            .difference(set(&flags.deny)),
    )
}

/// The usual variables of keys, and the one that was named.
fn keys(settings: &Settings, environment: &Environment) -> Vec<Key> {
    let named = settings
        .api_key_env
        .as_ref()
        .map(|name| name.value.as_str());
    let usual = provider::VENDORS.iter().map(|vendor| vendor.key_variable);
    let mut names: Vec<&str> = usual.collect();
    if let Some(named) = named
        && !names.contains(&named)
    {
        names.push(named);
    }
    names
        .into_iter()
        .map(|name| Key {
            variable: name.to_owned(),
            origin: environment.os(name).map(|_| Origin::Variable {
                name: name.to_owned(),
                file: environment.file_of(name).map(Path::to_owned),
            }),
        })
        .collect()
}

fn place(workspace: &Path, environment: &Environment) -> PathBuf {
    let current = environment.current_dir();
    let current = current.and_then(|path| path.canonicalize().ok());
    let below = current.and_then(|path| Some(path.strip_prefix(workspace).ok()?.to_owned()));
    below.unwrap_or_default()
}

/// What the user said about the workspace. Without a data directory nobody can have said anything.
fn trust(workspace: &Path, directories: &Directories) -> Result<Trust, ConfigError> {
    let file = directories.data.as_deref().map(TrustFile::new);
    let answer = file.map(|file| file.answer(workspace)).transpose()?;
    Ok(Trust::of(answer.flatten(), workspace))
}

/// The skills directories of a trusted workspace that are there. A link may leave the workspace,
/// and the user trusted no other place.
fn workspace_skills(workspace: &Path, trust: &Trust) -> Vec<PathBuf> {
    if !trust.is_given() {
        return Vec::new();
    }
    let real =
        |path: &PathBuf| path.is_dir() && path.canonicalize().is_ok_and(|real| real == *path);
    WORKSPACE_SKILLS
        .iter()
        .map(|name| workspace.join(name))
        .filter(real)
        .collect()
}

/// A skills directory that somebody named has to be there.
fn skills_directory(asked: Sourced<PathBuf>) -> Result<PathBuf, ConfigError> {
    if asked.value.is_dir() {
        return Ok(asked.value);
    }
    Err(ConfigError::Value {
        origin: asked.origin,
        key: Setting::Skills.row().key.to_owned(),
        problem: format!("is no directory: {}", asked.value.display()),
    })
}
