//! What a page sent over the network and what came back.

mod log;

pub(crate) use log::RequestLog;
pub use log::{Request, RequestOutcome};
