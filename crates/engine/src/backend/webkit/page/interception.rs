//! Paused requests: the routes of the context or the observer of the page decide about them.

use super::WebKitPage;
use super::state::RequestRecord;
use crate::backend::interception;
use crate::backend::webkit::network::{Request, as_map, headers};
use crate::backend::{
    FailureReason, Feature, Fetched, Headers, Interception, PausedRequest, RequestId, Verdict,
};
use crate::error::Result;
use crate::routes::{RouteAnswer, RoutedRequest};
use async_trait::async_trait;
use base64::Engine as _;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Intercepted {
    request_id: String,
    request: Request,
}

#[async_trait]
impl Interception for WebKitPage {
    async fn set_interception(&self, on: bool) -> Result<()> {
        {
            let mut state = self.state();
            state.intercepts = on;
            if state.closed {
                return Ok(());
            }
        }
        self.apply_interception();
        self.flush_events().await
    }

    async fn decide(&self, key: &str, verdict: Verdict) -> Result<()> {
        self.apply_verdict(key, verdict);
        self.flush_events().await
    }

    async fn fetch(&self, _key: &str, _changes: Verdict) -> Result<Fetched> {
        self.refuse(Feature::HoldResponse)
    }
}

impl WebKitPage {
    /// Sends a verdict about a paused request.
    fn apply_verdict(&self, key: &str, verdict: Verdict) {
        match verdict {
            Verdict::Continue {
                url: None,
                method: None,
                headers: None,
                body: None,
            } => self.continue_request(key),
            Verdict::Continue {
                url,
                method,
                headers,
                body,
            } => self.continue_request_with(key, url, method, headers, body),
            Verdict::Fulfill {
                status,
                headers,
                body,
            } => self.fulfill_request(key, status, &headers, &body),
            Verdict::Abort(reason) => self.abort_request(key, reason),
        }
    }

    /// Pauses requests if a route or an observer decides about them, and no longer pauses them otherwise.
    pub(in crate::backend::webkit) fn apply_interception(&self) {
        {
            let mut state = self.state();
            let wanted = state.intercepts || self.parts.intercepts_all();
            if wanted == std::mem::replace(&mut state.intercepting, wanted) {
                return;
            }
        }
        self.send_all(self.interception());
    }

    /// Returns whether requests are paused.
    pub(super) fn interception(&self) -> Vec<(&'static str, Value)> {
        let on = self.state().intercepting;
        let enabled = json!({ "enabled": on });
        let all = json!({ "url": ".*", "isRegex": true, "stage": "request" });
        let mut settings = vec![("Network.setInterceptionEnabled", enabled)];
        if on {
            settings.push(("Network.addInterception", all));
        }
        settings
    }

    /// Sends a verdict to the part of the page that sent a request.
    fn send_verdict(&self, request: &str, method: &'static str, params: &Value) {
        let part = self.state().paused.remove(request);
        match part {
            Some(part) => {
                let targets = &self.parts.targets;
                targets.send_to_part(&self.window, &part, method, params);
            }
            None => self.send_to_inspector(method, params),
        }
    }

    /// Decides about a paused request, or offers it to the observer. A request without a decision is continued.
    pub(super) fn on_request_intercepted(self: Arc<Self>, event: Intercepted, part: &Arc<str>) {
        let id = event.request_id;
        self.state().paused.insert(id.clone(), part.clone());
        let request = event.request;
        let sent = self.sent(&id);
        if request.url.starts_with("data:") || request.url.starts_with("blob:") {
            return self.continue_request(&id);
        }
        let kind = sent.as_ref().map_or("other", |sent| sent.kind);
        let (routes, offline) = {
            let options = self.parts.options();
            (options.routes.clone(), options.offline)
        };
        let routed = RoutedRequest {
            url: request.url.clone(),
            method: request.method.clone(),
            headers: headers(&request.headers),
            body: request.post_data.clone().map(String::into_bytes),
            resource_type: kind,
        };
        routes.decide(routed, move |answer| match answer {
            Some(RouteAnswer::Rewrite(_)) | None if offline => {
                self.abort_request(&id, FailureReason::InternetDisconnected);
            }
            Some(answer) => {
                let headers = headers(&request.headers);
                // Routes that change responses are refused.
                interception::apply_route(answer, headers, move |verdict, _| {
                    self.apply_verdict(&id, verdict);
                });
            }
            None if self.state().intercepts => self.offer_request(&id, request, sent),
            None => {
                let is_main = sent.as_ref().is_some_and(|sent| {
                    sent.is_navigation && sent.frame.as_ref() == Some(&self.main)
                });
                let headers = headers(&request.headers);
                match self.with_credentials(&request.url, is_main, &headers) {
                    Some(headers) => {
                        self.continue_request_with(&id, None, None, Some(headers), None)
                    }
                    None => self.continue_request(&id),
                }
            }
        });
    }

