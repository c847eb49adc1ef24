//! The transport of 2024-11-05: a stream of events for messages of the server, and POST requests for messages of the client.
//! <https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse>

use crate::access::principal::Principal;
use crate::server::Server;
use crate::transport::auth::Identity;
use crate::transport::mcp::{self, Feed, Outbox};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use futures_util::StreamExt as _;
use http::StatusCode;
use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// How long a message may wait to be delivered.
const DELIVERY_TIMEOUT: Duration = Duration::from_secs(30);

/// The connected clients.
#[derive(Clone, Default)]
pub(crate) struct Streams(Arc<Mutex<HashMap<Uuid, Listener>>>);

#[derive(Clone)]
struct Listener {
    principal: Principal,
    feed: Arc<Feed>,
}

/// Removes the client when its stream has ended.
struct Listed {
    streams: Streams,
    id: Uuid,
}

impl Drop for Listed {
    fn drop(&mut self) {
        self.streams.list().remove(&self.id);
    }
}

impl Streams {
    /// Starts a stream, whose first event has the URL for POST requests.
    pub(crate) fn begin(
        &self,
        server: &Arc<Server>,
        identity: Identity,
        end: CancellationToken,
    ) -> Response {
        let host = identity.host().to_owned();
        let Identity {
            principal, until, ..
        } = identity;
        let caller = server.connected_caller(principal.clone(), Arc::default());
        let (feed, outbox, connection) = mcp::connection(server.clone(), caller, Some(host));
        let id = Uuid::new_v4();
        let feed = Arc::new(feed);
        self.list().insert(id, Listener { principal, feed });
        let listed = Listed {
            streams: self.clone(),
            id,
        };
        task::spawn("SSE client", connection).detach();
        let endpoint = Event::default()
            .event("endpoint")
            .data(format!("/sse?sessionId={id}"));
        let first = futures_util::stream::iter([Ok::<_, Infallible>(endpoint)]);
        let over = Box::pin(async move {
            tokio::select! {
                () = end.cancelled() => {}
                () = Identity::expired(until) => {}
            }
        });
        let rest = futures_util::stream::unfold(
            (outbox, Some(listed), over),
            |(mut outbox, mut listed, mut over)| async {
                let message = loop {
                    tokio::select! {
                        biased;
                        message = Outbox::recv(&mut outbox) => break message?,
                        // It receives the remaining messages, but can send no more.
                        () = &mut over, if listed.is_some() => listed = None,
                    }
                };
                let event = Event::default().event("message").data(message);
                Some((Ok(event), (outbox, listed, over)))
            },
        );
        Sse::new(first.chain(rest))
            .keep_alive(KeepAlive::default())
            .into_response()
    }

    /// Handles a message that a client posts.
    pub(crate) async fn post(
        &self,
        principal: &Principal,
        id: Option<&str>,
        body: &[u8],
    ) -> Response {
        let Some(id) = id else {
            return (StatusCode::BAD_REQUEST, "Missing sessionId").into_response();
        };
        let listener = Uuid::parse_str(id)
            .ok()
            .and_then(|id| self.list().get(&id).cloned());
        let Some(listener) = listener.filter(|listener| listener.principal == *principal) else {
            return (StatusCode::NOT_FOUND, "Session not found").into_response();
        };
        match tokio::time::timeout(DELIVERY_TIMEOUT, listener.feed.text(body)).await {
            Ok(Ok(())) => (StatusCode::ACCEPTED, "Accepted").into_response(),
            Ok(Err(mcp::Closed)) => (StatusCode::NOT_FOUND, "Session not found").into_response(),
            Err(_) => (
                StatusCode::SERVICE_UNAVAILABLE,
                "The client does not read its stream",
            )
                .into_response(),
        }
    }

    fn list(&self) -> MutexGuard<'_, HashMap<Uuid, Listener>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
