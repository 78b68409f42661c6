//! hotcell's own directories, and the rule that no workspace reaches them.
//!
//! Compiled components in the cache are native code, and the configuration says what is allowed.
//! A tool that may write to a workspace holding either could forge both, so such a workspace is
//! refused before anything runs.

use super::{ConfigError, Environment};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Where hotcell keeps its own files, by the XDG base directory specification. Each is `None`
/// where neither its variable nor a home is there.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Directories {
    /// Holds `hotcell.toml`, `.env` and `skills/`: `$XDG_CONFIG_HOME/hotcell`.
    pub config: Option<PathBuf>,
    /// Holds compiled components: `$XDG_CACHE_HOME/hotcell`.
    pub cache: Option<PathBuf>,
    /// Holds sessions and what undo keeps: `$XDG_DATA_HOME/hotcell`.
    pub data: Option<PathBuf>,
}

impl Directories {
    /// Reads them from the environment of the process. A `.env` file cannot move them: it is
    /// found by them.
    pub fn of(environment: &Environment) -> Self {
        let directory = |variable: &str, below_home: &str| {
            environment
                .absolute(variable)
                .map(Path::to_owned)
                .or_else(|| environment.home().map(|home| home.join(below_home)))
                .map(|base| base.join("hotcell"))
        };
        Directories {
            config: directory("XDG_CONFIG_HOME", ".config"),
            cache: directory("XDG_CACHE_HOME", ".cache"),
            data: directory("XDG_DATA_HOME", ".local/share"),
        }
    }

    /// The user's settings file, whether or not it exists.
    pub fn settings_file(&self) -> Option<PathBuf> {
        self.config.as_ref().map(|dir| dir.join("hotcell.toml"))
    }

    /// The user's `.env` file, whether or not it exists.
    pub fn env_file(&self) -> Option<PathBuf> {
        self.config.as_ref().map(|dir| dir.join(".env"))
    }

    /// Where sessions are kept unless another file is named.
    pub(super) fn sessions_file(&self) -> Option<PathBuf> {
        self.data.as_ref().map(|dir| dir.join("sessions.db"))
    }

    /// Refuses a workspace that contains what hotcell trusts, or is inside of it. Links are
    /// followed, and a directory that does not exist yet counts as well: a tool could make it.
    pub(super) fn check_apart(
        &self,
        workspace: &Path,
        env_file: Option<&Path>,
        db: Option<&Path>,
    ) -> Result<(), ConfigError> {
        let settings_file = self.settings_file();
        let own_env_file = self.env_file();
        let trusted: [(&'static str, Option<&Path>, Option<&'static str>); 7] = [
            (
                "hotcell's configuration directory",
                self.config.as_deref(),
                Some("XDG_CONFIG_HOME"),
            ),
            (
                "hotcell's cache directory",
                self.cache.as_deref(),
                Some("XDG_CACHE_HOME"),
            ),
            (
                "hotcell's data directory",
                self.data.as_deref(),
                Some("XDG_DATA_HOME"),
            ),
            ("the user's hotcell.toml", settings_file.as_deref(), None),
            ("the user's .env", own_env_file.as_deref(), None),
            ("the file of --env-file", env_file, None),
            ("the file of --db", db, None),
        ];
        for (what, path, variable) in trusted {
            let Some(path) = path.map(canonical_as_far_as_it_exists) else {
                continue;
            };
            let relation = if path.starts_with(workspace) {
                "contains"
            } else if workspace.starts_with(&path) {
                "is inside"
            } else {
                continue;
            };
            return Err(ConfigError::WorkspaceHoldsOwnFiles {
                workspace: workspace.to_owned(),
                relation,
                what,
                path,
                variable,
            });
        }
        Ok(())
    }
}

