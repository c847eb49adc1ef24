//! Events of WebSockets and event sources.

use super::{Headers, MonotonicTime, RequestId};
use crate::cdp::event;
use serde::Deserialize;

/// [`Network.webSocketCreated`](https://chromedevtools.github.io/devtools-protocol/tot/Network/#event-webSocketCreated)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct WebSocketCreated {
    pub request_id: RequestId,
    pub url: String,
}
event!(WebSocketCreated, "Network.webSocketCreated");

/// [`Network.webSocketWillSendHandshakeRequest`](https://chromedevtools.github.io/devtools-protocol/tot/Network/#event-webSocketWillSendHandshakeRequest)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct WebSocketWillSendHandshakeRequest {
    pub request_id: RequestId,
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
    pub response: WebSocketFrame,
}
event!(WebSocketFrameSent, "Network.webSocketFrameSent");

/// [`Network.webSocketFrameReceived`](https://chromedevtools.github.io/devtools-protocol/tot/Network/#event-webSocketFrameReceived)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct WebSocketFrameReceived {
    pub request_id: RequestId,
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
}

/// A frame whose payload is text if `opcode` is 1, and Base64 otherwise.
/// [`Network.WebSocketFrame`](https://chromedevtools.github.io/devtools-protocol/tot/Network/#type-WebSocketFrame)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct WebSocketFrame {
    pub opcode: f64,
    pub payload_data: String,
}
