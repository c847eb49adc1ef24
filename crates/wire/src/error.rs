//! Errors of connections and commands.

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a command or a connection failed.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The connection has ended, and with it every call in progress.
    #[error("the browser connection is closed: {reason}")]
    Closed {
        /// The reason: the transport's error, the end of the pipe, a WebSocket close code.
        reason: String,
    },
    /// The session's target was closed or detached, or its event queue overflowed.
    #[error("the session is closed: {reason}")]
    SessionClosed {
        /// The session's id; empty for the browser-level session.
        session: String,
        /// The reason.
        reason: String,
    },
    /// The browser returned an error for the command.
    #[error("{method}: {message}")]
    Protocol {
        /// The command, such as `Page.navigate`.
        method: &'static str,
        /// The JSON-RPC error code, such as -32601 for a method that this target lacks.
        code: i64,
        /// The browser's message with its `data`, if any.
        message: String,
    },
    /// A browser with WebDriver or WebDriver BiDi returned an error for the command.
    #[error("{method}: {message}")]
    Refused {
        /// The command, such as `browsingContext.navigate`.
        method: &'static str,
        /// The error code of the specification, such as `no such frame`; see [`crate::bidi::error`] and [`crate::webdriver::error`].
        error: String,
        /// The browser's message.
        message: String,
        /// The stack trace of the browser or the driver; empty if it has none.
        stacktrace: String,
    },
    /// The response to a WebDriver command is not from a driver: a proxy, a grid that has lost its browser, another server.
    #[error("{method}: HTTP {status}{}{body}", if body.is_empty() { "" } else { ": " })]
    Http {
        /// The command, such as `Navigate To`.
        method: &'static str,
        /// The HTTP status code.
        status: u16,
        /// The beginning of the response body.
        body: String,
    },
    /// The parameters, a result or an event do not have the specified format.
    #[error("{method}: unexpected shape: {message}")]
    Shape {
        /// The command or event.
        method: &'static str,
        /// The error, with its position.
        message: String,
    },
    /// The connection failed.
    #[error("{cause}")]
    Connect {
        /// The endpoint as given, without user name and password.
        endpoint: String,
        /// The cause.
        cause: ConnectFailure,
    },
}

impl Error {
    /// Returns whether the session or the connection has ended, so that no further call can succeed.
    pub fn is_closed(&self) -> bool {
        matches!(self, Self::Closed { .. } | Self::SessionClosed { .. })
    }
}

/// Why a connection failed.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectFailure {
    /// The endpoint is invalid: not a `ws://` or `wss://` URL, a bad header, a bad pipe.
    #[error("invalid endpoint: {0}")]
    Invalid(String),
    /// The host name has no address.
    #[error("getaddrinfo ENOTFOUND {host}: {message}")]
    Resolve {
        /// The host name.
        host: String,
        /// The resolver's message.
        message: String,
    },
    /// Nothing listens at the address.
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
        /// The system's message.
        message: String,
    },
    /// The response of the server is not a WebSocket handshake.
    #[error("unexpected answer to the WebSocket handshake: {status}{}{body}", if body.is_empty() { "" } else { ": " })]
    Status {
        /// The HTTP status code.
        status: u16,
        /// The beginning of the response body.
        body: String,
    },
    /// The TLS or WebSocket handshake failed.
    #[error("WebSocket handshake failed: {0}")]
    Handshake(String),
    /// The browser extension has connected and disconnected.
    #[error("{0}")]
    Extension(String),
    /// The timeout expired.
    #[error("connecting timed out after {} ms", after.as_millis())]
    Timeout {
        /// The timeout.
        after: std::time::Duration,
    },
}
