//! Navigations: by URL, reloads, and in the history.

use super::{Page, PageState};
use crate::backend::LoaderId;
use crate::backend::address::{is_script, navigation_failed};
use crate::error::{Error, NetError, Result};
use crate::frame::Frame;
use crate::progress::Progress;
use std::time::Duration;

/// How long the browser may take to report the result of a navigation that was decided.
const NAVIGATION_REPORT_TIMEOUT: Duration = Duration::from_secs(1);
/// How long no request may be in progress for the network to count as idle.
const NETWORK_IDLE_TIME: Duration = Duration::from_millis(500);

/// The load state to wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LoadState {
    /// The navigation is committed.
    Committed,
    /// The document is parsed.
    DomContentLoaded,
    /// The document has fired `load`.
    Loaded,
    /// `Loaded`, and then no request has been in progress for half a second.
    NetworkIdle,
}

/// The result of a navigation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NavigationOutcome {
    /// The requested document is shown.
    Shown,
    /// The document did not change: the response was a download, or had no content.
    Stayed {
        /// The HTTP status of the response, if there was one.
        status: Option<u16>,
    },
}

/// The main frame's counters before a navigation.
#[derive(Clone, Copy)]
struct NavigationCounts {
    navigations: u64,
    commits: u64,
    documents: u64,
    moves: u64,
    failures: u64,
}

/// Stops loading the page's document when it is dropped, for cancelled navigations: Chromium executes no commands in the current document
/// while a navigation is in progress.
#[must_use = "the loading is stopped when the guard is dropped"]
pub struct LoadGuard {
    page: Page,
    before: NavigationCounts,
    /// Whether the navigation was requested, so that it is stopped even before the browser reports its start.
    asked: bool,
    armed: bool,
}

impl LoadGuard {
    /// Disarms the guard, because the navigation has ended or may continue.
    pub fn disarm(mut self) {
        self.armed = false;
    }
}

impl Drop for LoadGuard {
    fn drop(&mut self) {
        let is_loading = || {
            let state = self.page.state();
            let main = state.frames.main();
            let is_pending = main.pending.is_some();
            let begun = if self.asked {
                is_pending || main.commits == self.before.commits
            } else {
                // The client must handle a beforeunload dialog.
                is_pending && main.navigations > self.before.navigations && state.dialog.is_none()
            };
            begun && state.alive().is_ok()
        };
        if self.armed && is_loading() {
            self.page.backend.stop_loading();
        }
    }
}

impl Page {
    /// Navigates to `url` and waits for the load state `until`. If the document does not change (a download, a 204, a fragment), returns at
    /// once.
    ///
    /// A dialog that opens meanwhile ends the wait: with `DialogOpen` if the document has not changed yet.
    ///
    /// Like all navigations, it fails when the page shows the browser's error page for this document, or for one to which it redirects. A
    /// cancelled navigation is stopped.
    pub async fn goto(
        &self,
        progress: &Progress,
        url: &str,
        until: LoadState,
    ) -> Result<NavigationOutcome> {
        progress.log(format!(
            "navigating to \"{url}\", waiting until \"{until}\""
        ));
        if is_script(url) {
            // Chromium's result; other browsers would run the script without a navigation.
            return Err(navigation_failed(url, NetError::Aborted));
        }
        let navigate = async |before: NavigationCounts| match self
            .unless_interrupted(self.backend.navigate(url))
            .await?
        {
            Some(loader) => {
                let shown = |main: &Frame| main.was_committed(&loader);
                match self
                    .wait_for_document(before, Some(&loader), shown, until)
                    .await
                {
                    Err(Error::NavigationFailed { reason, .. }) => {
                        let url = url.to_owned();
                        Err(Error::NavigationFailed { url, reason })
                    }
                    landed => landed,
                }
            }
            None => {
                let ended = self.until(|state| {
                    let main = state.frames.main();
                    let ended = main.navigations > before.navigations && main.pending.is_none();
                    ended || main.moves > before.moves
                });
                let _ = tokio::time::timeout(NAVIGATION_REPORT_TIMEOUT, ended).await;
                if self.is_crashed() {
                    return Err(Error::PageCrashed {});
                }
                Ok(before
                    .outcome_without_commit(&self.state())
                    .unwrap_or(NavigationOutcome::Shown))
            }
        };
        let landing = self.leave_for(progress, navigate).await?;
        // WebKit blocks some addresses itself (0.0.0.0), and shows an empty document instead.
        let is_empty = self.url() == "about:blank";
        match self.refusal(url).filter(|_| is_empty) {
            Some(rule) => Err(Error::OriginBlocked {
                url: url.to_owned(),
                rule,
            }),
            None => Ok(landing),
        }
    }

