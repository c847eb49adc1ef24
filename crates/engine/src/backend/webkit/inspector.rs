//! WebKitGTK's remote inspector: it reports what happens in the pages, and does what the driver has no command for.

use super::page::page_id;
use crate::backend::PageId;
use crate::error::{Error, Result};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use wire::inspector::{InspectedPage, Inspector, InspectorEvent, Relay};

pub(crate) mod context;
mod page;

/// How long the browser may send events without a pause before it has to confirm that all of them were sent.
const EVENT_QUIET_TIMEOUT: Duration = Duration::from_millis(100);
/// The browser's error for a window that is gone.
const NO_WINDOW: &str = "WindowNotFound";

/// A connection to the inspector, and the relay between the browser and its driver.
pub(crate) struct InspectorChannel {
    pub(crate) inspector: Inspector,
    pub(crate) events: mpsc::Receiver<InspectorEvent>,
    pub(crate) relay: Relay,
}

/// The inspector of a browser, and which of its targets is which window.
pub(crate) struct InspectorLink {
    inspector: Inspector,
    /// The pages that the browser lists.
    pages: watch::Receiver<Vec<InspectedPage>>,
    relay: Relay,
    /// The number of handled events.
    handled: watch::Sender<u64>,
    targets: Mutex<Targets>,
}

#[derive(Default)]
struct Targets {
    by_window: HashMap<String, u64>,
    /// The targets that were assigned to a window, or whose window was gone by then.
    known: HashSet<u64>,
    /// The part of each target that shows its document. A page that moves to another process gets another part.
    parts: HashMap<u64, Arc<str>>,
    /// The targets whose requests are answered with an empty document.
    isolated: HashSet<u64>,
}

impl InspectorLink {
    /// Returns the target of a window, and the part of it that shows its document.
    fn target_of(&self, window: &str) -> Result<(u64, Arc<str>)> {
        let targets = self.targets();
        let target = targets.by_window.get(window);
        let found = target.and_then(|target| Some((*target, targets.parts.get(target)?.clone())));
        found.ok_or(Error::PageClosed {})
    }

    /// Returns the page whose window a target is.
    pub(super) fn page_of(&self, target: u64) -> Option<PageId> {
        let targets = self.targets();
        let mut windows = targets.by_window.iter();
        let found = windows.find(|(_, known)| **known == target);
        found.map(|(window, _)| page_id(window))
    }

    /// Records the part of a target that shows its document.
    pub(super) fn set_part(&self, target: u64, part: &Value) {
        let part = part.as_str().unwrap_or_default().into();
        self.targets().parts.insert(target, part);
    }

    /// Returns the listed targets that were not assigned to a window.
    fn unassigned(&self) -> Vec<u64> {
        let listed = self.pages.borrow();
        let targets = self.targets();
        let all = listed.iter().map(|page| page.target);
        all.filter(|target| !targets.known.contains(target))
            .collect()
    }

    /// Removes the targets that are no longer listed, and returns their windows.
    fn remove_unlisted(&self) -> Vec<String> {
        let listed = self.pages.borrow();
        let is_listed = |target: &u64| listed.iter().any(|page| page.target == *target);
        let mut targets = self.targets();
        let Targets {
            by_window,
            known,
            parts,
            isolated,
        } = &mut *targets;
        known.retain(is_listed);
        parts.retain(|target, _| is_listed(target));
        isolated.retain(is_listed);
        let gone = by_window.extract_if(|_, target| !is_listed(target));
        gone.map(|(window, _)| window).collect()
    }

    pub(super) fn is_isolated(&self, target: u64) -> bool {
        self.targets().isolated.contains(&target)
    }

    fn targets(&self) -> MutexGuard<'_, Targets> {
        self.targets.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a command to a window without waiting for the answer. A window that is gone is ignored.
    fn send(&self, window: &str, method: &'static str, params: &Value) {
        if let Ok((target, part)) = self.target_of(window) {
            self.inspector.send_command(target, &part, method, params);
        }
    }

    async fn call<T: DeserializeOwned>(
        &self,
        window: &str,
        method: &'static str,
        params: &Value,
    ) -> Result<T> {
        let (target, part) = self.target_of(window)?;
        let answer = self.inspector.call(target, &part, method, params).await?;
        parse(method, &answer)
    }

    /// Sends a command of the driver's protocol to the browser.
    async fn automate<T: DeserializeOwned>(
        &self,
        method: &'static str,
        params: &Value,
    ) -> Result<T> {
        let answer = self.relay.automate(method, params).await;
        let answer = answer.map_err(|refused| match refused {
            wire::Error::Protocol { message, .. } if message.starts_with(NO_WINDOW) => {
                Error::PageClosed {}
            }
            refused => refused.into(),
        })?;
        parse(method, &answer)
    }

    /// Answers a request of an isolated target with an empty document.
    pub(super) fn answer_with_nothing(&self, event: &InspectorEvent) {
        let request: Value = serde_json::from_str(event.params.get()).unwrap_or_default();
        let answer = json!({
            "requestId": request["requestId"],
            "content": "<!doctype html>",
            "base64Encoded": false,
            "mimeType": "text/html",
            "status": 200,
            "statusText": "OK",
            "headers": { "content-type": "text/html" },
        });
        let method = "Network.interceptRequestWithResponse";
        self.inspector
            .send_command(event.target, &event.part, method, &answer);
    }

    /// Counts an event that was handled.
    pub(super) fn count_event(&self) {
        self.handled.send_modify(|count| *count += 1);
    }

    /// Returns once every event of a window that the browser sent so far was handled. A window that is gone sends none.
    async fn flush(&self, window: &str) -> Result<()> {
        if let Ok((target, _)) = self.target_of(window) {
            let sent = self.inspector.flush(target).await?;
            self.wait_for_events(sent).await;
        }
        Ok(())
    }

    /// Returns once every event that the browser sent before its driver's last answer was handled.
    async fn drain(&self, window: &str) -> Result<()> {
        match tokio::time::timeout(EVENT_QUIET_TIMEOUT, self.inspector.flush_received()).await {
            Ok(sent) => self.wait_for_events(sent?).await,
            Err(_) => self.flush(window).await?,
        }
        Ok(())
    }

    async fn wait_for_events(&self, sent: u64) {
        let mut handled = self.handled.subscribe();
        // The sender is a field of `self`.
        let _ = handled.wait_for(|handled| *handled >= sent).await;
    }
}

fn parse<T: DeserializeOwned>(method: &str, answer: &RawValue) -> Result<T> {
    serde_json::from_str(answer.get()).map_err(|error| Error::protocol(method, error))
}

/// Returns the parameters of an event; `None`, and a line in the log, if they have another form than expected.
pub(super) fn read<T: DeserializeOwned>(event: &InspectorEvent) -> Option<T> {
    serde_json::from_str(event.params.get())
        .inspect_err(
            |error| tracing::warn!(%error, method = &*event.method, "an event is not understood"),
        )
        .ok()
}
