//! Requests that wait for the code's decision.

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

/// The code of one session that runs, listens or routes, so that a later call can take a route back.
#[derive(Clone, Default)]
pub struct ScriptRegistry(Arc<Mutex<Vec<Weak<Host>>>>);

/// Requests that wait, by number.
#[derive(Default)]
pub(super) struct PausedRequests {
    waiting: HashMap<u64, Intercepted>,
    last: u64,
}

impl ScriptRegistry {
    /// Adds code that begins.
    pub(super) fn join(&self, host: &Arc<Host>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|host| host.strong_count() > 0);
        all.push(Arc::downgrade(host));
    }

    /// Everybody else.
    fn others(&self, than: &Host) -> Vec<Arc<Host>> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let living = all.iter().filter_map(Weak::upgrade);
        living
            .filter(|host| !std::ptr::eq(&raw const **host, than))
            .collect()
    }
}

/// Has the requests of a page wait for the code, or no more.
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

/// Hands requests to the code as they come.
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

/// Decides about a request that waits.
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

/// Sends a request that waits; its answer waits instead.
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

/// Takes back routes that earlier calls left: those for a URL, or all.
pub(super) fn unroute(host: &Host, of: Option<&str>, wanted: Option<&str>) {
    for other in host.setting.registry.others(host) {
        other.send_event(of, "unroute", &json!({ "wanted": wanted }));
    }
}

impl Host {
    /// Tells the code of something that waits in bounds of its own.
    fn send_event(&self, page: Option<&str>, event: &str, facts: &Value) {
        let event = json!({ "page": page, "event": event, "facts": facts }).to_string();
        // A thread that is over misses nothing.
        let _ = self.inbox.send(Message::Routed(event));
    }
}
