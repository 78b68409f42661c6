//! Ctrl+C as a stream.

use std::io;
use tokio::sync::mpsc;

/// Takes over Ctrl+C: from now on each one is an item, and no longer the end of the process.
///
/// # Errors
/// When the system does not let us.
pub(super) fn listen() -> io::Result<mpsc::UnboundedReceiver<()>> {
    let (sender, receiver) = mpsc::unbounded_channel();
    #[cfg(unix)]
    let mut signals = {
        use tokio::signal::unix::{SignalKind, signal};
        signal(SignalKind::interrupt())?
    };
    #[cfg(windows)]
    let mut signals = tokio::signal::windows::ctrl_c()?;
    tokio::spawn(async move { while signals.recv().await.is_some() && sender.send(()).is_ok() {} });
    Ok(receiver)
}
