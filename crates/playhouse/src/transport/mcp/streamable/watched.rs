//! The server's end of an MCP session, watched: which requests still wait for their answer.

use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::service::TxJsonRpcMessage;
use rmcp::transport::Transport;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Requests of one session that wait for their answer, and the streams that it will come on, once those have begun.
#[derive(Clone, Default)]
pub(super) struct Open(Arc<Mutex<HashMap<RequestId, Option<Box<str>>>>>);

impl Open {
    /// Notes a request; `false`, if there is one with its id.
    pub(super) fn add(&self, id: &RequestId) -> bool {
        self.change(|open| match open.contains_key(id) {
            true => false,
            false => open.insert(id.clone(), None).is_none(),
        })
    }

    /// Notes the stream of a request, if that still waits and has none.
    pub(super) fn answers_on(&self, id: &RequestId, stream: &str) {
        self.change(|open| {
            if let Some(on @ None) = open.get_mut(id) {
                *on = Some(stream.into());
            }
        });
    }

    /// Forgets a request that was answered, or will not be; its stream, if that has begun.
    pub(super) fn remove(&self, id: &RequestId) -> Option<Box<str>> {
        self.change(|open| open.remove(id)).flatten()
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.change(|open| open.len())
    }

    fn change<T>(&self, change: impl FnOnce(&mut HashMap<RequestId, Option<Box<str>>>) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A transport that tells when a request is answered.
pub(crate) struct Watched<T, F> {
    transport: T,
    open: Open,
    answered: F,
}

impl<T, F> Watched<T, F> {
    /// `answered` is called with each answer, before it is sent.
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
        self.transport.send(message)
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        self.transport.receive().await
    }

    async fn close(&mut self) -> Result<(), T::Error> {
        self.transport.close().await
    }
}
