//! Decides whether and when a failed try is followed by another.
//!
//! Owns the budgets of each kind of failure and the waits between tries. It must never send
//! anything, and never look at the words of an error: its kind decides.

use super::errors::ProviderError;
use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};
use std::time::Duration;

/// How often a kind of failure is tried, and how long the waits are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Tries in all, the first included; 1 means no retry.
    pub tries: u32,
    /// The first wait; each further one is twice as long. Up to as much again is added by chance,
    /// so that many clients do not come back at once.
    pub base: Duration,
    /// The longest wait.
    pub cap: Duration,
}

/// The budgets of a provider. Tests make the waits short.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetrySettings {
    /// The server cannot be reached, or the connection breaks.
    pub network: Budget,
    /// The server fails (500 and above) or is overloaded (529).
    pub server: Budget,
    /// Too many requests (429). The waits hold only where the server does not say how long.
    pub rate: Budget,
    /// A longer wait than this, when a server asks for it, ends the request with an error that
    /// says how long.
    pub longest_wait: Duration,
}

impl Default for RetrySettings {
    /// A network may be away for minutes (a laptop lid), a server fault passes in seconds or not
    /// at all.
    fn default() -> Self {
        let seconds = Duration::from_secs;
        RetrySettings {
            network: Budget {
                tries: 6,
                base: seconds(5),
                cap: seconds(60),
            },
            server: Budget {
                tries: 3,
                base: seconds(1),
                cap: seconds(30),
            },
            rate: Budget {
                tries: 6,
                base: seconds(5),
                cap: seconds(60),
            },
            longest_wait: seconds(5 * 60),
        }
    }
}

/// The retries of one request.
#[derive(Debug)]
pub(super) struct Retries {
    settings: RetrySettings,
    attempt: u32,
    network: Waits,
    server: Waits,
    rate: Waits,
}

/// Wait, then send the request again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Again {
    /// The number of the try to come; the first retry is 2.
    pub(super) attempt: u32,
    pub(super) wait: Duration,
}

impl Retries {
    pub(super) fn new(settings: RetrySettings) -> Self {
        Retries {
            settings,
            attempt: 1,
            network: Waits::new(settings.network),
            server: Waits::new(settings.server),
            rate: Waits::new(settings.rate),
        }
    }

    /// What follows a try that failed; `None` when the error stands. `shown` says whether a part
    /// of the answer was handed on: it cannot be taken back, so nothing follows then.
    pub(super) fn after(&mut self, error: &ProviderError, shown: bool) -> Option<Again> {
        if shown {
            return None;
        }
        let (waits, asked) = match error {
            ProviderError::Connect { .. } | ProviderError::Broken { .. } => {
                (&mut self.network, None)
            }
            ProviderError::Server { wait, .. } => (&mut self.server, *wait),
            ProviderError::RateLimited { wait, .. } => (&mut self.rate, *wait),
            _ => return None,
        };
        let wait = waits.next()?;
        let wait = match asked {
            Some(asked) if asked > self.settings.longest_wait => return None,
            Some(asked) if matches!(error, ProviderError::RateLimited { .. }) => asked,
            Some(asked) => asked.max(wait),
            None => wait,
        };
        self.attempt += 1;
        Some(Again {
            attempt: self.attempt,
            wait,
        })
    }
}

#[derive(Debug)]
struct Waits {
    backoff: ExponentialBackoff,
    cap: Duration,
}

impl Waits {
    fn new(budget: Budget) -> Self {
        Waits {
            backoff: ExponentialBuilder::new()
                .with_min_delay(budget.base)
                .with_max_delay(budget.cap)
                .with_factor(2.0)
                .with_max_times(budget.tries.saturating_sub(1) as usize)
                .with_jitter()
                .build(),
            cap: budget.cap,
        }
    }

    fn next(&mut self) -> Option<Duration> {
        // The jitter comes on top of the backoff's own cap.
        self.backoff.next().map(|wait| wait.min(self.cap))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn connect() -> ProviderError {
        ProviderError::Connect {
            provider: "test".into(),
            server: "http://localhost".into(),
            reason: "refused".into(),
        }
    }

    fn server(wait: Option<Duration>) -> ProviderError {
        ProviderError::Server {
            provider: "test".into(),
            status: 503,
            wait,
            message: String::new(),
        }
    }

    fn limited(wait: Option<Duration>) -> ProviderError {
        ProviderError::RateLimited {
            provider: "test".into(),
            wait,
            message: String::new(),
        }
    }

    fn waits(error: &ProviderError) -> Vec<Duration> {
        let mut retries = Retries::new(RetrySettings::default());
        std::iter::from_fn(|| retries.after(error, false))
            .map(|again| again.wait)
            .collect()
    }

    #[test]
    fn waits_double_up_to_the_cap_with_jitter() {
        for (error, bases, cap) in [
            (connect(), &[5, 10, 20, 40, 60][..], 60),
            (server(None), &[1, 2][..], 30),
            (limited(None), &[5, 10, 20, 40, 60][..], 60),
        ] {
            let waits = waits(&error);
            assert_eq!(waits.len(), bases.len(), "{error}");
            for (wait, base) in waits.iter().zip(bases) {
                let most = seconds((base * 2).min(cap));
                assert!(
                    seconds(*base) <= *wait && *wait <= most,
                    "{error}: {wait:?}"
                );
            }
        }
    }

    #[test]
    fn the_server_says_how_long_a_rate_limit_lasts() {
        assert_eq!(waits(&limited(Some(seconds(7)))), [seconds(7); 5]);
        assert_eq!(waits(&limited(Some(seconds(0)))), [seconds(0); 5]);
        assert_eq!(waits(&limited(Some(seconds(300)))), [seconds(300); 5]);
        assert_eq!(waits(&limited(Some(seconds(301)))), []);
        assert_eq!(waits(&server(Some(seconds(20)))), [seconds(20); 2]);
        assert_eq!(waits(&server(Some(seconds(301)))), []);
    }

    #[test]
    fn kinds_have_budgets_of_their_own_and_one_count_of_tries() {
        let mut retries = Retries::new(RetrySettings::default());
        let attempts: Vec<u32> = [connect(), server(None), server(None), limited(None)]
            .iter()
            .map(|error| retries.after(error, false).expect("within budget").attempt)
            .collect();
        assert_eq!(attempts, [2, 3, 4, 5]);
        assert_eq!(retries.after(&server(None), false), None);
        assert!(retries.after(&connect(), false).is_some());
    }

    #[test]
    fn what_was_shown_is_never_tried_again() {
        let mut retries = Retries::new(RetrySettings::default());
        assert_eq!(retries.after(&connect(), true), None);
    }

    #[test]
    fn what_cannot_get_better_is_not_tried_again() {
        let rejected = ProviderError::Rejected {
            provider: "test".into(),
            status: 400,
            message: String::new(),
        };
        assert_eq!(waits(&rejected), []);
        let invalid = ProviderError::InvalidRequest {
            reason: String::new(),
        };
        assert_eq!(waits(&invalid), []);
    }
}
