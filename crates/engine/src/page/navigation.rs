//! Loading documents: by URL, again, and from the history.

use super::{Page, PageState};
use crate::backend::LoaderId;
use crate::backend::address::{is_script, navigation_failed};
use crate::error::{Error, Result};
use crate::frame::{ABORTED, Frame};
use crate::progress::Progress;
use std::time::Duration;

/// What is said where it gives no reason.
const FAILED: &str = "net::ERR_FAILED";
/// How long the browser may take to tell what became of a navigation that is decided.
const NAVIGATION_REPORT_TIMEOUT: Duration = Duration::from_secs(1);
/// How long no request may be under way for the network to count as idle.
const NETWORK_IDLE_TIME: Duration = Duration::from_millis(500);

/// How far a navigation must have come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LoadState {
    /// The document is shown.
    Committed,
    /// The document was parsed.
    DomContentLoaded,
    /// The document and all it loads is there.
    Loaded,
    /// `Loaded`, and then no request has been under way for half a second.
    NetworkIdle,
}

/// What a navigation has led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NavigationOutcome {
    /// What was asked for is shown.
    Shown,
    /// The document that was there stays: the answer was a download, or had no content.
    Stayed {
        /// The HTTP status of the answer, if there was one.
        status: Option<u16>,
    },
}

/// The main frame's counts before a navigation.
#[derive(Clone, Copy)]
struct NavigationCounts {
    navigations: u64,
    commits: u64,
    moves: u64,
    failures: u64,
}

/// Stops the loading of the page's document when it is dropped: for whatever gives up a navigation, because Chromium answers nothing
/// about the document that is shown while it waits for another one.
#[must_use = "the loading is stopped when the guard is dropped"]
pub struct LoadGuard {
    page: Page,
    before: NavigationCounts,
    /// The navigation was asked for, so that it is stopped even before the browser says that it has begun.
    asked: bool,
    armed: bool,
}

