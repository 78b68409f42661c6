//! The environment of a process: built from a list, never inherited.
//!
//! Owns what every process gets, what the programs of the defaults need so that a repository does
//! not run code through them, and which variables a call may not set. It must never read the
//! environment of hotcell.

use super::place::TEMPORARY_MOUNT;
use std::path::{Path, PathBuf};

/// Most variables that a call can add.
const MOST_VARIABLES: usize = 1_024;

/// Most bytes of the variables that a call can add, names and values together.
const MOST_BYTES: usize = 256 << 10;

/// The home directory inside. Not below `/tmp`, which components see as well, and where no user and
/// no toolchain lives.
pub(super) const HOME: &str = "/run/home";

/// What git is told before it reads a repository's own configuration. These win over it.
const GIT: &[(&str, &str)] = &[
    // Hooks and the file system monitor are programs that a repository names.
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("core.pager", "cat"),
    ("core.editor", "false"),
    ("sequence.editor", "false"),
    ("core.askPass", "false"),
    ("core.sshCommand", "false"),
    ("credential.helper", ""),
    // Runs a program that an address names.
    ("protocol.ext.allow", "never"),
    ("gpg.program", "false"),
    ("gpg.ssh.program", "false"),
    ("gpg.x509.program", "false"),
    // A repository within a repository that was committed as files.
    ("safe.bareRepository", "explicit"),
];

