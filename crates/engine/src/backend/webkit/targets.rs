//! The automation session of a browser, and which of its targets is which window.

use crate::backend::PageId;
use crate::error::{Error, Result};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use wire::webkit::{Automation, Event};

/// The browser's errors for a window, a frame or an element that is gone.
const NO_WINDOW: &str = "WindowNotFound";
const NO_FRAME: &str = "FrameNotFound";
const NO_NODE: &str = "NodeNotFound";

/// The interval between checks whether a page has moved to another process.
const PART_CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// A target: a page for the inspector, which the `Automation` domain knows by the handle of its window.
pub(super) struct Targets {
    pub(super) automation: Automation,
    /// The targets that the browser lists.
    pub(super) listed: watch::Receiver<Vec<u64>>,
    /// The number of handled events.
    handled: watch::Sender<u64>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    by_window: HashMap<String, u64>,
    /// The targets that were assigned to a window, or whose window was gone by then.
    known: HashSet<u64>,
    /// The part of each target that shows its document. A page that moves to another process gets another part.
    parts: HashMap<u64, Arc<str>>,
    /// The events of the parts that show no document so far.
    held: HashMap<u64, Vec<Event>>,
    /// The targets whose requests are answered with an empty document.
    isolated: HashSet<u64>,
    /// The targets that pages opened and that no page follows so far.
    early: HashSet<u64>,
}

impl Targets {
    pub(super) fn new(automation: Automation) -> Self {
        Self {
            listed: automation.pages(),
            automation,
            handled: watch::Sender::new(0),
            state: Mutex::default(),
        }
    }

    /// Returns the target of a window, and the part of it that shows its document.
    pub(super) fn of_window(&self, window: &str) -> Result<(u64, Arc<str>)> {
        let state = self.state();
        let target = state.by_window.get(window);
        let found = target.and_then(|target| Some((*target, state.parts.get(target)?.clone())));
        found.ok_or(Error::PageClosed {})
    }

    /// Returns the page whose window a target is.
    pub(super) fn page_of(&self, target: u64) -> Option<PageId> {
        let state = self.state();
        let mut windows = state.by_window.iter();
        let found = windows.find(|(_, known)| **known == target);
        found.map(|(window, _)| page_id(window))
    }

    /// Assigns a target to a window, and attaches to it: its events are reported from here on.
    pub(super) fn assign(&self, target: u64, window: &str) -> Result<()> {
        let is_attached = {
            let mut state = self.state();
            state.known.insert(target);
            state.by_window.insert(window.to_owned(), target);
            state.early.contains(&target)
        };
        match is_attached {
            true => Ok(()),
            false => self.attach(target),
        }
    }

    /// Attaches to the target of a window that a page opened. Its events are kept for the page that follows it: it may be loaded by then.
    pub(super) fn attach_early(&self, target: u64) -> Result<()> {
        let mut state = self.state();
        state.known.insert(target);
        state.early.insert(target);
        drop(state);
        self.attach(target)
    }

    fn attach(&self, target: u64) -> Result<()> {
        self.automation.attach(target)?;
        // A part in another process sends its first request only after it has got all settings.
        let pause = json!({ "pauseOnStart": true });
        self.automation
            .send_to_target(target, "Target.setPauseOnStart", &pause);
        Ok(())
    }

    /// Lets a part of a target begin, which was created while a page moves to another process.
    pub(super) fn resume(&self, target: u64, part: &str) {
        let part = json!({ "targetId": part });
        self.automation
            .send_to_target(target, "Target.resume", &part);
    }

    /// Whether no page follows a target so far.
    pub(super) fn is_early(&self, target: u64) -> bool {
        self.state().early.contains(&target)
    }

    /// Lets a part of a target report requests before a page follows it.
    pub(super) fn report_early(&self, target: u64, part: &str) {
        for method in ["Page.enable", "Network.enable"] {
            self.automation
                .send_to_page(target, part, method, &json!({}));
        }
    }