    /// Reloads the document.
    pub async fn reload(
        &self,
        progress: &Progress,
        ignore_cache: bool,
        until: LoadState,
    ) -> Result<NavigationOutcome> {
        let reload = async |before: NavigationCounts| {
            let reloaded = self.unless_interrupted(self.backend.reload(ignore_cache));
            match reloaded.await {
                // The URL is that of an error page, if one is shown.
                Err(error @ Error::NavigationFailed { .. }) => {
                    return Err(self.unruled_failure(before.failures).unwrap_or(error));
                }
                reloaded => reloaded?,
            }
            let shown = |main: &Frame| main.commits > before.commits;
            self.wait_for_document(before, None, shown, until).await
        };
        self.leave_for(progress, reload).await
    }

    /// Moves in the history by `delta`; false if there is no entry.
    pub async fn go(&self, progress: &Progress, delta: i32, until: LoadState) -> Result<bool> {
        let go = async |before: NavigationCounts| {
            if !self.unless_interrupted(self.backend.go(delta)).await? {
                return Ok(false);
            }
            // An entry of the same document changes at most the URL.
            let shown = |main: &Frame| main.commits > before.commits || main.moves > before.moves;
            self.wait_for_document(before, None, shown, until).await?;
            Ok(true)
        };
        self.leave_for(progress, go).await
    }

    /// Runs a navigation. It is stopped when cancelled, and fails if the page shows an error page.
    async fn leave_for<T>(
        &self,
        progress: &Progress,
        navigate: impl AsyncFnOnce(NavigationCounts) -> Result<T>,
    ) -> Result<T> {
        let ended = progress.run(async {
            let before = self.before().await?;
            let guard = self.guard(before, true);
            let ended = self.while_leaving(before, navigate(before)).await;
            guard.disarm();
            let failed = match &ended {
                Ok(_) => self.unruled_failure(before.failures).is_some(),
                Err(Error::NavigationFailed { reason, .. }) => *reason != NetError::Aborted,
                Err(_) => false,
            };
            if failed {
                // The browser's error page is committed slightly later.
                let shown = self.until(|state| {
                    let main = state.frames.main();
                    let failure = main.last_failure();
                    let has_reason = failure.is_some_and(|failure| failure.reason.is_some());
                    main.commits > before.commits && main.loaded && has_reason
                });
                let _ = tokio::time::timeout(NAVIGATION_REPORT_TIMEOUT, shown).await;
            }
            match (self.unruled_failure(before.failures), ended) {
                (Some(failure), Ok(_)) => Err(failure),
                // The requested document was shown, and has led to the one that could not be loaded.
                (Some(failure), Err(_)) if failed && self.has_document_since(before) => {
                    Err(failure)
                }
                (Some(failure), Err(ended)) if failed => {
                    Err(self.prefer_egress_reason(ended, failure))
                }
                (_, ended) => ended,
            }
        });
        ended.await.map_err(|error| self.with_reason(error))
    }

    /// Returns a guard that, when dropped, stops a navigation that started since.
    pub fn guard_loading(&self) -> LoadGuard {
        self.guard(NavigationCounts::of(&self.state()), false)
    }

    fn guard(&self, before: NavigationCounts, asked: bool) -> LoadGuard {
        LoadGuard {
            page: self.clone(),
            before,
            asked,
            armed: true,
        }
    }

    /// Waits until a navigation in progress has ended; stops it when cancelled.
    pub async fn finish_navigation(&self, progress: &Progress) -> Result<()> {
        if self.state().frames.main().pending.is_none() {
            return Ok(());
        }
        progress.log("waiting until the document that the page goes to is shown");
        progress
            .run(async {
                let guard = self.guard(NavigationCounts::of(&self.state()), true);
                let ended = self
                    .until(|state| {
                        state.frames.main().pending.is_none() || state.is_blocked_by_dialog()
                    })
                    .await;
                guard.disarm();
                ended
            })
            .await
    }

