//! The entry of the server in a client's configuration.

use crate::cli::installation::NPM_PACKAGE;

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

impl Entry {
    /// Returns the entry that starts the newest npm package.
    pub(super) fn npx(args: Vec<String>) -> Entry {
        let package = ["-y".to_owned(), format!("{NPM_PACKAGE}@latest")];
        Entry::Stdio {
            command: "npx".to_owned(),
            args: package.into_iter().chain(args).collect(),
        }
    }
}
