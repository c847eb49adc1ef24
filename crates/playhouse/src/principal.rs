//! Whom the server takes a client for.

use std::fmt;
use std::sync::Arc;

/// Whom the server takes a client for. Sessions belong to one; to others they do not exist.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Principal(Arc<str>);

impl Principal {
    /// Everybody, where nobody is asked who they are: over stdio, and without authentication.
    pub(crate) fn anybody() -> Self {
        Self("anybody".into())
    }

    /// Somebody by name.
    #[cfg(test)]
    pub(crate) fn named(name: &str) -> Self {
        Self(name.into())
    }

    /// Whether it stands for everybody.
    pub(crate) fn is_anybody(&self) -> bool {
        *self == Self::anybody()
    }
}

impl fmt::Display for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
