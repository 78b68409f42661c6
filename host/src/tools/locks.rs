//! Locks on paths, so that calls of one turn do not cut into each other.
//!
//! Owns who may touch which path now. A path stands for everything below it; readers share, a
//! writer is alone. Requests are served in the order they were made and each takes all its paths
//! at once, so no order of calls can deadlock or starve, and two calls on one path run in the
//! order the model gave them. It must never touch the file system.
//!
//! Paths are compared as text: relative to the workspace, `.` and `..` removed, letter case
//! ignored because some file systems ignore it. Two names that a link makes the same file are not
//! seen as one here; the edit tools catch that by the content they expect.

use super::schema::{Access, PathClaim};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// The locks of one workspace. A clone shares them.
#[derive(Debug, Clone, Default)]
pub struct PathLocks {
    queue: Arc<Mutex<Queue>>,
}

#[derive(Debug, Default)]
struct Queue {
    next: u64,
    /// By ticket: what is held and what waits.
    requests: Vec<Request>,
}

#[derive(Debug)]
struct Request {
    ticket: u64,
    claims: Vec<Claim>,
    granted: bool,
    waker: Option<Waker>,
}

#[derive(Debug)]
struct Claim {
    /// Components joined by `/`; empty for the workspace itself.
    key: String,
    access: Access,
}

impl PathLocks {
    /// No locks held.
    pub fn new() -> Self {
        PathLocks::default()
    }

    /// Takes a place in the queue for all of `claims` at once. The place is taken by this call,
    /// not by the first poll. Dropping the answer gives it up.
    pub fn request(&self, claims: &[PathClaim]) -> PathLock {
        let claims: Vec<Claim> = claims
            .iter()
            .map(|claim| Claim {
                key: key(&claim.path),
                access: claim.access,
            })
            .collect();
        let mut queue = self.lock();
        let ticket = queue.next;
        queue.next += 1;
        if !claims.is_empty() {
            let granted = queue.free(&claims, queue.requests.len());
            queue.requests.push(Request {
                ticket,
                claims,
                granted,
                waker: None,
            });
        }
        drop(queue);
        PathLock {
            locks: self.clone(),
            ticket,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        // No code that can panic runs under this mutex; a poisoned one is still whole.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Queue {
    /// Whether nothing before position `end` stands in the way of `claims`, held or waiting.
    fn free(&self, claims: &[Claim], end: usize) -> bool {
        self.requests[..end].iter().all(|earlier| {
            earlier
                .claims
                .iter()
                .all(|one| claims.iter().all(|other| !one.conflicts(other)))
        })
    }

    /// Grants what has become free and hands back whom to wake.
    fn advance(&mut self) -> Vec<Waker> {
        let mut woken = Vec::new();
        for index in 0..self.requests.len() {
            let request = &self.requests[index];
            if !request.granted && self.free(&request.claims, index) {
                let request = &mut self.requests[index];
                request.granted = true;
                woken.extend(request.waker.take());
            }
        }
        woken
    }
}

impl Claim {
    fn conflicts(&self, other: &Claim) -> bool {
        (self.access == Access::Write || other.access == Access::Write)
            && (covers(&self.key, &other.key) || covers(&other.key, &self.key))
    }
}

/// Whether `outer` is `inner` or a directory above it.
fn covers(outer: &str, inner: &str) -> bool {
    match inner.strip_prefix(outer) {
        Some(rest) => rest.is_empty() || outer.is_empty() || rest.starts_with('/'),
        None => false,
    }
}

/// A place in the queue, and the lock itself once [`PathLock::acquired`] returns. Dropping it
/// gives it up.
#[derive(Debug)]
#[must_use = "a lock is given up when it is dropped"]
pub struct PathLock {
    locks: PathLocks,
    ticket: u64,
}

impl PathLock {
    /// Waits until the paths are free for this request.
    pub async fn acquired(&self) {
        Acquired(self).await;
    }
}

impl Drop for PathLock {
    fn drop(&mut self) {
        let woken = {
            let mut queue = self.locks.lock();
            match queue
                .requests
                .iter()
                .position(|request| request.ticket == self.ticket)
            {
                Some(index) => {
                    queue.requests.remove(index);
                    queue.advance()
                }
                None => Vec::new(),
            }
        };
        woken.into_iter().for_each(Waker::wake);
    }
}

struct Acquired<'a>(&'a PathLock);

impl Future for Acquired<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut queue = self.0.locks.lock();
        let request = queue
            .requests
            .iter_mut()
            .find(|request| request.ticket == self.0.ticket);
        match request {
            Some(request) if !request.granted => {
                request.waker = Some(cx.waker().clone());
                Poll::Pending
            }
            // A request without paths is not in the queue.
            _ => Poll::Ready(()),
        }
    }
}