impl LoadGuard {
    /// The navigation ended, or may go on.
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
                // A dialog that asks whether to leave the page is a question to the client.
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
    /// Loads `url` and waits until it has come as far as `until`. Where the document stays (a download, a 204, a fragment) it is done at once.
    ///
    /// A dialog that opens meanwhile ends the waiting: with `DialogOpen` if the document has not changed yet.
    ///
    /// Fails, as all navigations do, when the page shows the browser's page about a document that could not be loaded, this one or one that
    /// it led to. A navigation that is given up is stopped.
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
            // As Chromium answers; the others would run it, and no document ever comes.
            return Err(navigation_failed(url, ABORTED.to_owned()));
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
        // WebKit refuses some addresses itself (0.0.0.0), and shows an empty document instead.
        let is_empty = self.url() == "about:blank";
        match self.refusal(url).filter(|_| is_empty) {
            Some(rule) => Err(Error::OriginBlocked {
                url: url.to_owned(),
                rule,
            }),
            None => Ok(landing),
        }
    }

    /// Loads the document again.
    pub async fn reload(
        &self,
        progress: &Progress,
        ignore_cache: bool,
        until: LoadState,
    ) -> Result<NavigationOutcome> {
        let reload = async |before: NavigationCounts| {
            let reloaded = self.unless_interrupted(self.backend.reload(ignore_cache));
            match reloaded.await {
                // The address is that of an error page, if one is shown.
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

    /// Moves in the history by `delta`; false when there is no entry there.
    pub async fn go(&self, progress: &Progress, delta: i32, until: LoadState) -> Result<bool> {
        let go = async |before: NavigationCounts| {
            if !self.unless_interrupted(self.backend.go(delta)).await? {
                return Ok(false);
            }
            // An entry of the same document changes the URL at most.
            let shown = |main: &Frame| main.commits > before.commits || main.moves > before.moves;
            self.wait_for_document(before, None, shown, until).await?;
            Ok(true)
        };
        self.leave_for(progress, go).await
    }

    /// Runs a navigation to its end. Given up before that, it is stopped; it fails where the page shows no document but an error page.
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
                Err(Error::NavigationFailed { reason, .. }) => reason != ABORTED,
                Err(_) => false,
            };
            if failed {
                // The browser's own page about it replaces the document a little later.
                let shown = self.until(|state| {
                    let main = state.frames.main();
                    let failure = main.last_failure();
                    let told = failure.is_some_and(|failure| !failure.reason.is_empty());
                    main.commits > before.commits && main.loaded && told
                });
                let _ = tokio::time::timeout(NAVIGATION_REPORT_TIMEOUT, shown).await;
            }
            match (self.unruled_failure(before.failures), ended) {
                (Some(failure), Ok(_)) => Err(failure),
                (Some(failure), Err(ended)) if failed => {
                    Err(self.prefer_egress_reason(ended, failure))
                }
                (_, ended) => ended,
            }
        });
        ended.await.map_err(|error| self.with_reason(error))
    }

    /// Stops whatever navigation begins from now on, if it is dropped while that is under way.
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

    /// Waits until the navigation that is under way, if one is, has ended; given up, it is stopped.
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

    /// Waits until the document that a loaded one leads to at once, if it does, has come or has failed, at most `limit`.
    pub async fn follow(&self, limit: Duration) {
        let followed = async {
            // What the page has begun has been told of then.
            self.backend.flush().await?;
            self.until(|state| {
                state.frames.main().pending.is_none() || state.is_blocked_by_dialog()
            })
            .await
        };
        let _ = tokio::time::timeout(limit, followed).await;
    }

    /// How many documents of the page could not be loaded so far.
    pub fn failures(&self) -> u64 {
        self.state().frames.main().failures
    }

    /// Why the newest navigation of the page failed, if it did after so many failures: the page shows the browser's page about that, or its
    /// last document still.
    pub fn failure_since(&self, failures: u64) -> Option<Error> {
        let failure = self.unruled_failure(failures)?;
        Some(self.with_reason(failure))
    }

    fn unruled_failure(&self, failures: u64) -> Option<Error> {
        let state = self.state();
        let main = state.frames.main();
        let failure = main.last_failure().filter(|_| main.failures > failures)?;
        Some(Error::NavigationFailed {
            url: failure.url.clone(),
            reason: match &*failure.reason {
                "" => FAILED.to_owned(),
                reason => reason.to_owned(),
            },
        })
    }

    /// Waits until the document that is shown has come as far as `until`, at most `limit`; returns whether it has. A dialog,
    /// which holds the document up for as long as it is open, ends the waiting.
    pub async fn wait_for_load(&self, until: LoadState, limit: Duration) -> bool {
        let waiting = self.wait_for_state(until);
        matches!(tokio::time::timeout(limit, waiting).await, Ok(Ok(())))
    }

    /// Waits until the document that is shown has come as far as `until`. Fails when a dialog holds it up, or it could not be loaded.
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

    /// Waits until no request has been under way for a while, whatever else the page does.
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
        // Once the navigation has been asked for, no script of the old document can be halted any more.
        self.ensure_responsive().await?;
        // What the last call caused is not to be taken for what this one does. An endless script may begin this very moment.
        match tokio::time::timeout(self.response_timeout(), self.backend.flush()).await {
            Ok(flushed) => flushed?,
            Err(_) => self.ensure_responsive().await?,
        }
        Ok(NavigationCounts::of(&self.state()))
    }

    /// Runs a navigation; a script of the document that is left does not hold it up for ever.
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

    /// Waits until `shown` holds and the document has come as far as `until`, or the navigation has come to nothing.
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
                // A download or a 204: the document stays, which is no failure. One is told by whoever looks for it.
                if main.commits > before.commits || main.pending.is_some() {
                    // The page went elsewhere meanwhile.
                    verdict = Err(Error::NavigationFailed {
                        url: main.url.clone(),
                        reason: ABORTED.to_owned(),
                    });
                } else if matches!(reason, "" | ABORTED) {
                    verdict = Ok(NavigationOutcome::Stayed {
                        status: status_of_ended(state),
                    });
                }
                return true;
            }
            // What a document led to cannot be had: it does not go on loading.
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
            moves: main.moves,
            failures: main.failures,
        }
    }

    /// Whether a navigation ended since, without another document.
    fn outcome_without_commit(&self, state: &PageState) -> Option<NavigationOutcome> {
        let main = state.frames.main();
        let ended = main.navigations > self.navigations && main.commits == self.commits;
        ended.then(|| NavigationOutcome::Stayed {
            status: status_of_ended(state),
        })
    }

    /// Whether it is the old document that keeps the new one from coming: it is still being asked, or the new one is there.
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
        // With a request that has no response yet, it is the server that is waited for.
        let request = state.requests.document(state.frames.main_id(), loader);
        request.is_none_or(|request| request.response.is_some())
    }
}

