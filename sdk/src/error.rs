//! Failures of a call, as data for the model.
//!
//! Owns the kinds of the contract's `call-error`, and how the faults a tool meets on its way
//! (input and output, session state) become one. It must never end the program.

use std::fmt;
use std::io;

/// Why a call failed, so that the model knows what to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The arguments make no sense beyond what the schema can say.
    InvalidArguments,
    /// What was named is not there.
    NotFound,
    /// A capability or a rule stands in the way.
    Denied,
    /// The thing changed meanwhile, or matches more than once.
    Conflict,
    /// Anything else.
    Failed,
}

/// A failure the model reads and can act on.
///
/// A good message names the argument, the rule and the next step, in lower case and without a full
/// stop: `` `old` matches 3 places (lines 4, 9, 20): add a line of context to make it unique ``.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolError {
    kind: ErrorKind,
    message: String,
}

impl ToolError {
    /// A failure of the given kind.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        ToolError {
            kind,
            message: message.into(),
        }
    }

    /// The arguments make no sense beyond what the schema can say.
    pub fn invalid_arguments(message: impl Into<String>) -> Self {
        ToolError::new(ErrorKind::InvalidArguments, message)
    }

    /// What was named is not there.
    pub fn not_found(message: impl Into<String>) -> Self {
        ToolError::new(ErrorKind::NotFound, message)
    }

    /// A capability or a rule stands in the way; the message names it.
    pub fn denied(message: impl Into<String>) -> Self {
        ToolError::new(ErrorKind::Denied, message)
    }

    /// The thing changed meanwhile, or matches more than once.
    pub fn conflict(message: impl Into<String>) -> Self {
        ToolError::new(ErrorKind::Conflict, message)
    }

    /// Anything else.
    pub fn failed(message: impl Into<String>) -> Self {
        ToolError::new(ErrorKind::Failed, message)
    }

    /// A fault of input or output on `path`, which the message shows as given.
    pub fn io(path: &str, error: &io::Error) -> Self {
        let what = match error.kind() {
            io::ErrorKind::NotFound => "there is no such file or directory".to_owned(),
            io::ErrorKind::PermissionDenied => {
                "the sandbox does not allow it: the path leads out of the workspace, or what it \
                 names is protected"
                    .to_owned()
            }
            io::ErrorKind::ReadOnlyFilesystem => {
                "this call may only read; writing needs the workspace-write capability".to_owned()
            }
            io::ErrorKind::IsADirectory => "it is a directory".to_owned(),
            io::ErrorKind::NotADirectory => "a part of the path is not a directory".to_owned(),
            _ => error.to_string(),
        };
        ToolError::new(kind_of(error), format!("`{path}`: {what}"))
    }

    /// The kind.
    pub const fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// What the model reads.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ToolError {}

/// Keeps the kind. The message does not say which file: [`ToolError::io`] does.
impl From<io::Error> for ToolError {
    fn from(error: io::Error) -> Self {
        ToolError::new(kind_of(&error), error.to_string())
    }
}

fn kind_of(error: &io::Error) -> ErrorKind {
    match error.kind() {
        io::ErrorKind::NotFound => ErrorKind::NotFound,
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => ErrorKind::Denied,
        io::ErrorKind::AlreadyExists => ErrorKind::Conflict,
        io::ErrorKind::IsADirectory | io::ErrorKind::NotADirectory => ErrorKind::InvalidArguments,
        _ => ErrorKind::Failed,
    }
}

/// Why session state did not give or take a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StateError {
    /// The value is larger than the host takes; the limit in bytes.
    TooLarge(u64),
    /// The component's values together would be larger than the host keeps; the limit in bytes.
    Quota(u64),
    /// Another call stored a value meanwhile: read it again and retry.
    Conflict,
    /// There is no state for this call; the text says why.
    Unavailable(String),
}

impl fmt::Display for StateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StateError::TooLarge(limit) => {
                write!(
                    f,
                    "the value is over the session state's limit of {limit} bytes"
                )
            }
            StateError::Quota(limit) => write!(
                f,
                "this tool's session state would pass its limit of {limit} bytes in all"
            ),
            StateError::Conflict => f.write_str("another call changed the session state meanwhile"),
            StateError::Unavailable(why) => write!(f, "session state is not available: {why}"),
        }
    }
}

impl std::error::Error for StateError {}

impl From<StateError> for ToolError {
    fn from(error: StateError) -> Self {
        let kind = match error {
            StateError::Conflict => ErrorKind::Conflict,
            StateError::Unavailable(_) => ErrorKind::Denied,
            StateError::TooLarge(_) | StateError::Quota(_) => ErrorKind::Failed,
        };
        ToolError::new(kind, error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_of_input_and_output_keep_their_meaning() {
        let table = [
            (io::ErrorKind::NotFound, ErrorKind::NotFound),
            (io::ErrorKind::PermissionDenied, ErrorKind::Denied),
            (io::ErrorKind::ReadOnlyFilesystem, ErrorKind::Denied),
            (io::ErrorKind::AlreadyExists, ErrorKind::Conflict),
            (io::ErrorKind::IsADirectory, ErrorKind::InvalidArguments),
            (io::ErrorKind::BrokenPipe, ErrorKind::Failed),
        ];
        for (fault, kind) in table {
            let error = ToolError::io("src/a.rs", &fault.into());
            assert_eq!(error.kind(), kind, "{fault}");
            assert!(error.message().starts_with("`src/a.rs`: "), "{error}");
            assert_eq!(ToolError::from(io::Error::from(fault)).kind(), kind);
        }
    }

    #[test]
    fn a_lost_race_for_state_is_a_conflict() {
        assert_eq!(
            ToolError::from(StateError::Conflict).kind(),
            ErrorKind::Conflict
        );
        assert_eq!(
            ToolError::from(StateError::TooLarge(9)).kind(),
            ErrorKind::Failed
        );
    }
}