    /// Waits at most `limit` for the document to which a loaded one navigates immediately, if it does.
    pub async fn follow(&self, limit: Duration) {
        let followed = async {
            // Then the start of such a navigation was reported.
            self.backend.flush().await?;
            self.until(|state| {
                state.frames.main().pending.is_none() || state.is_blocked_by_dialog()
            })
            .await
        };
        let _ = tokio::time::timeout(limit, followed).await;
    }

    /// Returns how many documents of the page could not be loaded so far.
    pub fn failures(&self) -> u64 {
        self.state().frames.main().failures
    }

    /// Returns why the last navigation of the page failed, if that was after so many failures: the page shows the browser's error page, or
    /// its last document.
    pub fn failure_since(&self, failures: u64) -> Option<Error> {
        let failure = self.unruled_failure(failures)?;
        Some(self.with_reason(failure))
    }

    fn has_document_since(&self, before: NavigationCounts) -> bool {
        self.state().frames.main().documents > before.documents
    }

    fn unruled_failure(&self, failures: u64) -> Option<Error> {
        let state = self.state();
        let main = state.frames.main();
        let failure = main.last_failure().filter(|_| main.failures > failures)?;
        Some(Error::NavigationFailed {
            url: failure.url.clone(),
            reason: failure.reason.clone().unwrap_or(NetError::Failed),
        })
    }

    /// Waits at most `limit` until the current document has the load state `until`; returns whether it has. An open dialog, which blocks
    /// the document, ends the wait.
    pub async fn wait_for_load(&self, until: LoadState, limit: Duration) -> bool {
        let waiting = self.wait_for_state(until);
        matches!(tokio::time::timeout(limit, waiting).await, Ok(Ok(())))
    }

    /// Waits until the current document has the load state `until`. Fails if a dialog blocks it, or it could not be loaded.
    pub async fn wait_for_load_state(&self, progress: &Progress, until: LoadState) -> Result<()> {
        progress.run(self.wait_for_state(until)).await
    }

    async fn wait_for_state(&self, until: LoadState) -> Result<()> {
        self.until(|state| {
            reached(state, until) || state.is_blocked_by_dialog() || has_failed(state.frames.main())
        })
        .await?;
        if !reached(&self.state(), until) {
            return Err(self.failure_since(0).unwrap_or(Error::DialogOpen {}));
        }
        match until {
            LoadState::NetworkIdle => self.wait_for_idle_network().await,
            _ => Ok(()),
        }
    }

    /// Waits until no request has been in progress for a while, regardless of the load state.
    async fn wait_for_idle_network(&self) -> Result<()> {
        loop {
            let mut sent = 0;
            self.until(|state| {
                let (requests, under_way) = state.requests.activity();
                sent = requests;
                under_way == 0
            })
            .await?;
            let busy = self.until(|state| state.requests.activity() != (sent, 0));
            match tokio::time::timeout(NETWORK_IDLE_TIME, busy).await {
                Ok(busy) => busy?,
                Err(_) => return Ok(()),
            }
        }
    }

    async fn before(&self) -> Result<NavigationCounts> {
        self.alive()?;
        // After the navigation was requested, scripts of the old document cannot be terminated.
        self.ensure_responsive().await?;
        // Effects of the previous call must not be attributed to this one. An endless script may start at this moment.
        match tokio::time::timeout(self.response_timeout(), self.backend.flush()).await {
            Ok(flushed) => flushed?,
            Err(_) => self.ensure_responsive().await?,
        }
        Ok(NavigationCounts::of(&self.state()))
    }

    /// Runs a navigation; a script of the old document does not block it forever.
    async fn while_leaving<T>(
        &self,
        before: NavigationCounts,
        navigation: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        tokio::select! {
            biased;
            done = navigation => done,
            hung = self.force_leave(|state| before.is_held_up(state)) => Err(hung),
        }
    }

