//! What tools are, and the core tools by toolset.

pub(crate) mod browser;
pub(crate) mod e2e;
pub(crate) mod evidence;
pub(crate) mod image_diff;
pub(crate) mod image_size;
pub(crate) mod scope;
pub(crate) mod session;
pub(crate) mod tool;
pub(crate) mod verbs;

pub(crate) use browser::CALL_DOCUMENT_TOOL;
pub(crate) use session::{element, network_log};

/// The highest number of routes of a browser context.
const MAX_ROUTES: usize = 200;
