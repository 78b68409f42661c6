//! `wasi:filesystem`, answered by [`workspace`](crate::workspace).
//!
//! Owns the translation: descriptors, streams, codes. Every operation is answered on the spot; a
//! thread for each would cost more than the operation, and the workspace opens nothing that could
//! block. It must never decide what is allowed, and never touch a file itself.

mod codes;
mod descriptor;
mod glance;
mod refusals;
mod streams;

pub use codes::Failure;
pub use glance::Glance;
pub use refusals::Refusals;

use crate::sandbox::bindings::files::wasi::filesystem::{preopens, types};
use crate::sandbox::store::Guest;
use crate::workspace::{Directory, File, FileError};
use wasmtime::component::{HasSelf, Linker, Resource};

/// What a guest holds a handle of.
pub enum Descriptor {
    /// A regular file.
    File(File),
    /// A directory.
    Directory(Directory),
}

/// Adds the file system to the linker.
pub fn add_to_linker(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    types::add_to_linker::<Guest, HasSelf<Guest>>(linker, |guest| guest)?;
    preopens::add_to_linker::<Guest, HasSelf<Guest>>(linker, |guest| guest)
}

impl preopens::Host for Guest {
    fn get_directories(&mut self) -> wasmtime::Result<Vec<(Resource<Descriptor>, String)>> {
        let mut given = Vec::with_capacity(self.mounts.len());
        for (mount, workspace) in &self.mounts {
            let descriptor = Descriptor::Directory(workspace.directory());
            given.push((self.table.push(descriptor)?, (*mount).to_owned()));
        }
        Ok(given)
    }
}

impl types::Host for Guest {
    fn filesystem_error_code(
        &mut self,
        error: Resource<wasmtime::Error>,
    ) -> wasmtime::Result<Option<types::ErrorCode>> {
        let error = self.table.get(&error)?;
        Ok(error.downcast_ref::<FileError>().map(codes::code))
    }

    fn convert_error_code(&mut self, failure: Failure) -> wasmtime::Result<types::ErrorCode> {
        match failure {
            Failure::File(error) => {
                if let FileError::Refused(refusal) = &error {
                    self.refusals.note(refusal);
                }
                Ok(codes::code(&error))
            }
            Failure::Code(code) => Ok(code),
            Failure::Trap(error) => Err(error),
        }
    }
}
