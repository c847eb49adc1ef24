//! Interception of requests by client code.

use super::facts;
use super::{Host, decoded};
use crate::failure::Failure;
use crate::request::Verdict;
use crate::runtime::Message;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use engine::{FailureReason, Intercepted, Interceptor, Page, Progress};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use strum::VariantNames as _;

/// The active client code of a session, so that a later call can remove a route.
#[derive(Clone, Default)]
pub struct ScriptRegistry(Arc<Mutex<Vec<Weak<Host>>>>);

/// Intercepted requests, by number.
#[derive(Default)]
pub(super) struct PausedRequests {
    waiting: HashMap<u64, Intercepted>,
    last: u64,
}

impl ScriptRegistry {
    /// Adds client code that starts.
    pub(super) fn join(&self, host: &Arc<Host>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|host| host.strong_count() > 0);
        all.push(Arc::downgrade(host));
    }

    /// Returns the hosts of the other client code.
    fn others(&self, than: &Host) -> Vec<Arc<Host>> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let living = all.iter().filter_map(Weak::upgrade);
        living
            .filter(|host| !std::ptr::eq(&raw const **host, than))
            .collect()
    }
}

/// Turns the interception of a page's requests on or off.
pub(super) async fn routing(
    host: &Host,
    page: &Page,
    progress: &Progress,
    on: bool,
) -> Result<(), Failure> {
    if on {
        let interceptor = page.intercept(progress).await?;
        let work = follow(host.weak.clone(), page.clone(), interceptor);
        let task = task::spawn("routes", work);
        host.state().routed.insert(page.id().clone(), task);
    } else {
        let task = host.state().routed.remove(page.id());
        drop(task);
    }
    Ok(())
}

/// Sends intercepted requests to the code.
async fn follow(host: Weak<Host>, page: Page, mut interceptor: Interceptor) {
    while let Some(intercepted) = interceptor.next().await {
        let Some(host) = host.upgrade() else { return };
        let Some(request) = intercepted.request() else {
            continue;
        };
        let mut facts = facts::paused(request);
        let pause = {
            let mut state = host.state();
            state.pauses.last += 1;
            let pause = state.pauses.last;
            state.pauses.waiting.insert(pause, intercepted);
            pause
        };
        facts["pause"] = pause.into();
        host.send_event(Some(page.id().as_str()), "route", &facts);
    }
}

/// Executes the decision about an intercepted request.
pub(super) async fn decide(
    host: &Host,
    progress: &Progress,
    pause: u64,
    verdict: Verdict,
) -> Result<(), Failure> {
    let waiting = host.state().pauses.waiting.remove(&pause);
    let Some(waiting) = waiting else {
        return Ok(());
    };
    let verdict = match verdict {
        Verdict::Pass => {
            drop(waiting);
            return Ok(());
        }
        Verdict::Abort { reason } => engine::Verdict::Abort(reason.parse().map_err(|_| {
            let known = FailureReason::VARIANTS.join(", ");
            Failure::new(format!("Unknown error code: {reason}. One of: {known}"))
        })?),
        Verdict::Continue {
            url,
            method,
            headers,
            body,
        } => {
            if let Some(url) = &url {
                host.setting.access.check_url(url)?;
            }
            engine::Verdict::Continue {
                url,
                method,
                headers,
                body: body.as_deref().map(decoded).transpose()?,
            }
        }
        Verdict::Fulfill {
            status,
            mut headers,
            body,
            path,
        } => {
            let body = match path {
                Some(path) => host.setting.access.read(&path).await?,
                None => decoded(&body)?,
            };
            headers.push(("content-length".to_owned(), body.len().to_string()));
            engine::Verdict::Fulfill {
                status,
                headers,
                body,
            }
        }
    };
    Ok(waiting.decide(progress, verdict).await?)
}

/// Sends an intercepted request and pauses its response.
pub(super) async fn fetch(
    host: &Host,
    progress: &Progress,
    pause: u64,
    verdict: Verdict,
) -> Result<Value, Failure> {
    let waiting = host.state().pauses.waiting.remove(&pause);
    let (
        Some(waiting),
        Verdict::Continue {
            url,
            method,
            headers,
            body,
        },
    ) = (waiting, verdict)
    else {
        return Err(Failure::new("Route is already handled!"));
    };
    if let Some(url) = &url {
        host.setting.access.check_url(url)?;
    }
    let changes = engine::Verdict::Continue {
        url,
        method,
        headers,
        body: body.as_deref().map(decoded).transpose()?,
    };
    let fetched = waiting.fetch(progress, changes).await?;
    host.state().pauses.waiting.insert(pause, waiting);
    Ok(json!({
        "status": fetched.status,
        "statusText": fetched.status_text,
        "headers": facts::headers(&fetched.headers),
        "body": BASE64_STANDARD.encode(fetched.body),
    }))
}

/// Removes routes of earlier calls: those for a URL, or all.
pub(super) fn unroute(host: &Host, of: Option<&str>, wanted: Option<&str>) {
    for other in host.setting.registry.others(host) {
        other.send_event(of, "unroute", &json!({ "wanted": wanted }));
    }
}

impl Host {
    /// Sends an event to the code that does not count against the limit of events.
    fn send_event(&self, page: Option<&str>, event: &str, facts: &Value) {
        let event = json!({ "page": page, "event": event, "facts": facts }).to_string();
        // The thread may have ended.
        let _ = self.inbox.send(Message::Routed(event));
    }
}
