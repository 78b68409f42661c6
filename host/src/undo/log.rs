//! The log of a run: one JSON value a line, in the order things happened.
//!
//! Owns writing and reading logs, and forgetting the oldest. A line that a killed process left
//! unfinished ends a log; what is before it counts.

use super::natives::known_digests;
use super::objects::{GRACE, entries};
use super::record::{Head, Line, Noted, State, Step, VERSION};
use super::{MOST_STORE_BYTES, UndoError, UndoStore};
use crate::config::private_directory;
use crate::protocol::Digest;
use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// A log that is written.
#[derive(Debug)]
pub(super) struct LogWriter {
    file: File,
}

impl LogWriter {
    /// Begins the log of a run. Before that, the oldest runs are forgotten if the store is full.
    pub(super) fn begin(store: &UndoStore, head: Head) -> io::Result<Self> {
        private_directory(&store.runs())?;
        store.make_room(MOST_STORE_BYTES)?;
        let path = store.runs().join(format!("{}.jsonl", head.run));
        let mut options = File::options();
        options.append(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut log = LogWriter {
            file: options.open(path)?,
        };
        log.write(&Line::Run(head))?;
        Ok(log)
    }

    /// Writes a line, whole.
    pub(super) fn write(&mut self, line: &Line) -> io::Result<()> {
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        self.file.write_all(&text)
    }
}

/// A log that was read.
#[derive(Debug)]
pub(super) struct Log {
    pub(super) head: Head,
    /// In the order in which they were written.
    pub(super) entries: Vec<Entry>,
}

/// What a log tells after its head, without what did not happen.
#[derive(Debug)]
pub(super) enum Entry {
    /// A change.
    Change(Noted),
    /// How a call left what it changed.
    Ended(Step, Vec<(PathBuf, State)>),
}

impl Entry {
    pub(super) const fn step(&self) -> &Step {
        match self {
            Entry::Change(noted) => &noted.step,
            Entry::Ended(step, _) => step,
        }
    }
}

impl Log {
    /// The changes, the first first.
    pub(super) fn changes(&self) -> impl DoubleEndedIterator<Item = &Noted> {
        self.entries.iter().filter_map(|entry| match entry {
            Entry::Change(noted) => Some(noted),
            Entry::Ended(..) => None,
        })
    }
}

impl UndoStore {
    /// The head of each run, oldest first.
    pub(super) fn heads(&self) -> Result<Vec<Head>, UndoError> {
        let mut heads: Vec<Head> = entries(&self.runs())
            .map_err(|error| self.failed(error))?
            .iter()
            // One that cannot be read is of another version or damaged: the others are there.
            .filter_map(|path| match read_lines(path).ok()?.next()? {
                Line::Run(head) => Some(head),
                Line::Change(_) | Line::Failed { .. } | Line::Ended { .. } => None,
            })
            .collect();
        heads.sort_by(|a, b| (a.started, &a.run).cmp(&(b.started, &b.run)));
        Ok(heads)
    }

    pub(super) fn log(&self, run: &str) -> Result<Log, UndoError> {
        let path = self.runs().join(format!("{run}.jsonl"));
        let mut lines = read_lines(&path).map_err(|error| self.failed(error))?;
        let Some(Line::Run(head)) = lines.next() else {
            let error = io::Error::new(io::ErrorKind::InvalidData, "a log without a beginning");
            return Err(self.failed(error));
        };
        let mut log = Log {
            head,
            entries: Vec::new(),
        };
        for line in lines {
            match line {
                Line::Change(noted) => log.entries.push(Entry::Change(noted)),
                Line::Failed { step, path } => {
                    let is_it = |entry: &Entry| matches!(entry, Entry::Change(noted) if noted.step == step && noted.path == path);
                    if let Some(at) = log.entries.iter().rposition(is_it) {
                        log.entries.remove(at);
                    }
                }
                Line::Ended { step, left } => log.entries.push(Entry::Ended(step, left)),
                Line::Run(_) => break,
            }
        }
        Ok(log)
    }

    /// Forgets the oldest runs, and what is known of workspaces that nobody works in, until the store has at most so many bytes.
    pub(super) fn make_room(&self, most: u64) -> io::Result<()> {
        let objects = self.objects();
        if objects.size()? <= most {
            return Ok(());
        }
        let mut paths: Vec<(u64, PathBuf)> = entries(&self.runs())?
            .into_iter()
            .map(|path| {
                let started = match read_lines(&path).ok().and_then(|mut lines| lines.next()) {
                    Some(Line::Run(head)) => head.started,
                    _ => 0,
                };
                (started, path)
            })
            .collect();
        let young = SystemTime::now() - GRACE;
        for path in entries(&self.indices())? {
            let used = fs::metadata(&path).and_then(|metadata| metadata.modified())?;
            // A run may be at work with what is in it.
            if used < young {
                let since = used.duration_since(UNIX_EPOCH).unwrap_or_default();
                paths.push((since.as_secs(), path));
            }
        }
        paths.sort();
        let mut oldest = paths.into_iter();
        while objects.size()? > most {
            let Some((_, path)) = oldest.next() else {
                break;
            };
            fs::remove_file(path)?;
            objects.sweep(&self.wanted()?)?;
        }
        Ok(())
    }

    /// Every content that a log or an index speaks of.
    fn wanted(&self) -> io::Result<HashSet<Digest>> {
        let mut wanted = HashSet::new();
        for path in entries(&self.indices())? {
            wanted.extend(known_digests(&path));
        }
        for path in entries(&self.runs())? {
            for line in read_lines(&path)? {
                if let Line::Change(Noted {
                    earlier: State::File { digest, .. },
                    ..
                }) = line
                {
                    wanted.insert(digest);
                }
            }
        }
        Ok(wanted)
    }
}

/// The lines that can be read, up to the first that cannot.
fn read_lines(path: &Path) -> io::Result<impl Iterator<Item = Line> + use<>> {
    let reader = BufReader::new(File::open(path)?);
    Ok(reader
        .lines()
        .map_while(|line| serde_json::from_str::<Line>(&line.ok()?).ok())
        .take_while(|line| !matches!(line, Line::Run(head) if head.version != VERSION)))
}