    fn continue_request(&self, id: &str) {
        self.send_verdict(
            id,
            "Network.interceptContinue",
            &json!({ "requestId": id, "stage": "request" }),
        );
    }

    fn continue_request_with(
        &self,
        id: &str,
        url: Option<String>,
        method: Option<String>,
        headers: Option<Headers>,
        body: Option<Vec<u8>>,
    ) {
        let sent = self.sent(id);
        let sent = sent.as_ref();
        let url = url.or_else(|| sent.map(|sent| sent.url.clone()));
        let method = method.or_else(|| sent.map(|sent| sent.method.clone()));
        let fields: [(&str, Option<Value>); 4] = [
            ("url", url.map(Value::from)),
            ("method", method.map(Value::from)),
            ("headers", headers.map(|headers| as_map(&headers).into())),
            ("postData", body.map(|body| encoded(&body).into())),
        ];
        let mut changed = json!({ "requestId": id });
        for (name, value) in fields {
            if let Some(value) = value {
                changed[name] = value;
            }
        }
        self.send_verdict(id, "Network.interceptWithRequest", &changed);
    }

    fn abort_request(&self, id: &str, reason: FailureReason) {
        self.set_abort_reason(id, reason.net_error());
        let kind = match reason {
            FailureReason::Aborted => "Cancellation",
            FailureReason::TimedOut => "Timeout",
            FailureReason::AccessDenied => "AccessControl",
            _ => "General",
        };
        self.send_verdict(
            id,
            "Network.interceptRequestWithError",
            &json!({ "requestId": id, "errorType": kind }),
        );
    }

    fn fulfill_request(&self, id: &str, status: u16, headers: &Headers, body: &[u8]) {
        let mut all = headers.iter();
        let kind = all.find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        let kind = kind.map_or("text/plain", |(_, value)| {
            value.split(';').next().unwrap_or(value).trim()
        });
        self.send_verdict(
            id,
            "Network.interceptRequestWithResponse",
            &json!({
                "requestId": id,
                "content": encoded(body),
                "base64Encoded": true,
                "mimeType": kind,
                "status": status,
                "statusText": interception::status_text(status),
                "headers": as_map(headers),
            }),
        );
    }

    fn offer_request(&self, id: &str, request: Request, sent: Option<RequestRecord>) {
        let frame = sent.as_ref().and_then(|sent| sent.frame.clone());
        let paused = PausedRequest {
            id: Some(RequestId::from(id)),
            frame: frame.unwrap_or_else(|| self.main.clone()),
            url: request.url.split('#').next().unwrap_or_default().to_owned(),
            method: request.method,
            headers: headers(&request.headers),
            body: request.post_data.map(String::into_bytes),
            resource_type: sent.as_ref().map_or("other", |sent| sent.kind).to_owned(),
            is_navigation: sent.is_some_and(|sent| sent.is_navigation),
            key: id.to_owned(),
        };
        if !self.reporter.offer(paused) {
            self.continue_request(id);
        }
    }
}

fn encoded(bytes: &[u8]) -> String {
    base64::engine::general_purpose::STANDARD.encode(bytes)
}
