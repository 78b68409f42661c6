//! Own namespaces for one sandbox.
//!
//! Owns their order: the user namespace first, because it is what allows the others without
//! privileges, for root as well. It must never map another user than the present one.

use super::{Failure, at};
use crate::process::layers::Layer;
use rustix::thread::UnshareFlags;

/// Leaves the namespaces of the host. The process namespace holds for children only.
pub(super) fn enter(network: bool) -> Result<(), Failure> {
    let user = rustix::process::geteuid().as_raw();
    let group = rustix::process::getegid().as_raw();
    leave(Layer::UserNamespace, UnshareFlags::NEWUSER)?;
    let write = |file: &str, text: String| {
        std::fs::write(file, text).map_err(at(Layer::UserNamespace, "map the user"))
    };
    // Without this an unprivileged process may not map a group.
    write("/proc/self/setgroups", "deny".to_owned())?;
    write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    write("/proc/self/gid_map", format!("{group} {group} 1"))?;
    leave(Layer::MountNamespace, UnshareFlags::NEWNS)?;
    leave(Layer::ProcessNamespace, UnshareFlags::NEWPID)?;
    if !network {
        leave(Layer::NetworkNamespace, UnshareFlags::NEWNET)?;
    }
    leave(Layer::IpcNamespace, UnshareFlags::NEWIPC)?;
    leave(Layer::NameNamespace, UnshareFlags::NEWUTS)
}

fn leave(layer: Layer, flags: UnshareFlags) -> Result<(), Failure> {
    // SAFETY: the descriptor table is not among the flags, and there is one thread.
    unsafe { rustix::thread::unshare_unsafe(flags) }.map_err(at(layer, "unshare"))
}
