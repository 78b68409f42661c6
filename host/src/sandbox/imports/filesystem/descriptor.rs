//! The methods of a descriptor.
//!
//! Owns which of them make sense for a file and which for a directory. What they do is one call
//! into the workspace each.

use super::Descriptor;
use super::codes::{self, Failure, kind, new_time};
use super::glance::Asked;
use super::streams::{FileReader, FileWriter, PIECE, WriteAt};
use crate::sandbox::bindings::files::wasi::filesystem::types::{
    Advice, DescriptorFlags, DescriptorStat, DescriptorType, DirectoryEntry, DirectoryEntryStream,
    ErrorCode, Filesize, HostDescriptor, HostDirectoryEntryStream, MetadataHashValue, NewTimestamp,
    OpenFlags, PathFlags,
};
use crate::sandbox::store::Guest;
use crate::workspace::{Access, Directory, File, FileError, Metadata, OpenOptions, Opened};
use std::hash::{DefaultHasher, Hasher};
use wasmtime::component::Resource;
use wasmtime_wasi::p2::{DynInputStream, DynOutputStream};

type Handle = Resource<Descriptor>;

impl Descriptor {
    fn directory(&self) -> Result<&Directory, Failure> {
        match self {
            Descriptor::Directory(directory) => Ok(directory),
            Descriptor::File(_) => Err(ErrorCode::NotDirectory.into()),
        }
    }

    fn file(&self) -> Result<&File, Failure> {
        match self {
            Descriptor::File(file) => Ok(file),
            Descriptor::Directory(_) => Err(ErrorCode::IsDirectory.into()),
        }
    }

    /// The file, if it was opened to write.
    fn file_to_write(&self) -> Result<&File, Failure> {
        let file = self.file()?;
        if file.may_write() {
            Ok(file)
        } else {
            Err(ErrorCode::NotPermitted.into())
        }
    }

    fn metadata(&self) -> Result<Metadata, FileError> {
        match self {
            Descriptor::File(file) => file.metadata(),
            Descriptor::Directory(directory) => directory.metadata(),
        }
    }
}

impl Guest {
    fn directory(&self, handle: &Handle) -> Result<&Directory, Failure> {
        self.table.get(handle)?.directory()
    }

    /// What is known about a path, by one look for the questions of one `stat`.
    fn metadata_at(
        &mut self,
        handle: &Handle,
        flags: PathFlags,
        path: String,
    ) -> Result<Metadata, Failure> {
        let call = self.host_calls();
        let asked = Asked {
            directory: handle.rep(),
            follow: follow(flags),
            path,
        };
        if let Some(found) = self.glance.again(call, &asked) {
            return Ok(found);
        }
        let found = self
            .directory(handle)?
            .metadata_of(&asked.path, asked.follow)?;
        self.glance.remember(call, asked, found);
        Ok(found)
    }
}

fn follow(flags: PathFlags) -> bool {
    flags.contains(PathFlags::SYMLINK_FOLLOW)
}

/// Whether each write is to reach the disk at once, which is not offered: `sync` is.
fn is_synchronous(flags: DescriptorFlags) -> bool {
    flags.intersects(
        DescriptorFlags::FILE_INTEGRITY_SYNC
            | DescriptorFlags::DATA_INTEGRITY_SYNC
            | DescriptorFlags::REQUESTED_WRITE_SYNC,
    )
}

impl HostDescriptor for Guest {
    fn read_via_stream(
        &mut self,
        handle: Handle,
        offset: Filesize,
    ) -> Result<Resource<DynInputStream>, Failure> {
        let file = self.table.get(&handle)?.file()?.clone();
        let stream: DynInputStream = Box::new(FileReader::new(file, offset));
        Ok(self.table.push(stream)?)
    }

    fn write_via_stream(
        &mut self,
        handle: Handle,
        offset: Filesize,
    ) -> Result<Resource<DynOutputStream>, Failure> {
        let file = self.table.get(&handle)?.file_to_write()?.clone();
        let stream: DynOutputStream = Box::new(FileWriter::new(file, WriteAt::Position(offset)));
        Ok(self.table.push(stream)?)
    }

    fn append_via_stream(&mut self, handle: Handle) -> Result<Resource<DynOutputStream>, Failure> {
        let file = self.table.get(&handle)?.file_to_write()?.clone();
        let stream: DynOutputStream = Box::new(FileWriter::new(file, WriteAt::End));
        Ok(self.table.push(stream)?)
    }

