//! A running process, as its starter holds it.
//!
//! Owns the streams, the end, and the rule that a process never outlives its handle. It must never
//! wait for a process by itself: whoever wants to know the end asks.

use serde::{Deserialize, Serialize};
use std::fmt;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tokio_util::sync::DropGuard;

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Exit {
    /// By itself, with this status.
    Code(u8),
    /// By this signal.
    Signal(u8),
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Exit::Code(code) => write!(f, "exit status {code}"),
            Exit::Signal(signal) => write!(f, "signal {signal}"),
        }
    }
}

/// The end of a process and of everything it started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// How the program ended; signal 9 where it was ended with its starter.
    pub exit: Exit,
    /// What was found and undone afterwards, one line each, for the model and the person.
    pub notes: Vec<String>,
}

/// Where a program reads from.
pub type Input = Box<dyn AsyncWrite + Send + Sync + Unpin>;

/// Where a program writes to.
pub type Output = Box<dyn AsyncRead + Send + Sync + Unpin>;

/// A running program. Dropping it ends the program and everything that it started.
pub struct Child {
    /// Its standard input; dropping it is the end of the input.
    pub stdin: Option<Input>,
    /// Its standard output.
    pub stdout: Option<Output>,
    /// Its standard error.
    pub stderr: Option<Output>,
    pub(super) ended: watch::Receiver<Option<Ended>>,
    pub(super) stop: DropGuard,
}

impl Child {
    /// The end, if it has come: of the program, and of all that it started.
    pub fn try_ended(&self) -> Option<Ended> {
        self.ended.borrow().clone()
    }

    /// Waits for the end.
    pub async fn ended(&mut self) -> Ended {
        ended(&mut self.ended).await
    }

    /// Ends the program and everything that it started, and returns a way to learn of the end.
    /// Nothing it does can prevent that.
    pub fn kill(self) -> Ending {
        drop(self.stop);
        Ending(self.ended)
    }

    /// A way to learn of the end, apart from the process.
    pub fn ending(&self) -> Ending {
        Ending(self.ended.clone())
    }
}

/// A way to learn of the end of a process.
#[derive(Debug, Clone)]
pub struct Ending(watch::Receiver<Option<Ended>>);

impl Ending {
    /// The end, if it has come.
    pub fn now(&self) -> Option<Ended> {
        self.0.borrow().clone()
    }

    /// Waits for the end.
    pub async fn wait(&mut self) -> Ended {
        ended(&mut self.0).await
    }
}

async fn ended(receiver: &mut watch::Receiver<Option<Ended>>) -> Ended {
    match receiver.wait_for(Option::is_some).await {
        Ok(ended) => ended.clone(),
        // The task that follows the process is gone, with its runtime: so is the process.
        Err(_) => None,
    }
    .unwrap_or(Ended {
        exit: Exit::Signal(9),
        notes: Vec::new(),
    })
}
