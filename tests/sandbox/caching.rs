//! Compiled code on disk: used when whole, thrown away when not, and no way in.

use crate::support::{self, LIMITS, call, load, nothing, text};
use hotcell::sandbox::{Component, Sandbox, SandboxError};
use hotcell_test_artifacts::Guest;
use std::fs;
use std::path::{Path, PathBuf};

fn open(cache: &Path) -> Sandbox {
    let mut settings = support::settings(true);
    settings.cache = Some(cache.to_owned());
    Sandbox::new(settings).expect("the engine starts")
}

/// The file that keeps the code of a component.
fn entry(cache: &Path, component: &Component) -> PathBuf {
    let name = format!("{}.cwasm", component.digest());
    let mut found = Vec::new();
    for directory in fs::read_dir(cache).expect("it is readable") {
        let path = directory.expect("it is readable").path().join(&name);
        if path.exists() {
            found.push(path);
        }
    }
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}

async fn answer(component: &Component) -> String {
    let outcome = call(component, &nothing(LIMITS), "{}").await;
    text(&outcome).to_owned()
}

#[cfg(unix)]
fn inode(path: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(path).expect("it is there").ino()
}

/// Replaces an entry by something else; gets the whole entry and one of another guest.
type Damage = fn(&Path, &[u8], &Path);

const DAMAGES: [(&str, Damage); 8] = [
    ("emptied", |path, _, _| write(path, b"")),
    ("cut", |path, whole, _| {
        write(path, &whole[..whole.len() / 2])
    }),
    ("longer", |path, whole, _| {
        write(path, &[whole, b"more"].concat())
    }),
    ("a bit flipped in the middle", |path, whole, _| {
        let mut bytes = whole.to_vec();
        bytes[whole.len() / 2] ^= 1;
        write(path, &bytes);
    }),
    ("a bit flipped in the header", |path, whole, _| {
        let mut bytes = whole.to_vec();
        bytes[20] ^= 1;
        write(path, &bytes);
    }),
    ("a native program", |path, _, _| {
        write(path, b"\x7fELF\x02\x01\x01\0")
    }),
    ("the whole entry of another component", |path, _, other| {
        fs::copy(other, path).expect("it is copied");
    }),
    ("a directory", |path, _, _| {
        fs::remove_file(path).expect("it is removed");
        fs::create_dir(path).expect("it is made");
    }),
];

fn write(path: &Path, bytes: &[u8]) {
    fs::write(path, bytes).expect("it is written");
}

#[tokio::test]
async fn a_damaged_or_foreign_entry_is_never_loaded() {
    let directory = tempfile::tempdir().expect("a directory");
    for (name, damage) in DAMAGES {
        let cache = directory.path().join(name.replace(' ', "-"));
        let sandbox = open(&cache);
        let component = load(&sandbox, Guest::Fine);
        assert_eq!(answer(&component).await, "fine");
        let other = load(&sandbox, Guest::PointOutside);
        assert_eq!(other.ready().await, Ok(()));
        let path = entry(&cache, &component);
        let whole = fs::read(&path).expect("it is readable");
        damage(&path, &whole, &entry(&cache, &other));
        let again = load(&open(&cache), Guest::Fine);
        assert_eq!(answer(&again).await, "fine", "{name}");
        if path.is_file() {
            let now = fs::read(&path).expect("it is readable");
            assert_eq!(
                now.len(),
                whole.len(),
                "{name}: the entry was not made again"
            );
        }
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_whole_entry_is_used_and_not_written_again() {
    let directory = tempfile::tempdir().expect("a directory");
    let cache = directory.path().join("cache");
    let component = load(&open(&cache), Guest::Fine);
    assert_eq!(answer(&component).await, "fine");
    let path = entry(&cache, &component);
    let before = inode(&path);
    assert_eq!(answer(&load(&open(&cache), Guest::Fine)).await, "fine");
    assert_eq!(inode(&path), before, "the code was compiled again");
    write(&path, b"damaged");
    assert_eq!(answer(&load(&open(&cache), Guest::Fine)).await, "fine");
    let now = fs::read(&path).expect("it is readable");
    assert_ne!(now, b"damaged", "the damaged entry was kept");
}

#[tokio::test]
async fn a_component_that_is_no_tool_leaves_nothing_in_the_cache() {
    let directory = tempfile::tempdir().expect("a directory");
    let cache = directory.path().join("cache");
    let sandbox = open(&cache);
    for guest in [Guest::UnknownImport, Guest::OtherVersion] {
        load(&sandbox, guest)
            .ready()
            .await
            .expect_err("it is no tool");
    }
    for directory in fs::read_dir(&cache).expect("it is readable") {
        let path = directory.expect("it is readable").path();
        let kept: Vec<_> = fs::read_dir(path).expect("it is readable").collect();
        assert!(kept.is_empty(), "{kept:?}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_cache_that_others_can_reach_is_refused_and_named() {
    use std::os::unix::fs::PermissionsExt;
    let directory = tempfile::tempdir().expect("a directory");
    let cache = directory.path().join("cache");
    fs::create_dir(&cache).expect("it is made");
    for mode in [0o777, 0o755, 0o710] {
        fs::set_permissions(&cache, fs::Permissions::from_mode(mode)).expect("it is set");
        let mut settings = support::settings(true);
        settings.cache = Some(cache.clone());
        let error = Sandbox::new(settings).err();
        let message = error.as_ref().map(ToString::to_string).unwrap_or_default();
        assert!(
            matches!(error, Some(SandboxError::Cache { .. })),
            "{mode:o}: {message}"
        );
        assert!(
            message.contains(&format!("its mode is {mode:o}")),
            "{message}"
        );
    }
}

#[cfg(unix)]
#[tokio::test]
async fn what_is_kept_is_for_its_owner_only() {
    use std::os::unix::fs::MetadataExt;
    let directory = tempfile::tempdir().expect("a directory");
    let cache = directory.path().join("cache");
    let component = load(&open(&cache), Guest::Fine);
    assert_eq!(answer(&component).await, "fine");
    let path = entry(&cache, &component);
    for place in [
        cache.as_path(),
        &path,
        path.parent().expect("it is in a directory"),
    ] {
        let mode = fs::metadata(place).expect("it is there").mode();
        assert_eq!(mode & 0o077, 0, "{}: {mode:o}", place.display());
    }
}
