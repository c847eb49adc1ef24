//! The client of a call: its roots, its answers to questions, and whether it is connected.

use super::elicitation::ElicitationMode;
use super::streamable::{ClientState, ClientStatus};
use super::text::Room;
use crate::calls::{Client, Elicitation, ElicitationResult, Status};
use rmcp::RoleServer;
use rmcp::model::{PingRequest, ServerRequest};
use rmcp::service::{Peer, PeerRequestOptions, ServiceError};
use std::pin::Pin;
use std::time::Duration;

/// How long a client may take to return its roots.
const ROOTS: Duration = Duration::from_secs(5);

/// How long a client may take to respond to a ping.
const PING: Duration = Duration::from_secs(5);

/// The connected client.
pub(super) struct ConnectedClient {
    pub(super) peer: Peer<RoleServer>,
    /// Over HTTP: the MCP session.
    pub(super) line: Option<ClientState>,
    pub(super) room: Option<Room>,
    pub(super) host: Option<String>,
    pub(super) has_roots: bool,
    pub(super) way: ElicitationMode,
    pub(super) status: Status,
}

impl Client for ConnectedClient {
    #[expect(deprecated, reason = "clients of today still tell their roots")]
    fn roots(&self) -> Pin<Box<dyn Future<Output = Option<Vec<String>>> + Send + '_>> {
        Box::pin(async {
            if !self.has_roots {
                return Some(Vec::new());
            }
            match tokio::time::timeout(ROOTS, self.peer.list_roots()).await {
                Ok(Ok(result)) => Some(result.roots.into_iter().map(|root| root.uri).collect()),
                Ok(Err(_)) => Some(Vec::new()),
                Err(_) => None,
            }
        })
    }

    fn ask<'a>(
        &'a self,
        question: &'a Elicitation,
    ) -> Pin<Box<dyn Future<Output = ElicitationResult> + Send + 'a>> {
        Box::pin(self.way.ask(question))
    }

    fn host(&self) -> Option<&str> {
        self.host.as_deref()
    }

    fn is_retried_by_client(&self) -> bool {
        self.way.is_retried_by_client()
    }

    fn repeats_calls(&self) -> bool {
        matches!(self.way, ElicitationMode::Answer(_))
    }

    fn status(&self) -> Option<&Status> {
        Some(&self.status)
    }

    fn is_connected(&self) -> Pin<Box<dyn Future<Output = bool> + Send + '_>> {
        Box::pin(async {
            match self.line.as_ref().map(ClientState::state) {
                Some(ClientStatus::Present) => return true,
                Some(ClientStatus::Gone) => return false,
                // A single request: there is no later response to detect a disconnected client.
                None if self.room.is_none() => return true,
                Some(ClientStatus::Unknown) | None => {}
            }
            let ping = ServerRequest::PingRequest(PingRequest::default());
            let limit = PeerRequestOptions::with_timeout(PING);
            let answer = match self.peer.send_cancellable_request(ping, limit).await {
                Ok(asked) => asked.await_response().await,
                Err(error) => Err(error),
            };
            matches!(answer, Ok(_) | Err(ServiceError::McpError(_)))
        })
    }

    fn ready(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(async {
            if let Some(room) = &self.room {
                room.free().await;
            }
        })
    }
}
