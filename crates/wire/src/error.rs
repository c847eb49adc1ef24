//! What can go wrong between us and a browser: the facts, in variants.

/// Shorthand for results of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a command has no answer, or a connection did not come about.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The connection is over, and with it every call that was in flight.
    #[error("the browser connection is closed: {reason}")]
    Closed {
        /// Why it ended: the transport's error, the end of the pipe, a WebSocket close code.
        reason: String,
    },
    /// The session's target is gone or was detached, or nobody takes the session's events.
    #[error("the session is closed: {reason}")]
    SessionClosed {
        /// The session's id; empty for the browser-level session.
        session: String,
        /// Why it ended.
        reason: String,
    },
    /// The browser refused the command.
    #[error("{method}: {message}")]
    Protocol {
        /// The command, such as `Page.navigate`.
        method: &'static str,
        /// The JSON-RPC error code, such as -32601 for a method that this target lacks.
        code: i64,
        /// The browser's words, its `data` appended where it gives any.
        message: String,
    },
    /// A browser of WebDriver or WebDriver BiDi refused the command.
    #[error("{method}: {message}")]
    Refused {
        /// The command, such as `browsingContext.navigate`.
        method: &'static str,
        /// The specification's name for it, such as `no such frame`; [`crate::bidi::error`] and [`crate::webdriver::error`] have them.
        error: String,
        /// The browser's words.
        message: String,
        /// Where in the browser or the driver it happened; empty if it does not say.
        stacktrace: String,
    },
    /// What answered a command of WebDriver is no driver: a proxy, a grid that has lost its browser, a server of something else.
    #[error("{method}: HTTP {status}{}{body}", if body.is_empty() { "" } else { ": " })]
    Http {
        /// The command, such as `Navigate To`.
        method: &'static str,
        /// The HTTP status code.
        status: u16,
        /// The beginning of the answer's body.
        body: String,
    },
    /// The parameters, an answer or an event do not have the shape that the specification gives.
    #[error("{method}: unexpected shape: {message}")]
    Shape {
        /// The command or event.
        method: &'static str,
        /// What did not fit, and where.
        message: String,
    },
    /// No connection came about.
    #[error("{cause}")]
    Connect {
        /// What was connected to, as given; a user name and password are left out.
        endpoint: String,
        /// What happened.
        cause: ConnectFailure,
    },
}

impl Error {
    /// Whether the session or the whole connection is over, so that no further call can succeed.
    pub fn is_closed(&self) -> bool {
        matches!(self, Self::Closed { .. } | Self::SessionClosed { .. })
    }
}

/// Why a connection did not come about.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectFailure {
    /// The endpoint cannot be used: not a `ws://` or `wss://` URL, a bad header, a bad pipe.
    #[error("invalid endpoint: {0}")]
    Invalid(String),
    /// The host name has no address.
    #[error("getaddrinfo ENOTFOUND {host}: {message}")]
    Resolve {
        /// The name that was looked up.
        host: String,
        /// The resolver's words.
        message: String,
    },
    /// Nobody listens there.
    #[error("connect ECONNREFUSED {address}")]
    Refused {
        /// `HOST:PORT`.
        address: String,
    },
    /// The TCP connection failed in another way.
    #[error("connect {address}: {message}")]
    Tcp {
        /// `HOST:PORT`.
        address: String,
        /// The system's words.
        message: String,
    },
    /// The server answered, but not with a WebSocket.
    #[error("unexpected answer to the WebSocket handshake: {status}{}{body}", if body.is_empty() { "" } else { ": " })]
    Status {
        /// The HTTP status code.
        status: u16,
        /// The beginning of the answer's body.
        body: String,
    },
    /// The TLS or WebSocket handshake broke off.
    #[error("WebSocket handshake failed: {0}")]
    Handshake(String),
    /// It took too long.
    #[error("connecting timed out after {} ms", after.as_millis())]
    Timeout {
        /// The time that was allowed.
        after: std::time::Duration,
    },
}
