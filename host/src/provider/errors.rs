//! What can go wrong between hotcell and a model.
//!
//! Owns the two error types: of one request ([`ProviderError`]) and of setting a provider up
//! ([`ProviderSetupError`]). Texts of vendors and of the transport enter them only by way of
//! the `scrub` module, so that no message can hold a key. It must never decide
//! what is tried again: that is `retry`.

use std::time::Duration;

/// A request failed, after all retries. The text is one line for people.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProviderError {
    /// The server could not be reached, or the connection failed before the answer began.
    #[error("cannot reach {provider} at {server}: {reason}")]
    Connect {
        /// The provider.
        provider: String,
        /// Scheme, host and port; never the user information of a URL.
        server: String,
        /// What the transport says.
        reason: String,
    },
    /// The server's certificate does not hold.
    #[error("the certificate of {provider} at {server} is not trusted: {reason}")]
    Untrusted {
        /// The provider.
        provider: String,
        /// Scheme, host and port.
        server: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The answer ended before it was complete.
    #[error("the answer of {provider} broke off: {reason}")]
    Broken {
        /// The provider.
        provider: String,
        /// What the transport says, or that the stream just ended.
        reason: String,
    },
    /// The vendor does not take the key.
    #[error("{provider} refused the key ({status}): {message}; {hint}")]
    Unauthorized {
        /// The provider.
        provider: String,
        /// 401 or 403.
        status: u16,
        /// The vendor's words.
        message: String,
        /// What to type next.
        hint: String,
    },
    /// Too many requests, or too many tokens, for now.
    #[error("{provider} is rate limited{}: {message}", advice(.wait))]
    RateLimited {
        /// The provider.
        provider: String,
        /// How long the vendor asks to wait; `None` when it does not say.
        wait: Option<Duration>,
        /// The vendor's words.
        message: String,
    },
    /// The vendor failed: a status of 500 and above, or an error in the middle of a stream.
    #[error("{provider} failed ({status}): {message}")]
    Server {
        /// The provider.
        provider: String,
        /// The HTTP status; 529 for an overload told inside a stream.
        status: u16,
        /// How long the vendor asks to wait, when it says so.
        wait: Option<Duration>,
        /// The vendor's words.
        message: String,
    },
    /// The vendor does not take the request: any other status.
    #[error("{provider} rejected the request ({status}): {message}")]
    Rejected {
        /// The provider.
        provider: String,
        /// The HTTP status.
        status: u16,
        /// The vendor's words.
        message: String,
    },
    /// The answer is not what the protocol says.
    #[error("{provider} answered what its protocol does not allow: {reason}")]
    Malformed {
        /// The provider.
        provider: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The answer is larger than hotcell takes.
    #[error("the answer of {provider} has more than the {limit} bytes allowed for {what}")]
    TooLarge {
        /// The provider.
        provider: String,
        /// What is too large: an answer, or one event of a stream.
        what: &'static str,
        /// The bound, in bytes.
        limit: usize,
    },
    /// The request would not be valid and could not be repaired. Nothing was sent.
    #[error("the request is not valid: {reason}")]
    InvalidRequest {
        /// Which rule it breaks.
        reason: String,
    },
    /// A script's demand on the request is not met, or it has no turn left.
    #[error("script {script}, turn {turn}: {reason}")]
    Script {
        /// The file, or `built in`.
        script: String,
        /// From 1.
        turn: usize,
        /// The demand, and what was there.
        reason: String,
    },
}

fn advice(wait: &Option<Duration>) -> String {
    match wait {
        Some(wait) => format!(", try again in {}", Seconds(*wait)),
        None => String::new(),
    }
}

/// A wait in whole seconds, rounded up, as people read it.
pub(super) struct Seconds(pub(super) Duration);

impl std::fmt::Display for Seconds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let seconds = self.0.as_secs() + u64::from(self.0.subsec_nanos() > 0);
        match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
            (0, 0, s) => write!(f, "{s} s"),
            (0, m, 0) => write!(f, "{m} min"),
            (0, m, s) => write!(f, "{m} min {s} s"),
            (h, 0, _) => write!(f, "{h} h"),
            (h, m, _) => write!(f, "{h} h {m} min"),
        }
    }
}

/// A provider cannot be set up: a mistake in the configuration. The text is one line for people.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProviderSetupError {
    /// The name is not in the table.
    #[error("`{name}` is not a provider{}; the providers are {known}", did_you_mean(.nearest))]
    Unknown {
        /// What was asked for.
        name: String,
        /// The table's name that is most like it, when one is.
        nearest: Option<String>,
        /// All names of the table.
        known: String,
    },
    /// The vendor's own API takes no request without a key.
    #[error("{provider} needs a key; set {variable}")]
    MissingKey {
        /// The provider.
        provider: String,
        /// The environment variable that holds it.
        variable: String,
    },
    /// The key cannot be sent in a header.
    #[error(
        "the key of {provider} holds characters that no HTTP header can carry; set {variable} again"
    )]
    UnusableKey {
        /// The provider.
        provider: String,
        /// The environment variable that holds it.
        variable: String,
    },
    /// The base URL cannot be used.
    #[error("the base url of {provider} cannot be used: {reason}; give one by --base-url")]
    BaseUrl {
        /// The provider.
        provider: String,
        /// Why not. The URL itself may hold a password and is not shown.
        reason: String,
    },
    /// A proxy variable cannot be used. Its value may hold a password and is not shown.
    #[error("the proxy in {variable} cannot be used: {reason}")]
    Proxy {
        /// The variable, such as `HTTPS_PROXY`.
        variable: &'static str,
        /// Why not.
        reason: String,
    },
    /// The provider `script` was chosen and no script was named.
    #[error("the provider `script` needs a file of turns; name it by --script FILE")]
    MissingScript,
    /// The script cannot be read, or is not one.
    #[error("cannot use the script {script}: {reason}")]
    Script {
        /// The file, or `built in`.
        script: String,
        /// What is wrong, with line and column where the parser knows them.
        reason: String,
    },
    /// The HTTP client cannot be built, for lack of usable system certificates for instance.
    #[error("cannot set up the connection to {provider}: {reason}")]
    Client {
        /// The provider.
        provider: String,
        /// What the TLS or HTTP library says.
        reason: String,
    },
}

fn did_you_mean(nearest: &Option<String>) -> String {
    match nearest {
        Some(nearest) => format!(", did you mean `{nearest}`"),
        None => String::new(),
    }
}