    /// Returns the next kept event of a target, except those of a part that may show the next document. Without one, the page gets all from
    /// here on.
    pub(super) fn next_early(&self, target: u64) -> Option<Event> {
        let mut state = self.state();
        if !state.early.contains(&target) {
            return None;
        }
        let part = state.parts.get(&target).cloned();
        let is_shown = |event: &Event| event.part.is_empty() || Some(&event.part) == part.as_ref();
        let held = state.held.entry(target).or_default();
        let next = held.iter().position(is_shown);
        let next = next.map(|index| held.remove(index));
        if next.is_none() {
            state.early.remove(&target);
        }
        next
    }

    /// Removes the kept events of a target that no page follows.
    pub(super) fn drop_early(&self, target: u64) {
        let mut state = self.state();
        state.early.remove(&target);
        state.held.remove(&target);
    }

    /// Records the part of a target that shows its document.
    pub(super) fn set_part(&self, target: u64, part: &str) {
        self.state().parts.insert(target, part.into());
    }

    /// Whether an event is of the part that shows the document of its target, or of the target as a whole.
    pub(super) fn is_shown(&self, event: &Event) -> bool {
        let state = self.state();
        event.part.is_empty() || state.parts.get(&event.target) == Some(&event.part)
    }

    /// Keeps an event of a part that may show the next document.
    pub(super) fn hold(&self, event: Event) {
        self.state()
            .held
            .entry(event.target)
            .or_default()
            .push(event);
    }

    /// Records another part that shows the document of a target, and returns its earlier events.
    pub(super) fn commit_part(&self, target: u64, part: &str) -> Vec<Event> {
        let mut state = self.state();
        state.parts.insert(target, part.into());
        let mut held = state.held.remove(&target).unwrap_or_default();
        held.retain(|event| &*event.part == part);
        held
    }

    /// Returns the listed targets that were not assigned to a window.
    pub(super) fn unassigned(&self) -> Vec<u64> {
        let listed = self.listed.borrow();
        let state = self.state();
        let unknown = listed.iter().filter(|target| !state.known.contains(target));
        unknown.copied().collect()
    }

    /// Removes the targets that are no longer listed, and returns their windows.
    pub(super) fn remove_unlisted(&self) -> Vec<String> {
        let listed = self.listed.borrow();
        let is_listed = |target: &u64| listed.contains(target);
        let mut state = self.state();
        let State {
            by_window,
            known,
            parts,
            held,
            isolated,
            early,
        } = &mut *state;
        known.retain(is_listed);
        parts.retain(|target, _| is_listed(target));
        held.retain(|target, _| is_listed(target));
        isolated.retain(is_listed);
        early.retain(is_listed);
        let gone = by_window.extract_if(|_, target| !is_listed(target));
        gone.map(|(window, _)| window).collect()
    }

    /// Begins to answer all requests of a window with an empty document.
    pub(super) async fn isolate(&self, window: &str) -> Result<()> {
        let (target, part) = self.of_window(window)?;
        self.state().isolated.insert(target);
        self.isolate_part(target, &part);
        self.flush(window).await
    }

    /// Pauses all requests of a part of an isolated target.
    pub(super) fn isolate_part(&self, target: u64, part: &str) {
        let all = json!({ "url": ".*", "isRegex": true, "stage": "request" });
        let on = json!({ "enabled": true });
        for (method, params) in [
            ("Network.enable", json!({})),
            ("Network.setInterceptionEnabled", on),
            ("Network.addInterception", all),
        ] {
            self.automation.send_to_page(target, part, method, &params);
        }
    }

    pub(super) fn is_isolated(&self, target: u64) -> bool {
        self.state().isolated.contains(&target)
    }

