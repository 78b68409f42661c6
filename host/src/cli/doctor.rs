//! `hotcell doctor`: what works here, and what to type where something does not.
//!
//! Owns the list of checks. Each looks at the thing itself, not at what it should be: the sandbox
//! is started, every component is compiled and asked what it is. Nothing is repaired, nothing is
//! sent, and no key is shown.

use super::args::DoctorArgs;
use super::exit::{CommandError, Exit};
use super::wiring;
use crate::config::{Config, Environment, platform};
use crate::process::LayerState;
use crate::provider;
use crate::render::{Paint, Palette, escape, write_json_pretty};
use crate::sandbox::{Allocator, CONTRACT};
use serde::Serialize;
use std::io::{self, Write};
use std::path::Path;

/// How a check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    /// It works.
    Good,
    /// It works less well, or a part is not set up.
    Warning,
    /// What depends on it does not work.
    Bad,
}

/// One line of the report.
#[derive(Debug, Serialize)]
struct Check {
    name: &'static str,
    state: State,
    /// What was found.
    found: String,
    /// What to type, where it is not good.
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<String>,
}

impl Check {
    fn good(name: &'static str, found: impl Into<String>) -> Self {
        Check {
            name,
            state: State::Good,
            found: found.into(),
            fix: None,
        }
    }

    fn warning(name: &'static str, found: impl Into<String>, fix: impl Into<String>) -> Self {
        Check {
            state: State::Warning,
            fix: Some(fix.into()),
            ..Check::good(name, found)
        }
    }

    /// An error of a part says by itself what to do.
    fn bad(name: &'static str, error: impl std::fmt::Display) -> Self {
        Check {
            state: State::Bad,
            ..Check::good(name, error.to_string())
        }
    }
}

pub(super) async fn doctor(
    args: &DoctorArgs,
    environment: &Environment,
) -> Result<Exit, CommandError> {
    let mut checks = vec![Check::good(
        "hotcell",
        format!(
            "{}, {}, tools of {CONTRACT}",
            env!("CARGO_PKG_VERSION"),
            platform()
        ),
    )];
    let config = Config::resolve(&args.flags(), environment);
    let palette = config
        .as_ref()
        .map_or(Palette::Plain, |config| Palette::from(config.colors.stdout));
    match config {
        Ok(config) => {
            checks.extend(settings(&config));
            checks.extend(provider(&config));
            checks.extend(machine(&config).await);
        }
        Err(error) => checks.push(Check::bad("settings", error)),
    }
    checks.push(terminal(environment));

    let mut out = io::stdout().lock();
    if args.json {
        write_json_pretty(&mut out, &checks)?;
    } else {
        out.write_all(report(&checks, palette).as_bytes())?;
    }
    let is_bad = checks.iter().any(|check| check.state == State::Bad);
    Ok(if is_bad { Exit::Failed } else { Exit::Done })
}

/// What is set, where, and whether only the user can change it.
fn settings(config: &Config) -> Vec<Check> {
    let mut checks = Vec::new();
    if config.reported.is_empty() {
        checks.push(Check::good("settings", "all at their defaults"));
    }
    for one in &config.reported {
        checks.push(Check::good(
            "settings",
            format!("{} = {} ({})", one.key, one.value, one.origin),
        ));
    }
    for notice in &config.notices {
        checks.push(Check::warning(
            "settings",
            notice,
            "docs/config.md lists every setting",
        ));
    }
    checks.push(match &config.directories.config {
        Some(directory) => private("configuration directory", directory),
        None => Check::warning(
            "configuration directory",
            "there is none, because neither XDG_CONFIG_HOME nor HOME is set",
            "set HOME",
        ),
    });
    if let Some(file) = config.directories.env_file().filter(|file| file.exists()) {
        checks.push(secret(&file));
    }
    checks.push(match &config.directories.cache {
        Some(directory) => private("cache directory", directory),
        None => Check::warning(
            "cache directory",
            "there is none, so tools are compiled anew in every process",
            "set HOME or XDG_CACHE_HOME",
        ),
    });
    checks.push(workspace(&config.workspace));
    checks.push(trust(config));
    if config.skills.is_empty() {
        checks.push(Check::good("skills", "none installed"));
    }
    for skills in &config.skills {
        checks.push(Check::good("skills", skills.display().to_string()));
    }
    checks
}

