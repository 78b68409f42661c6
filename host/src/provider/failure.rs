//! Reads failures: what a status, a header, an error body or the transport means.
//!
//! Owns the way from those into [`ProviderError`], for every provider that speaks HTTP, so that a
//! failure is told by its kind and never by its words. Every foreign text is scrubbed here. It
//! must never decide what to do about a failure: that is `retry`.

use super::errors::ProviderError;
use super::scrub::Scrubber;
use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};
use serde_json::Value;
use std::error::Error;
use std::time::{Duration, SystemTime};

/// A failure that a decoder finds inside an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fault {
    /// Not what the protocol says.
    Malformed(String),
    /// The answer ended before it was complete.
    Incomplete,
    /// The vendor tells of a failure in the middle of its answer.
    Vendor(VendorError),
}

/// A vendor's own account of a failure, with the status it had, or would have had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct VendorError {
    pub(super) status: u16,
    /// The vendor's word for it, such as `insufficient_quota`.
    pub(super) code: String,
    pub(super) message: String,
}

/// Whose failures these are.
#[derive(Debug, Clone)]
pub(super) struct Origin {
    /// The name in the provider table.
    pub(super) provider: &'static str,
    /// Scheme, host and port.
    pub(super) server: String,
    /// What to type when the key is refused.
    pub(super) key_hint: String,
    pub(super) scrubber: Scrubber,
}

impl Origin {
    fn provider(&self) -> String {
        self.provider.to_owned()
    }

    /// An answer whose status is no success.
    pub(super) fn status(&self, status: u16, headers: &HeaderMap, body: &[u8]) -> ProviderError {
        let mut error = vendor_error(status, body);
        if (300..400).contains(&status) {
            error.message = "it redirects, which is not followed; check the base url".to_owned();
        }
        self.vendor(&error, retry_after(headers, SystemTime::now()))
    }

    /// What a vendor tells of a failure.
    pub(super) fn vendor(&self, error: &VendorError, wait: Option<Duration>) -> ProviderError {
        let provider = self.provider();
        let status = error.status;
        let message = match self.scrubber.line(&error.message) {
            blank if blank.is_empty() => "it does not say why".to_owned(),
            message => message,
        };
        match status {
            401 | 403 => ProviderError::Unauthorized {
                provider,
                status,
                message,
                hint: self.key_hint.clone(),
            },
            // A spent account is told by the same status, and no wait helps against it.
            429 if error.code != "insufficient_quota" => ProviderError::RateLimited {
                provider,
                wait,
                message,
            },
            500.. => ProviderError::Server {
                provider,
                status,
                wait,
                message,
            },
            _ => ProviderError::Rejected {
                provider,
                status,
                message,
            },
        }
    }

    /// What a decoder found.
    pub(super) fn fault(&self, fault: Fault) -> ProviderError {
        match fault {
            Fault::Malformed(reason) => ProviderError::Malformed {
                provider: self.provider(),
                reason: self.scrubber.line(&reason),
            },
            Fault::Incomplete => ProviderError::Broken {
                provider: self.provider(),
                reason: "it ended before it was complete".to_owned(),
            },
            Fault::Vendor(error) => self.vendor(&error, None),
        }
    }

    /// The transport failed before the answer began.
    pub(super) fn unreachable(&self, error: reqwest::Error) -> ProviderError {
        let error = error.without_url();
        let (provider, server) = (self.provider(), self.server.clone());
        let reason = self.scrubber.line(&innermost(&error));
        if is_untrusted(&error) {
            ProviderError::Untrusted {
                provider,
                server,
                reason,
            }
        } else {
            ProviderError::Connect {
                provider,
                server,
                reason,
            }
        }
    }

    /// The transport failed in the middle of the answer.
    pub(super) fn broken(&self, error: reqwest::Error) -> ProviderError {
        ProviderError::Broken {
            provider: self.provider(),
            reason: self.scrubber.line(&innermost(&error.without_url())),
        }
    }

    /// The answer is larger than `limit`.
    pub(super) fn too_large(&self, what: &'static str, limit: usize) -> ProviderError {
        ProviderError::TooLarge {
            provider: self.provider(),
            what,
            limit,
        }
    }
}

