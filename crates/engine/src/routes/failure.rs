//! The reasons for which requests are aborted.

use crate::error::NetError;

/// The reason for which a request fails, with Playwright's name: `failed`, `aborted`, `timedout`, `accessdenied`, …
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, strum::Display, strum::EnumString, strum::VariantNames,
)]
#[strum(serialize_all = "lowercase")]
#[expect(missing_docs, reason = "their names say it")]
pub enum FailureReason {
    Failed,
    Aborted,
    TimedOut,
    AccessDenied,
    ConnectionClosed,
    ConnectionReset,
    ConnectionRefused,
    ConnectionAborted,
    ConnectionFailed,
    NameNotResolved,
    InternetDisconnected,
    AddressUnreachable,
    BlockedByClient,
    BlockedByResponse,
}

impl FailureReason {
    /// Returns the net error of a request that is aborted for this reason.
    pub(crate) fn net_error(self) -> NetError {
        match self {
            Self::Failed => NetError::Failed,
            Self::Aborted => NetError::Aborted,
            Self::TimedOut => NetError::TimedOut,
            Self::AccessDenied => NetError::AccessDenied,
            Self::ConnectionClosed => NetError::ConnectionClosed,
            Self::ConnectionReset => NetError::ConnectionReset,
            Self::ConnectionRefused => NetError::ConnectionRefused,
            Self::ConnectionAborted => NetError::ConnectionAborted,
            Self::ConnectionFailed => NetError::ConnectionFailed,
            Self::NameNotResolved => NetError::NameNotResolved,
            Self::InternetDisconnected => NetError::InternetDisconnected,
            Self::AddressUnreachable => NetError::AddressUnreachable,
            Self::BlockedByClient => NetError::BlockedByClient,
            Self::BlockedByResponse => NetError::BlockedByResponse,
        }
    }
}
