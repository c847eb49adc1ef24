//! The expiry of a session: reported in wall time, measured in monotonic time.

use crate::config::{NEVER, SessionExpiry};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};
use tokio::time::Instant;

/// The expiry of a session.
#[derive(Debug, Clone)]
pub(super) struct Deadline {
    lifetime: Duration,
    expiry: SessionExpiry,
    began: SystemTime,
    end: Arc<Mutex<End>>,
}

#[derive(Debug, Clone, Copy)]
struct End {
    at: Instant,
    reported: SystemTime,
}

impl End {
    fn after(lifetime: Duration, now: SystemTime) -> Self {
        // Limited to a time that can be represented.
        let lifetime = lifetime.min(Duration::from_secs(100 * 365 * 24 * 3600));
        Self {
            at: Instant::now() + lifetime,
            reported: now + lifetime,
        }
    }
}

impl Deadline {
    /// Creates an expiry after this time.
    pub(super) fn after(lifetime: Duration, expiry: SessionExpiry) -> Self {
        let began = SystemTime::now();
        Self {
            lifetime,
            expiry,
            began,
            end: Arc::new(Mutex::new(End::after(lifetime, began))),
        }
    }

    /// Extends the life of the session after a use, unless the expiry is fixed.
    pub(super) fn prolong(&self) {
        if self.expiry == SessionExpiry::Sliding {
            *self.end.lock().unwrap_or_else(PoisonError::into_inner) =
                End::after(self.lifetime, SystemTime::now());
        }
    }

    /// Sets the expiry to now.
    pub(super) fn expire_now(&self) {
        let mut end = self.end.lock().unwrap_or_else(PoisonError::into_inner);
        *end = End::after(Duration::ZERO, SystemTime::now());
    }

    /// Returns the start of the current lifetime.
    pub(super) fn started_at(&self) -> SystemTime {
        self.began
    }

    pub(super) fn has_passed(&self) -> bool {
        self.end().at <= Instant::now()
    }

    /// Returns the expiry in wall time; `None`: never.
    pub(super) fn expires_at(&self) -> Option<SystemTime> {
        (self.lifetime != NEVER).then(|| self.end().reported)
    }

    /// Returns whether uses do not extend the life.
    pub(super) fn is_fixed(&self) -> bool {
        self.expiry == SessionExpiry::Fixed
    }

    /// Waits for the current expiry, which may have changed then.
    pub(super) async fn wait(&self) {
        tokio::time::sleep_until(self.end().at).await;
    }

    fn end(&self) -> End {
        *self.end.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the Unix time in milliseconds.
pub(crate) fn unix_ms(time: SystemTime) -> u64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH);
    u64::try_from(since.unwrap_or(Duration::ZERO).as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn in_paused_time(test: impl Future<Output = ()>) {
        tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap()
            .block_on(test);
    }

    proptest! {
        #[test]
        fn a_session_ends_when_its_time_is_over_and_not_before(lifetime in 1_u64..1_000_000) {
            in_paused_time(async {
                let lifetime = Duration::from_millis(lifetime);
                let deadline = Deadline::after(lifetime, SessionExpiry::Fixed);
                tokio::time::advance(lifetime - Duration::from_millis(1)).await;
                assert!(!deadline.has_passed());
                tokio::time::advance(Duration::from_millis(1)).await;
                assert!(deadline.has_passed());
            });
        }

        #[test]
        fn a_use_prolongs_it_unless_its_end_is_fixed(lifetime in 10_u64..1_000_000, uses in 1_u32..20) {
            in_paused_time(async {
                let lifetime = Duration::from_millis(lifetime);
                let sliding = Deadline::after(lifetime, SessionExpiry::Sliding);
                let fixed = Deadline::after(lifetime, SessionExpiry::Fixed);
                for _ in 0..uses {
                    tokio::time::advance(lifetime / 2).await;
                    sliding.prolong();
                    fixed.prolong();
                }
                assert!(!sliding.has_passed());
                assert_eq!(fixed.has_passed(), uses >= 2);
            });
        }
    }
}
