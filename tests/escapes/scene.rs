//! A workspace with traps in it, a world around it, and a picture of both.
//!
//! Must never know what is tried.

use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// What nobody may say.
pub const CANARY: &str = "CANARY-7f3a91";

/// What a file holds that is a hard link to one outside, which may be read.
pub const SHARED: &str = "shared-by-a-hard-link";

/// The workspace, its skills, and what is none of theirs.
pub struct Scene {
    root: TempDir,
    _socket: UnixListener,
}

impl Scene {
    pub fn new() -> Scene {
        let place = tempfile::tempdir().expect("a temporary directory");
        let root = place.path();
        for directory in [
            "ws/sub",
            "ws/.git/hooks",
            "ws/vendor/sub/.git/hooks",
            "ws/.ssh",
            "ws-evil",
            "outside/sub",
            "skills/one",
            "skills-evil/two",
        ] {
            fs::create_dir_all(root.join(directory)).expect("a directory");
        }
        let skill = |text: &str| format!("---\nname: x\ndescription: y\n---\n{text}\n");
        for (file, content) in [
            ("ws/.env", CANARY.to_owned()),
            ("ws/.ssh/id_rsa", CANARY.to_owned()),
            ("ws-evil/f", CANARY.to_owned()),
            ("outside/f", CANARY.to_owned()),
            ("outside/sub/f", CANARY.to_owned()),
            ("outside/script.sh", format!("#!/bin/sh\necho {CANARY}\n")),
            ("outside/shared", SHARED.to_owned()),
            ("skills-evil/two/SKILL.md", skill(CANARY)),
            ("skills/one/SKILL.md", skill("the skill")),
            ("ws/kept.txt", "kept\n".to_owned()),
            ("ws/.git/config", "kept\n".to_owned()),
            ("ws/.git/hooks/pre-commit", "kept\n".to_owned()),
        ] {
            fs::write(root.join(file), content).expect("a file");
        }
        let outside = root.join("outside");
        for (target, link) in [
            (outside.clone(), "ws/outbox"),
            (PathBuf::from("../outside"), "ws/relative"),
            (PathBuf::from("relative"), "ws/chained"),
            (PathBuf::from("sub/../../outside"), "ws/winding"),
            (outside.join("f"), "ws/file"),
            (outside.join("new"), "ws/dangling"),
            (PathBuf::from("/proc/self"), "ws/proc"),
            (PathBuf::from("/"), "ws/root"),
            (PathBuf::from("round"), "ws/round"),
            (PathBuf::from(".git"), "ws/git"),
            (PathBuf::from(".env"), "ws/environment"),
            (root.join("skills-evil/two"), "skills/linked"),
        ] {
            symlink(target, root.join(link)).expect("a link");
        }
        fs::hard_link(outside.join("shared"), root.join("ws/hard.txt")).expect("a link");
        rustix::fs::mkfifoat(
            rustix::fs::CWD,
            root.join("ws/fifo"),
            rustix::fs::Mode::from(0o600),
        )
        .expect("a FIFO");
        let socket = UnixListener::bind(root.join("ws/socket")).expect("a socket");
        Scene {
            root: place,
            _socket: socket,
        }
    }

    /// A path below the root of the scene.
    pub fn at(&self, below: &str) -> PathBuf {
        let root = self.root.path().canonicalize().expect("it is there");
        root.join(below)
    }

    /// Everything, to compare: what is around the workspace, and what is in it.
    pub fn picture(&self) -> BTreeMap<PathBuf, String> {
        let mut found = BTreeMap::new();
        let mut ahead = vec![self.at("")];
        while let Some(place) = ahead.pop() {
            let metadata = fs::symlink_metadata(&place).expect("it is there");
            let mut is_dated = true;
            let content = if metadata.is_dir() {
                let entries = fs::read_dir(&place).expect("it is readable");
                ahead.extend(entries.map(|entry| entry.expect("it is readable").path()));
                // What is made and removed again in the workspace leaves its time behind.
                is_dated = !place.starts_with(self.at("ws"));
                String::new()
            } else if metadata.is_symlink() {
                format!("{:?}", fs::read_link(&place).expect("a link"))
            } else if metadata.is_file() {
                digest(&place)
            } else {
                format!("{:?}", metadata.file_type())
            };
            let changed = (metadata.mtime(), metadata.mtime_nsec());
            let changed = is_dated.then_some(changed);
            let (mode, links) = (metadata.mode(), metadata.nlink());
            let links = if metadata.is_dir() { 0 } else { links };
            found.insert(place, format!("{mode:o} {links} {changed:?} {content}"));
        }
        found
    }
}

fn digest(file: &Path) -> String {
    let bytes = fs::read(file).expect("it is readable");
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What differs, for a message.
pub fn difference(
    before: &BTreeMap<PathBuf, String>,
    after: &BTreeMap<PathBuf, String>,
) -> Vec<String> {
    let gone = before
        .iter()
        .filter(|(path, kept)| after.get(*path) != Some(*kept));
    let come = after
        .iter()
        .filter(|(path, kept)| before.get(*path) != Some(*kept));
    gone.map(|(path, kept)| format!("- {} {kept}", path.display()))
        .chain(come.map(|(path, kept)| format!("+ {} {kept}", path.display())))
        .collect()
}

/// The picture is what every test here is judged by, so it has to see.
#[test]
fn the_picture_sees_every_kind_of_change() {
    type Change = fn(&Scene);
    let changes: &[(&str, Change)] = &[
        ("content", |scene| {
            let file = scene.at("outside/f");
            let times = fs::metadata(&file).and_then(|found| found.modified());
            fs::write(&file, "CANARY-7f3a92").expect("written");
            let handle = fs::File::options().write(true).open(&file).expect("opens");
            handle.set_modified(times.expect("times")).expect("set");
        }),
        ("time", |scene| {
            let handle = fs::File::open(scene.at("outside/f")).expect("opens");
            handle
                .set_modified(std::time::SystemTime::UNIX_EPOCH)
                .expect("set");
        }),
        ("mode", |scene| {
            use std::os::unix::fs::PermissionsExt;
            let mode = fs::Permissions::from_mode(0o600);
            fs::set_permissions(scene.at("outside/f"), mode).expect("set");
        }),
        ("a new name", |scene| {
            fs::write(scene.at("outside/new"), "").expect("written");
        }),
        ("a name gone", |scene| {
            fs::remove_file(scene.at("ws-evil/f")).expect("removed");
        }),
        ("another link", |scene| {
            fs::hard_link(scene.at("outside/f"), scene.at("ws/stolen")).expect("linked");
        }),
        ("a protected file", |scene| {
            fs::write(scene.at("ws/.git/config"), "owned").expect("written");
        }),
    ];
    for (name, change) in changes {
        let scene = Scene::new();
        let before = scene.picture();
        assert_eq!(scene.picture(), before);
        change(&scene);
        assert!(!difference(&before, &scene.picture()).is_empty(), "{name}");
    }
}
