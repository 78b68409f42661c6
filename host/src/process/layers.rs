//! The layers of the process sandbox, and which of them this kernel gives.
//!
//! Owns their names and order. A layer is found by building it, in a launcher that starts no
//! program, never by looking at a version. It must never decide what to do about one that lacks.

use serde::{Deserialize, Serialize};
use std::fmt;

/// One layer of the sandbox, in the order they are built.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layer {
    /// An own user namespace, in which the process has no capability over anything outside.
    UserNamespace,
    /// An own mount namespace: only what the process may see is mounted.
    MountNamespace,
    /// An own process namespace, which ends with its first process.
    ProcessNamespace,
    /// An own network namespace, without any interface.
    NetworkNamespace,
    /// Own System V and POSIX message queues.
    IpcNamespace,
    /// An own host name.
    NameNamespace,
    /// An own root directory, with masked paths hidden and protected ones read-only.
    PrivateRoot,
    /// An own `/proc`, of the own process namespace.
    PrivateProc,
    /// The most processes, and what each may use.
    ResourceLimits,
    /// No new privileges, no capabilities.
    NoPrivileges,
    /// Landlock: file access by path, at least ABI 3 (Linux 6.2).
    Landlock,
    /// seccomp: system calls that are refused.
    SystemCalls,
}

impl Layer {
    /// Every layer, in the order they are built.
    pub const ALL: [Layer; 12] = [
        Layer::UserNamespace,
        Layer::MountNamespace,
        Layer::ProcessNamespace,
        Layer::NetworkNamespace,
        Layer::IpcNamespace,
        Layer::NameNamespace,
        Layer::PrivateRoot,
        Layer::PrivateProc,
        Layer::ResourceLimits,
        Layer::NoPrivileges,
        Layer::Landlock,
        Layer::SystemCalls,
    ];

    /// Its name for people.
    pub const fn name(self) -> &'static str {
        match self {
            Layer::UserNamespace => "user namespace",
            Layer::MountNamespace => "mount namespace",
            Layer::ProcessNamespace => "process namespace",
            Layer::NetworkNamespace => "network namespace",
            Layer::IpcNamespace => "IPC namespace",
            Layer::NameNamespace => "host name namespace",
            Layer::PrivateRoot => "private root directory",
            Layer::PrivateProc => "private /proc",
            Layer::ResourceLimits => "resource limits",
            Layer::NoPrivileges => "no privileges",
            Layer::Landlock => "Landlock",
            Layer::SystemCalls => "seccomp",
        }
    }

    /// What gives the layer where it lacks.
    pub const fn remedy(self) -> &'static str {
        match self {
            Layer::UserNamespace | Layer::MountNamespace => {
                "allow unprivileged user namespaces: sysctl user.max_user_namespaces, \
                 and kernel.apparmor_restrict_unprivileged_userns=0 on Ubuntu"
            }
            Layer::PrivateProc => {
                "in a container, run it with an unmasked /proc \
                 (docker run --security-opt systempaths=unconfined)"
            }
            Layer::Landlock => {
                "Linux 6.2 or later with `landlock` among the `lsm=` of its command line"
            }
            Layer::SystemCalls => "a kernel with CONFIG_SECCOMP_FILTER",
            _ => "a kernel with namespaces, outside of a container that forbids them",
        }
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Whether a layer is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LayerState {
    /// It was built.
    Given,
    /// It could not be built; what the kernel said.
    Lacking(String),
    /// Not tried, because one before it lacks.
    NotTried,
}

/// Which layers this machine gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layers {
    lacking: Option<(Layer, String)>,
}

impl Layers {
    /// Every layer is there.
    pub const fn complete() -> Self {
        Layers { lacking: None }
    }

    /// `layer` could not be built.
    pub fn lacking(layer: Layer, why: impl Into<String>) -> Self {
        Layers {
            lacking: Some((layer, why.into())),
        }
    }

    /// The first layer that could not be built, and what the kernel said.
    pub fn first_lacking(&self) -> Option<(Layer, &str)> {
        let (layer, why) = self.lacking.as_ref()?;
        Some((*layer, why))
    }

    /// Each layer with its state.
    pub fn iter(&self) -> impl Iterator<Item = (Layer, LayerState)> {
        Layer::ALL.into_iter().map(|layer| {
            let state = match &self.lacking {
                Some((lacking, why)) if *lacking == layer => LayerState::Lacking(why.clone()),
                Some((lacking, _)) if *lacking < layer => LayerState::NotTried,
                _ => LayerState::Given,
            };
            (layer, state)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_after_the_one_that_lacks_are_not_tried() {
        let layers = Layers::lacking(Layer::Landlock, "no");
        let states: Vec<LayerState> = layers.iter().map(|(_, state)| state).collect();
        assert_eq!(states[..10], vec![LayerState::Given; 10]);
        assert_eq!(
            states[10..],
            [LayerState::Lacking("no".into()), LayerState::NotTried]
        );
    }
}
