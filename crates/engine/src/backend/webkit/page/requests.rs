//! The requests of a page, as the inspector reports them, and their bodies.

use super::WebKitPage;
use super::state::RequestRecord;
use crate::backend::interception::decode_body;
use crate::backend::webkit::network::{
    Body, DataReceived, LoadingFailed, LoadingFinished, RequestWillBeSent, ResponseReceived,
    file_name, headers, is_icon, net_error, resource_type,
};
use crate::backend::{FrameId, LoaderId, PageEvent, RequestEvent, RequestId, Requests};
use crate::error::{NetError, Result};
use async_trait::async_trait;
use serde_json::json;
use tokio::time::Instant;

/// The number of requests that are kept for later calls.
const MAX_REQUESTS: usize = 2_000;
/// The maximum length of a request body that is reported with its request.
const MAX_INLINE_BODY: usize = 64 * 1024;

#[async_trait]
impl Requests for WebKitPage {
    async fn response_body(&self, request: &RequestId) -> Result<Vec<u8>> {
        const METHOD: &str = "Network.getResponseBody";
        let id = json!({ "requestId": request.as_str() });
        let body: Body = self.call_inspector(METHOD, &id).await?;
        decode_body(METHOD, body.body, body.base64_encoded)
    }

    async fn request_body(&self, request: &RequestId) -> Result<Option<Vec<u8>>> {
        let state = self.state();
        let sent = state.sent.get(request.as_str());
        Ok(sent.and_then(|sent| sent.body.clone().map(String::into_bytes)))
    }
}

impl WebKitPage {
    pub(super) fn on_request_will_be_sent(&self, event: RequestWillBeSent) {
        let id = event.request_id;
        let frame = self.frame_of(&event.frame_id);
        let is_main = frame.as_ref() == Some(&self.main);
        let is_document = event.kind == "Document";
        if is_icon(&event.request.url, &event.kind, &event.initiator.kind) {
            return;
        }
        if let Some(redirect) = event.redirect_response {
            self.report(PageEvent::Request(RequestEvent::Responded {
                id: RequestId::from(&id),
                response: redirect.facts(),
                has_raw_headers: false,
                at: event.timestamp,
            }));
        }
        let is_navigation = is_document && is_main;
        if is_navigation {
            self.on_navigation_started(Some(&id), Some(&event.loader_id), &event.request.url);
        }
        let own = matches!(
            event.request.url.split(':').next(),
            Some("data" | "about" | "blob")
        );
        if own && is_document {
            return;
        }
        let kind = resource_type(&event.kind);
        let headers = headers(&event.request.headers);
        let body = event.request.post_data;
        {
            let mut state = self.state();
            if state.sent.len() >= MAX_REQUESTS {
                state.sent.clear();
            }
            state.sent.insert(
                id.clone(),
                RequestRecord {
                    url: event.request.url.clone(),
                    method: event.request.method.clone(),
                    kind,
                    frame: frame.clone(),
                    is_navigation: is_document,
                    document_of: (is_document && !is_main).then(|| FrameId::from(&event.frame_id)),
                    body: body.clone(),
                    unanswered_since: Some(Instant::now()),
                    ..RequestRecord::default()
                },
            );
        }
        self.parts.record_url(&event.request.url);
        self.watch_for_authentication();
        self.report(PageEvent::Request(RequestEvent::Started {
            id: id.into(),
            frame,
            loader: is_main.then(|| LoaderId::from(event.loader_id)),
            url: event.request.url,
            method: event.request.method,
            resource_type: kind.to_owned(),
            headers,
            has_body: body.is_some(),
            body: body.filter(|body| body.len() <= MAX_INLINE_BODY),
            is_navigation,
            at: event.timestamp,
        }));
    }

    pub(super) fn on_response_received(&self, event: ResponseReceived) {
        let file_name = file_name(&event.response.headers);
        {
            let mut state = self.state();
            let Some(sent) = state.sent.get_mut(&event.request_id) else {
                return;
            };
            sent.unanswered_since = None;
            sent.file_name = file_name;
            sent.has_no_body = matches!(event.response.status, 204 | 205 | 304);
        }
        self.report(PageEvent::Request(RequestEvent::Responded {
            id: event.request_id.into(),
            response: event.response.facts(),
            has_raw_headers: false,
            at: event.timestamp,
        }));
    }

