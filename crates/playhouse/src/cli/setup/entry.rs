//! How a client reaches the server.

/// The variable that has the API key.
pub(super) const KEY: &str = "PLAYHOUSE_API_KEY";

/// How a client reaches the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Entry {
    /// It starts this command and talks over stdio.
    Stdio { command: String, args: Vec<String> },
    /// It connects to a running server.
    Http { url: String },
}
