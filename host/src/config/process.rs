//! The settings of native processes: the table `[process]`.
//!
//! Owns its keys, their defaults, what a workspace may tighten of them, and what the user's
//! environment says about toolchains. Apart from the other settings because it is their only table
//! with lists of its own. It must never look for a program.

use super::origin::Sourced;
use super::quantity::{parse_bytes, parse_count};
use super::raw::{Base, Raw};
use super::{Environment, Flags, Origin};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// One key of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ProcessKey {
    Programs,
    ReadOnlyPrograms,
    ReadPaths,
    Environment,
    Network,
    Shell,
    MaxProcesses,
    FileBytes,
    AddressSpaceBytes,
    OpenFiles,
}

use ProcessKey::{
    AddressSpaceBytes, FileBytes, MaxProcesses, Network, OpenFiles, Programs, ReadOnlyPrograms,
    ReadPaths,
};

impl ProcessKey {
    #[cfg(test)]
    pub(super) const ALL: [ProcessKey; 10] = [
        Programs,
        ReadOnlyPrograms,
        ReadPaths,
        ProcessKey::Environment,
        Network,
        ProcessKey::Shell,
        MaxProcesses,
        FileBytes,
        AddressSpaceBytes,
        OpenFiles,
    ];

    /// Whether a workspace may set it, to something tighter.
    pub(super) const fn workspace_may_tighten(self) -> bool {
        !matches!(
            self,
            ReadPaths | ProcessKey::Environment | ProcessKey::Shell
        )
    }
}

/// The programs that an agent works with, where the user says nothing.
const PROGRAMS: &[&str] = &[
    "git", "cargo", "rustc", "rustdoc", "rustfmt", "node", "npm", "npx", "python3", "python",
    "pytest", "go", "gofmt", "make", "cmake", "ninja", "gcc", "g++", "cc", "c++", "clang", "ar",
    "ld", "java", "javac", "mvn", "gradle", "ruby", "bundle", "rake", "php", "composer", "deno",
    "bun", "uv", "ruff", "mypy", "tsc", "eslint", "prettier",
];

/// Directories below the home directory where toolchains live, without keys or settings in them.
const TOOLCHAINS: &[&str] = &[
    ".cargo/bin",
    ".pyenv",
    ".nvm/versions",
    ".volta/tools",
    ".local/share/uv/python",
    ".local/share/mise/installs",
    ".sdkman/candidates",
    ".rbenv",
    ".bun/bin",
    ".deno/bin",
    ".local/bin",
];

/// By what the command lines of the `bash` tool are run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Shell {
    /// By the shell in the component, in which only the native programs are native.
    #[default]
    Component,
    /// By the system's bash, in the process sandbox.
    Native,
}

impl Shell {
    const CHOICES: [(&'static str, Shell); 2] =
        [("component", Shell::Component), ("native", Shell::Native)];

    fn name(self) -> &'static str {
        match self {
            Shell::Component => "component",
            Shell::Native => "native",
        }
    }
}

/// Everything about native processes, resolved.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProcessConfig {
    /// Names of programs that tools may start.
    pub programs: Vec<String>,
    /// Those of them that may run in plan mode.
    pub read_only_programs: Vec<String>,
    /// What processes can read beside the system's own directories.
    pub read_paths: Vec<PathBuf>,
    /// Variables that every process gets.
    pub environment: Vec<(String, String)>,
    /// Whether processes see the network.
    pub network: bool,
    /// What runs command lines.
    pub shell: Shell,
    /// Processes and threads at once.
    pub max_processes: u64,
    /// Bytes of the largest file.
    pub file_bytes: u64,
    /// Bytes of address space of each process.
    pub address_space_bytes: u64,
    /// Descriptors of each process.
    pub open_files: u64,
    /// The user's `PATH`.
    pub search_path: Vec<PathBuf>,
    /// The user's cargo home.
    pub cargo_home: Option<PathBuf>,
    /// `--unsafe-no-process-sandbox`
    pub without_sandbox: bool,
}

