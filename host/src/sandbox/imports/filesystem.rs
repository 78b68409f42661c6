//! `wasi:filesystem`, without what could block the host.
//!
//! Owns one rule on top of wasmtime-wasi's file system: a guest opens regular files and
//! directories, nothing else. File operations run on the thread that polls the guest, and opening
//! a FIFO or a device there could block it for good, out of reach of every limit. Beneath that,
//! wasmtime-wasi resolves each path below its preopen and refuses what leaves it. It must never
//! decide by the text of a path.

use crate::sandbox::store::Guest;
use types::{
    Descriptor, DescriptorFlags, DescriptorType, ErrorCode, HostDescriptor, OpenFlags, PathFlags,
};
use wasmtime::StoreContextMut;
use wasmtime::component::{Linker, Resource};
use wasmtime_wasi::filesystem::{WasiFilesystem, WasiFilesystemCtxView};
use wasmtime_wasi::p2::bindings::filesystem::{preopens, types};

/// Adds the file system to the linker, with [`open_at`] in place of the library's.
pub fn add_to_linker(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    types::add_to_linker::<Guest, WasiFilesystem>(linker, files)?;
    preopens::add_to_linker::<Guest, WasiFilesystem>(linker, files)?;
    linker.allow_shadowing(true);
    linker
        .instance("wasi:filesystem/types@0.2.12")?
        .func_wrap_async("[method]descriptor.open-at", |store, arguments| {
            Box::new(open_at(store, arguments))
        })?;
    linker.allow_shadowing(false);
    Ok(())
}

fn files(guest: &mut Guest) -> WasiFilesystemCtxView<'_> {
    WasiFilesystemCtxView {
        ctx: &mut guest.files,
        table: &mut guest.table,
    }
}

type OpenArguments = (
    Resource<Descriptor>,
    PathFlags,
    String,
    OpenFlags,
    DescriptorFlags,
);
type OpenAnswer = (Result<Resource<Descriptor>, ErrorCode>,);

async fn open_at(
    mut store: StoreContextMut<'_, Guest>,
    (directory, path_flags, path, open_flags, flags): OpenArguments,
) -> wasmtime::Result<OpenAnswer> {
    let mut view = files(store.data_mut());
    let borrowed = Resource::new_borrow(directory.rep());
    let there = match view.stat_at(borrowed, path_flags, path.clone()).await {
        Ok(stat) => Some(stat.type_),
        // Whatever is wrong with the path, the open itself says it.
        Err(_) => None,
    };
    if let Some(refused) = there.and_then(refusal) {
        return Ok((Err(refused),));
    }
    match view
        .open_at(directory, path_flags, path, open_flags, flags)
        .await
    {
        Ok(descriptor) => Ok((Ok(descriptor),)),
        Err(error) => Ok((Err(error.downcast()?),)),
    }
}

/// The error for a file that must not be opened. A link that is not followed is left to the open,
/// which refuses it.
const fn refusal(kind: DescriptorType) -> Option<ErrorCode> {
    match kind {
        DescriptorType::RegularFile | DescriptorType::Directory | DescriptorType::SymbolicLink => {
            None
        }
        DescriptorType::Fifo
        | DescriptorType::Socket
        | DescriptorType::BlockDevice
        | DescriptorType::CharacterDevice
        | DescriptorType::Unknown => Some(ErrorCode::NotPermitted),
    }
}
