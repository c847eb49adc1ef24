//! The WebSockets of a page, as the inspector reports them.

use super::WebKitPage;
use crate::backend::webkit::network::{
    WebSocketCreated, WebSocketHandshake, WebSocketTransfer, headers,
};
use crate::backend::webkit::targets::read;
use crate::backend::{PageEvent, RequestEvent, RequestId, StreamMessage, StreamMessageKind};
use crate::error::NetError;
use wire::webkit::Event;

impl WebKitPage {
    pub(super) fn on_web_socket(&self, event: &Event) -> Option<()> {
        let message = |kind: fn(u8) -> StreamMessageKind| {
            let transfer: WebSocketTransfer = read(event)?;
            let frame = transfer.response;
            Some(RequestEvent::Message {
                id: RequestId::from(&transfer.request_id),
                message: StreamMessage::now(kind(frame.opcode), frame.payload_data),
            })
        };
        let request = match &*event.method {
            "Network.webSocketCreated" => {
                let created: WebSocketCreated = read(event)?;
                RequestEvent::web_socket(created.request_id.into(), created.url)
            }
            "Network.webSocketWillSendHandshakeRequest" => {
                let sent: WebSocketHandshake = read(event)?;
                RequestEvent::HeadersSent {
                    id: sent.request_id.into(),
                    headers: headers(&sent.request.headers),
                }
            }
            "Network.webSocketHandshakeResponseReceived" => {
                let received: WebSocketHandshake = read(event)?;
                RequestEvent::Responded {
                    id: received.request_id.into(),
                    response: received.response.facts(),
                    has_raw_headers: true,
                    at: received.timestamp,
                }
            }
            "Network.webSocketFrameSent" => message(StreamMessageKind::Sent)?,
            "Network.webSocketFrameReceived" => message(StreamMessageKind::Received)?,
            "Network.webSocketFrameError" => {
                let failed: WebSocketTransfer = read(event)?;
                RequestEvent::Failed {
                    id: failed.request_id.into(),
                    reason: NetError::Other(failed.error_message),
                    cancelled: false,
                    at: failed.timestamp,
                }
            }
            "Network.webSocketClosed" => {
                let closed: WebSocketTransfer = read(event)?;
                RequestEvent::Finished {
                    id: closed.request_id.into(),
                    size: 0,
                    at: closed.timestamp,
                }
            }
            _ => return None,
        };
        self.report(PageEvent::Request(request));
        Some(())
    }
}