    /// Answers a request of an isolated target with an empty document.
    pub(super) fn answer_with_nothing(&self, event: &Event) {
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
        self.automation
            .send_to_page(event.target, &event.part, method, &answer);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a command to the inspector of a window without waiting for the answer. A window that is gone is ignored.
    pub(super) fn send(&self, window: &str, method: &'static str, params: &Value) {
        if let Ok((target, part)) = self.of_window(window) {
            self.automation.send_to_page(target, &part, method, params);
        }
    }

    /// Sends a command to the inspector of a part of a window without waiting for the answer.
    pub(super) fn send_to_part(
        &self,
        window: &str,
        part: &str,
        method: &'static str,
        params: &Value,
    ) {
        let target = self.state().by_window.get(window).copied();
        if let Some(target) = target {
            self.automation.send_to_page(target, part, method, params);
        }
    }

    /// Sends a command to the inspector of a window.
    pub(super) async fn call<T: DeserializeOwned>(
        &self,
        window: &str,
        method: &'static str,
        params: &Value,
    ) -> Result<T> {
        let (target, part) = self.of_window(window)?;
        let answer = self.automation.call_page(target, &part, method, params);
        tokio::select! {
            biased;
            answer = answer => parse(method, &answer?),
            () = self.wait_for_part_end(target, &part) => Err(Error::DocumentGone {}),
        }
    }

    /// Returns once another part shows the document of a target: the last one answers no commands any more.
    async fn wait_for_part_end(&self, target: u64, part: &Arc<str>) {
        while self.state().parts.get(&target) == Some(part) {
            tokio::time::sleep(PART_CHECK_INTERVAL).await;
        }
    }

    /// Sends a command of the `Automation` domain.
    pub(super) async fn automate<T: DeserializeOwned>(
        &self,
        method: &'static str,
        params: &Value,
    ) -> Result<T> {
        let answer = self.automation.call(method, params).await;
        let answer = answer.map_err(|refused| match &refused {
            wire::Error::Protocol { message, .. } if message.starts_with(NO_WINDOW) => {
                Error::PageClosed {}
            }
            wire::Error::Protocol { message, .. }
                if message.starts_with(NO_FRAME) || message.starts_with(NO_NODE) =>
            {
                Error::DocumentGone {}
            }
            _ => refused.into(),
        })?;
        parse(method, &answer)
    }

    /// Returns the handles of all windows.
    pub(super) async fn windows(&self) -> Result<Vec<String>> {
        let method = "Automation.getBrowsingContexts";
        let all: Value = self.automate(method, &json!({})).await?;
        let all = all["contexts"].as_array().into_iter().flatten();
        let handles = all.filter_map(|context| context["handle"].as_str());
        Ok(handles.map(str::to_owned).collect())
    }

    /// Counts an event that was handled.
    pub(super) fn count_event(&self) {
        self.handled.send_modify(|count| *count += 1);
    }

    /// Returns once every event of a window that the browser process sent so far was handled. A window that is gone sends none.
    pub(super) async fn flush(&self, window: &str) -> Result<()> {
        if let Ok((target, _)) = self.of_window(window) {
            self.automation.flush(target).await?;
        }
        self.handle_received().await;
        Ok(())
    }

    /// Returns once every event that arrived before the last answer was handled.
    pub(super) async fn handle_received(&self) {
        let received = self.automation.received();
        let mut handled = self.handled.subscribe();
        // The sender is a field of `self`.
        let _ = handled.wait_for(|handled| *handled >= received).await;
    }
}

fn parse<T: DeserializeOwned>(method: &str, answer: &RawValue) -> Result<T> {
    serde_json::from_str(answer.get()).map_err(|error| Error::protocol(method, error))
}

/// Returns the identifier of the page in a window.
pub(super) fn page_id(window: &str) -> PageId {
    window.trim_start_matches("page-").into()
}

/// Returns the parameters of an event; `None`, and a line in the log, if they have another form than expected.
pub(super) fn read<T: DeserializeOwned>(event: &Event) -> Option<T> {
    serde_json::from_str(event.params.get())
        .inspect_err(
            |error| tracing::warn!(%error, method = &*event.method, "an event is not understood"),
        )
        .ok()
}