fn trust(config: &Config) -> Check {
    if config.trust.is_given() {
        return Check::good("trust", "what the workspace says is interpreted");
    }
    match config.trust.left_out.as_slice() {
        [] => Check::good("trust", "the workspace says nothing to agents"),
        names => Check::warning(
            "trust",
            format!("not interpreted: {}", wiring::list(names)),
            "hotcell trust, if it is yours",
        ),
    }
}

fn workspace(workspace: &Path) -> Check {
    let shown = workspace.display().to_string();
    match workspace.metadata() {
        Ok(metadata) if metadata.permissions().readonly() => Check::warning(
            "workspace",
            format!("{shown} cannot be written to"),
            "hotcell run --plan, or another --workspace",
        ),
        Ok(_) => Check::good("workspace", shown),
        Err(error) => Check::bad("workspace", format!("{shown}: {error}")),
    }
}

/// A directory that says or holds what is trusted: nobody else may write to it.
fn private(name: &'static str, directory: &Path) -> Check {
    let shown = directory.display();
    match open_to_others(directory, 0o022) {
        Ok(false) => Check::good(name, shown.to_string()),
        Ok(true) => Check {
            state: State::Bad,
            ..Check::warning(
                name,
                format!("{shown} can be changed by others"),
                format!("chmod go-w '{shown}'"),
            )
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Check::good(name, format!("{shown}, not there yet"))
        }
        Err(error) => Check::bad(name, format!("{shown}: {error}")),
    }
}

/// A file with keys: nobody else may read it.
fn secret(file: &Path) -> Check {
    let shown = file.display();
    match open_to_others(file, 0o077) {
        Ok(false) => Check::good("key file", shown.to_string()),
        Ok(true) => Check::warning(
            "key file",
            format!("{shown} can be read by others"),
            format!("chmod 600 '{shown}'"),
        ),
        Err(error) => Check::bad("key file", format!("{shown}: {error}")),
    }
}

#[cfg(unix)]
fn open_to_others(path: &Path, bits: u32) -> io::Result<bool> {
    use std::os::unix::fs::PermissionsExt;
    Ok(path.metadata()?.permissions().mode() & bits != 0)
}

#[cfg(not(unix))]
fn open_to_others(path: &Path, _bits: u32) -> io::Result<bool> {
    // Access lists are inherited from the user's own profile there.
    path.metadata().map(|_| false)
}

fn provider(config: &Config) -> Vec<Check> {
    let keys: Vec<String> = config
        .keys
        .iter()
        .map(|key| match &key.origin {
            Some(origin) => format!("{origin} is set"),
            None => format!("{} is not set", key.variable),
        })
        .collect();
    let mut checks = vec![Check::good("keys", keys.join(", "))];
    checks.push(match &config.provider {
        Ok(found) => match provider::connect(found) {
            Ok(_) => {
                let place = found.base_url.as_deref().unwrap_or("its own API");
                Check::good(
                    "provider",
                    format!(
                        "{}, model {}, at {place}; not asked",
                        found.name, found.model
                    ),
                )
            }
            Err(error) => Check::bad("provider", error),
        },
        // Without a provider the demo works, and so do the tools.
        Err(error) => Check {
            state: State::Warning,
            ..Check::bad("provider", error)
        },
    });
    checks
}

/// The sandbox, and every component in it.
async fn machine(config: &Config) -> Vec<Check> {
    let sandbox = match wiring::sandbox(config) {
        Ok(sandbox) => sandbox,
        Err(error) => return vec![Check::bad("sandbox", error)],
    };
    let mut checks = vec![match sandbox.allocator() {
        Allocator::PoolingWithPagemapScan => Check::good(
            "sandbox",
            "pooling allocator with pagemap scan, the fastest",
        ),
        Allocator::Pooling => Check::good(
            "sandbox",
            "pooling allocator; Linux 6.7 and later do better, by pagemap scan",
        ),
        Allocator::OnDemand => Check::warning(
            "sandbox",
            "on-demand allocator, slower: the address space for a pool is not to be had",
            "ulimit -v unlimited",
        ),
    }];
    match wiring::toolbox(&sandbox, config).await {
        Ok(toolbox) => {
            let faults = toolbox.verify().await;
            let count = toolbox.list().len();
            if faults.is_empty() {
                checks.push(Check::good(
                    "tools",
                    format!("{count} tools, all compiled and as they describe themselves"),
                ));
            }
            checks.extend(faults.iter().map(|fault| Check::bad("tools", fault)));
        }
        Err(error) => checks.push(Check::bad("tools", error)),
    }
    checks.extend(native(config).await);
    checks
}

