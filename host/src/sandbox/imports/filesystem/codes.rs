//! The one table from what went wrong to a code of WASI, and the other translations of plain data.
//!
//! A code has no text. What a rule has to say goes to the model by
//! [`Refusals`](super::Refusals).

use crate::sandbox::bindings::files::wasi::filesystem::types::{
    DescriptorStat, DescriptorType, ErrorCode, NewTimestamp,
};
use crate::workspace::{FileError, Kind, Metadata, Moment, NewTime, Rule};
use rustix::io::Errno;
use wasmtime::component::ResourceTableError;
use wasmtime_wasi::p2::bindings::clocks::wall_clock::Datetime;

/// Why an operation gives no answer.
pub enum Failure {
    /// The workspace says so.
    File(FileError),
    /// What was asked makes no sense for this handle.
    Code(ErrorCode),
    /// The guest is ended.
    Trap(wasmtime::Error),
}

impl From<FileError> for Failure {
    fn from(error: FileError) -> Self {
        Failure::File(error)
    }
}

impl From<ErrorCode> for Failure {
    fn from(code: ErrorCode) -> Self {
        Failure::Code(code)
    }
}

/// A handle that does not exist, or one too many: no guest goes on after that.
impl From<ResourceTableError> for Failure {
    fn from(error: ResourceTableError) -> Self {
        Failure::Trap(error.into())
    }
}

/// The code for an error. A masked path is a missing one, unless it was to be made.
pub fn code(error: &FileError) -> ErrorCode {
    match error {
        FileError::Refused(refusal) => match refusal.rule {
            Rule::Masked { .. } => ErrorCode::NoEntry,
            Rule::Between => ErrorCode::CrossDevice,
            Rule::Leaves { .. }
            | Rule::Elsewhere { .. }
            | Rule::Above
            | Rule::HardLink { .. }
            | Rule::Special { .. }
            | Rule::Kernel
            | Rule::ReadOnly
            | Rule::Protected { .. }
            | Rule::Keeps { .. }
            | Rule::MaskedNew { .. } => ErrorCode::NotPermitted,
        },
        FileError::System(number) => of_number(*number),
    }
}

fn of_number(number: Errno) -> ErrorCode {
    match number {
        Errno::ACCESS => ErrorCode::Access,
        Errno::AGAIN => ErrorCode::WouldBlock,
        Errno::ALREADY => ErrorCode::Already,
        Errno::BADF => ErrorCode::BadDescriptor,
        Errno::BUSY => ErrorCode::Busy,
        Errno::DEADLK => ErrorCode::Deadlock,
        Errno::DQUOT => ErrorCode::Quota,
        Errno::EXIST => ErrorCode::Exist,
        Errno::FBIG => ErrorCode::FileTooLarge,
        Errno::ILSEQ => ErrorCode::IllegalByteSequence,
        Errno::INPROGRESS => ErrorCode::InProgress,
        Errno::INTR => ErrorCode::Interrupted,
        Errno::INVAL => ErrorCode::Invalid,
        Errno::ISDIR => ErrorCode::IsDirectory,
        Errno::LOOP => ErrorCode::Loop,
        Errno::MLINK => ErrorCode::TooManyLinks,
        Errno::NAMETOOLONG => ErrorCode::NameTooLong,
        Errno::NODEV | Errno::NXIO => ErrorCode::NoSuchDevice,
        Errno::NOENT => ErrorCode::NoEntry,
        Errno::NOLCK => ErrorCode::NoLock,
        Errno::NOMEM | Errno::MFILE | Errno::NFILE => ErrorCode::InsufficientMemory,
        Errno::NOSPC => ErrorCode::InsufficientSpace,
        Errno::NOTDIR => ErrorCode::NotDirectory,
        Errno::NOTEMPTY => ErrorCode::NotEmpty,
        Errno::NOTSUP | Errno::NOSYS => ErrorCode::Unsupported,
        Errno::OVERFLOW => ErrorCode::Overflow,
        Errno::PERM => ErrorCode::NotPermitted,
        Errno::PIPE => ErrorCode::Pipe,
        Errno::ROFS => ErrorCode::ReadOnly,
        Errno::SPIPE => ErrorCode::InvalidSeek,
        Errno::TXTBSY => ErrorCode::TextFileBusy,
        Errno::XDEV => ErrorCode::CrossDevice,
        _ => ErrorCode::Io,
    }
}

pub fn kind(kind: Kind) -> DescriptorType {
    match kind {
        Kind::File => DescriptorType::RegularFile,
        Kind::Directory => DescriptorType::Directory,
        Kind::Link => DescriptorType::SymbolicLink,
        Kind::Fifo => DescriptorType::Fifo,
        Kind::Socket => DescriptorType::Socket,
        Kind::BlockDevice => DescriptorType::BlockDevice,
        Kind::CharacterDevice => DescriptorType::CharacterDevice,
        Kind::Unknown => DescriptorType::Unknown,
    }
}

pub fn stat(metadata: &Metadata) -> DescriptorStat {
    DescriptorStat {
        type_: kind(metadata.kind),
        link_count: metadata.links,
        size: metadata.size,
        data_access_timestamp: datetime(metadata.accessed),
        data_modification_timestamp: datetime(metadata.modified),
        status_change_timestamp: datetime(metadata.changed),
    }
}

/// `None` before 1970, which WASI cannot say.
fn datetime(moment: Moment) -> Option<Datetime> {
    Some(Datetime {
        seconds: moment.seconds.try_into().ok()?,
        nanoseconds: moment.nanoseconds,
    })
}

pub fn new_time(time: NewTimestamp) -> Result<NewTime, ErrorCode> {
    Ok(match time {
        NewTimestamp::NoChange => NewTime::Keep,
        NewTimestamp::Now => NewTime::Now,
        NewTimestamp::Timestamp(Datetime {
            seconds,
            nanoseconds,
        }) => {
            if nanoseconds >= 1_000_000_000 {
                return Err(ErrorCode::Invalid);
            }
            NewTime::At(Moment {
                seconds: seconds.try_into().map_err(|_| ErrorCode::Overflow)?,
                nanoseconds,
            })
        }
    })
}
