//! Connections that are kept for the next request.

use super::rules::Destination;
use hyper::body::Incoming;
use hyper::client::conn::http1::SendRequest;
use task::Task;

/// A connection that can take the next request.
pub(super) struct PooledConnection {
    pub(super) to: To,
    pub(super) sender: SendRequest<Incoming>,
    pub(super) _driver: Task,
}

/// What is at its other end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum To {
    Server(Destination),
    /// The upstream, which takes requests for all servers.
    Upstream,
}
