//! No privileges, now and later.
//!
//! Owns giving up what the new user namespace gave: the capabilities that were needed to mount.
//! It must never keep one.

use super::{Failure, at};
use crate::process::layers::Layer;
use rustix::process::DumpableBehavior;
use rustix::thread::{CapabilitySet, CapabilitySets};

/// Gives up every capability, and the ways to gain one.
pub(super) fn drop_all() -> Result<(), Failure> {
    let failed = at::<rustix::io::Errno>;
    for capability in CapabilitySet::all().iter() {
        match rustix::thread::remove_capability_from_bounding_set(capability) {
            // An older kernel does not know it, and so cannot give it.
            Ok(()) | Err(rustix::io::Errno::INVAL) => {}
            Err(error) => return Err(failed(Layer::NoPrivileges, "bound the capabilities")(error)),
        }
    }
    rustix::thread::clear_ambient_capability_set().map_err(failed(
        Layer::NoPrivileges,
        "clear the ambient capabilities",
    ))?;
    let none = CapabilitySets {
        effective: CapabilitySet::empty(),
        permitted: CapabilitySet::empty(),
        inheritable: CapabilitySet::empty(),
    };
    rustix::thread::set_capabilities(None, none)
        .map_err(failed(Layer::NoPrivileges, "drop the capabilities"))?;
    rustix::thread::set_no_new_privs(true)
        .map_err(failed(Layer::NoPrivileges, "give up new privileges"))?;
    // The program may not look into the first process, or write to it.
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)
        .map_err(failed(Layer::NoPrivileges, "close the first process"))
}
