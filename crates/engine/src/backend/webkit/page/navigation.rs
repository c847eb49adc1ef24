//! The page's history: navigating, reloading, going back and forward.

use super::WebKitPage;
use super::state::{Outcome, Pending};
use crate::backend::address::{is_within_document, navigation_failed};
use crate::backend::webkit::network::Frame;
use crate::backend::{LoaderId, Navigation, PageEvent};
use crate::error::{Error, NetError, Result};
use async_trait::async_trait;
use serde_json::{Value, json};
use std::time::Duration;
use url::Url;

/// The interval between polls of a page for a navigation.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// How long a navigation may take to begin. Some are never reported.
const NAVIGATION_START_TIMEOUT: Duration = Duration::from_millis(250);

/// The URL of the browser's error page.
const BLANK: &str = "about:blank";

/// The length of the history.
const HISTORY: &str = "() => history.length";

#[async_trait]
impl Navigation for WebKitPage {
    async fn navigate(&self, url: &str) -> Result<Option<LoaderId>> {
        self.mark_last_used();
        if Url::parse(url).is_err() {
            return Err(Error::InvalidUrl {
                url: url.to_owned(),
            });
        }
        if !is_browser_page(url) {
            // The browser would start another program, which tools do not.
            return Err(navigation_failed(url, NetError::Aborted));
        }
        let before = self.state().navigation.begun;
        let stays = is_within_document(&self.url(), url);
        let to = json!({ "url": url });
        self.load("Automation.navigateBrowsingContext", to).await?;
        if stays {
            self.update_url().await?;
            return Ok(None);
        }
        match self.wait_for_navigation(before).await? {
            Some(Outcome::Committed(loader)) => Ok(Some(loader)),
            Some(Outcome::Failed(reason)) => Err(navigation_failed(url, reason)),
            Some(Outcome::Stayed) | None => Ok(None),
        }
    }

    async fn reload(&self, _ignore_cache: bool) -> Result<()> {
        self.mark_last_used();
        let before = self.state().navigation.begun;
        let method = "Automation.reloadBrowsingContext";
        self.load(method, json!({})).await?;
        self.wait_for_navigation_start(before).await;
        Ok(())
    }

