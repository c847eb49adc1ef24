//! The rate limit of each principal.

use crate::access::principal::Principal;
use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// How many seconds of requests may come at once: agents send requests in bursts.
const BURST: u32 = 4;

/// The number of principals from which on inactive ones are removed.
const CLEANUP_SIZE: usize = 1024;

/// One token bucket for each principal: <https://en.wikipedia.org/wiki/Token_bucket>.
pub(super) struct RateLimit {
    /// The time in which a bucket gets a token.
    interval: Duration,
    /// The time in which an empty bucket becomes full.
    burst: Duration,
    buckets: Mutex<Buckets>,
}

struct Buckets {
    /// The time at which each bucket is full again; a missing one is full.
    full_at: HashMap<Principal, Instant>,
    /// The number of buckets at which those that are full are removed.
    cleanup_size: usize,
}

impl RateLimit {
    pub(super) fn per_second(rate: NonZeroU32) -> Self {
        let interval = Duration::from_secs(1) / rate.get();
        Self {
            interval,
            burst: interval * rate.get().saturating_mul(BURST),
            buckets: Mutex::new(Buckets {
                full_at: HashMap::new(),
                cleanup_size: CLEANUP_SIZE,
            }),
        }
    }

    /// Takes a token for a request, or returns how long to wait for one.
    pub(super) fn check(&self, principal: &Principal) -> Result<(), Duration> {
        let now = Instant::now();
        let mut buckets = self.buckets();
        let full_at = buckets.full_at.get(principal);
        let full_at = full_at.map_or(now, |at| now.max(*at)) + self.interval;
        let wait = full_at.saturating_duration_since(now + self.burst);
        if !wait.is_zero() {
            return Err(wait);
        }
        buckets.full_at.insert(principal.clone(), full_at);
        if buckets.full_at.len() >= buckets.cleanup_size {
            buckets.full_at.retain(|_, full_at| *full_at > now);
            buckets.cleanup_size = CLEANUP_SIZE.max(2 * buckets.full_at.len());
        }
        Ok(())
    }

    /// Waits for a token and takes it.
    pub(super) async fn wait(&self, principal: &Principal) {
        while let Err(wait) = self.check(principal) {
            tokio::time::sleep(wait).await;
        }
    }

    fn buckets(&self) -> MutexGuard<'_, Buckets> {
        self.buckets.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(rate: u32) -> RateLimit {
        RateLimit::per_second(NonZeroU32::new(rate).expect("not zero"))
    }

    fn allowed(limit: &RateLimit, principal: &Principal) -> usize {
        (0..1000)
            .take_while(|_| limit.check(principal).is_ok())
            .count()
    }

    #[tokio::test(start_paused = true)]
    async fn a_principal_has_four_seconds_of_requests_and_then_the_rate() {
        let (limit, one, other) = (limit(10), Principal::named("1"), Principal::named("2"));
        assert_eq!(allowed(&limit, &one), 40);
        assert_eq!(limit.check(&one), Err(Duration::from_millis(100)));
        assert_eq!(allowed(&limit, &other), 40);
        tokio::time::advance(Duration::from_millis(350)).await;
        assert_eq!(allowed(&limit, &one), 3);
        assert_eq!(limit.check(&one), Err(Duration::from_millis(50)));
        tokio::time::advance(Duration::from_secs(60)).await;
        assert_eq!(allowed(&limit, &one), 40);
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_waits_for_its_token() {
        let (limit, principal) = (limit(10), Principal::named("1"));
        let start = Instant::now();
        for _ in 0..45 {
            limit.wait(&principal).await;
        }
        let elapsed = start.elapsed();
        assert!((500..520).contains(&elapsed.as_millis()), "{elapsed:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn idle_principals_are_removed() {
        let limit = limit(1000);
        for number in 0..20 * CLEANUP_SIZE {
            let principal = Principal::named(&number.to_string());
            assert!(limit.check(&principal).is_ok());
            tokio::time::advance(limit.interval).await;
        }
        let known = limit.buckets().full_at.len();
        assert!(known <= CLEANUP_SIZE, "{known}");
    }
}
