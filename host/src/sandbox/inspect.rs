//! Looks at a component before it is linked.
//!
//! Owns the checks that turn a file which cannot be a tool into a clear error: what it is, what it
//! imports, which version of the contract it was built for. It must never run anything.

use super::CONTRACT;
use super::component::LoadError;
use super::imports;
use wasmtime::component::Component;

/// The eight bytes that begin a core module, and those that begin a component.
const CORE_MODULE: [u8; 8] = *b"\0asm\x01\0\0\0";
const COMPONENT: [u8; 8] = *b"\0asm\x0d\0\x01\0";

/// Refuses what is plainly no component.
pub fn check_bytes(bytes: &[u8]) -> Result<(), LoadError> {
    match bytes.first_chunk::<8>() {
        Some(&COMPONENT) if !ends_early(&bytes[COMPONENT.len()..]) => Ok(()),
        Some(&COMPONENT) => Err(LoadError::Truncated),
        Some(&CORE_MODULE) => Err(LoadError::CoreModule),
        _ if COMPONENT.starts_with(bytes) => Err(LoadError::Truncated),
        _ => Err(LoadError::NotWasm),
    }
}

/// Whether the last section says that it is longer than what is left of the file. The compiler would
/// refuse such a file too, by words about section ranges.
fn ends_early(mut sections: &[u8]) -> bool {
    while let Some((_kind, rest)) = sections.split_first() {
        let mut size: u64 = 0;
        let mut length = 0;
        // A size is at most five groups of seven bits, the lowest first.
        for byte in rest.iter().take(5) {
            size |= u64::from(byte & 0x7f) << (7 * length);
            length += 1;
            if byte & 0x80 == 0 {
                break;
            }
        }
        let content = &rest[length..];
        match usize::try_from(size)
            .ok()
            .and_then(|size| content.get(size..))
        {
            Some(next) if length > 0 => sections = next,
            _ => return true,
        }
    }
    false
}

/// The first import that this host does not offer, once the linker has refused a component.
pub fn unknown_import(component: &Component) -> Option<LoadError> {
    let engine = component.engine();
    let world = component.component_type();
    let unknown = world
        .imports(engine)
        .map(|(import, _)| import)
        .find(|import| !imports::OFFERED.contains(&without_version(import)));
    unknown.map(|import| LoadError::UnknownImport(import.to_owned()))
}

/// Refuses exports that are not the contract's.
pub fn check_exports(component: &Component) -> Result<(), LoadError> {
    let engine = component.engine();
    let world = component.component_type();
    let exported: Vec<&str> = world.exports(engine).map(|(name, _)| name).collect();
    let (package, version) = CONTRACT.split_once('@').unwrap_or((CONTRACT, ""));
    let wanted = format!("{package}/tool@{version}");
    if exported.contains(&wanted.as_str()) {
        return Ok(());
    }
    let interface = format!("{package}/tool");
    let other = exported
        .into_iter()
        .find(|name| without_version(name) == interface);
    Err(match other {
        Some(found) => LoadError::OtherVersion(found.to_owned()),
        None => LoadError::NoTool,
    })
}

fn without_version(name: &str) -> &str {
    name.split_once('@')
        .map_or(name, |(interface, _)| interface)
}
