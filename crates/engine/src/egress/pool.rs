//! Persistent connections for further requests.

use super::rules::Destination;
use hyper::body::Incoming;
use hyper::client::conn::http1::SendRequest;
use task::Task;

/// A connection that accepts further requests.
pub(super) struct PooledConnection {
    pub(super) to: To,
    pub(super) sender: SendRequest<Incoming>,
    pub(super) _driver: Task,
}

/// The other end of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum To {
    Server(Destination),
    /// The upstream proxy, which forwards requests for all servers.
    Upstream,
}
