//! The code that runs in pages, in a world apart from theirs. Built from `injected/` and committed.

/// Defines `globalThis.__playhouseCore`: an object of functions, each of one JSON argument.
pub(crate) const CORE: &str = include_str!("../injected/dist/core.js");
