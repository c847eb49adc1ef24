//! The server side of an MCP session with a record of the requests in progress.

use super::super::progress::without_progress_token;
use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::service::TxJsonRpcMessage;
use rmcp::transport::Transport;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The requests of one session that wait for their response, and the streams of the responses, once they exist.
#[derive(Clone, Default)]
pub(super) struct Open(Arc<Mutex<HashMap<RequestId, Option<Box<str>>>>>);

impl Open {
    /// Adds a request; `false` if its id is in use.
    pub(super) fn add(&self, id: &RequestId) -> bool {
        self.change(|open| match open.contains_key(id) {
            true => false,
            false => open.insert(id.clone(), None).is_none(),
        })
    }

    /// Sets the stream of a request, if the request is in progress and has none.
    pub(super) fn answers_on(&self, id: &RequestId, stream: &str) {
        self.change(|open| {
            if let Some(on @ None) = open.get_mut(id) {
                *on = Some(stream.into());
            }
        });
    }

    /// Removes a request that was responded to or cancelled; returns its stream, if there is one.
    pub(super) fn remove(&self, id: &RequestId) -> Option<Box<str>> {
        self.change(|open| open.remove(id)).flatten()
    }

    /// Returns the number of requests in progress.
    pub(super) fn count(&self) -> usize {
        self.change(|open| open.len())
    }

    fn change<T>(&self, change: impl FnOnce(&mut HashMap<RequestId, Option<Box<str>>>) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A transport that reports when a request gets its response.
pub(crate) struct Watched<T, F> {
    transport: T,
    open: Open,
    answered: F,
}

impl<T, F> Watched<T, F> {
    /// Creates a transport that calls `answered` with each response before it is sent.
    pub(super) fn new(transport: T, open: Open, answered: F) -> Self {
        Self {
            transport,
            open,
            answered,
        }
    }
}

impl<T, F> Transport<RoleServer> for Watched<T, F>
where
    T: Transport<RoleServer>,
    F: Fn() + Send + 'static,
{
    type Error = T::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), T::Error>> + Send + 'static {
        let answered = match &message {
            ServerJsonRpcMessage::Response(response) => Some(&response.id),
            ServerJsonRpcMessage::Error(error) => error.id.as_ref(),
            _ => None,
        };
        if let Some(id) = answered {
            self.open.remove(id);
            (self.answered)();
        }
        self.transport.send(without_progress_token(message))
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        self.transport.receive().await
    }

    async fn close(&mut self) -> Result<(), T::Error> {
        self.transport.close().await
    }
}