    /// Waits until `shown` holds and the document has the load state `until`, or the navigation was aborted.
    async fn wait_for_document(
        &self,
        before: NavigationCounts,
        loader: Option<&LoaderId>,
        mut shown: impl FnMut(&Frame) -> bool + Send,
        until: LoadState,
    ) -> Result<NavigationOutcome> {
        let mut verdict = Ok(NavigationOutcome::Shown);
        self.until(|state| {
            let main = state.frames.main();
            let shown = shown(main);
            if state.is_blocked_by_dialog() {
                verdict = if shown {
                    Ok(NavigationOutcome::Shown)
                } else {
                    Err(Error::DialogOpen {})
                };
                return true;
            }
            if !shown && let Some(reason) = abort_reason(main, before, loader) {
                // A download or a 204: the document does not change, which is not an error. The caller detects a download.
                if main.commits > before.commits || main.pending.is_some() {
                    // The page navigated elsewhere meanwhile.
                    verdict = Err(Error::NavigationFailed {
                        url: main.url.clone(),
                        reason: NetError::Aborted,
                    });
                } else if matches!(reason, None | Some(NetError::Aborted)) {
                    verdict = Ok(NavigationOutcome::Stayed {
                        status: status_of_ended(state),
                    });
                }
                return true;
            }
            // A document that could not be loaded does not continue to load.
            shown && (reached(state, until) || has_failed(main))
        })
        .await?;
        if until == LoadState::NetworkIdle && matches!(verdict, Ok(NavigationOutcome::Shown)) {
            self.wait_for_idle_network().await?;
        }
        verdict
    }
}

impl NavigationCounts {
    fn of(state: &PageState) -> Self {
        let main = state.frames.main();
        Self {
            navigations: main.navigations,
            commits: main.commits,
            documents: main.documents,
            moves: main.moves,
            failures: main.failures,
        }
    }

    /// Returns whether a navigation has ended since without another document.
    fn outcome_without_commit(&self, state: &PageState) -> Option<NavigationOutcome> {
        let main = state.frames.main();
        let ended = main.navigations > self.navigations && main.commits == self.commits;
        ended.then(|| NavigationOutcome::Stayed {
            status: status_of_ended(state),
        })
    }

    /// Returns whether the old document delays the new one: the navigation has not started, or the response has arrived.
    fn is_held_up(&self, state: &PageState) -> bool {
        let main = state.frames.main();
        if main.commits > self.commits {
            return false;
        }
        if main.navigations == self.navigations {
            return true;
        }
        let Some(loader) = main
            .pending
            .as_ref()
            .and_then(|pending| pending.loader.as_ref())
        else {
            return false;
        };
        // Without a response, the server causes the delay.
        let request = state.requests.document(state.frames.main_id(), loader);
        request.is_none_or(|request| request.response.is_some())
    }
}

/// Returns the status of the response to a navigation that ended without a document.
fn status_of_ended(state: &PageState) -> Option<u16> {
    let (loader, _) = state.frames.main().aborted.as_ref()?;
    let request = state
        .requests
        .document(state.frames.main_id(), loader.as_ref()?)?;
    Some(request.response.as_ref()?.status)
}

/// Returns why the navigation ended, if it ended without another document; without an error for a download or a 204.
fn abort_reason<'a>(
    main: &'a Frame,
    before: NavigationCounts,
    loader: Option<&LoaderId>,
) -> Option<Option<&'a NetError>> {
    // Another navigation may have started meanwhile.
    if let Some(reason) = loader.and_then(|loader| main.end_of(loader)) {
        return Some(reason);
    }
    let (ended, reason) = main.aborted.as_ref()?;
    let ours = match (loader, ended) {
        (Some(ours), Some(ended)) => ours == ended,
        _ => main.navigations > before.navigations,
    };
    (ours && main.commits == before.commits).then_some(reason.as_ref())
}

/// Returns whether the last navigation failed, and the browser shows no error page for it yet, or never will.
fn has_failed(main: &Frame) -> bool {
    main.last_failure().is_some_and(|failure| !failure.is_shown)
}

fn reached(state: &PageState, until: LoadState) -> bool {
    let main = state.frames.main();
    match until {
        LoadState::Committed => main.commits > 0,
        LoadState::DomContentLoaded => main.parsed,
        LoadState::Loaded | LoadState::NetworkIdle => main.loaded,
    }
}

impl std::fmt::Display for LoadState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Committed => "commit",
            Self::DomContentLoaded => "domcontentloaded",
            Self::Loaded => "load",
            Self::NetworkIdle => "networkidle",
        })
    }
}

#[cfg(test)]
mod tests;
