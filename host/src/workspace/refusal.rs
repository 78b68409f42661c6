//! Why an operation did not happen.
//!
//! Owns the rules by name. A rule's text goes to the model as it stands: it names the path as the
//! workspace knows it, the rule, and what to do instead where there is something.

use super::Kind;
use rustix::io::Errno;
use std::path::{Path, PathBuf};

/// Why a file operation failed.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// A rule of the workspace.
    #[error(transparent)]
    Refused(#[from] Box<Refusal>),
    /// The system: the path is not there, the disk is full, and so on.
    #[error("{0}")]
    System(#[from] Errno),
}

/// An operation that a rule forbids.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{} {rule}", shown(.path))]
pub struct Refusal {
    /// Relative to the workspace, as far as it was resolved.
    pub path: PathBuf,
    /// The rule.
    pub rule: Rule,
}

/// The rules.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rule {
    /// By a link, `..` or an absolute path.
    #[error("leaves the workspace ({})", .target.display())]
    Leaves {
        /// Where it leads.
        target: PathBuf,
    },
    /// By `..`, from a directory that is not the root.
    #[error("leads above the directory that was opened; begin at the workspace")]
    Above,
    /// The file has other names, and those may be outside.
    #[error(
        "is a hard link: the file has {links} names and some may be outside the workspace; remove this one and write the file anew"
    )]
    HardLink {
        /// How many names it has.
        links: u64,
    },
    /// A directory on the way has become a link.
    #[error("is at {} now, by a link on the way", .place.display())]
    Elsewhere {
        /// Where it leads.
        place: PathBuf,
    },
    /// Only regular files and directories are opened.
    #[error("is a {kind}, not a regular file")]
    Special {
        /// What it is.
        kind: Kind,
    },
    /// A file system by which the kernel shows itself.
    #[error("is on a file system of the kernel, such as procfs")]
    Kernel,
    /// The grant is to read.
    #[error("cannot be changed: this call may only read")]
    ReadOnly,
    /// Metadata that runs code, or what settings protect.
    #[error("is protected against change (`{glob}`)")]
    Protected {
        /// The glob that says so.
        glob: String,
    },
    /// Something protected or masked lies below, and would be reached by another name.
    #[error("keeps its name and stays a directory, because of what is below it (`{glob}`)")]
    Keeps {
        /// The glob for what lies below.
        glob: String,
    },
    /// Does not exist for tools.
    #[error("is masked (`{glob}`): it does not exist for tools")]
    Masked {
        /// The glob that says so.
        glob: String,
    },
    /// Masked, and something was to be made there.
    #[error("is masked (`{glob}`): it cannot be made")]
    MaskedNew {
        /// The glob that says so.
        glob: String,
    },
    /// The two paths of one operation are in different directories that were given.
    #[error("is in another directory of this call, and nothing is moved or linked between them")]
    Between,
}

impl FileError {
    /// Whether it only says that nothing is at a real path: a directory on the way is missing, or
    /// something else, or a link, wherever that leads.
    pub fn is_absence(&self) -> bool {
        match self {
            FileError::System(number) => {
                matches!(*number, Errno::NOENT | Errno::NOTDIR | Errno::LOOP)
            }
            FileError::Refused(refusal) => {
                matches!(refusal.rule, Rule::Elsewhere { .. } | Rule::Leaves { .. })
            }
        }
    }

    pub(super) fn refused(path: &Path, rule: Rule) -> Self {
        FileError::Refused(Box::new(Refusal {
            path: path.to_owned(),
            rule,
        }))
    }

    /// The same error where something was to be made: a masked path is then no missing one.
    #[must_use]
    pub(super) fn when_making(self) -> Self {
        match self {
            FileError::Refused(mut refusal) => {
                if let Rule::Masked { glob } = refusal.rule {
                    refusal.rule = Rule::MaskedNew { glob };
                }
                FileError::Refused(refusal)
            }
            system @ FileError::System(_) => system,
        }
    }
}

fn shown(path: &Path) -> String {
    if path.as_os_str().is_empty() {
        "the workspace".to_owned()
    } else {
        // A name may hold anything; quotes and escapes keep it one line.
        let text = path.to_string_lossy();
        if text.chars().any(char::is_control) {
            format!("{text:?}")
        } else {
            text.into_owned()
        }
    }
}
