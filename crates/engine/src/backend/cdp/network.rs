//! Conversion of Chromium's network events to events of the engine.

use crate::backend::interception;
use crate::backend::{RequestEvent, ResponseFacts, StreamMessage, StreamMessageKind};
use crate::error::NetError;
use wire::RawEvent;
use wire::cdp::Event as _;
use wire::cdp::network::{self, ResourceType};

/// Returns the events of a message; none for requests that the page did not cause.
pub(super) fn request_events(event: &RawEvent) -> Vec<RequestEvent> {
    if let Some(Ok(sent)) = event.parse::<network::RequestWillBeSent>() {
        will_be_sent(sent)
    } else if let Some(Ok(extra)) = event.parse::<network::RequestWillBeSentExtraInfo>() {
        vec![RequestEvent::HeadersSent {
            id: extra.request_id.into(),
            headers: extra.headers.0,
        }]
    } else if let Some(Ok(received)) = event.parse::<network::ResponseReceived>() {
        vec![RequestEvent::Responded {
            id: received.request_id.into(),
            response: facts(received.response),
            has_raw_headers: received.has_extra_info,
            at: received.timestamp,
        }]
    } else if let Some(Ok(extra)) = event.parse::<network::ResponseReceivedExtraInfo>() {
        vec![RequestEvent::HeadersReceived {
            id: extra.request_id.into(),
            headers: extra.headers.0,
        }]
    } else if let Some(Ok(finished)) = event.parse::<network::LoadingFinished>() {
        vec![RequestEvent::Finished {
            id: finished.request_id.into(),
            size: bytes(finished.encoded_data_length),
            at: finished.timestamp,
        }]
    } else if let Some(Ok(failed)) = event.parse::<network::LoadingFailed>() {
        vec![RequestEvent::Failed {
            id: failed.request_id.into(),
            reason: match (&*failed.error_text, failed.blocked_reason) {
                ("", Some(blocked)) => NetError::Other(blocked),
                ("", None) => NetError::Failed,
                (text, _) => text.into(),
            },
            cancelled: failed.canceled.unwrap_or(false),
            at: failed.timestamp,
        }]
    } else if let Some(Ok(served)) = event.parse::<network::RequestServedFromCache>() {
        vec![RequestEvent::ServedFromCache {
            id: served.request_id.into(),
        }]
    } else {
        stream_event(event).into_iter().collect()
    }
}

/// Returns the event of a WebSocket or of an event source.
fn stream_event(event: &RawEvent) -> Option<RequestEvent> {
    fn read<E: wire::cdp::Event>(event: &RawEvent) -> Option<E> {
        event.parse::<E>()?.ok()
    }
    let message = |id: String, kind, payload| RequestEvent::Message {
        id: id.into(),
        message: StreamMessage::now(kind, payload),
    };
    Some(match &*event.method {
        network::WebSocketCreated::METHOD => {
            let created: network::WebSocketCreated = read(event)?;
            RequestEvent::web_socket(created.request_id.into(), created.url)
        }
        network::WebSocketWillSendHandshakeRequest::METHOD => {
            let sent: network::WebSocketWillSendHandshakeRequest = read(event)?;
            RequestEvent::HeadersSent {
                id: sent.request_id.into(),
                headers: sent.request.headers.0,
            }
        }
        network::WebSocketHandshakeResponseReceived::METHOD => {
            let received: network::WebSocketHandshakeResponseReceived = read(event)?;
            RequestEvent::Responded {
                id: received.request_id.into(),
                response: ResponseFacts {
                    status: status(received.response.status),
                    status_text: received.response.status_text,
                    headers: received.response.headers.0,
                    ..ResponseFacts::default()
                },
                has_raw_headers: true,
                at: received.timestamp,
            }
        }
        network::WebSocketFrameSent::METHOD => {
            let sent: network::WebSocketFrameSent = read(event)?;
            let kind = StreamMessageKind::Sent(opcode(sent.response.opcode));
            message(sent.request_id, kind, sent.response.payload_data)
        }
        network::WebSocketFrameReceived::METHOD => {
            let received: network::WebSocketFrameReceived = read(event)?;
            let kind = StreamMessageKind::Received(opcode(received.response.opcode));
            message(received.request_id, kind, received.response.payload_data)
        }
        network::EventSourceMessageReceived::METHOD => {
            let received: network::EventSourceMessageReceived = read(event)?;
            let kind = StreamMessageKind::Event {
                name: received.event_name,
                id: received.event_id,
            };
            message(received.request_id, kind, received.data)
        }
        network::WebSocketFrameError::METHOD => {
            let failed: network::WebSocketFrameError = read(event)?;
            RequestEvent::Failed {
                id: failed.request_id.into(),
                reason: NetError::Other(failed.error_message),
                cancelled: false,
                at: failed.timestamp,
            }
        }
        network::WebSocketClosed::METHOD => {
            let closed: network::WebSocketClosed = read(event)?;
            RequestEvent::Finished {
                id: closed.request_id.into(),
                size: 0,
                at: closed.timestamp,
            }
        }
        _ => return None,
    })
}