    async fn go(&self, delta: i32) -> Result<bool> {
        self.mark_last_used();
        let main = self.main.clone();
        let length = self.run(&main, HISTORY, &[]).await?;
        if length.as_u64().unwrap_or(0) <= u64::from(delta.unsigned_abs()) {
            return Ok(false);
        }
        for _ in 0..delta.unsigned_abs() {
            let url = self.url();
            let before = self.state().navigation.begun;
            let method = match delta < 0 {
                true => "Automation.goBackInBrowsingContext",
                false => "Automation.goForwardInBrowsingContext",
            };
            self.load(method, json!({})).await?;
            if !self.has_moved(before, &url).await? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn stop_loading(&self) {
        self.run_in_background("() => window.stop()".to_owned());
    }
}

impl WebKitPage {
    /// Sends a command that loads a document, which is not waited for.
    async fn load(&self, method: &'static str, mut params: Value) -> Result<()> {
        params["pageLoadStrategy"] = "None".into();
        self.automate::<Value>(method, "handle", params)
            .await
            .map(drop)
    }

    /// Waits for the end of a navigation after the `before`th.
    async fn wait_for_navigation(&self, before: u64) -> Result<Option<Outcome>> {
        let ended = || {
            let state = self.state();
            if state.closed {
                return Some(Err(Error::PageClosed {}));
            }
            state.navigation.outcome_after(before).map(Some).map(Ok)
        };
        self.changes.wait(ended).await
    }

    /// Reports that the main frame navigates.
    pub(super) fn on_navigation_started(
        &self,
        request: Option<&str>,
        loader: Option<&str>,
        url: &str,
    ) {
        {
            let mut state = self.state();
            let known = state.navigation.pending.is_some();
            if !known {
                state.navigation.begun += 1;
            }
            state.navigation.pending = Some(Pending {
                request: request.map(str::to_owned),
                loader: loader.map(LoaderId::from),
            });
            // The browser navigates to its error page, which is no navigation of the page.
            if state.navigation.shows_error && matches!(url, "" | BLANK) {
                return self.notify_changed();
            }
            state.navigation.shows_error = false;
        }
        self.report(PageEvent::NavigationStarted {
            frame: self.main.clone(),
            loader: loader.map(LoaderId::from),
            url: url.to_owned(),
        });
        self.notify_changed();
    }

    /// Reports that the main frame shows another document.
    pub(super) fn on_navigation_committed(&self, frame: &Frame) {
        let loader = LoaderId::from(&frame.loader_id);
        let failed = {
            let mut state = self.state();
            state.main_native.clone_from(&frame.id);
            state.is_new_popup &= frame.url == BLANK;
            // The beginning is not reported when the document comes from the back/forward cache.
            if state.navigation.pending.take().is_none() {
                state.navigation.begun += 1;
            }
            state.navigation.end(Outcome::Committed(loader.clone()));
            state.dialog = None;
            state.chooser = None;
            let shows_error = std::mem::take(&mut state.navigation.shows_error);
            (shows_error && frame.url == BLANK).then(String::new)
        };
        self.remove_children(&self.main);
        self.set_document(&self.main, &loader, &frame.url);
        self.report(PageEvent::NavigationCommitted {
            frame: self.main.clone(),
            loader,
            url: frame.url.clone(),
            name: frame.name.clone(),
            failed,
        });
        self.notify_changed();
    }

    /// Reports that the pending navigation ended without a document; `reason` is `None` if that is no error.
    pub(super) fn on_navigation_ended(&self, reason: Option<NetError>) {
        let loader = {
            let mut state = self.state();
            let Some(pending) = state.navigation.pending.take() else {
                return;
            };
            state.navigation.shows_error = !matches!(reason, None | Some(NetError::Aborted));
            let outcome = reason.clone().map_or(Outcome::Stayed, Outcome::Failed);
            state.navigation.end(outcome);
            pending.loader
        };
        self.report(PageEvent::NavigationAborted {
            frame: self.main.clone(),
            loader,
            reason,
        });
        self.notify_changed();
    }

    /// Whether this is the request of the pending navigation.
    pub(super) fn is_pending(&self, request: &str) -> bool {
        let state = self.state();
        let pending = state.navigation.pending.as_ref();
        pending.is_some_and(|pending| pending.request.as_deref() == Some(request))
    }

    /// Whether a navigation after the `before`th began, as far as the browser has reported.
    pub(super) async fn has_navigated(&self, before: u64) -> bool {
        let _ = self.flush_events().await;
        self.state().navigation.begun > before
    }

    /// Waits at most [`NAVIGATION_START_TIMEOUT`] for a navigation to begin.
    async fn wait_for_navigation_start(&self, before: u64) {
        let has_begun = || (self.state().navigation.begun != before).then_some(());
        let begun = self.changes.wait(has_begun);
        let _ = tokio::time::timeout(NAVIGATION_START_TIMEOUT, begun).await;
    }

    /// Whether a navigation begins or the URL changes within [`NAVIGATION_START_TIMEOUT`].
    async fn has_moved(&self, before: u64, url: &str) -> Result<bool> {
        let deadline = tokio::time::Instant::now() + NAVIGATION_START_TIMEOUT;
        loop {
            match self.update_url().await {
                Ok(()) => self.parts.targets.handle_received().await,
                Err(Error::DocumentGone {}) => self.flush_events().await?,
                Err(error) => return Err(error),
            }
            if self.state().navigation.begun > before || self.url() != url {
                return Ok(true);
            }
            if tokio::time::Instant::now() >= deadline {
                return Ok(false);
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }
}

/// Whether the browser shows documents at URLs of this scheme.
fn is_browser_page(url: &str) -> bool {
    const SHOWN: [&str; 7] = [
        "http",
        "https",
        "file",
        "data",
        "about",
        "blob",
        "javascript",
    ];
    Url::parse(url).is_ok_and(|url| SHOWN.contains(&url.scheme()))
}