    /// Advice changes nothing that a guest could see, so it is not passed on.
    fn advise(
        &mut self,
        handle: Handle,
        _offset: Filesize,
        _length: Filesize,
        _advice: Advice,
    ) -> Result<(), Failure> {
        self.table.get(&handle)?.file()?;
        Ok(())
    }

    fn sync_data(&mut self, handle: Handle) -> Result<(), Failure> {
        match self.table.get(&handle)? {
            Descriptor::File(file) => file.sync(false)?,
            Descriptor::Directory(directory) => directory.sync()?,
        }
        Ok(())
    }

    fn get_flags(&mut self, handle: Handle) -> Result<DescriptorFlags, Failure> {
        let (reads, changes, change) = match self.table.get(&handle)? {
            Descriptor::File(file) => (file.may_read(), file.may_write(), DescriptorFlags::WRITE),
            Descriptor::Directory(directory) => {
                let changes = directory.workspace().access() == Access::ReadWrite;
                (true, changes, DescriptorFlags::MUTATE_DIRECTORY)
            }
        };
        let mut flags = DescriptorFlags::empty();
        if reads {
            flags |= DescriptorFlags::READ;
        }
        if changes {
            flags |= change;
        }
        Ok(flags)
    }

    fn get_type(&mut self, handle: Handle) -> Result<DescriptorType, Failure> {
        Ok(match self.table.get(&handle)? {
            Descriptor::File(_) => DescriptorType::RegularFile,
            Descriptor::Directory(_) => DescriptorType::Directory,
        })
    }

    fn set_size(&mut self, handle: Handle, size: Filesize) -> Result<(), Failure> {
        self.table.get(&handle)?.file_to_write()?.set_length(size)?;
        Ok(())
    }

    fn set_times(
        &mut self,
        handle: Handle,
        accessed: NewTimestamp,
        modified: NewTimestamp,
    ) -> Result<(), Failure> {
        let (accessed, modified) = (new_time(accessed)?, new_time(modified)?);
        match self.table.get(&handle)? {
            Descriptor::File(file) => file.set_times(accessed, modified)?,
            Descriptor::Directory(directory) => {
                directory.set_times_of(".", false, accessed, modified)?;
            }
        }
        Ok(())
    }

    fn read(
        &mut self,
        handle: Handle,
        length: Filesize,
        offset: Filesize,
    ) -> Result<(Vec<u8>, bool), Failure> {
        let length = usize::try_from(length).unwrap_or(PIECE).min(PIECE);
        let bytes = self.table.get(&handle)?.file()?.read_at(length, offset)?;
        let is_end = bytes.is_empty() && length > 0;
        Ok((bytes, is_end))
    }

    fn write(
        &mut self,
        handle: Handle,
        bytes: Vec<u8>,
        offset: Filesize,
    ) -> Result<Filesize, Failure> {
        let piece = &bytes[..bytes.len().min(PIECE)];
        self.table
            .get(&handle)?
            .file_to_write()?
            .write_at(piece, offset)?;
        Ok(piece.len() as Filesize)
    }

    fn read_directory(
        &mut self,
        handle: Handle,
    ) -> Result<Resource<DirectoryEntryStream>, Failure> {
        let listing = self.directory(&handle)?.list()?;
        Ok(self.table.push(listing)?)
    }

    fn sync(&mut self, handle: Handle) -> Result<(), Failure> {
        match self.table.get(&handle)? {
            Descriptor::File(file) => file.sync(true)?,
            Descriptor::Directory(directory) => directory.sync()?,
        }
        Ok(())
    }

    fn create_directory_at(&mut self, handle: Handle, path: String) -> Result<(), Failure> {
        Ok(self.directory(&handle)?.create_directory(&path)?)
    }

    fn stat(&mut self, handle: Handle) -> Result<DescriptorStat, Failure> {
        Ok(codes::stat(&self.table.get(&handle)?.metadata()?))
    }

    fn stat_at(
        &mut self,
        handle: Handle,
        flags: PathFlags,
        path: String,
    ) -> Result<DescriptorStat, Failure> {
        Ok(codes::stat(&self.metadata_at(&handle, flags, path)?))
    }

    fn set_times_at(
        &mut self,
        handle: Handle,
        flags: PathFlags,
        path: String,
        accessed: NewTimestamp,
        modified: NewTimestamp,
    ) -> Result<(), Failure> {
        let (accessed, modified) = (new_time(accessed)?, new_time(modified)?);
        let directory = self.directory(&handle)?;
        Ok(directory.set_times_of(&path, follow(flags), accessed, modified)?)
    }

