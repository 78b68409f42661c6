//! What was kept of a workspace before, from one run to the next.
//!
//! Owns one file for each workspace, below the store: every path whose content is kept, with what
//! was known of it then. A path of which the same is known still has that content, so that only the
//! first program ever started in a workspace costs reading it. It must never be believed about
//! content that is not in the store.

use super::tree::{Content, Known, Tree};
use crate::config::private_directory;
use crate::process::{Seen, SeenKind};
use crate::protocol::Digest;
use crate::undo::UndoStore;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Of the format; another one is not read.
const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Index {
    version: u32,
    rows: Vec<Row>,
}

/// A file whose content is kept.
#[derive(Serialize, Deserialize)]
struct Row {
    path: PathBuf,
    digest: Digest,
    size: u64,
    mode: u32,
    modified: (i64, u32),
    changed: (i64, u32),
    device: u64,
    inode: u64,
}

impl UndoStore {
    pub(in crate::undo) fn indices(&self) -> PathBuf {
        self.directory.join("known")
    }

    fn index_of(&self, workspace: &Path) -> PathBuf {
        let digest = Sha256::digest(workspace.as_os_str().as_bytes());
        let name = Digest::of_bytes(&digest);
        self.indices().join(format!("{name}.json"))
    }

    /// What was kept of the workspace at this path, as far as it is still in the store. Nothing
    /// where nothing was, or where it cannot be read: then it is kept anew.
    pub(super) fn known(&self, workspace: &Path) -> Tree {
        let path = self.index_of(workspace);
        let (Some(index), Ok(there)) = (read(&path), self.objects().digests()) else {
            return Tree::default();
        };
        let rows = index.rows.into_iter();
        Tree::from_iter(
            rows.filter(|row| there.contains(&row.digest))
                .map(|row| (row.path.clone(), row.known())),
        )
    }

    /// Keeps that for the next run.
    pub(super) fn remember(&self, workspace: &Path, tree: &Tree) -> io::Result<()> {
        private_directory(&self.indices())?;
        let rows = tree.iter().filter_map(|(path, known)| Row::of(path, known));
        let index = Index {
            version: VERSION,
            rows: rows.collect(),
        };
        let file = tempfile::NamedTempFile::new_in(self.indices())?;
        let mut writer = BufWriter::new(file);
        serde_json::to_writer(&mut writer, &index)?;
        writer.flush()?;
        let file = writer
            .into_inner()
            .map_err(io::IntoInnerError::into_error)?;
        file.persist(self.index_of(workspace))
            .map_err(|error| error.error)?;
        Ok(())
    }

    /// Says that the workspace is worked in, so that nobody forgets what is kept of it.
    pub(super) fn still_known(&self, workspace: &Path) {
        // Where it is not there yet, it is young when it comes.
        if let Ok(file) = File::options().write(true).open(self.index_of(workspace)) {
            let _ = file.set_modified(SystemTime::now());
        }
    }
}

/// The contents that an index speaks of.
pub(in crate::undo) fn digests(index: &Path) -> HashSet<Digest> {
    let rows = read(index).map(|index| index.rows).unwrap_or_default();
    rows.into_iter().map(|row| row.digest).collect()
}

fn read(path: &Path) -> Option<Index> {
    let reader = BufReader::new(File::open(path).ok()?);
    let index: Index = serde_json::from_reader(reader).ok()?;
    (index.version == VERSION).then_some(index)
}

impl Row {
    fn of(path: &Path, known: &Known) -> Option<Row> {
        let (Some(seen), Content::Digest(content)) = (known.seen, &known.content) else {
            return None;
        };
        (content.is_stored && content.is_settled).then(|| Row {
            path: path.to_owned(),
            digest: content.digest.clone(),
            size: seen.size,
            mode: seen.mode,
            modified: seen.modified,
            changed: seen.changed,
            device: seen.device,
            inode: seen.inode,
        })
    }

    fn known(self) -> Known {
        Known::stored(
            Seen {
                kind: SeenKind::File,
                mode: self.mode,
                size: self.size,
                modified: self.modified,
                changed: self.changed,
                device: self.device,
                inode: self.inode,
            },
            self.digest,
        )
    }
}
