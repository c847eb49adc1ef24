//! The requests of a page and their responses.

mod log;
mod messages;
mod request;

pub(crate) use log::{RequestLog, RequestMark};
pub use messages::StreamMessages;
pub use request::{Request, RequestOutcome};
