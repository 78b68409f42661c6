//! A directory of a workspace, and what changes the names in it.
//!
//! Owns the operations on names. A directory is held as its real path and not as a handle: each
//! operation finds it anew from the root, so that a directory which was moved meanwhile is judged
//! by where it is, and a tool can hold any number of them.

use super::change::check_ordinary;
use super::journal::{ChangeKind, settle, tell};
use super::metadata::{Kind, Metadata, NewTime, timestamps};
use super::resolve::{Links, Place, Root};
use super::{FileError, Listing, Rule, Workspace};
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// A directory of a workspace. Paths given to it are relative. Links lead to anywhere in the
/// workspace and nowhere else, `..` not above the directory itself.
#[derive(Clone)]
pub struct Directory {
    pub(super) workspace: Workspace,
    pub(super) path: PathBuf,
}

impl Directory {
    pub(super) const fn new(workspace: Workspace, path: PathBuf) -> Self {
        Directory { workspace, path }
    }

    pub(super) fn root(&self) -> &Root {
        &self.workspace.root
    }

    /// Where it is, real and relative to the workspace.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The workspace it belongs to.
    pub const fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    fn find(&self, path: &str, links: Links) -> Result<Place<'_>, FileError> {
        self.root().resolve(&self.path, path, links)
    }

    fn find_new(&self, path: &str) -> Result<Place<'_>, FileError> {
        self.find(path, Links::Keep).map_err(FileError::when_making)
    }

    /// What is known about the directory itself.
    ///
    /// # Errors
    /// Those of the system.
    pub fn metadata(&self) -> Result<Metadata, FileError> {
        self.find(".", Links::Keep)?.required()
    }

    /// What is known about what `path` means; with `follow` a link at its end is followed.
    ///
    /// # Errors
    /// When it is masked or outside; those of the system.
    pub fn metadata_of(&self, path: &str, follow: bool) -> Result<Metadata, FileError> {
        self.find(path, following(follow))?.required()
    }

    /// The names in it.
    ///
    /// # Errors
    /// Those of the system.
    pub fn list(&self) -> Result<Listing, FileError> {
        let (handle, place) = self.handle()?;
        let rules = self.root().rules.within(&place.path);
        Listing::new(handle, rules)
    }

    /// Waits until its names are on the disk.
    ///
    /// # Errors
    /// Those of the system.
    pub fn sync(&self) -> Result<(), FileError> {
        let (handle, _) = self.handle()?;
        Ok(rustix::fs::fsync(handle)?)
    }

    fn handle(&self) -> Result<(OwnedFd, Place<'_>), FileError> {
        let place = self.find(".", Links::Keep)?;
        let found = place.required()?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let handle = rustix::fs::openat(place.parent(), place.name(), flags, Mode::empty())?;
        self.root()
            .check_file_system(&place.path, &found, &handle)?;
        Ok((handle, place))
    }

    /// Where the link at `path` points. The target is text, and leads where it leads.
    ///
    /// # Errors
    /// When it is no link; when its target is not UTF-8; those of the system.
    pub fn read_link(&self, path: &str) -> Result<String, FileError> {
        let place = self.find(path, Links::Keep)?;
        let found = place.required()?;
        self.root()
            .check_file_system(&place.path, &found, place.parent())?;
        let target = rustix::fs::readlinkat(place.parent(), place.name(), Vec::new())?;
        target.into_string().map_err(|_| Errno::ILSEQ.into())
    }

    /// Makes a directory.
    ///
    /// # Errors
    /// By the rules for a change; when something is there.
    pub fn create_directory(&self, path: &str) -> Result<(), FileError> {
        let place = self.find_new(path)?;
        self.root().check_writable(&place.path)?;
        if place.found.is_some() {
            return Err(Errno::EXIST.into());
        }
        self.root().check_way(&place)?;
        self.root()
            .check_open_to_change(&place.path)
            .map_err(FileError::when_making)?;
        self.tell(&place, ChangeKind::Create)?;
        let done = rustix::fs::mkdirat(place.parent(), place.name(), Mode::from(0o777));
        self.settle(&place, done)
    }

    /// Removes an empty directory.
    ///
    /// # Errors
    /// By the rules for a change; when it is not empty.
    pub fn remove_directory(&self, path: &str) -> Result<(), FileError> {
        let place = self.find(path, Links::Keep)?;
        self.root().check_writable(&place.path)?;
        if place.required()?.kind != Kind::Directory {
            return Err(Errno::NOTDIR.into());
        }
        self.root().check_way(&place)?;
        self.root().check_open_to_change(&place.path)?;
        self.tell(&place, ChangeKind::RemoveDirectory)?;
        let done = rustix::fs::unlinkat(place.parent(), place.name(), AtFlags::REMOVEDIR);
        self.settle(&place, done)
    }

    /// Removes a file or a link, never what the link points to.
    ///
    /// # Errors
    /// By the rules for a change; when it is a directory.
    pub fn remove_file(&self, path: &str) -> Result<(), FileError> {
        // A slash at the end would follow a link, and remove the file it points to.
        if path.ends_with('/') {
            return Err(Errno::NOTDIR.into());
        }
        let place = self.find(path, Links::Keep)?;
        self.root().check_writable(&place.path)?;
        if place.required()?.kind == Kind::Directory {
            return Err(Errno::ISDIR.into());
        }
        self.root().check_making(&place)?;
        self.tell(&place, ChangeKind::Remove)?;
        let done = rustix::fs::unlinkat(place.parent(), place.name(), AtFlags::empty());
        self.settle(&place, done)
    }

    /// Gives what is at `path` the name `new_path` in `target`, replacing what is there.
    ///
    /// # Errors
    /// By the rules for a change of both names; when the two are in different workspaces.
    pub fn rename(&self, path: &str, target: &Directory, new_path: &str) -> Result<(), FileError> {
        self.check_together(path, target)?;
        let old = self.find(path, Links::Keep)?;
        let new = target.find_new(new_path)?;
        self.root().check_writable(&old.path)?;
        let found = old.required()?;
        if new.must_be_directory && found.kind != Kind::Directory {
            return Err(Errno::NOTDIR.into());
        }
        check_ordinary(&old.path, &found)?;
        self.root().check_making(&old)?;
        self.root()
            .check_making(&new)
            .map_err(FileError::when_making)?;
        // Two names of one file: the system does nothing then.
        let replaced = new.found.filter(|replaced| !replaced.is_same_file(&found));
        match replaced.map(|replaced| replaced.kind) {
            Some(Kind::Directory) => target.tell(&new, ChangeKind::RemoveDirectory)?,
            Some(_) => target.tell(&new, ChangeKind::Remove)?,
            None => {}
        }
        self.tell(&old, ChangeKind::Rename { to: &new.path })?;
        let done = rustix::fs::renameat(old.parent(), old.name(), new.parent(), new.name());
        if done.is_err() && replaced.is_some() {
            target.workspace.journal.failed(&new.path);
        }
        self.settle(&old, done)
    }

    /// Gives the file at `path` another name. A link is linked itself. The file is then not
    /// written by any of its names.
    ///
    /// # Errors
    /// By the rules for a change of both names; when it is a directory.
    pub fn hard_link(
        &self,
        path: &str,
        target: &Directory,
        new_path: &str,
    ) -> Result<(), FileError> {
        self.check_together(path, target)?;
        let old = self.find(path, Links::Keep)?;
        let new = target.find_new(new_path)?;
        self.root().check_writable(&new.path)?;
        let found = old.required()?;
        check_ordinary(&old.path, &found)?;
        if found.kind == Kind::Directory {
            return Err(Errno::PERM.into());
        }
        if new.must_be_directory {
            return Err(Errno::NOTDIR.into());
        }
        if new.found.is_some() {
            return Err(Errno::EXIST.into());
        }
        // Another name would be a way around the protection of the first.
        self.root().check_making(&old)?;
        self.root()
            .check_making(&new)
            .map_err(FileError::when_making)?;
        tell(
            &*self.workspace.journal,
            &new.path,
            ChangeKind::Create,
            new.parent(),
            new.name(),
        )?;
        let flags = AtFlags::empty();
        let done = rustix::fs::linkat(old.parent(), old.name(), new.parent(), new.name(), flags);
        self.settle(&new, done)
    }

    /// Makes a symbolic link at `path` that points to `target`.
    ///
    /// # Errors
    /// By the rules for a change; when `target` leaves the workspace, because whoever follows the
    /// link need not be in a sandbox.
    pub fn symbolic_link(&self, target: &str, path: &str) -> Result<(), FileError> {
        let place = self.find_new(path)?;
        self.root().check_writable(&place.path)?;
        if target.is_empty() {
            return Err(Errno::NOENT.into());
        }
        if target.contains('\0') {
            return Err(Errno::INVAL.into());
        }
        if place.must_be_directory {
            return Err(Errno::NOTDIR.into());
        }
        if place.found.is_some() {
            return Err(Errno::EXIST.into());
        }
        self.root()
            .check_making(&place)
            .map_err(FileError::when_making)?;
        check_target(&place.path, Path::new(target))?;
        self.tell(&place, ChangeKind::Create)?;
        let target = OsString::from_vec(target.as_bytes().to_vec());
        let done = rustix::fs::symlinkat(target, place.parent(), place.name());
        self.settle(&place, done)
    }

    /// Sets the times of what `path` means.
    ///
    /// # Errors
    /// By the rules for a change.
    pub fn set_times_of(
        &self,
        path: &str,
        follow: bool,
        accessed: NewTime,
        modified: NewTime,
    ) -> Result<(), FileError> {
        let place = self.find(path, following(follow))?;
        self.root().check_writable(&place.path)?;
        let found = place.required()?;
        self.root().check_way(&place)?;
        if !place.is_root() {
            self.root().check_file_change(&place.path, &found)?;
        }
        check_ordinary(&place.path, &found)?;
        self.tell(&place, ChangeKind::Times)?;
        let done = rustix::fs::utimensat(
            place.parent(),
            place.name(),
            &timestamps(accessed, modified),
            AtFlags::SYMLINK_NOFOLLOW,
        );
        self.settle(&place, done)
    }

    fn settle<T>(&self, place: &Place<'_>, done: Result<T, Errno>) -> Result<T, FileError> {
        settle(&*self.workspace.journal, &place.path, done)
    }

    /// Names are moved and linked within one workspace only: another has rules of its own.
    fn check_together(&self, path: &str, target: &Directory) -> Result<(), FileError> {
        if Arc::ptr_eq(&self.workspace.root, &target.workspace.root) {
            return Ok(());
        }
        Err(FileError::refused(&self.path.join(path), Rule::Between))
    }
}

const fn following(follow: bool) -> Links {
    if follow { Links::Follow } else { Links::Keep }
}

/// Refuses a link to something outside, as far as the text says it. What the text does not say is
/// found when the link is followed.
fn check_target(link: &Path, target: &Path) -> Result<(), FileError> {
    let leaves = |target: &Path| {
        FileError::refused(
            link,
            Rule::Leaves {
                target: target.to_owned(),
            },
        )
    };
    let mut depth = link.components().count().saturating_sub(1);
    for component in target.components() {
        match component {
            Component::CurDir => {}
            Component::Normal(_) => depth += 1,
            Component::ParentDir => {
                depth = depth.checked_sub(1).ok_or_else(|| leaves(target))?;
            }
            Component::RootDir | Component::Prefix(_) => return Err(leaves(target)),
        }
    }
    Ok(())
}