fn will_be_sent(sent: network::RequestWillBeSent) -> Vec<RequestEvent> {
    let mut events = Vec::new();
    if is_favicon(&sent) || sent.request.url.starts_with("data:") {
        return events;
    }
    if let Some(response) = sent.redirect_response {
        events.push(RequestEvent::Responded {
            id: sent.request_id.as_str().into(),
            response: facts(response),
            has_raw_headers: sent.redirect_has_extra_info,
            at: sent.timestamp,
        });
    }
    let kind = sent.kind.unwrap_or(ResourceType::Other);
    events.push(RequestEvent::Started {
        is_navigation: kind == ResourceType::Document && sent.request_id == sent.loader_id,
        id: sent.request_id.into(),
        frame: sent.frame_id.map(Into::into),
        loader: (!sent.loader_id.is_empty()).then(|| sent.loader_id.into()),
        url: sent.request.url,
        method: sent.request.method,
        resource_type: name(kind).to_owned(),
        headers: sent.request.headers.0,
        has_body: sent.request.has_post_data.unwrap_or(false),
        body: sent.request.post_data,
        at: sent.timestamp,
    });
    events
}

/// Whether the browser itself requested the icon, which it does at any time.
fn is_favicon(sent: &network::RequestWillBeSent) -> bool {
    sent.kind == Some(ResourceType::Other)
        && sent
            .request
            .url
            .split(['?', '#'])
            .next()
            .is_some_and(|path| path.ends_with("/favicon.ico"))
}

fn facts(response: network::Response) -> ResponseFacts {
    let code = status(response.status);
    ResponseFacts {
        status: code,
        status_text: if response.status_text.is_empty() {
            interception::status_text(code).to_owned()
        } else {
            response.status_text
        },
        headers: response.headers.0,
        mime_type: response.mime_type,
        from_cache: response.from_disk_cache.unwrap_or(false)
            || response.from_prefetch_cache.unwrap_or(false),
        from_service_worker: response.from_service_worker.unwrap_or(false),
        protocol: response.protocol,
        remote_address: response
            .remote_ip_address
            .filter(|address| !address.is_empty())
            .map(|address| format!("{address}:{}", response.remote_port.unwrap_or(0))),
    }
}

pub(super) fn name(kind: ResourceType) -> &'static str {
    match kind {
        ResourceType::Document => "document",
        ResourceType::Stylesheet => "stylesheet",
        ResourceType::Image => "image",
        ResourceType::Media => "media",
        ResourceType::Font => "font",
        ResourceType::Script => "script",
        ResourceType::TextTrack => "texttrack",
        ResourceType::XHR => "xhr",
        ResourceType::Fetch => "fetch",
        ResourceType::EventSource => "eventsource",
        ResourceType::WebSocket => "websocket",
        ResourceType::Manifest => "manifest",
        ResourceType::Ping => "ping",
        ResourceType::CSPViolationReport => "cspreport",
        _ => "other",
    }
}

fn status(code: i64) -> u16 {
    u16::try_from(code).unwrap_or(0)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a count of bytes that the protocol writes as a float"
)]
fn bytes(count: f64) -> u64 {
    count.max(0.0) as u64
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "four bits that the protocol writes as a float"
)]
fn opcode(code: f64) -> u8 {
    code as u8
}
