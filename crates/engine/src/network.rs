//! What a page sent over the network and what came back.

mod log;

pub use log::{Request, RequestOutcome};
pub(crate) use log::{RequestLog, RequestMark};
