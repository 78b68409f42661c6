//! Runs native programs in a sandbox of the operating system.
//!
//! Owns which programs there are, what each process sees and may, the launcher that builds the
//! sandbox around it, and its end with everything it started. It exists beside `sandbox`, because
//! a native program is held by other means than a component, but by the same grant. It must never
//! know wasmtime, who asked for the process, or how a grant was decided; and it never degrades:
//! where the kernel lacks a layer, nothing is started and the layer is named.

mod child;
mod environment;
#[cfg(target_os = "linux")]
mod follow;
#[cfg(target_os = "linux")]
mod launcher;
mod layers;
mod place;
#[cfg_attr(
    not(target_os = "linux"),
    expect(dead_code, reason = "nobody launches anything there")
)]
mod plan;
mod private;
mod programs;
mod settings;
mod spawn;
#[cfg(target_os = "linux")]
mod tree;
#[cfg(target_os = "linux")]
mod view;
#[cfg(target_os = "linux")]
mod wire;
#[cfg_attr(
    not(target_os = "linux"),
    expect(dead_code, reason = "nobody looks where nothing is launched")
)]
mod witness;

pub use child::{Child, Ended, Ending, Exit, Input, Output};
#[cfg(target_os = "linux")]
pub use launcher::launch;
pub use layers::{Layer, LayerState, Layers};
pub use place::{TEMPORARY_MOUNT, WORKSPACE_MOUNT};
pub use plan::ProcessLimits;
pub use private::PrivateDirectory;
pub use programs::{Programs, Unavailable};
pub use settings::ProcessSettings;
pub use spawn::{Command, Processes, ProcessesError, SpawnError};
pub use witness::{Look, MOST_SEEN, NotSeen, Seen, SeenKind, Witness};

/// The only argument of a hotcell that is started as a launcher. Not for people: it reads a plan
/// from its standard input, which must be a socket of ours.
pub const LAUNCH: &str = "__launch-process";
