//! The Model Context Protocol. Only this module uses `rmcp`.

mod audit;
mod client;
mod connection;
mod elicitation;
mod fixtures;
mod log;
mod progress;
mod prompts;
mod request;
mod resources;
mod streamable;
mod text;
mod tools;

use crate::server::Server;
use crate::sessions::Caller;
use rmcp::ServiceExt as _;
use std::sync::Arc;

use connection::Connection;

pub use fixtures::{Fixtures, set_fixtures};
pub(crate) use streamable::{Answer, Body, Streamable, body, has_no_end, tool_called};
pub(crate) use text::{Closed, Feed, Outbox};

/// Creates a connection for a client that reaches the server by the name `host`: a sender of its messages, a receiver of the server's, and
/// the future that serves it.
pub(crate) fn connection(
    server: Arc<Server>,
    caller: Caller,
    host: Option<String>,
) -> (Feed, Outbox, impl Future<Output = ()> + Send) {
    let (transport, feed, outbox) = text::pair();
    let serve = async move {
        match Connection::of(server, caller, host, transport.room())
            .serve(transport)
            .await
        {
            Ok(running) => {
                // The service ends with its transport; the reason is not needed.
                let _ = running.waiting().await;
            }
            Err(error) => tracing::debug!(%error, "the connection ended before it began"),
        }
    };
    (feed, outbox, serve)
}
