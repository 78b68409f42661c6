//! A scripted model behind real HTTP, for tests.
//!
//! Owns a server on loopback that speaks both protocols: `POST /v1/chat/completions` and
//! `POST /v1/messages`. It answers from a queue of replies, keeps what it was asked, and rejects
//! every request that a vendor would reject; such a request fails the test when the server goes.
//! It runs on a thread of its own, so tests of the binary can use it as well as async tests.

#![allow(dead_code, reason = "each test binary uses its own part")]

mod check;
mod check_anthropic;
mod check_openai;
mod reply;
mod wire;

pub use reply::Reply;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::serve::ListenerExt as _;
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::oneshot;

/// Which API a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// Chat Completions.
    OpenAi,
    /// Messages.
    Anthropic,
}

/// A request as it came.
#[derive(Debug, Clone)]
pub struct Recorded {
    /// By its path.
    pub protocol: Protocol,
    /// Names in lower case.
    pub headers: BTreeMap<String, String>,
    /// The body; null when it was no JSON.
    pub body: Value,
}

/// The server. Dropping it stops it, and panics when a request broke a rule or a reply was never
/// asked for.
#[derive(Debug)]
pub struct ModelServer {
    shared: Arc<Shared>,
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    inner: Mutex<Inner>,
    hung_up: Condvar,
}

#[derive(Debug, Default)]
struct Inner {
    replies: VecDeque<Reply>,
    requests: Vec<Recorded>,
    violations: Vec<String>,
    key: Option<String>,
    /// Hanging replies that clients walked away from.
    hung_up: usize,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().expect("no test panics with the lock")
    }
}

impl ModelServer {
    /// Starts a server on a free port of loopback.
    pub fn start() -> Self {
        let shared = Arc::new(Shared::default());
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("a bound socket");
        listener.set_nonblocking(true).expect("a socket");
        let (stop, stopped) = oneshot::channel();
        let app = Router::new()
            .fallback(answer)
            .with_state(Arc::clone(&shared));
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("a runtime");
            runtime.block_on(async move {
                // Small pieces go out at once: without this each waits for the last one's receipt.
                let listener = tokio::net::TcpListener::from_std(listener)
                    .expect("a listener")
                    .tap_io(|connection| connection.set_nodelay(true).expect("a TCP socket"));
                // Connections that are still open end with the runtime.
                tokio::select! {
                    _ = async { axum::serve(listener, app).await } => {}
                    _ = stopped => {}
                }
            });
        });
        ModelServer {
            shared,
            address,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    /// The base URL for the provider `openai`.
    pub fn openai_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The base URL for the provider `anthropic`.
    pub fn anthropic_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The base URL for the provider of `protocol`.
    pub fn url(&self, protocol: Protocol) -> String {
        match protocol {
            Protocol::OpenAi => self.openai_url(),
            Protocol::Anthropic => self.anthropic_url(),
        }
    }

    /// From now on requests must carry this key.
    pub fn demand_key(&self, key: &str) {
        self.shared.lock().key = Some(key.to_owned());
    }

    /// Puts a reply at the end of the queue.
    pub fn reply(&self, reply: Reply) -> &Self {
        self.shared.lock().replies.push_back(reply);
        self
    }

    /// What was asked so far, rejected requests included.
    pub fn requests(&self) -> Vec<Recorded> {
        self.shared.lock().requests.clone()
    }

    /// The rules that requests broke so far. Taking them keeps them from failing the test.
    pub fn take_violations(&self) -> Vec<String> {
        std::mem::take(&mut self.shared.lock().violations)
    }

    /// Empties the queue of replies.
    pub fn forget_replies(&self) {
        self.shared.lock().replies.clear();
    }

    /// Waits until a client has walked away from a hanging reply.
    ///
    /// # Panics
    /// When none does within ten seconds.
    pub fn wait_hung_up(&self) {
        let waited = self.shared.hung_up.wait_timeout_while(
            self.shared.lock(),
            Duration::from_secs(10),
            |inner| inner.hung_up == 0,
        );
        let (mut inner, timeout) = waited.expect("no test panics with the lock");
        assert!(!timeout.timed_out(), "nobody hung up");
        inner.hung_up -= 1;
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            assert!(
                ended.is_ok() || std::thread::panicking(),
                "the server panicked"
            );
        }
        if !std::thread::panicking() {
            let inner = self.shared.lock();
            assert_eq!(
                inner.violations,
                Vec::<String>::new(),
                "requests broke rules"
            );
            assert_eq!(inner.replies.len(), 0, "replies were never asked for");
        }
    }
}

async fn answer(
    State(shared): State<Arc<Shared>>,
    uri: Uri,
    headers: HeaderMap,
    body: axum::body::Bytes,
) -> Response {
    let protocol = match uri.path() {
        "/v1/chat/completions" => Protocol::OpenAi,
        "/v1/messages" => Protocol::Anthropic,
        path => {
            let line = format!("there is nothing at {path}");
            shared.lock().violations.push(line.clone());
            return (StatusCode::NOT_FOUND, line).into_response();
        }
    };
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let reply = {
        let mut inner = shared.lock();
        let mut violations = check::headers(protocol, &headers, inner.key.as_deref());
        violations.extend(match protocol {
            Protocol::OpenAi => check_openai::request(&body),
            Protocol::Anthropic => check_anthropic::request(&body),
        });
        inner.requests.push(Recorded {
            protocol,
            headers: headers
                .iter()
                .map(|(name, value)| {
                    let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
                    (name.as_str().to_owned(), value)
                })
                .collect(),
            body: body.clone(),
        });
        let reply = if violations.is_empty() {
            inner.replies.pop_front()
        } else {
            None
        };
        if violations.is_empty() && reply.is_none() {
            violations.push("a request came for which there is no reply".to_owned());
        }
        if let Some(first) = violations.first() {
            let message = format!("{protocol:?}: {first}");
            inner.violations.extend(
                violations
                    .iter()
                    .map(|line| format!("{protocol:?}: {line}")),
            );
            let error = json!({
                "type": "error",
                "error": {"type": "invalid_request_error", "message": message},
            });
            return (StatusCode::BAD_REQUEST, error.to_string()).into_response();
        }
        reply
    };
    match reply {
        Some(reply) => {
            reply.pass_time();
            send(reply, protocol, body["stream"] == true, shared)
        }
        None => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// Counts a client that walks away, when the reply is dropped before its end.
struct Watch(Arc<Shared>);

impl Drop for Watch {
    fn drop(&mut self) {
        self.0.lock().hung_up += 1;
        self.0.hung_up.notify_all();
    }
}

fn send(reply: Reply, protocol: Protocol, stream: bool, shared: Arc<Shared>) -> Response {
    let rendered = reply.render(protocol, stream);
    let mut response = Response::builder().status(rendered.status);
    for (name, value) in &rendered.headers {
        response = response.header(name, value);
    }
    let pieces = async_stream::stream! {
        let watch = rendered.hangs.then(|| Watch(shared));
        for piece in rendered.pieces {
            yield Ok(axum::body::Bytes::from(piece));
            // Lets the connection take each piece by itself.
            tokio::task::yield_now().await;
        }
        if rendered.breaks {
            yield Err(std::io::Error::other("cut"));
        }
        if rendered.hangs {
            std::future::pending::<()>().await;
        }
        drop(watch);
    };
    response
        .body(Body::from_stream(pieces))
        .expect("replies have valid headers")
}
