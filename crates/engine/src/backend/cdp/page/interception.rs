//! Requests that are paused until a decision.

use super::CdpPage;
use super::authentication;
use crate::backend::cdp::network::name;
use crate::backend::changed_response::change_response;
use crate::backend::interception::apply_route;
use crate::backend::{
    FailureReason, Fetched, FrameId, Headers, Interception, PausedRequest, RequestId, Verdict,
};
use crate::error::{Error, NetError, Result};
use crate::routes::RoutedRequest;
use async_trait::async_trait;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use futures_util::future::join_all;
use std::sync::Arc;
use task::spawn;
use wire::cdp::fetch;
use wire::cdp::network::{ErrorReason, ResourceType};
use wire::cdp::{Binary, Empty, fetch::HeaderEntry};
use wire::{Reply, Session};

impl CdpPage {
    /// Returns the command that turns on interception for a session, if it is wanted.
    pub(super) fn interception(&self) -> Option<fetch::Enable> {
        let authenticates = authentication::is_wanted(&self.options());
        let decides = self.state().intercepts || !self.routes().is_empty();
        (authenticates || decides).then(|| fetch::Enable {
            handle_auth_requests: authenticates.then_some(true),
            ..Default::default()
        })
    }

    /// Turns interception on or off in each session of the page.
    pub(crate) async fn apply_interception(&self) -> Result<()> {
        let enable = self.interception();
        let children = self.children().into_iter();
        let sessions = children
            .map(|child| child.session)
            .chain([self.session.clone()]);
        let replies = sessions.map(|session| {
            let enable = enable.clone();
            async move {
                match &enable {
                    Some(enable) => session.call(enable).await.map(drop),
                    None => session.call(&fetch::Disable {}).await.map(drop),
                }
            }
        });
        // A frame that was detached meanwhile has no requests.
        match join_all(replies).await.pop() {
            Some(Err(error)) => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// Decides about a paused request by the routes of the context, or passes it to the interceptors of the page. Otherwise it is continued.
    pub(super) fn on_request_paused(
        self: &Arc<Self>,
        session: &Session,
        paused: fetch::RequestPaused,
    ) {
        let key = format!(
            "{} {}",
            paused.request_id,
            session.id().map_or("", |id| &**id)
        );
        if paused.response_status_code.is_some() || paused.response_error_reason.is_some() {
            if let Some(unwanted) = self.complete_fetching(&key, paused) {
                authentication::continue_request(session, unwanted);
            }
            return;
        }
        let (page, session) = (self.clone(), session.clone());
        let routes = self.routes();
        let request = RoutedRequest {
            url: paused.request.url.clone(),
            method: paused.request.method.clone(),
            headers: paused.request.headers.0.clone(),
            body: routes
                .needs_bodies()
                .then(|| body(&paused.request))
                .flatten(),
            resource_type: name(paused.resource_type),
        };
        routes.decide(request, move |answer| match answer {
            Some(answer) => {
                let request_id = paused.request_id;
                let headers = paused.request.headers.0;
                apply_route(answer, headers, move |verdict, response| match response {
                    Some(changes) => {
                        spawn("a changed response", async move {
                            change_response(&*page, &key, verdict, &changes).await;
                        })
                        .detach();
                    }
                    None => {
                        let sent = send_verdict(&session, request_id, verdict);
                        spawn("a decision", async { drop(sent.await) }).detach();
                    }
                });
            }
            None => page.pass_to_interceptors(&session, paused, key),
        });
    }

    /// Passes a request to the interceptors of the page. Without one it is continued.
    fn pass_to_interceptors(&self, session: &Session, paused: fetch::RequestPaused, key: String) {
        let taken = self.state().intercepts
            && self.reporter.offer(PausedRequest {
                id: paused.network_id.as_ref().map(RequestId::from),
                frame: FrameId::from(&paused.frame_id),
                url: paused.request.url.clone(),
                method: paused.request.method.clone(),
                headers: paused.request.headers.0.clone(),
                body: body(&paused.request),
                resource_type: name(paused.resource_type).to_owned(),
                is_navigation: paused.resource_type == ResourceType::Document,
                key,
            });
        if !taken {
            authentication::continue_request(session, paused);
        }
    }

    /// Returns the session and the identifier of a paused request.
    fn waiting(&self, key: &str) -> (Session, String) {
        let (request_id, session) = key.split_once(' ').unwrap_or((key, ""));
        let session = self.session_named(Some(&Arc::from(session)));
        (session, request_id.to_owned())
    }
}

#[async_trait]
impl Interception for CdpPage {
    async fn set_interception(&self, on: bool) -> Result<()> {
        self.state().intercepts = on;
        self.apply_interception().await
    }

    async fn decide(&self, key: &str, verdict: Verdict) -> Result<()> {
        let (session, request_id) = self.waiting(key);
        send_verdict(&session, request_id, verdict).await?;
        Ok(())
    }

    async fn fetch(&self, key: &str, changes: Verdict) -> Result<Fetched> {
        let (session, request_id) = self.waiting(key);
        let answer = self.add_fetching(key);
        let mut request = fetch::ContinueRequest {
            request_id: request_id.clone(),
            intercept_response: Some(true),
            ..Default::default()
        };
        if let Verdict::Continue {
            url,
            method,
            headers,
            body,
        } = changes
        {
            request.url = url;
            request.method = method;
            request.headers = headers.map(entries);
            request.post_data = body.map(Binary);
        }
        session.call(&request).await?;
        let paused = answer.await.map_err(|_| Error::PageClosed {})?;
        let Some(status) = paused.response_status_code else {
            return Err(Error::NavigationFailed {
                url: paused.request.url,
                reason: NetError::Failed,
            });
        };
        let body = match session.call(&fetch::GetResponseBody { request_id }).await {
            Ok(body) if body.base64_encoded => {
                BASE64_STANDARD.decode(body.body).unwrap_or_default()
            }
            Ok(body) => body.body.into_bytes(),
            // A redirect has no body.
            Err(wire::Error::Protocol { .. }) => Vec::new(),
            Err(error) => return Err(error.into()),
        };
        let headers = paused.response_headers.unwrap_or_default().into_iter();
        Ok(Fetched {
            status: status.try_into().unwrap_or_default(),
            status_text: paused.response_status_text.unwrap_or_default(),
            headers: headers.map(|header| (header.name, header.value)).collect(),
            body,
        })
    }
}

/// Sends the decision about a paused request.
fn send_verdict(session: &Session, request_id: fetch::RequestId, verdict: Verdict) -> Reply<Empty> {
    match verdict {
        Verdict::Continue {
            url,
            method,
            headers,
            body,
        } => session.send(&fetch::ContinueRequest {
            request_id,
            url,
            method,
            headers: headers.map(entries),
            post_data: body.map(Binary),
            ..Default::default()
        }),
        Verdict::Fulfill {
            status,
            headers,
            body,
        } => session.send(&fetch::FulfillRequest {
            request_id,
            response_code: status.into(),
            response_headers: Some(entries(headers)),
            body: Some(Binary(body)),
            ..Default::default()
        }),
        Verdict::Abort(reason) => session.send(&fetch::FailRequest {
            request_id,
            error_reason: reason_of(reason),
        }),
    }
}

fn entries(headers: Headers) -> Vec<HeaderEntry> {
    headers
        .into_iter()
        .map(|(name, value)| HeaderEntry { name, value })
        .collect()
}

fn body(request: &wire::cdp::network::Request) -> Option<Vec<u8>> {
    match &request.post_data_entries {
        Some(entries) if entries.iter().all(|entry| entry.bytes.is_some()) => {
            let parts = entries.iter().filter_map(|entry| entry.bytes.as_ref());
            let parts = parts.map(|part| BASE64_STANDARD.decode(part).ok());
            Some(parts.collect::<Option<Vec<_>>>()?.concat())
        }
        _ => request.post_data.clone().map(String::into_bytes),
    }
}

fn reason_of(reason: FailureReason) -> ErrorReason {
    match reason {
        FailureReason::Failed => ErrorReason::Failed,
        FailureReason::Aborted => ErrorReason::Aborted,
        FailureReason::TimedOut => ErrorReason::TimedOut,
        FailureReason::AccessDenied => ErrorReason::AccessDenied,
        FailureReason::ConnectionClosed => ErrorReason::ConnectionClosed,
        FailureReason::ConnectionReset => ErrorReason::ConnectionReset,
        FailureReason::ConnectionRefused => ErrorReason::ConnectionRefused,
        FailureReason::ConnectionAborted => ErrorReason::ConnectionAborted,
        FailureReason::ConnectionFailed => ErrorReason::ConnectionFailed,
        FailureReason::NameNotResolved => ErrorReason::NameNotResolved,
        FailureReason::InternetDisconnected => ErrorReason::InternetDisconnected,
        FailureReason::AddressUnreachable => ErrorReason::AddressUnreachable,
        FailureReason::BlockedByClient => ErrorReason::BlockedByClient,
        FailureReason::BlockedByResponse => ErrorReason::BlockedByResponse,
    }
}
