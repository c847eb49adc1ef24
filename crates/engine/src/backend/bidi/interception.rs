//! Requests that stop by us because somebody decides about them: rules of a context, or whoever follows a page.

use super::browser::Shared;
use super::emulation::entries;
use super::network::{self, headers, resource_type};
use super::page::BidiPage;
use crate::backend::{FailureReason, Feature, FrameId, PausedRequest, RequestId, Verdict};
use crate::error::{Error, Result};
use crate::routes::{Mock, RouteAnswer};
use crate::task::{run_to_completion, spawn};
use std::sync::Arc;
use wire::Session;
use wire::bidi::network::{
    AddIntercept, BeforeRequestSent, BytesValue, ContinueRequest, DataType, FailRequest,
    InterceptPhase, ProvideResponse, RemoveIntercept,
};

impl Shared {
    /// Has requests stop by us if any context wants that. All of them: a page that opens has no request go by then.
    ///
    /// Done to the end: given up half-way, nobody would know what the browser has.
    pub(super) async fn apply_interception(self: &Arc<Self>) -> Result<()> {
        let browser = self.clone();
        let applied = async move { browser.switch_interception().await };
        let applied = run_to_completion("interception", applied).await;
        applied.unwrap_or(Err(Error::PageClosed {}))
    }

    async fn switch_interception(&self) -> Result<()> {
        let mut active = self.intercept.lock().await;
        let wanted = self.contexts().iter().any(|context| context.intercepts());
        if wanted == active.is_some() {
            return Ok(());
        }
        if let Some(intercept) = active.clone() {
            self.root.call(&RemoveIntercept { intercept }).await?;
            *active = None;
        } else {
            let added = self
                .root
                .call(&AddIntercept {
                    phases: vec![InterceptPhase::BeforeRequestSent],
                    contexts: None,
                })
                .await?;
            *active = Some(added.intercept);
        }
        Ok(())
    }

    /// A page's request waits: asks who decides. One that nobody decides about goes on.
    pub(super) fn on_request_blocked(&self, page: &Arc<BidiPage>, sent: BeforeRequestSent) {
        let request = sent.request.request.clone();
        let Some(context) = page.context() else {
            return continue_request(&self.root, request);
        };
        let kind = resource_type(&sent.request, sent.navigation.is_some());
        let routes = context.options().routes.clone();
        let (root, page) = (self.root.clone(), page.clone());
        let url = sent.request.url.clone();
        routes.decide(&url, kind, move |answer| match answer {
            Some(answer) => apply_route(&root, &page, sent, &answer),
            None if page.intercepts() && network::is_logged(&sent.request) => {
                ask_interceptors(&root, &page, sent, kind);
            }
            None => continue_request(&root, request),
        });
    }
}

fn continue_request(root: &Session, request: String) {
    drop(root.send(&ContinueRequest {
        request,
        ..Default::default()
    }));
}

/// Asks who follows the page; a body is fetched first.
fn ask_interceptors(
    root: &Session,
    page: &Arc<BidiPage>,
    sent: BeforeRequestSent,
    kind: &'static str,
) {
    let has_body = sent.request.body_size.is_some_and(|size| size > 0.0);
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
            let taken = page
                .observer()
                .is_some_and(|observer| observer.paused(paused));
            if !taken {
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
        let body = page.body(&id, DataType::Request).await.ok();
        give(PausedRequest { body, ..paused });
    })
    .detach();
}

fn without_fragment(url: &str) -> &str {
    url.split('#').next().unwrap_or(url)
}

/// Does with a request that waits as its rule says.
fn apply_route(root: &Session, page: &BidiPage, sent: BeforeRequestSent, answer: &RouteAnswer) {
    match answer {
        RouteAnswer::Block => {
            page.set_abort_reason(&sent.request.request, FailureReason::BlockedByClient);
            drop(root.send(&FailRequest {
                request: sent.request.request,
            }));
        }
        RouteAnswer::Mock(mock) if mock.delay.is_zero() => {
            drop(root.send(&mock_response(&sent, mock)))
        }
        RouteAnswer::Mock(mock) => {
            let (root, mock) = (root.clone(), Arc::clone(mock));
            spawn("mock", async move {
                tokio::time::sleep(mock.delay).await;
                drop(root.send(&mock_response(&sent, &mock)));
            })
            .detach();
        }
        RouteAnswer::Rewrite(changes) => {
            let changed = changes.apply(headers(sent.request.headers));
            drop(root.send(&ContinueRequest {
                request: sent.request.request,
                headers: Some(entries(changed)),
                ..Default::default()
            }));
        }
    }
}

fn mock_response(sent: &BeforeRequestSent, mock: &Mock) -> ProvideResponse {
    let asked = |wanted: &str| {
        let mut headers = sent.request.headers.iter();
        headers
            .find(|header| header.name.eq_ignore_ascii_case(wanted))
            .map(|header| header.value.clone().into_text())
    };
    let (status, headers, body) = mock.answer(asked);
    ProvideResponse {
        request: sent.request.request.clone(),
        status_code: Some(status),
        reason_phrase: None,
        headers: Some(entries(headers)),
        body: Some(BytesValue::from(body)),
    }
}

impl BidiPage {
    /// Decides about a request that waits.
    pub(super) async fn decide_about(&self, key: &str, verdict: Verdict) -> Result<()> {
        let request = key.to_owned();
        match verdict {
            Verdict::Continue {
                url,
                method,
                headers,
                body,
            } => {
                if url.is_some() || body.is_some() {
                    // Firefox would send it, and lose the answer. What is refused does not wait for ever.
                    let refused = super::CAPABILITIES.require(Feature::RewriteRequest);
                    drop(self.root.send(&FailRequest { request }));
                    return refused;
                }
                self.root
                    .call(&ContinueRequest {
                        request,
                        url: None,
                        method,
                        headers: headers.map(entries),
                        body: None,
                    })
                    .await?;
            }
            Verdict::Fulfill {
                status,
                headers,
                body,
            } => {
                self.root
                    .call(&ProvideResponse {
                        request,
                        status_code: Some(status),
                        reason_phrase: None,
                        headers: Some(entries(headers)),
                        body: Some(BytesValue::from(body)),
                    })
                    .await?;
            }
            Verdict::Abort(reason) => {
                self.set_abort_reason(&request, reason);
                self.root.call(&FailRequest { request }).await?;
            }
        }
        Ok(())
    }
}
