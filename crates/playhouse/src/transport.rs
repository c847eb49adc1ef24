//! How bytes get to clients and back. Knows nothing of what they say.

pub(crate) mod stdio;
