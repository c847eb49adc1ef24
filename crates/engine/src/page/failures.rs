//! The reasons of failed requests and navigations with an egress proxy: the browser detects a closed connection, the proxy knows the
//! reason.

use super::{Page, PageState, Shared};
use crate::backend::{PageEvent, RequestEvent};
use crate::error::{Error, NetError};

impl Shared {
    /// Returns the event with the egress proxy's reason of a failure.
    pub(super) fn with_reason(&self, event: PageEvent, state: &mut PageState) -> PageEvent {
        if self.egress.is_none() {
            return event;
        }
        match event {
            PageEvent::Request(RequestEvent::Failed {
                id,
                reason,
                cancelled,
                at,
            }) => {
                let request = state.requests.pending(&id);
                let reason = match request {
                    Some(request) => self.reason(&request.url, reason),
                    None => reason,
                };
                PageEvent::Request(RequestEvent::Failed {
                    id,
                    reason,
                    cancelled,
                    at,
                })
            }
            PageEvent::NavigationAborted {
                frame,
                loader,
                reason,
            } => {
                let requested = || state.requests.document(&frame, loader.as_ref()?);
                let pending = || state.frames.get(&frame)?.pending.as_ref();
                let url = requested().map(|request| request.url.as_str());
                let url = url.or_else(|| pending().map(|pending| pending.url.as_str()));
                let reason = match (url, reason) {
                    (Some(url), Some(reason)) => {
                        let reason = self.reason(url, reason);
                        if reason == NetError::BlockedByClient {
                            state.refused = Some(url.to_owned());
                        }
                        Some(reason)
                    }
                    (_, reason) => reason,
                };
                PageEvent::NavigationAborted {
                    frame,
                    loader,
                    reason,
                }
            }
            event => event,
        }
    }

    /// Returns why a URL could not be loaded. A cancelled request has no other reason.
    fn reason(&self, url: &str, reason: NetError) -> NetError {
        let known = || {
            let egress = self.egress.as_ref()?;
            let refused = egress.refusal(url).map(|_| NetError::BlockedByClient);
            refused.or_else(|| egress.failure(url))
        };
        match reason {
            NetError::Aborted => reason,
            _ => known().unwrap_or(reason),
        }
    }
}

impl Page {
    /// Returns the text of the rule that blocks a URL.
    pub(crate) fn refusal(&self, url: &str) -> Option<String> {
        match &self.shared.egress {
            Some(egress) => egress.refusal(url),
            None => self.shared.origins.refusal(url),
        }
    }

    /// Returns the result of a navigation with the egress proxy's reason for the failed document, which may be a redirect target of the
    /// URL.
    pub(super) fn prefer_egress_reason(&self, ended: Error, failure: Error) -> Error {
        match (ended, failure) {
            (
                Error::NavigationFailed { url, reason },
                Error::NavigationFailed {
                    url: failed,
                    reason: known,
                },
            ) => {
                let reason = match known {
                    NetError::BlockedByClient => known,
                    _ => reason,
                };
                let reason = self.shared.reason(&failed, reason);
                Error::NavigationFailed { url, reason }
            }
            (ended, _) => ended,
        }
    }

    /// Returns the failure of a navigation with its actual reason. The error of a blocked request names the rule; the request may be a
    /// redirect target of the URL.
    pub(super) fn with_reason(&self, error: Error) -> Error {
        let Error::NavigationFailed { url, reason } = error else {
            return error;
        };
        let reason = self.shared.reason(&url, reason);
        let refused = (reason == NetError::BlockedByClient).then(|| {
            let last = self.state().refused.clone();
            let requests = self.requests().into_iter().rev().map(|it| it.url);
            let mut urls = std::iter::once(url.clone()).chain(last).chain(requests);
            urls.find_map(|url| Some((self.refusal(&url)?, url)))
        });
        match refused.flatten() {
            Some((rule, url)) => Error::OriginBlocked { url, rule },
            None => Error::NavigationFailed { url, reason },
        }
    }
}