    pub(super) fn on_data_received(&self, event: &DataReceived) {
        if let Some(sent) = self.state().sent.get_mut(&event.request_id) {
            sent.received += event.data_length;
        }
    }

    pub(super) fn on_loading_finished(&self, event: LoadingFinished) {
        let Some(received) = self.received(&event.request_id) else {
            return;
        };
        if let Some(sent) = &event.metrics.request_headers {
            self.report(PageEvent::Request(RequestEvent::HeadersSent {
                id: RequestId::from(&event.request_id),
                headers: headers(sent),
            }));
        }
        self.on_finished(&event.request_id);
        self.report(PageEvent::Request(RequestEvent::Finished {
            id: event.request_id.into(),
            size: event
                .metrics
                .response_body_bytes_received
                .unwrap_or(received),
            at: event.timestamp,
        }));
    }

    pub(super) fn on_loading_failed(&self, event: LoadingFailed) {
        let pending = self.is_pending(&event.request_id);
        if pending && event.canceled && self.state().navigation.next_part.is_some() {
            // The navigation continues in another process.
            return;
        }
        let sent = {
            let mut state = self.state();
            let sent = state.sent.get_mut(&event.request_id);
            sent.map(|sent| {
                sent.unanswered_since = None;
                sent.clone()
            })
        };
        let interrupted = event.error_text == "Frame load interrupted";
        let reason = match sent.as_ref().and_then(|sent| sent.refused.clone()) {
            Some(reason) => reason,
            None if event.canceled => NetError::Aborted,
            None => net_error(&event.error_text),
        };
        if let Some(sent) = &sent
            && interrupted
            && !sent.has_no_body
        {
            let downloads = &self.parts.downloads;
            downloads.expect(&self.id, &sent.url, sent.file_name.clone());
            if pending && self.state().is_new_popup {
                // It was opened for the download alone.
                self.close_in_background();
            }
        }
        if sent.is_some() {
            self.report(PageEvent::Request(RequestEvent::Failed {
                id: RequestId::from(&event.request_id),
                reason: reason.clone(),
                cancelled: event.canceled,
                at: event.timestamp,
            }));
        }
        if pending {
            // A download or an empty response is no failure.
            self.on_navigation_ended((!interrupted).then_some(reason));
        }
    }

    /// Records that a request has ended, and reports that the document of a frame is loaded if this was its request.
    fn on_finished(&self, request: &str) {
        let frame = {
            let mut state = self.state();
            let sent = state.sent.get_mut(request);
            sent.and_then(|sent| {
                sent.is_finished = true;
                sent.document_of.clone()
            })
        };
        if let Some(frame) = frame {
            self.report_loaded_document(&frame);
        }
    }

    /// Reports that the document of a frame is loaded if its request has ended, which can be before or after the frame shows it. The browser
    /// does not report when the other requests of the document end.
    pub(super) fn report_loaded_document(&self, frame: &FrameId) {
        let is_loaded = {
            let mut state = self.state();
            let state = &mut *state;
            let url = state.frames.get(frame).map(|known| &*known.url);
            let url = url.map(|url| url.split('#').next());
            let mut requests = state.sent.values_mut();
            let request = requests.find(|sent| {
                sent.is_finished
                    && sent.document_of.as_ref() == Some(frame)
                    && Some(sent.url.split('#').next()) == url
            });
            request.is_some_and(|sent| sent.document_of.take().is_some())
        };
        if is_loaded {
            self.on_parsed(frame);
            self.on_loaded(frame);
        }
    }

    fn received(&self, request: &str) -> Option<u64> {
        self.state().sent.get(request).map(|sent| sent.received)
    }

    /// Returns the record of a request.
    pub(super) fn sent(&self, request: &str) -> Option<RequestRecord> {
        self.state().sent.get(request).cloned()
    }

    /// Records why a request is aborted.
    pub(super) fn set_abort_reason(&self, request: &str, reason: NetError) {
        if let Some(sent) = self.state().sent.get_mut(request) {
            sent.refused = Some(reason);
        }
    }
}