/// The last cause, which says what happened; those around it only say where.
fn innermost(error: &(dyn Error + 'static)) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}

/// Whether a certificate is behind it, which no retry makes better.
fn is_untrusted(error: &(dyn Error + 'static)) -> bool {
    let mut next = Some(error);
    while let Some(error) = next {
        // `io::Error` skips what it wraps when asked for its source.
        let wrapped = error
            .downcast_ref::<std::io::Error>()
            .and_then(|error| error.get_ref())
            .and_then(|inner| inner.downcast_ref::<rustls::Error>());
        if let Some(rustls::Error::InvalidCertificate(_)) =
            wrapped.or_else(|| error.downcast_ref::<rustls::Error>())
        {
            return true;
        }
        next = error.source();
    }
    false
}

/// Reads an error body; a proxy in between may answer with a page.
fn vendor_error(status: u16, body: &[u8]) -> VendorError {
    match serde_json::from_slice::<Value>(body) {
        Ok(mut body) => {
            let error = body.get_mut("error").map(Value::take);
            VendorError::read(status, &error.unwrap_or(body))
        }
        Err(_) => VendorError {
            status,
            code: String::new(),
            message: String::from_utf8_lossy(body).into_owned(),
        },
    }
}

impl VendorError {
    /// Reads the account itself, which vendors and compatible servers write in different ways.
    pub(super) fn read(status: u16, error: &Value) -> Self {
        let text = |key: &str| error.get(key).and_then(Value::as_str);
        VendorError {
            status,
            code: text("code")
                .or_else(|| text("type"))
                .unwrap_or_default()
                .to_owned(),
            message: error
                .as_str()
                .or_else(|| text("message"))
                .or_else(|| text("detail"))
                .map_or_else(|| error.to_string(), str::to_owned),
        }
    }
}

/// How long a server asks to wait: milliseconds, seconds, or until a date. A date is read against
/// the server's own clock where it tells it.
fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    if let Some(milliseconds) = text("retry-after-ms").and_then(|text| text.parse::<f64>().ok()) {
        return Duration::try_from_secs_f64(milliseconds / 1_000.0).ok();
    }
    let text_after = text(RETRY_AFTER.as_str())?;
    if let Ok(seconds) = text_after.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = httpdate::parse_http_date(text_after).ok()?;
    let now = text(DATE.as_str())
        .and_then(|date| httpdate::parse_http_date(date).ok())
        .unwrap_or(now);
    Some(date.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Secret;
    use reqwest::header::{HeaderName, HeaderValue};
    use std::io;

    fn origin() -> Origin {
        Origin {
            provider: "openai",
            server: "https://api.test".into(),
            key_hint: "set OPENAI_API_KEY".into(),
            scrubber: Scrubber::new([Secret::new("sk-0123456789abcdef")]),
        }
    }

    fn told(status: u16, body: &str) -> String {
        origin()
            .status(status, &HeaderMap::new(), body.as_bytes())
            .to_string()
    }

    #[test]
    fn each_status_is_told_by_its_kind() {
        for (status, body, line) in [
            (
                401,
                r#"{"error":{"message":"Incorrect API key: sk-0123456789abcdef","type":"x"}}"#,
                "openai refused the key (401): Incorrect API key: [key]; set OPENAI_API_KEY",
            ),
            (
                400,
                r#"{"type":"error","error":{"type":"invalid_request_error","message":"no"}}"#,
                "openai rejected the request (400): no",
            ),
            (
                404,
                r#"{"error":"model not found"}"#,
                "openai rejected the request (404): model not found",
            ),
            (
                422,
                r#"{"detail":[{"loc":"body"}]}"#,
                r#"openai rejected the request (422): {"detail":[{"loc":"body"}]}"#,
            ),
            (
                422,
                r#"{"detail":"bad"}"#,
                "openai rejected the request (422): bad",
            ),
            (429, r#"{"message":"slow"}"#, "openai is rate limited: slow"),
            (
                429,
                r#"{"error":{"message":"pay","code":"insufficient_quota"}}"#,
                "openai rejected the request (429): pay",
            ),
            (500, "", "openai failed (500): it does not say why"),
            (
                502,
                "<html>\n<h1>Bad\tGateway",
                "openai failed (502): <html> <h1>Bad Gateway",
            ),
            (
                529,
                r#"{"error":{"type":"overloaded_error","message":"Overloaded"}}"#,
                "openai failed (529): Overloaded",
            ),
            (
                308,
                "",
                "openai rejected the request (308): it redirects, which is not followed; check the base url",
            ),
        ] {
            assert_eq!(told(status, body), line);
        }
    }

    #[test]
    fn a_wait_is_read_in_every_form() {
        let date = "Sun, 06 Nov 1994 08:49:37 GMT";
        let before = httpdate::parse_http_date(date).expect("a date") - Duration::from_secs(90);
        for (headers, seconds) in [
            (&[("retry-after", "7")][..], Some(7.0)),
            (&[("retry-after", " 0 ")], Some(0.0)),
            (&[("retry-after", "1.5")], Some(1.5)),
            (
                &[("retry-after-ms", "250"), ("retry-after", "9")],
                Some(0.25),
            ),
            (&[("retry-after", date)], Some(90.0)),
            (
                &[
                    ("retry-after", date),
                    ("date", "Sun, 06 Nov 1994 08:49:00 GMT"),
                ],
                Some(37.0),
            ),
            (
                &[
                    ("retry-after", date),
                    ("date", "Sun, 06 Nov 1994 09:00:00 GMT"),
                ],
                Some(0.0),
            ),
            (&[("retry-after", "-3")], None),
            (&[("retry-after", "inf")], None),
            (&[("retry-after", "soon")], None),
            (&[], None),
        ] {
            let map: HeaderMap = headers
                .iter()
                .map(|(name, value)| {
                    (
                        HeaderName::from_static(name),
                        HeaderValue::from_static(value),
                    )
                })
                .collect();
            let wait = retry_after(&map, before).map(|wait| wait.as_secs_f64());
            assert_eq!(wait, seconds, "{headers:?}");
        }
    }

    #[test]
    fn a_certificate_fault_is_told_from_a_network_fault() {
        let fault = rustls::Error::InvalidCertificate(rustls::CertificateError::Expired);
        assert!(is_untrusted(&io::Error::other(fault)));
        let refused = io::Error::from(io::ErrorKind::ConnectionRefused);
        assert!(!is_untrusted(&io::Error::other(refused)));
    }
}
