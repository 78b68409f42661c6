//! What the processes of one sandbox may use.
//!
//! Owns the limits of each process and the one of all together. The latter is the most process
//! numbers of the namespace where the kernel has that (Linux 6.14), because the usual limit does
//! not hold for root; elsewhere the first process counts. It must never raise a limit.

use super::{Failure, at};
use crate::process::layers::Layer;
use crate::process::plan::ProcessLimits;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::io;

/// Numbers that the kernel keeps for itself once all have been used once.
const RESERVED_NUMBERS: u64 = 300;

/// Limits the processes of the namespace together. Answers whether they must be counted, too.
pub(super) fn of_namespace(limits: &ProcessLimits) -> Result<bool, Failure> {
    if rustix::process::geteuid().as_raw() != 0 {
        // The usual limit holds, for the user namespace alone.
        return Ok(false);
    }
    let most = limits.processes + RESERVED_NUMBERS;
    match std::fs::write("/proc/sys/kernel/pid_max", most.to_string()) {
        Ok(()) => Ok(false),
        // The file belongs to the whole machine before Linux 6.14.
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem
            ) =>
        {
            Ok(true)
        }
        Err(error) => Err(at(Layer::ResourceLimits, "limit the processes")(error)),
    }
}

/// Limits this process and what it starts, in a user namespace of its own.
pub(super) fn of_process(limits: &ProcessLimits) -> io::Result<()> {
    lower(Resource::Nproc, limits.processes)?;
    without_namespace(limits)
}

/// The same, but for the most processes: outside of an own user namespace the kernel counts all
/// that the user runs.
pub(super) fn without_namespace(limits: &ProcessLimits) -> io::Result<()> {
    for (resource, most) in [
        (Resource::Fsize, limits.file_bytes),
        (Resource::As, limits.address_space_bytes),
        (Resource::Nofile, limits.open_files),
        (Resource::Core, 0),
    ] {
        lower(resource, most)?;
    }
    Ok(())
}

fn lower(resource: Resource, most: u64) -> io::Result<()> {
    let most = Some(most.min(getrlimit(resource).maximum.unwrap_or(u64::MAX)));
    setrlimit(
        resource,
        Rlimit {
            current: most,
            maximum: most,
        },
    )?;
    Ok(())
}
