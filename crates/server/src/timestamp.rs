//! Times as texts: RFC 3339 in UTC, with milliseconds.

use chrono::{DateTime, Utc};
use std::time::SystemTime;

/// Formats a time: `2025-11-27T10:30:00.000Z`.
pub(crate) fn timestamp(time: SystemTime) -> String {
    format(time, "%Y-%m-%dT%H:%M:%S%.3fZ")
}

/// Formats a time for the name of a file: `2025-11-27T10-30-00-000Z`.
pub(crate) fn file_timestamp(time: SystemTime) -> String {
    format(time, "%Y-%m-%dT%H-%M-%S-%3fZ")
}

fn format(time: SystemTime, format: &str) -> String {
    DateTime::<Utc>::from(time).format(format).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn times_have_milliseconds_and_leading_zeros() {
        let time = SystemTime::UNIX_EPOCH + Duration::from_micros(951_782_400_007_999);
        assert_eq!(timestamp(time), "2000-02-29T00:00:00.007Z");
        assert_eq!(file_timestamp(time), "2000-02-29T00-00-00-007Z");
    }
}
