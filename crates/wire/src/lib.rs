//! Speaks browser protocols as their specifications say; no policy, no retries.
