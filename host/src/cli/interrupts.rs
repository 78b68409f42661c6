//! What ends hotcell from outside, as a stream: Ctrl+C, and the signals of a system that stops it.

use super::exit::Exit;
use std::io;
use tokio::sync::mpsc;

/// Takes over Ctrl+C, and on Unix SIGTERM and SIGHUP: from now on each one is an item, the exit code
/// that belongs to it, and no longer the end of the process.
///
/// # Errors
/// When the system does not let us.
pub(super) fn listen() -> io::Result<mpsc::UnboundedReceiver<Exit>> {
    let (sender, receiver) = mpsc::unbounded_channel();
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        for (kind, exit) in [
            (SignalKind::interrupt(), Exit::Interrupted),
            (SignalKind::terminate(), Exit::Terminated),
            (SignalKind::hangup(), Exit::HungUp),
        ] {
            let mut signals = signal(kind)?;
            let sender = sender.clone();
            tokio::spawn(async move {
                while signals.recv().await.is_some() && sender.send(exit).is_ok() {}
            });
        }
    }
    #[cfg(windows)]
    {
        let mut signals = tokio::signal::windows::ctrl_c()?;
        tokio::spawn(async move {
            while signals.recv().await.is_some() && sender.send(Exit::Interrupted).is_ok() {}
        });
    }
    Ok(receiver)
}
