//! What one source asks for, and what all of them come to.
//!
//! Owns the one place where a raw value becomes a typed one ([`Layer::set`]), whatever source it
//! comes from, and the laying of one layer over another ([`Settings::apply`]).

use super::guard::{GuardLayer, GuardTable};
use super::origin::Sourced;
use super::process::{ProcessLayer, ProcessTable};
use super::quantity::parse_limit;
use super::raw::{Base, Raw, base_url, variable_name, wrong};
use super::resolve::offered;
use super::setting::{ROWS, Setting};
use super::{ColorWhen, ConfigError, Origin};
use crate::protocol::{Capabilities, Capability, Limit, Limits};
use std::path::PathBuf;

/// Whether the model first thinks without tools and then acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Think {
    /// It acts at once.
    #[default]
    Off,
    /// In the first turn of a run.
    First,
    /// In every turn.
    Always,
}

impl Think {
    /// Every choice with its name.
    pub const ALL: [(&'static str, Think); 3] = [
        ("off", Think::Off),
        ("first", Think::First),
        ("always", Think::Always),
    ];
}

/// What one source asks for.
#[derive(Debug, Clone, Default)]
pub(super) struct Layer {
    provider: Option<Sourced<String>>,
    model: Option<Sourced<String>>,
    base_url: Option<Sourced<String>>,
    api_key_env: Option<Sourced<String>>,
    max_output_tokens: Option<Sourced<u32>>,
    stream: Option<Sourced<bool>>,
    think: Option<Sourced<Think>>,
    plan: Option<Sourced<bool>>,
    max_turns: Option<Sourced<u32>>,
    max_parallel_calls: Option<Sourced<u32>>,
    capabilities: Option<Sourced<Capabilities>>,
    plugins: Option<Sourced<Vec<PathBuf>>>,
    skills: Option<Sourced<PathBuf>>,
    masked: Vec<Sourced<String>>,
    protected: Vec<Sourced<String>>,
    color: Option<Sourced<ColorWhen>>,
    sessions_enabled: Option<Sourced<bool>>,
    sessions_db: Option<Sourced<PathBuf>>,
    process: ProcessLayer,
    guards: GuardLayer,
    limits: Vec<(Limit, Sourced<u64>)>,
    /// What was set, in order, for the rules about who may set what.
    pub(super) assigned: Vec<(Setting, Origin)>,
}

impl Layer {
    /// Sets one value, whatever its source.
    pub(super) fn set(
        &mut self,
        setting: Setting,
        raw: Raw,
        origin: Origin,
        base: &Base<'_>,
    ) -> Result<(), ConfigError> {
        self.assigned.push((setting, origin.clone()));
        let here = origin.clone();
        self.set_typed(setting, raw, origin, base)
            .map_err(|problem| ConfigError::Value {
                origin: here,
                key: setting.row().key.to_owned(),
                problem,
            })
    }

