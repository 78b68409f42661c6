//! Landlock: which paths may be read and written.
//!
//! Owns the rule set. The mounts say what is there; this says what may be done with it, and keeps
//! saying it when a mount should have been forgotten. It must never grant more than the view.

use super::root::{DEVICES, SHARED_MEMORY};
use super::{Failure, at};
use crate::process::environment::HOME;
use crate::process::layers::Layer;
use crate::process::place::TEMPORARY_MOUNT;
use crate::process::plan::View;
use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd,
    Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError, Scope,
};
use std::io;
use std::path::Path;

/// What has to be there: without truncation (ABI 3) a file could be emptied that cannot be written.
const LEAST: ABI = ABI::V3;

/// What is used where it is there.
const BEST: ABI = ABI::V7;

/// Makes the rules. They hold for nobody until [`restrict`].
pub(super) fn ruleset(view: &View) -> Result<RulesetCreated, Failure> {
    rules(view).map_err(at(Layer::Landlock, "make the rules"))
}

/// Binds this process, and what it starts, to the rules.
pub(super) fn restrict(rules: RulesetCreated) -> io::Result<()> {
    rules
        .restrict_self()
        .map(drop)
        .map_err(|error| io::Error::other(error.to_string()))
}

fn rules(view: &View) -> Result<RulesetCreated, RulesetError> {
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(LEAST))?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(BEST))?
        .scope(Scope::AbstractUnixSocket | Scope::Signal)?;
    if !view.network {
        rules = rules.handle_access(AccessNet::from_all(BEST))?;
    }
    let read = AccessFs::from_read(BEST);
    let write =
        AccessFs::from_all(BEST) & !(AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::IoctlDev);
    let mut created = rules.create()?;
    for path in &view.readable {
        created = allow(created, path, read)?;
    }
    let workspace = if view.workspace.writable { write } else { read };
    created = allow(created, &view.workspace.mount, workspace)?;
    created = allow(created, Path::new(TEMPORARY_MOUNT), write)?;
    created = allow(created, Path::new(HOME), write)?;
    created = allow(created, Path::new(SHARED_MEMORY), write)?;
    created = allow(created, Path::new("/proc"), read)?;
    for device in DEVICES {
        created = allow(
            created,
            &Path::new("/dev").join(device),
            AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate,
        )?;
    }
    Ok(created)
}

fn allow(
    rules: RulesetCreated,
    path: &Path,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, RulesetError> {
    // Not everything of the system is everywhere; what cannot be opened stays closed.
    let Ok(open) = PathFd::new(path) else {
        return Ok(rules);
    };
    let access = if path.is_dir() {
        access
    } else {
        access & AccessFs::from_file(BEST)
    };
    rules.add_rule(PathBeneath::new(open, access))
}
