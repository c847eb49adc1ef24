//! WebSockets and server-sent events of a page.

use serde::Deserialize;

use super::{Headers, Initiator, MonotonicTime, RequestId, TimeSinceEpoch};
use crate::cdp::event;

/// [`Network.webSocketCreated`](https://chromedevtools.github.io/devtools-protocol/tot/Network/#event-webSocketCreated)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct WebSocketCreated {
    pub request_id: RequestId,
    pub url: String,
    pub initiator: Option<Initiator>,
}
event!(WebSocketCreated, "Network.webSocketCreated");

/// [`Network.webSocketWillSendHandshakeRequest`](https://chromedevtools.github.io/devtools-protocol/tot/Network/#event-webSocketWillSendHandshakeRequest)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct WebSocketWillSendHandshakeRequest {
    pub request_id: RequestId,
    pub timestamp: MonotonicTime,
    pub wall_time: TimeSinceEpoch,
    pub request: WebSocketRequest,
}
event!(
    WebSocketWillSendHandshakeRequest,
    "Network.webSocketWillSendHandshakeRequest"
);

/// [`Network.webSocketHandshakeResponseReceived`](https://chromedevtools.github.io/devtools-protocol/tot/Network/#event-webSocketHandshakeResponseReceived)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct WebSocketHandshakeResponseReceived {
    pub request_id: RequestId,
    pub timestamp: MonotonicTime,
    pub response: WebSocketResponse,
}
event!(
    WebSocketHandshakeResponseReceived,
    "Network.webSocketHandshakeResponseReceived"
);

/// [`Network.webSocketFrameSent`](https://chromedevtools.github.io/devtools-protocol/tot/Network/#event-webSocketFrameSent)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct WebSocketFrameSent {
    pub request_id: RequestId,
    pub timestamp: MonotonicTime,
    pub response: WebSocketFrame,
}
event!(WebSocketFrameSent, "Network.webSocketFrameSent");

/// [`Network.webSocketFrameReceived`](https://chromedevtools.github.io/devtools-protocol/tot/Network/#event-webSocketFrameReceived)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct WebSocketFrameReceived {
    pub request_id: RequestId,
    pub timestamp: MonotonicTime,
    pub response: WebSocketFrame,
}
event!(WebSocketFrameReceived, "Network.webSocketFrameReceived");

/// [`Network.webSocketFrameError`](https://chromedevtools.github.io/devtools-protocol/tot/Network/#event-webSocketFrameError)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct WebSocketFrameError {
    pub request_id: RequestId,
    pub timestamp: MonotonicTime,
    pub error_message: String,
}
event!(WebSocketFrameError, "Network.webSocketFrameError");

/// [`Network.webSocketClosed`](https://chromedevtools.github.io/devtools-protocol/tot/Network/#event-webSocketClosed)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct WebSocketClosed {
    pub request_id: RequestId,
    pub timestamp: MonotonicTime,
}
event!(WebSocketClosed, "Network.webSocketClosed");

/// [`Network.eventSourceMessageReceived`](https://chromedevtools.github.io/devtools-protocol/tot/Network/#event-eventSourceMessageReceived)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct EventSourceMessageReceived {
    pub request_id: RequestId,
    pub timestamp: MonotonicTime,
    pub event_name: String,
    pub event_id: String,
    pub data: String,
}
event!(
    EventSourceMessageReceived,
    "Network.eventSourceMessageReceived"
);

/// [`Network.WebSocketRequest`](https://chromedevtools.github.io/devtools-protocol/tot/Network/#type-WebSocketRequest)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct WebSocketRequest {
    pub headers: Headers,
}

/// [`Network.WebSocketResponse`](https://chromedevtools.github.io/devtools-protocol/tot/Network/#type-WebSocketResponse)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct WebSocketResponse {
    pub status: i64,
    pub status_text: String,
    pub headers: Headers,
    pub headers_text: Option<String>,
    pub request_headers: Option<Headers>,
    pub request_headers_text: Option<String>,
}

/// [`Network.WebSocketFrame`](https://chromedevtools.github.io/devtools-protocol/tot/Network/#type-WebSocketFrame)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct WebSocketFrame {
    pub opcode: f64,
    pub mask: bool,
    pub payload_data: String,
}