/// Makes a directory that only its user sees, with those above it; one that is there stays as it is.
///
/// # Errors
/// Those of the system.
pub fn private_directory(path: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// The canonical workspace.
pub(super) fn workspace(
    asked: Option<&Path>,
    environment: &Environment,
) -> Result<PathBuf, ConfigError> {
    let typed = asked.unwrap_or(Path::new("."));
    let refused = |why: String| ConfigError::Workspace {
        path: typed.to_owned(),
        why,
    };
    let path = if typed.is_absolute() {
        typed.to_owned()
    } else {
        environment
            .current_dir()
            .map(|current| current.join(typed))
            .ok_or_else(|| refused("the current directory is gone".to_owned()))?
    };
    let canonical = path
        .canonicalize()
        .map_err(|error| refused(error.to_string()))?;
    if !canonical.is_dir() {
        return Err(refused("it is not a directory".to_owned()));
    }
    Ok(canonical)
}

/// Follows the links of the part of `path` that exists and keeps the rest as it is written. A link
/// that leads nowhere yet is followed too: a tool could make what it leads to.
fn canonical_as_far_as_it_exists(path: &Path) -> PathBuf {
    /// As many links as Linux follows in one path.
    const MOST_LINKS: usize = 40;
    let mut links = 0;
    let mut rest: Vec<OsString> = Vec::new();
    let mut head = path.to_owned();
    loop {
        if let Ok(canonical) = head.canonicalize() {
            return rest
                .iter()
                .rev()
                .fold(canonical, |done, part| done.join(part));
        }
        let (Some(parent), Some(name)) = (head.parent(), head.file_name()) else {
            return path.to_owned();
        };
        match head.read_link() {
            Ok(target) if links < MOST_LINKS => {
                links += 1;
                head = parent.join(target);
            }
            _ => {
                rest.push(name.to_owned());
                head = parent.to_owned();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn directories(pairs: &[(&str, &str)]) -> Directories {
        Directories::of(&Environment::from_map(pairs.iter().copied(), "/w"))
    }

    #[test]
    fn a_table_of_xdg_variables() {
        type Case = (
            &'static [(&'static str, &'static str)],
            Option<&'static str>,
            Option<&'static str>,
        );
        let cases: &[Case] = &[
            (&[], None, None),
            (
                &[("HOME", "/h")],
                Some("/h/.config/hotcell"),
                Some("/h/.cache/hotcell"),
            ),
            (
                &[("HOME", "/h"), ("XDG_CONFIG_HOME", "/c")],
                Some("/c/hotcell"),
                Some("/h/.cache/hotcell"),
            ),
            (
                &[("HOME", "/h"), ("XDG_CONFIG_HOME", "relative")],
                Some("/h/.config/hotcell"),
                Some("/h/.cache/hotcell"),
            ),
            (&[("XDG_CACHE_HOME", "/x")], None, Some("/x/hotcell")),
            (&[("HOME", "relative")], None, None),
        ];
        for (variables, config, cache) in cases {
            let found = directories(variables);
            assert_eq!(found.config, config.map(PathBuf::from), "{variables:?}");
            assert_eq!(found.cache, cache.map(PathBuf::from), "{variables:?}");
        }
    }

    /// What `check_apart` says about a workspace below a fresh home, or `None` where it is fine.
    fn relation(workspace: &str, make: impl FnOnce(&Path)) -> Option<(&'static str, &'static str)> {
        let temp = tempfile::tempdir().expect("temporary directory");
        let root = temp.path().canonicalize().expect("it exists");
        let workspace = root.join(workspace);
        std::fs::create_dir_all(&workspace).expect("workspace");
        std::fs::create_dir_all(root.join("home/.config")).expect("home");
        make(&root);
        let environment = Environment::from_map([("HOME", root.join("home"))], "/w");
        match Directories::of(&environment).check_apart(
            &workspace,
            Some(&root.join("keys/env")),
            Some(&root.join("kept/sessions.db")),
        ) {
            Ok(()) => None,
            Err(ConfigError::WorkspaceHoldsOwnFiles { relation, what, .. }) => {
                Some((relation, what))
            }
            Err(other) => panic!("{other}"),
        }
    }

    #[test]
    fn a_workspace_apart_from_our_files_is_fine() {
        assert_eq!(relation("home/project", |_| ()), None);
        assert_eq!(relation("home/.config/hotcell-project", |_| ()), None);
    }

    #[test]
    fn a_workspace_that_reaches_our_files_is_refused() {
        let config = "hotcell's configuration directory";
        for (workspace, expected) in [
            ("home", ("contains", config)),
            ("home/.config", ("contains", config)),
            ("home/.config/hotcell", ("contains", config)),
            ("home/.config/hotcell/skills", ("is inside", config)),
            ("home/.cache", ("contains", "hotcell's cache directory")),
            (
                "home/.local/share/hotcell/undo",
                ("is inside", "hotcell's data directory"),
            ),
            (
                "home/.cache/hotcell/x",
                ("is inside", "hotcell's cache directory"),
            ),
            ("keys", ("contains", "the file of --env-file")),
            ("kept", ("contains", "the file of --db")),
        ] {
            assert_eq!(relation(workspace, |_| ()), Some(expected), "{workspace}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_out_of_the_configuration_are_followed() {
        use std::os::unix::fs::symlink;
        let link = |to: &'static str, at: &'static str| {
            move |root: &Path| {
                let at = root.join(at);
                std::fs::create_dir_all(at.parent().expect("parent")).expect("directory");
                symlink(root.join(to), at).expect("link");
            }
        };
        assert_eq!(
            relation("dotfiles", link("dotfiles", "home/.config/hotcell")),
            Some(("contains", "hotcell's configuration directory"))
        );
        // Leads nowhere yet.
        assert_eq!(
            relation("dotfiles", link("dotfiles/later", "home/.config/hotcell")),
            Some(("contains", "hotcell's configuration directory"))
        );
        assert_eq!(
            relation(
                "dotfiles",
                link("dotfiles/h.toml", "home/.config/hotcell/hotcell.toml")
            ),
            Some(("contains", "the user's hotcell.toml"))
        );
    }

    #[test]
    fn a_workspace_must_be_a_directory() {
        let temp = tempfile::tempdir().expect("temporary directory");
        let file = temp.path().join("file");
        std::fs::write(&file, "").expect("file");
        let environment = Environment::from_map([("HOME", "/h")], temp.path());
        for (asked, fine) in [
            (None, true),
            (Some("."), true),
            (Some("file"), false),
            (Some("missing"), false),
        ] {
            let found = workspace(asked.map(Path::new), &environment);
            assert_eq!(found.is_ok(), fine, "{asked:?}: {found:?}");
        }
    }
}
