//! Which native programs there are: names, each pinned to a file.
//!
//! Owns the search. A name is looked up once, at the start, in the directories of the user's
//! search path that are outside of the workspace, and stays that file for as long as the process
//! lives. It must never take a path for a name, or look into the workspace.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A program that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pinned {
    /// Where it was found. A program that goes by its own name is started by this one.
    pub found: PathBuf,
    /// The file, links followed: what is started.
    pub real: PathBuf,
}

/// The programs that can be started, by name.
#[derive(Debug, Clone, Default)]
pub struct Programs {
    pinned: BTreeMap<String, Pinned>,
    search_path: Vec<PathBuf>,
}

/// Why a name cannot be started.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unavailable {
    /// It is a path, not a name.
    #[error(
        "`{0}` is a path; native programs are started by a name from `process.programs` in the user's hotcell.toml"
    )]
    Path(String),
    /// Nobody listed it.
    #[error(
        "`{0}` is not among the programs of this call; the user can add it to `process.programs` in their hotcell.toml"
    )]
    NotListed(String),
}

impl Programs {
    /// Looks for each of `names` in `search_path`, in its order. What is not found is left out:
    /// the list says what may run, not what is installed.
    pub fn find(names: &[String], search_path: &[PathBuf], workspace: &Path) -> Self {
        let search_path = outside(search_path, workspace);
        let pinned = names
            .iter()
            .filter(|name| is_name(name))
            .filter_map(|name| Some((name.clone(), find(name, &search_path, workspace)?)))
            .collect();
        Programs {
            pinned,
            search_path,
        }
    }

    /// The names of all programs that were found.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.pinned.keys().map(String::as_str)
    }

    /// Where processes look for programs: the user's search path without the workspace.
    pub(super) fn search_path(&self) -> &[PathBuf] {
        &self.search_path
    }

    /// The file of `name`; `None` where it was listed and not found.
    ///
    /// # Errors
    /// When the name is a path or is not in `allowed`.
    pub(super) fn get(
        &self,
        name: &str,
        allowed: &[String],
    ) -> Result<Option<&Pinned>, Unavailable> {
        if !is_name(name) {
            return Err(Unavailable::Path(name.to_owned()));
        }
        if !allowed.iter().any(|one| one == name) {
            return Err(Unavailable::NotListed(name.to_owned()));
        }
        Ok(self.pinned.get(name))
    }
}

/// A name is one component of a path, and no dots.
fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 255
        && text != "."
        && text != ".."
        && !text.contains(['/', '\\', '\0'])
}

/// Relative directories depend on where one stands, and the workspace is not the user's.
fn outside(search_path: &[PathBuf], workspace: &Path) -> Vec<PathBuf> {
    let mut kept = Vec::new();
    for directory in search_path {
        let Ok(real) = directory.canonicalize() else {
            continue;
        };
        if directory.is_absolute() && !real.starts_with(workspace) && !kept.contains(directory) {
            kept.push(directory.clone());
        }
    }
    kept
}

fn find(name: &str, search_path: &[PathBuf], workspace: &Path) -> Option<Pinned> {
    search_path.iter().find_map(|directory| {
        let found = directory.join(name);
        let real = found.canonicalize().ok()?;
        let fits = !real.starts_with(workspace) && is_executable(&real);
        fits.then_some(Pinned { found, real })
    })
}

#[cfg(unix)]
fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata()
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(file: &Path) -> bool {
    file.is_file()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn program(path: &Path) {
        fs::create_dir_all(path.parent().expect("a parent")).expect("directory");
        fs::write(path, "#!/bin/sh\n").expect("file");
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("mode");
    }

    #[test]
    fn a_program_is_found_outside_of_the_workspace_only() {
        let temp = tempfile::tempdir().expect("temporary directory");
        let root = temp.path().canonicalize().expect("real path");
        let workspace = root.join("ws");
        program(&workspace.join("bin/git"));
        program(&root.join("bin/git"));
        program(&workspace.join("evil"));
        symlink(workspace.join("evil"), root.join("bin/make")).expect("link");
        symlink(root.join("bin/git"), root.join("bin/git2")).expect("link");
        fs::write(root.join("bin/node"), "not executable").expect("file");
        symlink(workspace.join("bin"), root.join("way-in")).expect("link");
        let search = [
            PathBuf::from("bin"),
            workspace.join("bin"),
            root.join("way-in"),
            root.join("none"),
            root.join("bin"),
        ];
        let names = ["git", "git2", "make", "node", "../bin/git", "absent"].map(str::to_owned);
        let programs = Programs::find(&names, &search, &workspace);
        assert_eq!(programs.names().collect::<Vec<_>>(), ["git", "git2"]);
        assert_eq!(programs.search_path(), [root.join("bin")]);

        let pinned = programs.get("git2", &names).expect("listed");
        assert_eq!(
            pinned,
            Some(&Pinned {
                found: root.join("bin/git2"),
                real: root.join("bin/git"),
            })
        );
        assert_eq!(programs.get("absent", &names), Ok(None));
    }

    #[test]
    fn a_table_of_names_that_are_refused() {
        let programs = Programs::find(&[], &[], Path::new("/ws"));
        let allowed = ["git".to_owned()];
        for name in ["", ".", "..", "./git", "/usr/bin/git", "a/b", "gi\0t"] {
            assert_eq!(
                programs.get(name, &allowed),
                Err(Unavailable::Path(name.to_owned()))
            );
        }
        assert_eq!(
            programs.get("curl", &allowed),
            Err(Unavailable::NotListed("curl".to_owned()))
        );
    }
}