    fn link_at(
        &mut self,
        handle: Handle,
        flags: PathFlags,
        path: String,
        new_handle: Handle,
        new_path: String,
    ) -> Result<(), Failure> {
        if follow(flags) {
            return Err(ErrorCode::Invalid.into());
        }
        let target = self.directory(&new_handle)?;
        Ok(self
            .directory(&handle)?
            .hard_link(&path, target, &new_path)?)
    }

    fn open_at(
        &mut self,
        handle: Handle,
        path_flags: PathFlags,
        path: String,
        how: OpenFlags,
        flags: DescriptorFlags,
    ) -> Result<Handle, Failure> {
        if is_synchronous(flags) {
            return Err(ErrorCode::Unsupported.into());
        }
        let options = OpenOptions {
            read: flags.contains(DescriptorFlags::READ),
            write: flags.contains(DescriptorFlags::WRITE),
            create: how.contains(OpenFlags::CREATE),
            exclusive: how.contains(OpenFlags::EXCLUSIVE),
            truncate: how.contains(OpenFlags::TRUNCATE),
            directory: how.contains(OpenFlags::DIRECTORY),
            follow: follow(path_flags),
        };
        let opened = match self.directory(&handle)?.open(&path, options)? {
            Opened::File(file) => Descriptor::File(file),
            Opened::Directory(directory) => Descriptor::Directory(directory),
        };
        Ok(self.table.push(opened)?)
    }

    fn readlink_at(&mut self, handle: Handle, path: String) -> Result<String, Failure> {
        Ok(self.directory(&handle)?.read_link(&path)?)
    }

    fn remove_directory_at(&mut self, handle: Handle, path: String) -> Result<(), Failure> {
        Ok(self.directory(&handle)?.remove_directory(&path)?)
    }

    fn rename_at(
        &mut self,
        handle: Handle,
        path: String,
        new_handle: Handle,
        new_path: String,
    ) -> Result<(), Failure> {
        let target = self.directory(&new_handle)?;
        Ok(self.directory(&handle)?.rename(&path, target, &new_path)?)
    }

    fn symlink_at(&mut self, handle: Handle, target: String, path: String) -> Result<(), Failure> {
        Ok(self.directory(&handle)?.symbolic_link(&target, &path)?)
    }

    fn unlink_file_at(&mut self, handle: Handle, path: String) -> Result<(), Failure> {
        Ok(self.directory(&handle)?.remove_file(&path)?)
    }

    fn is_same_object(&mut self, handle: Handle, other: Handle) -> wasmtime::Result<bool> {
        let one = self.table.get(&handle)?.metadata();
        let other = self.table.get(&other)?.metadata();
        Ok(matches!((one, other), (Ok(one), Ok(other)) if one.is_same_file(&other)))
    }

    fn metadata_hash(&mut self, handle: Handle) -> Result<MetadataHashValue, Failure> {
        Ok(hash(&self.table.get(&handle)?.metadata()?))
    }

    fn metadata_hash_at(
        &mut self,
        handle: Handle,
        flags: PathFlags,
        path: String,
    ) -> Result<MetadataHashValue, Failure> {
        Ok(hash(&self.metadata_at(&handle, flags, path)?))
    }

    fn drop(&mut self, handle: Handle) -> wasmtime::Result<()> {
        self.table.delete(handle)?;
        Ok(())
    }
}

/// Tells one file from another. Hashed, because the numbers
/// themselves are none of the guest's business.
fn hash(metadata: &Metadata) -> MetadataHashValue {
    let half = |salt: u8| {
        let mut hasher = DefaultHasher::new();
        hasher.write_u8(salt);
        hasher.write_u64(metadata.device);
        hasher.write_u64(metadata.inode);
        hasher.finish()
    };
    MetadataHashValue {
        lower: half(0),
        upper: half(1),
    }
}

impl HostDirectoryEntryStream for Guest {
    fn read_directory_entry(
        &mut self,
        stream: Resource<DirectoryEntryStream>,
    ) -> Result<Option<DirectoryEntry>, Failure> {
        let entry = self.table.get_mut(&stream)?.next_entry()?;
        Ok(entry.map(|entry| DirectoryEntry {
            type_: kind(entry.kind),
            name: entry.name,
        }))
    }

    fn drop(&mut self, stream: Resource<DirectoryEntryStream>) -> wasmtime::Result<()> {
        self.table.delete(stream)?;
        Ok(())
    }
}