/// What the server answered to the navigation that ended without a document.
fn status_of_ended(state: &PageState) -> Option<u16> {
    let (loader, _) = state.frames.main().aborted.as_ref()?;
    let request = state
        .requests
        .document(state.frames.main_id(), loader.as_ref()?)?;
    Some(request.response.as_ref()?.status)
}

/// Why the navigation ended, if it did so without another document.
fn abort_reason<'a>(
    main: &'a Frame,
    before: NavigationCounts,
    loader: Option<&LoaderId>,
) -> Option<&'a str> {
    // Another navigation may have begun by the time anybody looks.
    if let Some(reason) = loader.and_then(|loader| main.end_of(loader)) {
        return Some(reason);
    }
    let (ended, reason) = main.aborted.as_ref()?;
    let ours = match (loader, ended) {
        (Some(ours), Some(ended)) => ours == ended,
        _ => main.navigations > before.navigations,
    };
    (ours && main.commits == before.commits).then_some(reason)
}

/// The newest navigation failed, and the browser shows no page about that yet, or never will.
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
mod tests {
    use super::*;
    use crate::backend::PageEvent;
    use crate::page::fake::Fake;
    use serde_json::Value;

    fn started(loader: &str) -> PageEvent {
        PageEvent::NavigationStarted {
            frame: "main".into(),
            loader: Some(loader.into()),
            url: format!("http://{loader}/"),
        }
    }

    fn ended(loader: &str, reason: &str) -> PageEvent {
        PageEvent::NavigationAborted {
            frame: "main".into(),
            loader: Some(loader.into()),
            reason: reason.to_owned(),
        }
    }

    fn committed(loader: &str, failed: Option<String>) -> PageEvent {
        PageEvent::NavigationCommitted {
            frame: "main".into(),
            loader: loader.into(),
            url: format!("http://{loader}/"),
            name: String::new(),
            failed,
        }
    }

    fn loaded(loader: &str) -> PageEvent {
        PageEvent::Load {
            frame: "main".into(),
            loader: loader.into(),
        }
    }

    /// What a navigation to the document "asked" comes to when all this is told at once.
    async fn going(events: Vec<PageEvent>) -> Result<NavigationOutcome> {
        let fake = Fake::answering(|_, _| Value::Null);
        let progress = Progress::new(Duration::from_secs(5));
        let going = fake
            .page
            .goto(&progress, "http://asked/", LoadState::Loaded);
        let telling = async {
            for event in events {
                fake.report(event);
            }
        };
        tokio::join!(going, telling).0
    }

    #[tokio::test(start_paused = true)]
    async fn a_navigation_that_another_one_replaces_is_not_waited_for() {
        let gone = going(vec![
            started("asked"),
            ended("asked", ABORTED),
            started("other"),
        ]);
        let gone = gone.await.unwrap_err();
        assert_eq!(gone.to_string(), "net::ERR_ABORTED at http://asked/");
    }

    #[tokio::test(start_paused = true)]
    async fn a_document_that_leads_to_an_error_page_fails() {
        let moves = || vec![started("asked"), committed("asked", None), started("dead")];
        let refused = ended("dead", "net::ERR_CONNECTION_REFUSED");
        let shown = committed("dead", Some("http://dead/".to_owned()));
        for last in [
            vec![refused.clone(), shown.clone(), loaded("dead")],
            // The reason is told late, or there is no page about it.
            vec![shown, loaded("dead"), refused.clone()],
            vec![refused],
        ] {
            let gone = going([moves(), last].concat()).await.unwrap_err();
            assert_eq!(
                gone.to_string(),
                "net::ERR_CONNECTION_REFUSED at http://dead/"
            );
        }
    }
}