/// What one source asks for.
#[derive(Debug, Clone, Default)]
pub(super) struct ProcessLayer(BTreeMap<ProcessKey, Sourced<Value>>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Value {
    Names(Vec<String>),
    Paths(Vec<PathBuf>),
    Switch(bool),
    Shell(Shell),
    Number(u64),
}

impl ProcessLayer {
    pub(super) fn set(
        &mut self,
        key: ProcessKey,
        raw: Raw,
        origin: Origin,
        base: &Base<'_>,
    ) -> Result<(), String> {
        let value = match key {
            Programs | ReadOnlyPrograms => Value::Names(names(raw.list()?)?),
            ProcessKey::Environment => Value::Names(variables(raw.list()?)?),
            ReadPaths => {
                let written = raw.list()?;
                let paths = written.iter().map(|path| base.path(Path::new(path)));
                Value::Paths(paths.map(below_root).collect::<Result<_, _>>()?)
            }
            Network => Value::Switch(raw.switch()?),
            ProcessKey::Shell => Value::Shell(raw.choice(&Shell::CHOICES)?),
            FileBytes | AddressSpaceBytes => Value::Number(
                parse_bytes(&raw.number()?, 1, 1 << 46)
                    .map_err(|error| format!("is wrong: {error}"))?,
            ),
            MaxProcesses | OpenFiles => Value::Number(
                parse_count(&raw.number()?, 1, 1 << 20)
                    .map_err(|error| format!("is wrong: {error}"))?,
            ),
        };
        self.0.insert(key, Sourced { value, origin });
        Ok(())
    }
}

/// What all sources come to.
#[derive(Debug, Clone)]
pub(super) struct ProcessTable(BTreeMap<ProcessKey, Sourced<Value>>);

impl Default for ProcessTable {
    fn default() -> Self {
        let programs = PROGRAMS.iter().map(|name| (*name).to_owned()).collect();
        let values = [
            (Programs, Value::Names(programs)),
            (ReadOnlyPrograms, Value::Names(Vec::new())),
            (ReadPaths, Value::Paths(Vec::new())),
            (ProcessKey::Environment, Value::Names(Vec::new())),
            (Network, Value::Switch(false)),
            (ProcessKey::Shell, Value::Shell(Shell::Component)),
            // Room for a parallel build, and an end to a fork bomb.
            (MaxProcesses, Value::Number(512)),
            (FileBytes, Value::Number(4 << 30)),
            // Reservations count: runtimes of JavaScript and Go reserve gigabytes.
            (AddressSpaceBytes, Value::Number(64 << 30)),
            (OpenFiles, Value::Number(4_096)),
        ];
        ProcessTable(
            values
                .into_iter()
                .map(|(key, value)| (key, Sourced::default(value)))
                .collect(),
        )
    }
}

impl ProcessTable {
    pub(super) fn apply(&mut self, layer: ProcessLayer) {
        self.0.extend(layer.0);
    }

    /// What stands, for people.
    pub(super) fn shown(&self, key: ProcessKey) -> (String, &Origin) {
        let Some(sourced) = self.0.get(&key) else {
            return (String::new(), &Origin::Default);
        };
        let text = match &sourced.value {
            Value::Names(names) => names.join(", "),
            Value::Paths(paths) => {
                let shown = paths.iter().map(|path| path.display().to_string());
                shown.collect::<Vec<_>>().join(", ")
            }
            Value::Switch(on) => on.to_string(),
            Value::Shell(shell) => shell.name().to_owned(),
            Value::Number(number) => number.to_string(),
        };
        (text, &sourced.origin)
    }

    /// Whether `key` allows more here than in `standing`.
    pub(super) fn is_looser(&self, key: ProcessKey, standing: &ProcessTable) -> bool {
        let value = |table: &ProcessTable| table.0.get(&key).map(|one| one.value.clone());
        match (value(self), value(standing)) {
            (Some(Value::Names(asked)), Some(Value::Names(standing))) => {
                !asked.iter().all(|name| standing.contains(name))
            }
            (Some(Value::Switch(asked)), Some(Value::Switch(standing))) => asked && !standing,
            (Some(Value::Number(asked)), Some(Value::Number(standing))) => asked > standing,
            // Unknown means refuse.
            _ => true,
        }
    }

    /// With what the environment says about toolchains.
    pub(super) fn resolve(&self, environment: &Environment, flags: &Flags) -> ProcessConfig {
        let home = environment.home();
        let of_toolchain = |variable: &str, usual: &str| {
            environment
                .absolute(variable)
                .map(Path::to_owned)
                .or_else(|| home.map(|home| home.join(usual)))
                .filter(|directory| directory.is_dir())
        };
        let rustup_home = of_toolchain("RUSTUP_HOME", ".rustup");
        let cargo_home = of_toolchain("CARGO_HOME", ".cargo");
        let mut read_paths = self.paths(ReadPaths);
        read_paths.extend(
            home.iter()
                .flat_map(|home| TOOLCHAINS.iter().map(|directory| home.join(directory))),
        );
        read_paths.extend(rustup_home.clone());
        read_paths.extend(cargo_home.as_ref().map(|home| home.join("bin")));
        let mut variables: Vec<(String, String)> = self
            .names(ProcessKey::Environment)
            .into_iter()
            .filter_map(|name| {
                let value = environment.os(&name)?.to_str()?.to_owned();
                Some((name, value))
            })
            .collect();
        if let Some(rustup_home) = rustup_home.as_deref().and_then(Path::to_str) {
            variables.push(("RUSTUP_HOME".to_owned(), rustup_home.to_owned()));
        }
        ProcessConfig {
            programs: self.names(Programs),
            read_only_programs: self.names(ReadOnlyPrograms),
            read_paths,
            environment: variables,
            network: self
                .0
                .get(&Network)
                .is_some_and(|on| on.value == Value::Switch(true)),
            shell: match self.0.get(&ProcessKey::Shell).map(|sourced| &sourced.value) {
                Some(Value::Shell(shell)) => *shell,
                _ => Shell::Component,
            },
            max_processes: self.number(MaxProcesses),
            file_bytes: self.number(FileBytes),
            address_space_bytes: self.number(AddressSpaceBytes),
            open_files: self.number(OpenFiles),
            search_path: environment
                .os("PATH")
                .map(|path| std::env::split_paths(path).collect())
                .unwrap_or_default(),
            cargo_home,
            without_sandbox: flags.unsafe_no_process_sandbox,
        }
    }

    fn names(&self, key: ProcessKey) -> Vec<String> {
        match self.0.get(&key).map(|sourced| &sourced.value) {
            Some(Value::Names(names)) => names.clone(),
            _ => Vec::new(),
        }
    }

    fn paths(&self, key: ProcessKey) -> Vec<PathBuf> {
        match self.0.get(&key).map(|sourced| &sourced.value) {
            Some(Value::Paths(paths)) => paths.clone(),
            _ => Vec::new(),
        }
    }

    fn number(&self, key: ProcessKey) -> u64 {
        match self.0.get(&key).map(|sourced| &sourced.value) {
            Some(Value::Number(number)) => *number,
            _ => 0,
        }
    }
}

/// A program is named, never pointed at: a path could lead into a workspace.
fn names(names: Vec<String>) -> Result<Vec<String>, String> {
    match names
        .iter()
        .find(|name| name.trim().is_empty() || name.contains(['/', '\\']))
    {
        Some(path) => Err(format!(
            "takes names of programs as they are on PATH, not `{path}`"
        )),
        None => Ok(names),
    }
}

fn variables(names: Vec<String>) -> Result<Vec<String>, String> {
    match names
        .iter()
        .find(|name| name.is_empty() || name.contains(['=', '\0']))
    {
        Some(_) => Err("takes names of variables, without `=` and a value".to_owned()),
        None => Ok(names),
    }
}

/// Everything would be too much, and is surely not meant.
fn below_root(path: PathBuf) -> Result<PathBuf, String> {
    if path.is_absolute() && path.parent().is_some() {
        Ok(path)
    } else {
        Err(format!(
            "takes directories below the root, not `{}`",
            path.display()
        ))
    }
}