/// A path as locks compare it.
fn key(path: &str) -> String {
    let mut parts: Vec<String> = Vec::new();
    let inside = path
        .strip_prefix("/workspace")
        .filter(|rest| rest.is_empty() || rest.starts_with('/'))
        .unwrap_or(path);
    for part in inside.split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            name => parts.push(name.to_lowercase()),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use Access::{Read, Write};
    use futures::FutureExt;
    use proptest::prelude::*;

    fn claim(access: Access, path: &str) -> PathClaim {
        PathClaim {
            path: path.to_owned(),
            access,
        }
    }

    fn held(lock: &PathLock) -> bool {
        lock.acquired().now_or_never().is_some()
    }

    #[test]
    fn a_table_of_pairs() {
        let cases = [
            // first, second, both at once
            (Read, "a", Read, "a", true),
            (Read, "a", Write, "a", false),
            (Write, "a", Read, "a", false),
            (Write, "a", Write, "a", false),
            (Write, "a", Write, "b", true),
            (Write, "a", Write, "ab", true),
            (Write, "a/b", Write, "a/c", true),
            (Write, "a", Read, "a/b/c", false),
            (Write, "a/b/c", Read, "a", false),
            (Read, ".", Write, "a/b", false),
            (Read, "/workspace", Write, "a", false),
            (Write, "/workspace/a", Write, "a", false),
            (Write, "/workspaces/a", Write, "a", true),
            (Write, "./a//b/", Write, "a/x/../b", false),
            (Write, "../../a", Write, "a", false),
            (Write, "a\\b", Write, "a/b", false),
            (Write, "README.md", Write, "readme.MD", false),
            (Write, "", Write, "a", false),
        ];
        for (first, one, second, other, together) in cases {
            let locks = PathLocks::new();
            let earlier = locks.request(&[claim(first, one)]);
            let later = locks.request(&[claim(second, other)]);
            assert!(held(&earlier));
            assert_eq!(held(&later), together, "{first:?} {one} {second:?} {other}");
            drop(earlier);
            assert!(held(&later), "{one} {other}");
        }
    }

    #[test]
    fn a_writer_is_not_starved_by_readers_who_come_later() {
        let locks = PathLocks::new();
        let reading = locks.request(&[claim(Read, "a")]);
        let writing = locks.request(&[claim(Write, "a")]);
        let late = locks.request(&[claim(Read, "a")]);
        assert!(held(&reading) && !held(&writing) && !held(&late));
        drop(reading);
        assert!(held(&writing) && !held(&late));
        drop(writing);
        assert!(held(&late));
    }

    #[test]
    fn one_who_gives_up_waiting_lets_the_next_through() {
        let locks = PathLocks::new();
        let reading = locks.request(&[claim(Read, "a")]);
        let writing = locks.request(&[claim(Write, "a")]);
        let late = locks.request(&[claim(Read, "a")]);
        drop(writing);
        assert!(held(&reading) && held(&late));
    }

    #[test]
    fn a_call_does_not_stand_in_its_own_way() {
        let locks = PathLocks::new();
        let lock = locks.request(&[claim(Read, "a"), claim(Write, "a"), claim(Write, "a/b")]);
        assert!(held(&lock));
        assert!(held(&locks.request(&[])));
    }

    #[tokio::test]
    async fn one_who_waits_is_woken() {
        let locks = PathLocks::new();
        let first = locks.request(&[claim(Write, "a")]);
        let second = locks.request(&[claim(Write, "a")]);
        let waiting = tokio::spawn(async move { second.acquired().await });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        drop(first);
        waiting.await.expect("the waiting call goes on");
    }

    proptest! {
        /// Whatever is asked and given back in whatever order: no two conflicting requests are
        /// held together, the eldest is never kept waiting, and in the end nothing is left.
        #[test]
        fn no_order_of_requests_deadlocks_or_overlaps(
            steps in proptest::collection::vec(
                (proptest::collection::vec((any::<bool>(), "[ab](/[ab]){0,2}"), 0..3), any::<prop::sample::Index>()), 1..24),
        ) {
            let locks = PathLocks::new();
            let mut open: Vec<(PathLock, Vec<PathClaim>)> = Vec::new();
            for (paths, leave) in steps {
                let claims: Vec<PathClaim> = paths
                    .iter()
                    .map(|(write, path)| claim(if *write { Write } else { Read }, path))
                    .collect();
                open.push((locks.request(&claims), claims));
                prop_assert!(held(&open[0].0), "the eldest waits");
                let holding: Vec<&Vec<PathClaim>> = open
                    .iter()
                    .filter(|(lock, _)| held(lock))
                    .map(|(_, claims)| claims)
                    .collect();
                for (index, one) in holding.iter().enumerate() {
                    for other in &holding[index + 1..] {
                        for (a, b) in one.iter().flat_map(|a| other.iter().map(move |b| (a, b))) {
                            let writes = a.access == Write || b.access == Write;
                            let related = format!("{}/", a.path).starts_with(&format!("{}/", b.path))
                                || format!("{}/", b.path).starts_with(&format!("{}/", a.path));
                            prop_assert!(!(writes && related), "{a:?} beside {b:?}");
                        }
                    }
                }
                if open.len() > 4 {
                    let index = leave.index(open.len());
                    drop(open.remove(index));
                }
            }
            while !open.is_empty() {
                prop_assert!(held(&open[0].0));
                drop(open.remove(0));
            }
            prop_assert!(locks.lock().requests.is_empty());
        }
    }
}
