//! The upgrade of a request to a WebSocket: <https://www.rfc-editor.org/rfc/rfc6455#section-4.2>.

use axum::body::Body;
use axum::extract::{FromRequestParts, Request};
use axum::response::{IntoResponse as _, Response};
use http::request::Parts;
use http::{HeaderValue, Method, StatusCode, header};
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::server::create_response_with_body;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};

/// A WebSocket of a client.
pub(super) type WebSocket = WebSocketStream<TokioIo<Upgraded>>;

/// A valid request to open a WebSocket.
pub(super) struct WebSocketUpgrade {
    response: Response,
    /// The subprotocols that the client supports.
    protocols: Vec<HeaderValue>,
    upgrade: OnUpgrade,
}

impl<S: Sync> FromRequestParts<S> for WebSocketUpgrade {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Response> {
        let upgrade = parts.extensions.remove::<OnUpgrade>();
        let status = match parts.method == Method::GET {
            true => StatusCode::BAD_REQUEST,
            false => StatusCode::METHOD_NOT_ALLOWED,
        };
        let mut request = Request::new(());
        *request.method_mut() = parts.method.clone();
        *request.version_mut() = parts.version;
        *request.headers_mut() = parts.headers.clone();
        let response = create_response_with_body(&request, Body::empty)
            .map_err(|error| (status, error.to_string()).into_response())?;
        let upgrade = upgrade.ok_or_else(|| StatusCode::UPGRADE_REQUIRED.into_response())?;
        let protocols = parts.headers.get_all(header::SEC_WEBSOCKET_PROTOCOL);
        let protocols = protocols
            .iter()
            .flat_map(|list| list.as_bytes().split(|byte| *byte == b','))
            .filter_map(|protocol| HeaderValue::from_bytes(protocol.trim_ascii()).ok())
            .collect();
        Ok(Self {
            response,
            protocols,
            upgrade,
        })
    }
}

impl WebSocketUpgrade {
    /// Selects the subprotocol if the client supports it.
    pub(super) fn with_protocol(mut self, protocol: &'static str) -> Self {
        if self.protocols.iter().any(|offered| offered == protocol) {
            let headers = self.response.headers_mut();
            let protocol = HeaderValue::from_static(protocol);
            headers.insert(header::SEC_WEBSOCKET_PROTOCOL, protocol);
        }
        self
    }

    /// Returns the response, and serves the WebSocket after it. Messages of more than `largest` bytes are errors.
    pub(super) fn serve<F>(
        self,
        largest: usize,
        serve: impl FnOnce(WebSocket) -> F + Send + 'static,
    ) -> Response
    where
        F: Future<Output = ()> + Send,
    {
        let config = WebSocketConfig::default()
            .max_message_size(Some(largest))
            .max_frame_size(Some(largest));
        let upgrade = self.upgrade;
        task::spawn("WebSocket", async move {
            // An error means that the client has disconnected.
            if let Ok(upgraded) = upgrade.await {
                let stream = TokioIo::new(upgraded);
                serve(WebSocket::from_raw_socket(stream, Role::Server, Some(config)).await).await;
            }
        })
        .detach();
        self.response
    }
}
