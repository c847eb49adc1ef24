//! The entry of the server in a client's configuration.

/// The environment variable with the API key.
pub(super) const KEY: &str = "PLAYHOUSE_API_KEY";

/// The entry of the server in a client's configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Entry {
    /// The client starts this command and uses stdio.
    Stdio { command: String, args: Vec<String> },
    /// The client connects to a running server.
    Http { url: String },
}
