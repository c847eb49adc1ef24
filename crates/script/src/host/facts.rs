//! JSON representations of pages, requests and events for client code.

use super::Host;
use engine::{
    Dialog, Download, FrameFacts, Headers, MessageKind, Page, PageEvent, PausedRequest, Request,
    RequestEvent, RequestId, RequestOutcome,
};
use serde_json::{Map, Value, json};

/// Returns the frames of a page, the main frame first.
pub(super) fn frames(frames: &[FrameFacts]) -> Value {
    let facts = frames.iter().map(|frame| {
        json!({
            "id": frame.id.as_str(),
            "parent": frame.parent.as_ref().map(engine::FrameId::as_str),
            "url": if frame.url.is_empty() { "about:blank" } else { &frame.url },
            "name": frame.name,
        })
    });
    facts.collect()
}

/// Returns a request with its current outcome.
pub(super) fn request(request: &Request) -> Value {
    let failure = match &request.outcome {
        Some(RequestOutcome::Failed { reason, .. }) => Some(reason),
        _ => None,
    };
    json!({
        "id": request.id.as_str(),
        "url": request.url,
        "method": request.method,
        "resourceType": request.resource_type,
        "isNavigation": request.is_navigation,
        "headers": headers(&request.headers),
        "postData": request.body,
        "failure": failure,
        "response": request.response.as_ref().map(|response| json!({
            "status": response.status,
            "statusText": response.status_text,
            "headers": headers(&response.headers),
            "fromServiceWorker": response.from_service_worker,
        })),
    })
}

/// Returns an intercepted request.
pub(super) fn paused(request: &PausedRequest) -> Value {
    json!({
        "id": request.id.as_ref().map(RequestId::as_str),
        "url": request.url,
        "method": request.method,
        "resourceType": request.resource_type,
        "isNavigation": request.is_navigation,
        "headers": headers(&request.headers),
        "postData": request.body.as_deref().map(String::from_utf8_lossy),
    })
}

pub(super) fn headers(headers: &Headers) -> Value {
    let mut merged = Map::new();
    for (name, value) in headers {
        let name = name.to_ascii_lowercase();
        let separator = if name == "set-cookie" { "\n" } else { ", " };
        let whole = match merged.get(&name).and_then(Value::as_str) {
            Some(before) => format!("{before}{separator}{value}"),
            None => value.clone(),
        };
        merged.insert(name, whole.into());
    }
    merged.into()
}

/// Returns the response of the document of a page, if it was loaded over the network.
pub(super) fn document(page: &Page) -> Value {
    let main = page.frames().into_iter().next().map(|frame| frame.id);
    let requests = page.requests();
    let document = requests
        .iter()
        .rev()
        .find(|request| request.is_navigation && request.frame == main);
    match document {
        Some(document) if document.response.is_some() => request(document),
        _ => Value::Null,
    }
}

/// Returns a download that has started.
pub(super) fn download(download: &Download) -> Value {
    json!({
        "id": download.number,
        "url": download.url,
        "suggestedFilename": download.suggested_name,
    })
}

/// Returns the names and arguments of the events for listeners; most page events correspond to one, some to none.
pub(super) fn event(host: &Host, page: &Page, event: &PageEvent) -> Option<(&'static str, Value)> {
    let main = || page.frames().into_iter().next().map(|frame| frame.id);
    let of_frame = |frame: &engine::FrameId| json!({ "frame": frame.as_str() });
    Some(match event {
        PageEvent::FrameAttached { frame, .. } => ("frameattached", of_frame(frame)),
        PageEvent::FrameDetached { frame } => ("framedetached", of_frame(frame)),
        PageEvent::NavigationCommitted { frame, .. }
        | PageEvent::SameDocumentNavigation { frame, .. } => ("framenavigated", of_frame(frame)),
        PageEvent::DomContentLoaded { frame, .. } if Some(frame) == main().as_ref() => {
            ("domcontentloaded", Value::Null)
        }
        PageEvent::Load { frame, .. } if Some(frame) == main().as_ref() => ("load", Value::Null),
        PageEvent::Console(message) if message.kind == MessageKind::PageError => {
            ("pageerror", json!({ "message": message.text }))
        }
        PageEvent::Console(message) => {
            let location = message.location.as_ref();
            let facts = json!({
                "type": message.kind.to_string(),
                "text": message.text,
                "location": location.map(|place| json!({
                    "url": place.url,
                    "lineNumber": place.line,
                    "columnNumber": place.column,
                })),
            });
            ("console", facts)
        }
        PageEvent::DialogOpened {
            kind,
            message,
            default_value,
        } => {
            let dialog = Dialog {
                kind: *kind,
                message: message.clone(),
                default_value: default_value.clone(),
            };
            let facts = json!({
                "type": dialog.kind.to_string(),
                "message": dialog.message,
                "defaultValue": dialog.default_value,
            });
            ("dialog", facts)
        }
        PageEvent::FileChooserOpened { multiple } => {
            ("filechooser", json!({ "multiple": multiple }))
        }
        PageEvent::Request(event) => return of_request(host, page, event),
        PageEvent::Crashed => ("crash", Value::Null),
        PageEvent::Closed => ("close", Value::Null),
        _ => return None,
    })
}

fn of_request(host: &Host, page: &Page, event: &RequestEvent) -> Option<(&'static str, Value)> {
    let (name, id) = match event {
        RequestEvent::Started { id, .. } => ("request", id),
        RequestEvent::Responded { id, .. } => ("response", id),
        RequestEvent::Finished { id, .. } => ("requestfinished", id),
        RequestEvent::Failed { id, .. } => ("requestfailed", id),
        RequestEvent::SentByWorker { .. }
        | RequestEvent::HeadersSent { .. }
        | RequestEvent::ServedFromCache { .. }
        | RequestEvent::HeadersReceived { .. }
        | RequestEvent::Message { .. } => return None,
    };
    if !host.has_listener(page.id(), name) {
        return None;
    }
    let named = named(page, id)?;
    // Playwright reports no request for a WebSocket.
    (named.resource_type != "websocket").then(|| (name, request(&named)))
}

/// Returns the last request of a redirect chain.
pub(super) fn named(page: &Page, id: &RequestId) -> Option<Request> {
    let requests = page.requests();
    requests.into_iter().rev().find(|request| request.id == *id)
}
