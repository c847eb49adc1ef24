//! Why requests and navigations failed behind an egress: the browser sees a connection that is closed, the egress knows the reason.

use super::{Page, PageState, Shared};
use crate::backend::{PageEvent, RequestEvent};
use crate::error::Error;
use crate::frame::ABORTED;

/// Chromium's name for a request that is refused by a rule.
const REFUSED: &str = "net::ERR_BLOCKED_BY_CLIENT";

impl Shared {
    /// The event, with the reason that the egress has for a failure.
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
                let reason = match url {
                    Some(url) => {
                        let reason = self.reason(url, reason);
                        if reason == REFUSED {
                            state.refused = Some(url.to_owned());
                        }
                        reason
                    }
                    None => reason,
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

    /// Why a URL could not be loaded. What was given up has no other reason.
    fn reason(&self, url: &str, reason: String) -> String {
        let known = || {
            let egress = self.egress.as_ref()?;
            let refused = egress.refusal(url).map(|_| REFUSED);
            refused.or_else(|| egress.failure(url))
        };
        match &*reason {
            "" | ABORTED => reason,
            _ => known().map_or(reason, str::to_owned),
        }
    }
}

impl Page {
    /// The rule that forbids the page to request a URL, in words.
    pub(crate) fn refusal(&self, url: &str) -> Option<String> {
        match &self.shared.egress {
            Some(egress) => egress.refusal(url),
            None => self.shared.origins.refusal(url),
        }
    }

    /// How a navigation ended, with the reason that the egress has for the document that failed: perhaps one that the URL redirects to.
    pub(super) fn prefer_egress_reason(&self, ended: Error, failure: Error) -> Error {
        match (ended, failure) {
            (
                Error::NavigationFailed { url, reason },
                Error::NavigationFailed {
                    url: failed,
                    reason: known,
                },
            ) => {
                let reason = if known == REFUSED { known } else { reason };
                let reason = self.shared.reason(&failed, reason);
                Error::NavigationFailed { url, reason }
            }
            (ended, _) => ended,
        }
    }

    /// The failure of a navigation with its real reason. A request that a rule refused is named with the rule; perhaps it is one that the
    /// URL redirects to.
    pub(super) fn with_reason(&self, error: Error) -> Error {
        let Error::NavigationFailed { url, reason } = error else {
            return error;
        };
        let reason = self.shared.reason(&url, reason);
        let refused = (reason == REFUSED).then(|| {
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
