//! Requests: their events, and the decisions about paused ones.

use super::Shared;
use crate::backend::bidi::network::{self, Network};
use crate::backend::bidi::page::BidiPage;
use crate::backend::bidi::page::interception::continue_request;
use crate::backend::bidi::utility_page;
use crate::backend::{FrameId, LoaderId, PageBackend, PageEvent, RequestEvent, RequestId};
use crate::error::NetError;
use std::sync::Arc;
use std::time::Duration;
use wire::bidi::network::{
    AuthCredentials, AuthRequired, BeforeRequestSent, BytesValue, ContinueResponse,
    ContinueWithAuth, DataType, FetchError, GetData,
};

/// The largest body in bytes that is stored in the request log.
const MAX_INLINE_BODY: f64 = 64.0 * 1024.0;
/// The longest time to wait for a body, which delays all other events.
const BODY_TIMEOUT: Duration = Duration::from_millis(500);

impl Shared {
    pub(super) fn on_network_event(&self, event: Network) {
        match event {
            Network::Responded(responded) => {
                if responded.is_blocked {
                    self.root.post(&ContinueResponse {
                        request: responded.request.request.clone(),
                    });
                }
                if let Some(page) = self.owner(responded.context.as_deref())
                    && network::is_logged(&responded.request)
                {
                    page.report(PageEvent::Request(network::responded(responded)));
                }
            }
            Network::Completed(completed) => {
                let Some(page) = self.owner(completed.context.as_deref()) else {
                    return;
                };
                let is_last = network::leaves_browser(&completed.response);
                // Firefox does not report the end of such a navigation.
                if is_last
                    && let (Some(navigation), Some(context)) =
                        (&completed.navigation, &completed.context)
                {
                    page.report(PageEvent::NavigationAborted {
                        frame: FrameId::from(context),
                        loader: Some(LoaderId::from(navigation)),
                        reason: None,
                    });
                }
                if network::is_logged(&completed.request)
                    && (is_last || !network::is_redirect(&completed.response))
                {
                    page.report(PageEvent::Request(network::completed(completed)));
                }
            }
            Network::Failed(failed) => self.on_fetch_error(failed),
            Network::Challenged(challenged) => self.challenged(challenged),
        }
    }

    fn owner(&self, context: Option<&str>) -> Option<Arc<BidiPage>> {
        self.pages.get(context?)
    }

    /// Returns the body of a request, if it is a short text.
    pub(super) async fn short_body(&self, sent: &BeforeRequestSent) -> Option<String> {
        let size = sent.request.body_size?;
        if size <= 0.0 || size > MAX_INLINE_BODY || !network::is_logged(&sent.request) {
            return None;
        }
        let reply = self.root.send(&GetData {
            data_type: DataType::Request,
            request: sent.request.request.clone(),
        });
        let data = tokio::time::timeout(BODY_TIMEOUT, reply).await.ok()?.ok()?;
        match data.bytes {
            BytesValue::String(text) => Some(text),
            BytesValue::Base64(_) => None,
        }
    }

    pub(super) fn on_request_sent(&self, sent: BeforeRequestSent, body: Option<String>) {
        let page = self.owner(sent.context.as_deref());
        if let Some(page) = &page
            && network::is_logged(&sent.request)
        {
            page.report(PageEvent::Request(network::started(sent.clone(), body)));
        }
        if !sent.is_blocked {
            return;
        }
        match page {
            Some(page) => match self.context(page.user_context()) {
                Some(context) => page.on_request_blocked(&context.routes(), sent),
                None => continue_request(&self.root, sent.request.request),
            },
            None => self.handle_unowned_request(sent),
        }
    }

    /// Handles a request that belongs to no reported page: of a utility page, a worker, or the browser.
    fn handle_unowned_request(&self, sent: BeforeRequestSent) {
        let is_utility_page = sent.context.as_ref().is_some_and(|context| {
            let mut contexts = self.contexts().into_iter();
            contexts.any(|owner| owner.utility_pages.contains(context))
        });
        if is_utility_page {
            return utility_page::answer(&self.root, sent.request.request);
        }
        continue_request(&self.root, sent.request.request);
    }

    fn on_fetch_error(&self, failed: FetchError) {
        let Some(page) = self.owner(failed.context.as_deref()) else {
            return;
        };
        let reason = page
            .abort_reason(&failed.request.request)
            .unwrap_or_else(|| network::net_error(&failed.error_text));
        if network::is_logged(&failed.request) {
            page.report(PageEvent::Request(RequestEvent::Failed {
                id: RequestId::from(&failed.request.request),
                cancelled: reason == NetError::Aborted,
                reason: reason.clone(),
                at: failed.timestamp / 1000.0,
            }));
        }
        if let (Some(navigation), Some(context)) = (failed.navigation, failed.context) {
            if page.id().as_str() == context {
                page.navigation_failed(&navigation, reason.clone());
            }
            page.report(PageEvent::NavigationAborted {
                frame: FrameId::from(context),
                loader: Some(LoaderId::from(navigation)),
                reason: Some(reason),
            });
        }
    }

    /// Sends the credentials once. On a second challenge they were wrong, and the page gets the 401 or 407 response.
    fn challenged(&self, challenged: AuthRequired) {
        if !challenged.is_blocked {
            return;
        }
        let request = challenged.request.request;
        let credentials = self.owner(challenged.context.as_deref()).and_then(|page| {
            let context = self.context(page.user_context())?;
            let options = context.options();
            let url = url::Url::parse(&challenged.request.url).ok()?;
            let origin = url.origin().ascii_serialization();
            let credentials = options.http_credentials.as_ref()?.for_origin(&origin)?;
            page.first_challenge(&request).then_some(credentials)
        });
        self.root.post(&ContinueWithAuth {
            request,
            action: if credentials.is_some() {
                "provideCredentials"
            } else {
                "cancel"
            },
            credentials: credentials.map(|(username, password)| AuthCredentials {
                kind: "password",
                username,
                password,
            }),
        });
    }
}
