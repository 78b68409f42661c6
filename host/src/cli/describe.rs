//! `hotcell describe`: what a component says about its tools.
//!
//! For tool authors, and for the `definitions.json` beside each built-in tool. The component gets
//! nothing while it answers.

use super::args::DescribeArgs;
use super::exit::{CommandError, Exit};
use crate::render::write_json_pretty;
use crate::sandbox::{Sandbox, SandboxSettings};
use crate::tools::MAX_COMPONENT_BYTES;
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

pub(super) async fn describe(args: &DescribeArgs) -> Result<Exit, CommandError> {
    let file = &args.component;
    let bytes = read(file).map_err(|error| CommandError::Unreadable {
        file: file.clone(),
        why: error.to_string(),
    })?;
    let refused = |why| CommandError::Component {
        file: file.clone(),
        why,
    };
    // One call, once: neither the cache nor the pool would pay.
    let sandbox = Sandbox::new(SandboxSettings {
        pooling: false,
        ..SandboxSettings::default()
    })?;
    let component = sandbox.load(Cow::Owned(bytes)).map_err(refused)?;
    let definitions = component.describe().await.map_err(refused)?;
    write_json_pretty(&mut io::stdout(), &definitions)?;
    Ok(Exit::Done)
}

fn read(file: &Path) -> io::Result<Vec<u8>> {
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut bytes = Vec::new();
    File::open(file)?
        .take(MAX_COMPONENT_BYTES + 1)
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_COMPONENT_BYTES {
        return Err(io::Error::other(format!(
            "it has more than {MAX_COMPONENT_BYTES} bytes"
        )));
    }
    Ok(bytes)
}
