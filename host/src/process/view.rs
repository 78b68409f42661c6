//! What a process sees of the machine.
//!
//! Owns the list: directories of the system, the few things of `/etc` and `/dev` that programs
//! need, and the toolchains of the settings. What is not here is not mounted. It must never take a
//! path from the workspace.

use super::plan::{Exception, View, Workspace};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Directories of the system that are mounted whole, where they are.
const SYSTEM: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/opt",
    "/nix/store",
    "/etc",
];

/// Of what is mounted, what may not be read as a whole.
const IN_PART: &str = "/etc";

/// What programs read of `/etc`: where libraries and certificates are, names of users, zones. No
/// directory that holds private keys, which root could read.
const ETC: &[&str] = &[
    "alternatives",
    "ca-certificates",
    "ca-certificates.conf",
    "crypto-policies",
    "debian_version",
    "group",
    "host.conf",
    "hosts",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "locale.alias",
    "lsb-release",
    "mime.types",
    "nsswitch.conf",
    "os-release",
    "passwd",
    "pki/ca-trust",
    "pki/tls/cert.pem",
    "pki/tls/certs",
    "pki/tls/openssl.cnf",
    "protocols",
    "resolv.conf",
    "services",
    "ssl/cert.pem",
    "ssl/certs",
    "ssl/openssl.cnf",
    "terminfo",
    "timezone",
];

/// The parts of the view that are the same for every process.
#[derive(Debug, Clone)]
pub(super) struct Scene {
    mounts: Vec<PathBuf>,
    links: Vec<(PathBuf, PathBuf)>,
    readable: Vec<PathBuf>,
}

impl Scene {
    /// Looks at what is there. Paths that are not are left out.
    pub(super) fn look(read_paths: &[PathBuf]) -> Self {
        let mut scene = Scene {
            mounts: Vec::new(),
            links: Vec::new(),
            readable: Vec::new(),
        };
        for path in SYSTEM.iter().map(Path::new) {
            match std::fs::read_link(path) {
                Ok(target) => scene.links.push((path.to_owned(), target)),
                Err(_) if path.is_dir() => {
                    scene.mounts.push(path.to_owned());
                    if path != Path::new(IN_PART) {
                        scene.readable.push(path.to_owned());
                    }
                }
                Err(_) => {}
            }
        }
        for path in ETC.iter().map(|name| Path::new(IN_PART).join(name)) {
            let Ok(real) = path.canonicalize() else {
                continue;
            };
            scene.readable.push(path);
            // Such as the addresses of name servers, which may be a link to `/run`.
            if !scene.mounts.iter().any(|mount| real.starts_with(mount)) {
                scene.mounts.push(real.clone());
                scene.readable.push(real);
            }
        }
        let mut more: BTreeSet<PathBuf> = BTreeSet::new();
        for path in read_paths {
            // The root is not among them: everything is surely not meant.
            if let Ok(real) = path.canonicalize()
                && real.parent().is_some()
            {
                more.insert(real);
            }
        }
        // In order, so that parents come before what is below them.
        for path in more {
            if !scene.can_read(&path) {
                scene.mounts.push(path.clone());
                scene.readable.push(path);
            }
        }
        scene
    }

    /// Whether a process can read what is at `path`.
    pub(super) fn can_read(&self, path: &Path) -> bool {
        self.readable.iter().any(|parent| path.starts_with(parent))
    }

    /// The view of one process.
    pub(super) fn view(
        &self,
        workspace: Workspace,
        temporary: Option<PathBuf>,
        home: PathBuf,
        network: bool,
    ) -> View {
        View {
            workspace,
            temporary,
            home,
            mounts: self.mounts.clone(),
            links: self.links.clone(),
            readable: self.readable.clone(),
            network,
        }
    }
}

impl Workspace {
    /// The workspace at `path`, seen at `mount` as well.
    pub(super) fn new(
        path: &Path,
        mount: &str,
        writable: bool,
        exceptions: Vec<Exception>,
    ) -> Self {
        Workspace {
            path: path.to_owned(),
            mount: mount.into(),
            writable,
            exceptions,
        }
    }
}
