//! The page's history: where it goes, back, forward and again.

use super::WebDriverPage;
use super::state::{Outcome, Pending};
use crate::backend::address::{is_within_document, navigation_failed};
use crate::backend::{LoaderId, Navigation, PageEvent};
use crate::error::{Error, NetError, Result};
use async_trait::async_trait;
use std::time::Duration;
use url::Url;
use wire::webdriver::navigation::{Back, Forward, NavigateTo, Refresh};

/// How often a page is looked at that nobody hears of.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// How long a navigation may take to begin; one that the browser does not tell of never does.
const NAVIGATION_START_TIMEOUT: Duration = Duration::from_millis(250);

/// The address of the browser's own page about what could not be loaded.
const BLANK: &str = "about:blank";

/// Where the history stands, and how much of it there is.
const HISTORY: &str = "return history.length";

#[async_trait]
impl Navigation for WebDriverPage {
    async fn navigate(&self, url: &str) -> Result<Option<LoaderId>> {
        self.mark_last_used();
        if Url::parse(url).is_err() {
            return Err(Error::InvalidUrl {
                url: url.to_owned(),
            });
        }
        if !is_browser_page(url) {
            // The page would go, for nothing: other programs are not started by tools.
            return Err(navigation_failed(url, NetError::Aborted));
        }
        let before = self.state().navigation.begun;
        let stays = is_within_document(&self.url(), url);
        self.send_to_main(&NavigateTo {
            url: url.to_owned(),
        })
        .await?;
        if stays {
            self.poll_frames().await?;
            return Ok(None);
        }
        match self.wait_for_navigation(before, url).await? {
            Some(Outcome::Committed(loader)) => Ok(Some(loader)),
            Some(Outcome::Failed(reason)) => Err(navigation_failed(url, reason)),
            Some(Outcome::Stayed) | None => Ok(None),
        }
    }

    async fn reload(&self, _ignore_cache: bool) -> Result<()> {
        self.mark_last_used();
        let before = self.state().navigation.begun;
        self.send_to_main(&Refresh {}).await?;
        self.wait_for_navigation_start(before).await;
        Ok(())
    }

    async fn go(&self, delta: i32) -> Result<bool> {
        self.mark_last_used();
        let main = self.main.clone();
        let length = self.run_raw(&main, HISTORY.to_owned(), vec![]).await?;
        if length.as_u64().unwrap_or(0) <= u64::from(delta.unsigned_abs()) {
            return Ok(false);
        }
        for _ in 0..delta.unsigned_abs() {
            let at = self.url();
            let before = self.state().navigation.begun;
            if delta < 0 {
                self.send_to_main(&Back {}).await?;
            } else {
                self.send_to_main(&Forward {}).await?;
            }
            if !self.has_moved(before, &at).await? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn stop_loading(&self) {
        self.run_in_background("window.stop(); return 1");
    }
}

impl WebDriverPage {
    /// The main frame goes somewhere.
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
            // The browser goes to its page about the last failure, which is no navigation of the page's.
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

    /// It shows another document.
    pub(super) fn on_navigation_committed(&self, loader: &str, url: &str, name: &str) {
        let failed = {
            let mut state = self.state();
            let loader = LoaderId::from(loader);
            // A document that comes out of the browser's memory was never on its way.
            if state.navigation.pending.take().is_none() {
                state.navigation.begun += 1;
            }
            state.navigation.ended(Outcome::Committed(loader.clone()));
            state.navigation.loader = Some(loader);
            state.dialog = None;
            state.chooser = None;
            let shows_error = std::mem::take(&mut state.navigation.shows_error);
            (shows_error && url == BLANK).then(String::new)
        };
        self.on_main_document_changed(url);
        self.report(PageEvent::NavigationCommitted {
            frame: self.main.clone(),
            loader: loader.into(),
            url: url.to_owned(),
            name: name.to_owned(),
            failed,
        });
        self.notify_changed();
    }

    /// The pending navigation ended without a document; `reason` is `None` if that is no error.
    pub(super) fn on_navigation_ended(&self, reason: Option<NetError>) {
        let loader = {
            let mut state = self.state();
            let Some(pending) = state.navigation.pending.take() else {
                return;
            };
            state.navigation.shows_error = !matches!(reason, None | Some(NetError::Aborted));
            let outcome = reason.clone().map_or(Outcome::Stayed, Outcome::Failed);
            state.navigation.ended(outcome);
            pending.loader
        };
        self.report(PageEvent::NavigationAborted {
            frame: self.main.clone(),
            loader,
            reason,
        });
        self.notify_changed();
    }

    /// The request of the document that is on its way, if that is this one.
    pub(super) fn is_pending(&self, request: &str) -> bool {
        let state = self.state();
        let pending = state.navigation.pending.as_ref();
        pending.is_some_and(|pending| pending.request.as_deref() == Some(request))
    }

    /// Whether the page went somewhere since, as far as was said so far.
    pub(super) async fn has_navigated(&self, before: u64) -> bool {
        let _ = self.flush_events().await;
        self.state().navigation.begun > before
    }

    /// Waits for the navigation after the `before`th to end.
    async fn wait_for_navigation(&self, before: u64, url: &str) -> Result<Option<Outcome>> {
        if !self.has_inspector() {
            return self.poll_navigation(url).await;
        }
        let ended = || {
            let state = self.state();
            if state.closed {
                return Some(Err(Error::PageClosed {}));
            }
            state.navigation.outcome_after(before).map(Some).map(Ok)
        };
        self.changes.wait(ended).await
    }

    /// The same where nothing is heard: the page shows another document.
    async fn poll_navigation(&self, url: &str) -> Result<Option<Outcome>> {
        let main = self.main.clone();
        let before = self.document_of(&main)?;
        self.report(PageEvent::NavigationStarted {
            frame: main.clone(),
            loader: None,
            url: url.to_owned(),
        });
        loop {
            match self.poll_frames().await {
                Ok(()) | Err(Error::DocumentGone {}) => {}
                Err(error) => return Err(error),
            }
            let now = self.document_of(&main)?;
            if let Some(now) = now
                && before.as_ref() != Some(&now)
            {
                // What it shows instead of what it cannot have.
                if self.url() == BLANK && !url.starts_with("about:") {
                    return Ok(Some(Outcome::Failed(NetError::Failed)));
                }
                return Ok(Some(Outcome::Committed(now.as_str().into())));
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    /// Waits a moment for a navigation to begin, so that whoever looks at the page sees it.
    async fn wait_for_navigation_start(&self, before: u64) {
        let has_begun = || (self.state().navigation.begun != before).then_some(());
        let begun = self.changes.wait(has_begun);
        let _ = tokio::time::timeout(NAVIGATION_START_TIMEOUT, begun).await;
    }

    /// Whether the page went somewhere, within a moment.
    async fn has_moved(&self, before: u64, at: &str) -> Result<bool> {
        let deadline = tokio::time::Instant::now() + NAVIGATION_START_TIMEOUT;
        loop {
            match self.poll_frames().await {
                Ok(()) => self.drain_events().await?,
                Err(Error::DocumentGone {}) => self.flush_events().await?,
                Err(error) => return Err(error),
            }
            if self.state().navigation.begun > before || self.url() != at {
                return Ok(true);
            }
            if tokio::time::Instant::now() >= deadline {
                return Ok(false);
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    /// The address of the page's document.
    pub(crate) fn url(&self) -> String {
        let state = self.state();
        let main = state.frames.get(&self.main);
        main.map(|place| place.url.clone()).unwrap_or_default()
    }
}

/// Whether the browser shows such an address itself.
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
