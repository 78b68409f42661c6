//! What is known about a file without reading it.

use rustix::fs::{FileType, Stat, Timespec, Timestamps, UTIME_NOW, UTIME_OMIT};
use std::fmt;

/// What lies at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// A named pipe.
    Fifo,
    /// A socket.
    Socket,
    /// A block device.
    BlockDevice,
    /// A character device.
    CharacterDevice,
    /// Something this system does not say.
    Unknown,
}

impl From<FileType> for Kind {
    fn from(kind: FileType) -> Self {
        match kind {
            FileType::RegularFile => Kind::File,
            FileType::Directory => Kind::Directory,
            FileType::Symlink => Kind::Link,
            FileType::Fifo => Kind::Fifo,
            FileType::Socket => Kind::Socket,
            FileType::BlockDevice => Kind::BlockDevice,
            FileType::CharacterDevice => Kind::CharacterDevice,
            FileType::Unknown => Kind::Unknown,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::File => "regular file",
            Kind::Directory => "directory",
            Kind::Link => "symbolic link",
            Kind::Fifo => "FIFO",
            Kind::Socket => "socket",
            Kind::BlockDevice => "block device",
            Kind::CharacterDevice => "character device",
            Kind::Unknown => "file of an unknown kind",
        })
    }
}

/// A point in time, from 1970 in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// Whole seconds, negative before 1970.
    pub seconds: i64,
    /// Below a second.
    pub nanoseconds: u32,
}

/// A time to set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NewTime {
    /// As it is.
    Keep,
    /// The time of the system.
    Now,
    /// This one.
    At(Moment),
}

/// What is known about a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Metadata {
    /// What it is.
    pub kind: Kind,
    /// How many names it has.
    pub links: u64,
    /// Bytes.
    pub size: u64,
    /// The mode's twelve bits of access.
    pub mode: u32,
    /// When it was read last.
    pub accessed: Moment,
    /// When its content was changed last.
    pub modified: Moment,
    /// When anything about it was changed last.
    pub changed: Moment,
    /// The device it is on, which with the inode tells one file from all others.
    pub device: u64,
    /// Its number on the device.
    pub inode: u64,
}

impl Metadata {
    /// Whether both describe one file.
    pub const fn is_same_file(&self, other: &Metadata) -> bool {
        self.device == other.device && self.inode == other.inode
    }
}

impl From<&Stat> for Metadata {
    fn from(stat: &Stat) -> Self {
        Metadata {
            kind: FileType::from_raw_mode(stat.st_mode).into(),
            links: wide(stat.st_nlink),
            size: wide(stat.st_size),
            mode: u32::try_from(wide(stat.st_mode)).unwrap_or(0) & 0o7777,
            accessed: moment(stat.st_atime, stat.st_atime_nsec),
            modified: moment(stat.st_mtime, stat.st_mtime_nsec),
            changed: moment(stat.st_ctime, stat.st_ctime_nsec),
            device: wide(stat.st_dev),
            inode: wide(stat.st_ino),
        }
    }
}

/// The fields of a stat differ in width between systems; none is negative where it is used.
pub(super) fn wide(number: impl TryInto<u64>) -> u64 {
    number.try_into().unwrap_or(0)
}

fn moment(seconds: impl TryInto<i64>, nanoseconds: impl TryInto<u32>) -> Moment {
    Moment {
        seconds: seconds.try_into().unwrap_or(0),
        nanoseconds: nanoseconds.try_into().unwrap_or(0),
    }
}

pub(super) fn timestamps(accessed: NewTime, modified: NewTime) -> Timestamps {
    Timestamps {
        last_access: timespec(accessed),
        last_modification: timespec(modified),
    }
}

fn timespec(time: NewTime) -> Timespec {
    match time {
        NewTime::Keep => Timespec {
            tv_sec: 0,
            tv_nsec: UTIME_OMIT,
        },
        NewTime::Now => Timespec {
            tv_sec: 0,
            tv_nsec: UTIME_NOW,
        },
        NewTime::At(moment) => Timespec {
            tv_sec: moment.seconds,
            // Above a second it would be taken for one of the two marks above.
            tv_nsec: moment.nanoseconds.min(999_999_999).into(),
        },
    }
}
