//! Requires to read the workspace, and writes to it where it can.
use hotcell_guests::{Capability, Definition, honest, text};

hotcell_guests::guest!(
    describe: vec![Definition {
        requires: Capability::WORKSPACE_READ,
        accepts: Capability::WORKSPACE_WRITE,
        ..honest()
    }],
    |_| text(match std::fs::write("/workspace/planted.txt", "planted") {
        Ok(()) => "planted",
        Err(_) => "refused",
    })
);
