//! Where a process works, and where it sees what it was given.
//!
//! Owns the two mounts and the meaning of a working directory. It must never look at a file.

use super::spawn::SpawnError;
use std::path::{Component, Path, PathBuf};

/// Where a process sees the workspace, beside its own path: as components do.
pub const WORKSPACE_MOUNT: &str = "/workspace";

/// Where a process sees the private directory of the session: as components do.
pub const TEMPORARY_MOUNT: &str = "/tmp";

/// Where a process works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// Below the workspace.
    Workspace(PathBuf),
    /// Below the private directory of the session.
    Temporary(PathBuf),
}

impl Place {
    /// As the process sees it.
    pub(super) fn inside(&self) -> PathBuf {
        self.below(Path::new(WORKSPACE_MOUNT), Path::new(TEMPORARY_MOUNT))
    }

    /// Where it is, for a process without an own root.
    pub(super) fn outside(&self, workspace: &Path, temporary: &Path) -> PathBuf {
        self.below(workspace, temporary)
    }

    fn below(&self, workspace: &Path, temporary: &Path) -> PathBuf {
        match self {
            Place::Workspace(below) => workspace.join(below),
            Place::Temporary(below) => temporary.join(below),
        }
    }
}

/// The directory that is asked for. Whether it is there, and where its links lead, the process
/// finds out inside of the sandbox.
pub(super) fn place(directory: &str) -> Result<Place, SpawnError> {
    let below = |mount: &str| {
        let below = Path::new(directory).strip_prefix(mount).ok()?;
        let is_plain = below
            .components()
            .all(|part| matches!(part, Component::Normal(_)));
        (is_plain && !directory.contains('\0')).then(|| below.to_owned())
    };
    if directory.is_empty() {
        return Ok(Place::Workspace(PathBuf::new()));
    }
    let workspace = below(WORKSPACE_MOUNT).map(Place::Workspace);
    workspace
        .or_else(|| below(TEMPORARY_MOUNT).map(Place::Temporary))
        .ok_or_else(|| {
            SpawnError::Denied(format!(
                "the working directory `{directory}` is not below {WORKSPACE_MOUNT} or {TEMPORARY_MOUNT}"
            ))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_of_working_directories() {
        let workspace = |below: &str| Some(Place::Workspace(below.into()));
        for (given, expected) in [
            ("", workspace("")),
            ("/workspace", workspace("")),
            ("/workspace/", workspace("")),
            ("/workspace/a/b", workspace("a/b")),
            ("/workspace/./a", workspace("a")),
            ("/tmp", Some(Place::Temporary("".into()))),
            ("/tmp/a", Some(Place::Temporary("a".into()))),
            ("/tmp/../etc", None),
            ("/tmpx", None),
            ("/workspace/../etc", None),
            ("/workspace/a/../..", None),
            ("/workspacex", None),
            ("/etc", None),
            ("a", None),
            ("../a", None),
            ("/workspace/a\0b", None),
        ] {
            assert_eq!(place(given).ok(), expected, "{given:?}");
        }
    }
}
