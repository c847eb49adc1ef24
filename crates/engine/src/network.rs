//! The requests of a page and their responses.

mod log;

pub use log::{Request, RequestOutcome};
pub(crate) use log::{RequestLog, RequestMark};
