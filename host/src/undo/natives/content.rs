//! Reading what lies in a workspace, around native processes.
//!
//! Owns the one way from a path to its content and back to what was known of it while it was read,
//! through the workspace. It must never say that content belongs to a state it was not read in.

use super::tree::{Content, Kept, NotKept};
use crate::process::{Seen, SeenKind};
use crate::protocol::Digest;
use crate::undo::objects::{self, Objects};
use crate::workspace::{Kind, Metadata, Workspace};
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Content that was read this soon after a change may change again without a sign: file systems
/// count time in steps of up to 10 ms. It is read again at the next look.
const SETTLED: Duration = Duration::from_millis(100);

/// Reads a workspace.
pub(super) struct Reader<'a> {
    pub workspace: &'a Workspace,
    pub objects: &'a Objects,
}

impl Reader<'_> {
    /// The digest of a file, or why there is none, and what is known of the file that was read.
    /// With `keep` the content is in the store afterwards.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub(super) fn file(
        &self,
        path: &Path,
        keep: bool,
    ) -> io::Result<Result<(Kept, Seen), NotKept>> {
        if path.to_str().is_none() {
            return Ok(Err(NotKept::Name));
        }
        let Ok(held) = self.workspace.hold(path) else {
            return Ok(Err(NotKept::Unreadable));
        };
        let (Some(before), Ok(mut file)) = (held.metadata(), held.earlier().open()) else {
            return Ok(Err(NotKept::Unreadable));
        };
        let now = SystemTime::now();
        let (digest, _) = if keep {
            self.objects.keep(&mut file)?
        } else {
            objects::digest(&mut file)?
        };
        let after = Metadata::from(&rustix::fs::fstat(&file)?);
        let (seen, after) = (seen(&before), seen(&after));
        let kept = Kept {
            digest,
            is_stored: keep,
            is_settled: seen == after && is_old(seen.changed, now),
        };
        Ok(Ok((kept, after)))
    }

    /// Whether the store has this content already.
    pub(super) fn has(&self, digest: &Digest) -> bool {
        self.objects.has(digest)
    }

    /// Where a link leads.
    pub(super) fn link(&self, path: &Path) -> Content {
        let target = self.workspace.hold(path).map_err(io::Error::other);
        match target.and_then(|held| held.earlier().link_target()) {
            Ok(target) if target.to_str().is_some() => Content::Link(target),
            Ok(_) => Content::Not(NotKept::Name),
            Err(_) => Content::Not(NotKept::Unreadable),
        }
    }
}

fn is_old(changed: (i64, u32), now: SystemTime) -> bool {
    let Ok(seconds) = u64::try_from(changed.0) else {
        return true;
    };
    let changed = UNIX_EPOCH + Duration::new(seconds, changed.1);
    // What lies in the future is not settled.
    now.duration_since(changed).is_ok_and(|age| age > SETTLED)
}

fn seen(metadata: &Metadata) -> Seen {
    let moment = |at: crate::workspace::Moment| (at.seconds, at.nanoseconds);
    Seen {
        kind: match metadata.kind {
            Kind::File => SeenKind::File,
            Kind::Directory => SeenKind::Directory,
            Kind::Link => SeenKind::Link,
            _ => SeenKind::Special,
        },
        mode: metadata.mode,
        size: metadata.size,
        modified: moment(metadata.modified),
        changed: moment(metadata.changed),
        device: metadata.device,
        inode: metadata.inode,
    }
}