/// What every process gets, before what the call adds.
const ALWAYS: &[(&str, &str)] = &[
    ("HOME", HOME),
    ("TMPDIR", TEMPORARY_MOUNT),
    ("LANG", "C.UTF-8"),
    ("TERM", "dumb"),
    ("PAGER", "cat"),
    ("EDITOR", "false"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_PAGER", "cat"),
    ("GIT_EDITOR", "false"),
    ("GIT_SEQUENCE_EDITOR", "false"),
    ("GIT_ASKPASS", "false"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("CARGO_HOME", "/run/home/.cargo"),
    ("CARGO_TERM_COLOR", "never"),
    ("npm_config_update_notifier", "false"),
    ("npm_config_fund", "false"),
    ("PYTHONDONTWRITEBYTECODE", "1"),
    ("GOTOOLCHAIN", "local"),
];

/// Variables that change which code a program runs, without being asked to. The sandbox holds
/// whatever runs; these are refused so that a call says what it starts.
const REFUSED: &[&str] = &[
    "GLIBC_TUNABLES",
    "GCONV_PATH",
    "BASH_ENV",
    "ENV",
    "NODE_OPTIONS",
    "PERL5OPT",
    "PYTHONSTARTUP",
    "PYTHONHOME",
    "RUBYOPT",
    "RUSTC_WRAPPER",
    "RUSTC_WORKSPACE_WRAPPER",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "_JAVA_OPTIONS",
    "GIT_EXEC_PATH",
    "GIT_TEMPLATE_DIR",
    "GIT_EXTERNAL_DIFF",
    "GIT_PROXY_COMMAND",
    "GIT_ALLOW_PROTOCOL",
];

/// The same, by how a name begins.
const REFUSED_PREFIXES: &[&str] = &[
    "LD_",
    "DYLD_",
    "BASH_FUNC_",
    "GIT_CONFIG",
    "GIT_SSH",
    "GIT_PAGER",
    "GIT_EDITOR",
    "GIT_SEQUENCE_EDITOR",
    "GIT_ASKPASS",
];

/// Why the environment of a call is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum EnvironmentError {
    #[error("the variable {0} changes which code a program runs, so a call cannot set it")]
    Refused(String),
    #[error("`{0}` is no name of a variable")]
    Name(String),
    #[error("the value of {0} holds a NUL")]
    Value(String),
    #[error("a call can set at most {MOST_VARIABLES} variables of {MOST_BYTES} bytes together")]
    TooMuch,
}

/// The environment of one process: what always is, what the user passes on, what the call adds.
pub(super) fn build(
    search_path: &[PathBuf],
    passed: &[(String, String)],
    added: &[(String, String)],
) -> Result<Vec<(String, String)>, EnvironmentError> {
    check(added)?;
    let mut environment: Vec<(String, String)> = ALWAYS
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    set(&mut environment, "PATH", &joined(search_path));
    set(&mut environment, "GIT_CONFIG_COUNT", &GIT.len().to_string());
    for (index, (key, value)) in GIT.iter().enumerate() {
        set(&mut environment, &format!("GIT_CONFIG_KEY_{index}"), key);
        set(
            &mut environment,
            &format!("GIT_CONFIG_VALUE_{index}"),
            value,
        );
    }
    for (name, value) in passed.iter().chain(added) {
        set(&mut environment, name, value);
    }
    Ok(environment)
}

fn check(added: &[(String, String)]) -> Result<(), EnvironmentError> {
    let bytes: usize = added
        .iter()
        .map(|(name, value)| name.len() + value.len())
        .sum();
    if added.len() > MOST_VARIABLES || bytes > MOST_BYTES {
        return Err(EnvironmentError::TooMuch);
    }
    for (name, value) in added {
        if name.is_empty() || name.contains(['=', '\0']) {
            return Err(EnvironmentError::Name(name.clone()));
        }
        if value.contains('\0') {
            return Err(EnvironmentError::Value(name.clone()));
        }
        if REFUSED.contains(&name.as_str())
            || REFUSED_PREFIXES
                .iter()
                .any(|prefix| name.starts_with(prefix))
        {
            return Err(EnvironmentError::Refused(name.clone()));
        }
    }
    Ok(())
}

fn set(environment: &mut Vec<(String, String)>, name: &str, value: &str) {
    match environment.iter_mut().find(|(known, _)| known == name) {
        Some((_, standing)) => value.clone_into(standing),
        None => environment.push((name.to_owned(), value.to_owned())),
    }
}

/// As `PATH` spells it. What is not text, or holds a colon, cannot be in it.
fn joined(search_path: &[PathBuf]) -> String {
    search_path
        .iter()
        .filter_map(|directory| Path::to_str(directory))
        .filter(|directory| !directory.contains(':'))
        .collect::<Vec<_>>()
        .join(":")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(name: &str, value: &str) -> (String, String) {
        (name.to_owned(), value.to_owned())
    }

    #[test]
    fn the_call_wins_over_the_user_and_both_over_what_always_is() {
        let built = build(
            &["/usr/bin".into(), "/a:b".into(), "/bin".into()],
            &[pair("GOFLAGS", "-mod=vendor"), pair("LANG", "de_DE.UTF-8")],
            &[pair("LANG", "C"), pair("MINE", "1")],
        )
        .expect("an environment");
        let get = |name: &str| {
            let all: Vec<_> = built.iter().filter(|(known, _)| known == name).collect();
            assert!(all.len() <= 1, "{name} once");
            all.first().map(|(_, value)| value.as_str())
        };
        assert_eq!(get("PATH"), Some("/usr/bin:/bin"));
        assert_eq!(get("LANG"), Some("C"));
        assert_eq!(get("GOFLAGS"), Some("-mod=vendor"));
        assert_eq!(get("MINE"), Some("1"));
        assert_eq!(get("HOME"), Some(HOME));
        assert_eq!(get("GIT_CONFIG_KEY_0"), Some("core.hooksPath"));
        assert_eq!(get("GIT_CONFIG_VALUE_0"), Some("/dev/null"));
    }

    #[test]
    fn a_table_of_variables_that_are_refused() {
        for name in [
            "LD_PRELOAD",
            "LD_LIBRARY_PATH",
            "LD_AUDIT",
            "GLIBC_TUNABLES",
            "BASH_ENV",
            "BASH_FUNC_ls%%",
            "NODE_OPTIONS",
            "GIT_CONFIG_COUNT",
            "GIT_CONFIG_PARAMETERS",
            "GIT_SSH_COMMAND",
            "GIT_EXTERNAL_DIFF",
        ] {
            assert_eq!(
                build(&[], &[], &[pair(name, "x")]),
                Err(EnvironmentError::Refused(name.to_owned()))
            );
        }
        for name in ["", "A=B", "A\0"] {
            assert_eq!(
                build(&[], &[], &[pair(name, "x")]),
                Err(EnvironmentError::Name(name.to_owned()))
            );
        }
        assert_eq!(
            build(&[], &[], &[pair("A", &"x".repeat(MOST_BYTES))]),
            Err(EnvironmentError::TooMuch)
        );
    }
}
