//! The requests of a fake page: redirects, cookies, routes and interception.

use super::network;
use super::page::{FakePage, Outgoing};
use crate::backend::interception::{apply_route, status_text};
use crate::backend::{
    ConsoleMessage, Fetched, MessageKind, PageEvent, PausedRequest, RequestEvent, RequestId,
    ResponseFacts, SourceLocation, Verdict,
};
use crate::error::NetError;
use crate::routes::RoutedRequest;
use tokio::sync::oneshot;
use url::Url;

/// The largest number of redirects of a request.
const MAX_REDIRECTS: u32 = 20;

impl FakePage {
    /// Sends a request and follows its redirects.
    pub(super) async fn request(&self, mut outgoing: Outgoing) -> Result<(Fetched, Url), NetError> {
        let id = RequestId::from(self.context.next_id("request"));
        for _ in 0..MAX_REDIRECTS {
            self.add_headers(&mut outgoing);
            self.report(PageEvent::Request(RequestEvent::Started {
                id: id.clone(),
                frame: Some(self.frame()),
                loader: Some(outgoing.loader.clone()),
                url: outgoing.url.to_string(),
                method: outgoing.method.clone(),
                resource_type: outgoing.resource_type.to_owned(),
                headers: outgoing.headers.clone(),
                has_body: !outgoing.body.is_empty(),
                body: None,
                is_navigation: outgoing.resource_type == "document",
                at: self.now(),
            }));
            let unanswered = RequestGuard {
                page: self,
                id: &id,
                reason: NetError::Aborted,
            };
            let fetched = match self.fetched(&id, &outgoing).await {
                Ok(fetched) => fetched,
                Err(reason) => {
                    let mut failed = unanswered;
                    failed.reason = reason.clone();
                    return Err(reason);
                }
            };
            std::mem::forget(unanswered);
            for (name, value) in &fetched.headers {
                if name.eq_ignore_ascii_case("set-cookie") {
                    self.context.jar().set(&outgoing.url, value);
                }
            }
            let content_type = network::header(&fetched.headers, "content-type");
            let mime_type = content_type.and_then(|it| it.split(';').next());
            self.report(PageEvent::Request(RequestEvent::Responded {
                id: id.clone(),
                response: ResponseFacts {
                    status: fetched.status,
                    status_text: fetched.status_text.clone(),
                    headers: fetched.headers.clone(),
                    mime_type: mime_type.unwrap_or_default().to_owned(),
                    ..ResponseFacts::default()
                },
                has_raw_headers: false,
                at: self.now(),
            }));
            let location = network::header(&fetched.headers, "location");
            let location = location.filter(|_| (300..400).contains(&fetched.status));
            let Some(next) = location.and_then(|it| outgoing.url.join(it).ok()) else {
                self.state().bodies.insert(id.clone(), fetched.body.clone());
                self.report(PageEvent::Request(RequestEvent::Finished {
                    id,
                    size: fetched.body.len() as u64,
                    at: self.now(),
                }));
                return Ok((fetched, outgoing.url));
            };
            outgoing.url = next;
            outgoing.method = "GET".to_owned();
            outgoing.headers.clear();
        }
        Err(NetError::from("net::ERR_TOO_MANY_REDIRECTS"))
    }

    /// Reports an error response on the console.
    pub(super) fn report_status(&self, fetched: &Fetched, url: &Url) {
        if fetched.status < 400 {
            return;
        }
        let status = format!("{} ({})", fetched.status, fetched.status_text);
        self.report(PageEvent::Console(ConsoleMessage {
            kind: MessageKind::Error,
            text: format!(
                "Failed to load resource: the server responded with a status of {status}"
            ),
            location: Some(SourceLocation {
                url: url.to_string(),
                ..SourceLocation::default()
            }),
        }));
    }

    fn add_headers(&self, outgoing: &mut Outgoing) {
        let options = &self.context.options;
        let agent = options.user_agent.as_deref().unwrap_or(super::USER_AGENT);
        let mut add = |name: &str, value: &str| {
            outgoing.headers.push((name.to_owned(), value.to_owned()));
        };
        add("user-agent", agent);
        let cookies = self.context.jar().header(&outgoing.url, false);
        if !cookies.is_empty() {
            add("cookie", &cookies);
        }
        let extra = self.context.extra_headers();
        outgoing.headers.extend(extra);
        outgoing.headers.extend(self.state().headers.clone());
    }

    /// Returns the response to a request, of the network or of a route or an interceptor.
    async fn fetched(&self, id: &RequestId, outgoing: &Outgoing) -> Result<Fetched, NetError> {
        let response = |status, headers, body| Fetched {
            status,
            status_text: status_text(status).to_owned(),
            headers,
            body,
        };
        match self.verdict(id, outgoing).await {
            Verdict::Abort(_) => Err(NetError::Failed),
            Verdict::Fulfill {
                status,
                headers,
                body,
            } => Ok(response(status, headers, body)),
            Verdict::Continue { .. } if self.context.is_offline() => {
                Err(NetError::InternetDisconnected)
            }
            Verdict::Continue { .. } => {
                let proxy = self.context.proxy.as_ref();
                let Outgoing {
                    method,
                    url,
                    headers,
                    body,
                    ..
                } = outgoing;
                network::load(method, url, headers, body.clone(), proxy).await
            }
        }
    }

    async fn verdict(&self, id: &RequestId, outgoing: &Outgoing) -> Verdict {
        let routed = RoutedRequest {
            url: outgoing.url.to_string(),
            method: outgoing.method.clone(),
            headers: outgoing.headers.clone(),
            body: None,
            resource_type: outgoing.resource_type,
        };
        let headers = outgoing.headers.clone();
        let (decide, decided) = oneshot::channel();
        self.context
            .routes()
            .decide(routed, move |answer| match answer {
                Some(answer) => apply_route(answer, headers, move |verdict, _| {
                    let _ = decide.send(verdict);
                }),
                None => drop(decide),
            });
        if let Ok(verdict) = decided.await {
            return verdict;
        }
        let (decide, decided) = oneshot::channel();
        let key = self.context.next_id("paused");
        let intercepts = {
            let mut state = self.state();
            state.paused.insert(key.clone(), decide);
            state.intercepts
        };
        let taken = intercepts
            && self.reporter.offer(PausedRequest {
                id: Some(id.clone()),
                frame: self.frame(),
                url: outgoing.url.to_string(),
                method: outgoing.method.clone(),
                headers: outgoing.headers.clone(),
                body: None,
                resource_type: outgoing.resource_type.to_owned(),
                is_navigation: outgoing.resource_type == "document",
                key: key.clone(),
            });
        if !taken {
            self.state().paused.remove(&key);
            return Verdict::unchanged();
        }
        decided.await.unwrap_or_else(|_| Verdict::unchanged())
    }
}

/// Reports that a request failed when it is dropped.
struct RequestGuard<'a> {
    page: &'a FakePage,
    id: &'a RequestId,
    reason: NetError,
}

impl Drop for RequestGuard<'_> {
    fn drop(&mut self) {
        self.page.report(PageEvent::Request(RequestEvent::Failed {
            id: self.id.clone(),
            reason: self.reason.clone(),
            cancelled: self.reason == NetError::Aborted,
            at: self.page.now(),
        }));
    }
}
