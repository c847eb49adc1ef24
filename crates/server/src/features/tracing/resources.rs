//! The interface of the resources of a trace.

use std::io;

/// Where the bodies and images of events are written.
pub(super) trait Resources {
    /// Writes a resource under a name.
    fn write_as(&mut self, name: &str, bytes: &[u8]) -> io::Result<()>;
    /// Writes a resource under its hash; returns the name.
    fn write_hashed(&mut self, extension: &str, bytes: &[u8]) -> io::Result<String>;
}
