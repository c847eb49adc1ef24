//! Requests that are paused until a decision.

use super::BidiPage;
use crate::backend::bidi::CAPABILITIES;
use crate::backend::bidi::network::{self, entries, headers, resource_type};
use crate::backend::interception::apply_route;
use crate::backend::{
    Feature, Fetched, FrameId, Interception, PausedRequest, RequestId, Requests, Verdict,
};
use crate::error::{Error, Result};
use crate::routes::{RoutedRequest, Routes};
use async_trait::async_trait;
use std::sync::Arc;
use task::spawn;
use wire::bidi::Empty;
use wire::bidi::network::{
    BeforeRequestSent, BytesValue, ContinueRequest, FailRequest, ProvideResponse,
};
use wire::{Reply, Session};

impl BidiPage {
    /// Decides about a paused request by these routes, or passes it to the observer. Without a decision the request is continued.
    pub(crate) fn on_request_blocked(self: &Arc<Self>, routes: &Routes, sent: BeforeRequestSent) {
        if !(routes.needs_bodies() && has_body(&sent)) {
            return self.decide_by_routes(routes, sent, None);
        }
        let (page, routes) = (self.clone(), routes.clone());
        spawn("request body", async move {
            let id = RequestId::from(&sent.request.request);
            let body = page.request_body(&id).await.ok().flatten();
            page.decide_by_routes(&routes, sent, body);
        })
        .detach();
    }

    fn decide_by_routes(
        self: &Arc<Self>,
        routes: &Routes,
        sent: BeforeRequestSent,
        body: Option<Vec<u8>>,
    ) {
        let request = sent.request.request.clone();
        let kind = resource_type(&sent.request, sent.navigation.is_some());
        let (root, page) = (self.root().clone(), self.clone());
        let routed = RoutedRequest {
            url: sent.request.url.clone(),
            method: sent.request.method.clone(),
            headers: headers(sent.request.headers.clone()),
            body,
            resource_type: kind,
        };
        routes.decide(routed, move |answer| match answer {
            Some(answer) => {
                let headers = headers(sent.request.headers);
                // Routes that change responses are refused.
                apply_route(answer, headers, move |verdict, _| {
                    if let Ok(sent) = page.send_verdict(request, verdict) {
                        spawn("a decision", async { drop(sent.await) }).detach();
                    }
                });
            }
            None if page.state().intercepts && network::is_logged(&sent.request) => {
                ask_interceptors(&root, &page, sent, kind);
            }
            None => continue_request(&root, request),
        });
    }

    /// Sends the decision about a paused request.
    fn send_verdict(&self, request: String, verdict: Verdict) -> Result<Reply<Empty>> {
        Ok(match verdict {
            Verdict::Continue { url, body, .. } if url.is_some() || body.is_some() => {
                // Firefox would lose the response. The request is failed, so that it does not wait forever.
                let failed = self.root().send(&FailRequest { request });
                CAPABILITIES
                    .require(Feature::RewriteRequest)
                    .map(|()| failed)?
            }
            Verdict::Continue {
                method, headers, ..
            } => self.root().send(&ContinueRequest {
                request,
                method,
                headers: headers.map(entries),
                ..Default::default()
            }),
            Verdict::Fulfill {
                status,
                headers,
                body,
            } => self.root().send(&ProvideResponse {
                request,
                status_code: Some(status),
                reason_phrase: None,
                headers: Some(entries(headers)),
                body: Some(BytesValue::from(body)),
            }),
            Verdict::Abort(reason) => {
                self.set_abort_reason(&request, reason);
                self.root().send(&FailRequest { request })
            }
        })
    }
}

#[async_trait]
impl Interception for BidiPage {
    async fn set_interception(&self, on: bool) -> Result<()> {
        self.state().intercepts = on;
        let is_open = || !self.state().closed;
        let switch = &self.parts.interception;
        switch.set(self.id.as_str(), on, is_open).await
    }

    async fn decide(&self, key: &str, verdict: Verdict) -> Result<()> {
        self.send_verdict(key.to_owned(), verdict)?.await?;
        Ok(())
    }

    async fn fetch(&self, _key: &str, _changes: Verdict) -> Result<Fetched> {
        CAPABILITIES.require(Feature::HoldResponse)?;
        Err(Error::PageClosed {})
    }
}

pub(crate) fn continue_request(root: &Session, request: String) {
    root.post(&ContinueRequest {
        request,
        ..Default::default()
    });
}

/// Fetches the body of a request and passes both to the interceptors of the page. Without one the request is continued.
fn ask_interceptors(
    root: &Session,
    page: &Arc<BidiPage>,
    sent: BeforeRequestSent,
    kind: &'static str,
) {
    let has_body = has_body(&sent);
    let key = sent.request.request.clone();
    let paused = PausedRequest {
        id: Some(RequestId::from(&key)),
        frame: FrameId::from(sent.context.unwrap_or_default()),
        url: without_fragment(&sent.request.url).to_owned(),
        method: sent.request.method,
        headers: headers(sent.request.headers),
        body: None,
        resource_type: kind.to_owned(),
        is_navigation: sent.navigation.is_some(),
        key: key.clone(),
    };
    let give = {
        let (root, page) = (root.clone(), page.clone());
        move |paused: PausedRequest| {
            if !page.reporter.offer(paused) {
                continue_request(&root, key);
            }
        }
    };
    if !has_body {
        return give(paused);
    }
    let page = page.clone();
    spawn("request body", async move {
        let id = RequestId::from(&paused.key);
        let body = page.request_body(&id).await.ok().flatten();
        give(PausedRequest { body, ..paused });
    })
    .detach();
}

fn has_body(sent: &BeforeRequestSent) -> bool {
    sent.request.body_size.is_some_and(|size| size > 0.0)
}

fn without_fragment(url: &str) -> &str {
    url.split('#').next().unwrap_or(url)
}