    fn set_typed(
        &mut self,
        setting: Setting,
        raw: Raw,
        origin: Origin,
        base: &Base<'_>,
    ) -> Result<(), String> {
        fn some<T>(value: T, origin: Origin) -> Option<Sourced<T>> {
            Some(Sourced { value, origin })
        }
        match setting {
            Setting::Provider => self.provider = some(raw.text()?, origin),
            Setting::Model => self.model = some(raw.text()?, origin),
            Setting::BaseUrl => self.base_url = some(base_url(&raw.text()?)?, origin),
            Setting::ApiKeyEnv => self.api_key_env = some(variable_name(raw.text()?)?, origin),
            Setting::MaxOutputTokens => self.max_output_tokens = some(raw.count(1)?, origin),
            Setting::Stream => self.stream = some(raw.switch()?, origin),
            Setting::Think => self.think = some(raw.choice(&Think::ALL)?, origin),
            Setting::Plan => self.plan = some(raw.switch()?, origin),
            Setting::MaxTurns => self.max_turns = some(raw.count(0)?, origin),
            Setting::MaxParallelCalls => self.max_parallel_calls = some(raw.count(1)?, origin),
            Setting::Capabilities => {
                self.capabilities = some(capabilities(&raw.list()?)?, origin);
            }
            Setting::Plugins => {
                let files = match raw {
                    Raw::Paths(files) => files,
                    other => other.list()?.into_iter().map(PathBuf::from).collect(),
                };
                let files = files.iter().map(|file| base.path(file)).collect();
                self.plugins = some(files, origin);
            }
            Setting::Skills => self.skills = some(base.path(&raw.path()?), origin),
            Setting::SessionsEnabled => self.sessions_enabled = some(raw.switch()?, origin),
            Setting::SessionsDb => self.sessions_db = some(base.path(&raw.path()?), origin),
            Setting::Masked => self.masked = globs(raw, &origin)?,
            Setting::Protected => self.protected = globs(raw, &origin)?,
            Setting::Color => self.color = some(raw.choice(&ColorWhen::ALL)?, origin),
            Setting::Process(key) => self.process.set(key, raw, origin, base)?,
            Setting::Guard(key) => self.guards.set(key, raw, origin)?,
            Setting::Prices => {
                return Err(
                    "is a table: write [prices.\"MODEL\"] and below it input and output".to_owned(),
                );
            }
            Setting::Limit(limit) => {
                let value = parse_limit(limit, &raw.number()?).map_err(wrong)?;
                self.limits.push((limit, Sourced { value, origin }));
            }
        }
        Ok(())
    }
}

impl Layer {
    /// Sets one part of the price of a model.
    pub(super) fn set_price(
        &mut self,
        model: &str,
        part: &str,
        raw: Raw,
        origin: Origin,
    ) -> Result<(), ConfigError> {
        self.assigned.push((Setting::Prices, origin.clone()));
        self.guards
            .set_price(model, part, raw)
            .map_err(|problem| ConfigError::Value {
                origin,
                key: format!("prices.{model:?}.{part}"),
                problem,
            })
    }
}

fn globs(raw: Raw, origin: &Origin) -> Result<Vec<Sourced<String>>, String> {
    Ok(raw
        .list()?
        .into_iter()
        .map(|value| Sourced {
            value,
            origin: origin.clone(),
        })
        .collect())
}

fn capabilities(names: &[String]) -> Result<Capabilities, String> {
    let set = names
        .iter()
        .map(|name| name.parse::<Capability>())
        .collect::<Result<Capabilities, _>>()
        .map_err(|error| format!("has a wrong entry: {error}"))?;
    let absent = set.difference(offered());
    if absent.is_empty() {
        Ok(set)
    } else {
        Err(format!(
            "names {absent}, which this version of hotcell cannot give to any tool; remove it"
        ))
    }
}

/// What all sources come to. `Default` is what stands where nobody says anything.
#[derive(Debug, Clone)]
pub(super) struct Settings {
    pub provider: Option<Sourced<String>>,
    pub model: Option<Sourced<String>>,
    pub base_url: Option<Sourced<String>>,
    pub api_key_env: Option<Sourced<String>>,
    pub max_output_tokens: Sourced<u32>,
    pub stream: Sourced<bool>,
    pub think: Sourced<Think>,
    pub plan: Sourced<bool>,
    pub max_turns: Sourced<u32>,
    pub max_parallel_calls: Sourced<u32>,
    pub capabilities: Sourced<Capabilities>,
    pub plugins: Sourced<Vec<PathBuf>>,
    pub skills: Option<Sourced<PathBuf>>,
    pub masked: Vec<Sourced<String>>,
    pub protected: Vec<Sourced<String>>,
    pub color: Sourced<ColorWhen>,
    pub sessions_enabled: Sourced<bool>,
    pub sessions_db: Option<Sourced<PathBuf>>,
    pub process: ProcessTable,
    pub guards: GuardTable,
    pub limits: Limits,
    limit_origins: [Origin; Limit::ALL.len()],
}

impl Default for Settings {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Settings {
            provider: None,
            model: None,
            base_url: None,
            api_key_env: None,
            // Long enough for a large file, short enough for every current model.
            max_output_tokens: Sourced::default(16_384),
            stream: Sourced::default(true),
            think: Sourced::default(Think::Off),
            plan: Sourced::default(false),
            max_turns: Sourced::default(50),
            max_parallel_calls: Sourced::default(u32::try_from(cores).unwrap_or(4).max(4)),
            capabilities: Sourced::default(offered()),
            plugins: Sourced::default(Vec::new()),
            skills: None,
            masked: Vec::new(),
            protected: Vec::new(),
            color: Sourced::default(ColorWhen::Auto),
            sessions_enabled: Sourced::default(true),
            sessions_db: None,
            process: ProcessTable::default(),
            guards: GuardTable::default(),
            limits: Limits::default(),
            limit_origins: [const { Origin::Default }; Limit::ALL.len()],
        }
    }
}