/// The layers of the process sandbox, and which programs there are.
async fn native(config: &Config) -> Vec<Check> {
    let processes = match wiring::processes(config) {
        Ok(Some(processes)) => processes,
        Ok(None) => {
            return vec![Check::good(
                "native programs",
                "none: the process capability is not given here",
            )];
        }
        Err(error) => return vec![Check::bad("native programs", error)],
    };
    let mut checks = Vec::new();
    if config.process.without_sandbox {
        checks.push(Check::warning(
            "process sandbox",
            "none, because of --unsafe-no-process-sandbox",
            "leave out that flag",
        ));
    }
    for (layer, state) in processes.layers().await.iter() {
        checks.push(match state {
            LayerState::Given => Check::good("process sandbox", layer.name()),
            LayerState::Lacking(why) => Check::warning(
                "process sandbox",
                format!("{layer} is not to be had, so no native program starts: {why}"),
                layer.remedy(),
            ),
            LayerState::NotTried => Check::warning(
                "process sandbox",
                format!("{layer} was not tried, because a layer before it lacks"),
                "see above",
            ),
        });
    }
    let names: Vec<&str> = processes.programs().collect();
    checks.push(if names.is_empty() {
        Check::warning(
            "native programs",
            "none of `process.programs` is on PATH outside of the workspace",
            "install one, or name others in the user's hotcell.toml",
        )
    } else {
        Check::good("native programs", names.join(", "))
    });
    checks
}

fn terminal(environment: &Environment) -> Check {
    let terminals = environment.terminals();
    let kind = |is_terminal| {
        if is_terminal {
            "a terminal"
        } else {
            "no terminal"
        }
    };
    Check::good(
        "terminal",
        format!(
            "standard output is {}, standard error is {}",
            kind(terminals.stdout),
            kind(terminals.stderr)
        ),
    )
}

fn report(checks: &[Check], palette: Palette) -> String {
    let width = checks
        .iter()
        .map(|check| check.name.len())
        .max()
        .unwrap_or_default();
    let mut report = String::new();
    for check in checks {
        let (mark, paint) = match check.state {
            State::Good => ("✓", Paint::Good),
            State::Warning => ("!", Paint::Warning),
            State::Bad => ("✗", Paint::Bad),
        };
        let mark = palette.paint(paint, mark);
        let found = escape::line(&check.found);
        report.push_str(&format!("{mark} {:width$}  {found}\n", check.name));
        if let Some(fix) = &check.fix {
            let fix = escape::line(fix);
            report.push_str(&format!("  {:width$}  → {fix}\n", ""));
        }
    }
    report
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Flags;

    #[test]
    fn a_report_says_what_to_type() {
        let checks = [
            Check::good("hotcell", "0.1.0"),
            Check::warning(
                "key file",
                "/c/.env can be read by others",
                "chmod 600 '/c/.env'",
            ),
            Check::bad("tools", "cannot load plugin \u{1b}[2K"),
        ];
        insta::assert_snapshot!(report(&checks, Palette::Plain));
    }

    #[cfg(unix)]
    #[test]
    fn what_others_can_change_or_read_is_found() {
        use std::fs::{self, Permissions};
        use std::os::unix::fs::PermissionsExt;
        let temp = tempfile::tempdir().expect("temporary directory");
        let file = temp.path().join("f");
        fs::write(&file, "").expect("file");
        let set = |mode| fs::set_permissions(&file, Permissions::from_mode(mode)).expect("mode");
        for (mode, directory, key_file) in [
            (0o600, State::Good, State::Good),
            (0o644, State::Good, State::Warning),
            (0o620, State::Bad, State::Warning),
            (0o602, State::Bad, State::Warning),
        ] {
            set(mode);
            assert_eq!(private("x", &file).state, directory, "{mode:o}");
            assert_eq!(secret(&file).state, key_file, "{mode:o}");
        }
        assert_eq!(private("x", &temp.path().join("none")).state, State::Good);
    }

    #[test]
    fn keys_are_told_and_never_shown() {
        let temp = tempfile::tempdir().expect("temporary directory");
        let environment = Environment::from_map([("OPENAI_API_KEY", "sk-secret")], temp.path());
        let config = Config::resolve(&Flags::default(), &environment).expect("settings");
        let mut checks = settings(&config);
        checks.extend(provider(&config));
        let shown = report(&checks, Palette::Plain);
        assert!(shown.contains("OPENAI_API_KEY is set"), "{shown}");
        assert!(shown.contains("ANTHROPIC_API_KEY is not set"), "{shown}");
        assert!(!shown.contains("sk-secret"), "{shown}");
    }
}