impl Settings {
    /// Lays `layer` over what stands.
    pub(super) fn apply(&mut self, layer: Layer) {
        fn over<T>(standing: &mut T, asked: Option<T>) {
            if let Some(asked) = asked {
                *standing = asked;
            }
        }
        fn over_none<T>(standing: &mut Option<T>, asked: Option<T>) {
            if asked.is_some() {
                *standing = asked;
            }
        }
        over_none(&mut self.provider, layer.provider);
        over_none(&mut self.model, layer.model);
        over_none(&mut self.base_url, layer.base_url);
        over_none(&mut self.api_key_env, layer.api_key_env);
        over(&mut self.max_output_tokens, layer.max_output_tokens);
        over(&mut self.stream, layer.stream);
        over(&mut self.think, layer.think);
        over(&mut self.plan, layer.plan);
        over(&mut self.max_turns, layer.max_turns);
        over(&mut self.max_parallel_calls, layer.max_parallel_calls);
        over(&mut self.capabilities, layer.capabilities);
        if let Some(more) = layer.plugins {
            // One that is named twice is meant once.
            for path in more.value {
                if !self.plugins.value.contains(&path) {
                    self.plugins.value.push(path);
                }
            }
            self.plugins.origin = more.origin;
        }
        over_none(&mut self.skills, layer.skills);
        self.masked.extend(layer.masked);
        self.protected.extend(layer.protected);
        over(&mut self.color, layer.color);
        over(&mut self.sessions_enabled, layer.sessions_enabled);
        over_none(&mut self.sessions_db, layer.sessions_db);
        self.process.apply(layer.process);
        self.guards.apply(layer.guards);
        for (limit, asked) in layer.limits {
            limit.set(&mut self.limits, asked.value);
            self.limit_origins[limit as usize] = asked.origin;
        }
    }

    /// What stands for `setting`, for people, and where it comes from.
    pub(super) fn shown(&self, setting: Setting) -> (String, &Origin) {
        fn one<T: ToString>(sourced: &Sourced<T>) -> (String, &Origin) {
            (sourced.value.to_string(), &sourced.origin)
        }
        fn maybe<T: AsRef<std::ffi::OsStr>>(sourced: &Option<Sourced<T>>) -> (String, &Origin) {
            sourced
                .as_ref()
                .map_or((String::new(), &Origin::Default), |sourced| {
                    let text = sourced.value.as_ref().to_string_lossy().into_owned();
                    (text, &sourced.origin)
                })
        }
        fn all(globs: &[Sourced<String>]) -> (String, &Origin) {
            let texts: Vec<_> = globs.iter().map(|glob| glob.value.as_str()).collect();
            let last = globs.last().map_or(&Origin::Default, |glob| &glob.origin);
            (texts.join(", "), last)
        }
        fn chosen<'a, T: PartialEq>(
            sourced: &'a Sourced<T>,
            names: &[(&'static str, T)],
        ) -> (String, &'a Origin) {
            let name = names.iter().find(|(_, value)| *value == sourced.value);
            (
                name.map_or("", |(name, _)| name).to_owned(),
                &sourced.origin,
            )
        }
        match setting {
            Setting::Provider => maybe(&self.provider),
            Setting::Model => maybe(&self.model),
            Setting::BaseUrl => maybe(&self.base_url),
            Setting::ApiKeyEnv => maybe(&self.api_key_env),
            Setting::MaxOutputTokens => one(&self.max_output_tokens),
            Setting::Stream => one(&self.stream),
            Setting::Think => chosen(&self.think, &Think::ALL),
            Setting::Plan => one(&self.plan),
            Setting::MaxTurns => one(&self.max_turns),
            Setting::MaxParallelCalls => one(&self.max_parallel_calls),
            Setting::Capabilities => one(&self.capabilities),
            Setting::Plugins => {
                let files: Vec<_> = self
                    .plugins
                    .value
                    .iter()
                    .map(|file| file.display().to_string())
                    .collect();
                (files.join(", "), &self.plugins.origin)
            }
            Setting::Skills => maybe(&self.skills),
            Setting::Masked => all(&self.masked),
            Setting::Protected => all(&self.protected),
            Setting::Color => chosen(&self.color, &ColorWhen::ALL),
            Setting::SessionsEnabled => one(&self.sessions_enabled),
            Setting::SessionsDb => maybe(&self.sessions_db),
            Setting::Process(key) => self.process.shown(key),
            Setting::Guard(key) => self.guards.shown(key),
            Setting::Prices => (self.guards.shown_prices(), &Origin::Default),
            Setting::Limit(limit) => (
                limit.of(&self.limits).to_string(),
                &self.limit_origins[limit as usize],
            ),
        }
    }

    /// Everything that somebody set, as [`Settings::shown`] says it.
    pub(super) fn shown_all(&self) -> impl Iterator<Item = (&'static str, String, &Origin)> {
        ROWS.iter().filter_map(|row| {
            let (value, origin) = self.shown(row.setting);
            (*origin != Origin::Default).then_some((row.key, value, origin))
        })
    }
}
