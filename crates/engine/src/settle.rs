//! When what an action began is over: watches since before the action, and returns as soon as nothing is pending any more.
//!
//! Why it is done this way stands in `docs/decisions/0005-adaptive-settle.md`.

use crate::backend::{FrameId, Handle};
use crate::error::Error;
use crate::network::RequestMark;
use crate::page::{LoadState, Page, PageState};
use crate::progress::Progress;
use futures_util::FutureExt as _;
use futures_util::future::{FusedFuture as _, join_all};
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::Instant;

/// Watches a page since before an action. Dropping it ends nothing but the waiting.
#[derive(Debug)]
#[must_use = "a watch is there to be settled"]
pub struct Watch {
    page: Page,
    /// Whose documents are watched; none where only what the browser tells counts.
    frames: Vec<FrameId>,
    mark: Mark,
}

/// How long to wait for what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SettleOptions {
    /// For a document that goes on changing, and for a page or a download that the action asked for.
    pub changes: Duration,
    /// For the requests that were sent.
    pub requests: Duration,
}

impl Default for SettleOptions {
    fn default() -> Self {
        Self {
            changes: Duration::from_millis(500),
            requests: Duration::from_secs(5),
        }
    }
}

/// How an action's consequences ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settled {
    /// Nothing is pending.
    Quiet,
    /// The page shows another document, loaded and quiet.
    Navigated,
    /// A dialog is open.
    Dialog,
    /// A file chooser is open.
    FileChooser,
    /// Something was pending still when its time was over.
    TimedOut,
    /// The page is gone, or its renderer.
    Closed,
}

/// The page before the action.
#[derive(Debug, Clone)]
struct Mark {
    navigations: u64,
    commits: u64,
    popups: u64,
    openings: u64,
    requests: RequestMark,
}

/// What an action navigates to.
const LOAD_TIMEOUT: Duration = Duration::from_secs(10);
/// What a new document fetches first, after it is loaded.
const FIRST_REQUESTS_TIMEOUT: Duration = Duration::from_millis(300);
/// The same where the document shows that it waits.
const AWAITED_REQUESTS_TIMEOUT: Duration = Duration::from_secs(1);
/// How often such a document is asked whether it waits still.
const WAITING_POLL_INTERVAL: Duration = Duration::from_millis(100);
/// A new document that goes on changing.
const FIRST_CHANGES_TIMEOUT: Duration = Duration::from_millis(150);
/// A page that does not even answer is given up so much later than one that goes on changing.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);
/// Documents watched that cannot be seen from the main one, and how long each may take to begin: another process may be busy.
const MAX_OUT_OF_PROCESS_FRAMES: usize = 12;
const FRAME_START_TIMEOUT: Duration = Duration::from_millis(200);
/// A page without an address yet is one that stays blank, after this long.
const BLANK_TIMEOUT: Duration = Duration::from_millis(500);

impl Page {
    /// Begins to watch for the effects of an action. Never fails: what cannot be watched is not waited for.
    pub async fn watch(&self, progress: &Progress) -> Watch {
        let mut watch = self.watch_events();
        let main = self.main_frame();
        let mut frames = vec![main.clone()];
        let begun = async {
            let mut closed = vec![(main.clone(), self.begin(&main).await?)];
            while let Some((frame, owners)) = closed.pop() {
                let room = (MAX_OUT_OF_PROCESS_FRAMES + 1).saturating_sub(frames.len());
                let foreign = self
                    .begin_in(&frame, &owners[..owners.len().min(room)])
                    .await;
                frames.extend(foreign.iter().map(|(frame, _)| frame.clone()));
                closed.extend(foreign);
            }
            Ok(())
        };
        // The action itself will meet whatever went wrong here, and say so.
        let _ = progress.run(begun).await;
        watch.frames = frames;
        watch
    }

    /// The same for an action that seldom has effects, and after which the page is not shown: only what the browser tells of counts.
    pub fn watch_events(&self) -> Watch {
        Watch {
            page: self.clone(),
            frames: Vec::new(),
            mark: Mark::of(&self.state()),
        }
    }

    /// Begins in one document and those that can be seen from there; the frames in view whose documents cannot.
    async fn begin(&self, frame: &FrameId) -> Result<Vec<Handle>, Error> {
        self.call(frame, "watch", &Value::Null).await
    }

    /// Begins in the documents of these frames.
    async fn begin_in(&self, frame: &FrameId, owners: &[Handle]) -> Vec<(FrameId, Vec<Handle>)> {
        if owners.is_empty() {
            return Vec::new();
        }
        let frames = self.backend.content_frames(frame, owners).await;
        let begun = frames
            .unwrap_or_default()
            .into_iter()
            .flatten()
            .map(async |frame| {
                let begun = tokio::time::timeout(FRAME_START_TIMEOUT, self.begin(&frame)).await;
                Some((frame, begun.ok()?.ok()?))
            });
        join_all(begun).await.into_iter().flatten().collect()
    }

    /// Waits, after the load of a document, for what it fetches first. Returns at once where it fetches nothing and shows something.
    pub async fn settle_loaded(&self) {
        let watch = self.watch_events();
        let settled = async {
            let fetches = is_fetching(&self.state());
            if fetches || self.shows_waiting().await {
                watch
                    .settle_new_document(Instant::now() + LOAD_TIMEOUT)
                    .await;
            }
        };
        let interrupted = self.until(|state| interruption(state).is_some());
        tokio::select! {
            biased;
            _ = interrupted => {}
            () = settled => {}
        }
    }

    /// Whether the document shows that it waits for something.
    async fn shows_waiting(&self) -> bool {
        let main = self.main_frame();
        let waits = self.call(&main, "waits", &Value::Null);
        matches!(
            tokio::time::timeout(ANSWER_TIMEOUT, waits).await,
            Ok(Ok(true))
        )
    }

    /// Waits until a page that a script opened shows its first document and has loaded it, at most `limit`; whether it has.
    pub async fn settle_opened(&self, limit: Duration) -> bool {
        self.first_document(limit).await;
        self.wait_for_load(LoadState::Loaded, limit).await
    }

    /// Waits until a page that a script opened shows the document it was opened for, if it was for one, at most `limit`.
    pub async fn first_document(&self, limit: Duration) {
        let addressed = self.until(|state| {
            let main = state.frames.main();
            main.commits > 0
                && main.pending.is_none()
                && !matches!(main.url.as_str(), "" | "about:blank")
        });
        let _ = tokio::time::timeout(BLANK_TIMEOUT.min(limit), addressed).await;
        let shown = self.until(|state| state.frames.main().pending.is_none());
        let _ = tokio::time::timeout(limit.saturating_sub(BLANK_TIMEOUT), shown).await;
    }
}

impl Watch {
    /// Waits until the consequences of what was done since are over. Ends at once when a dialog or a file chooser opens.
    pub async fn settle(self, options: &SettleOptions) -> Settled {
        self.settle_with(options, std::future::pending()).await
    }

    /// The same; `elsewhere` resolves when a page opened or a download began.
    pub async fn settle_with(
        self,
        options: &SettleOptions,
        elsewhere: impl Future<Output = ()> + Send,
    ) -> Settled {
        let ended = self.page.until(|state| interruption(state).is_some());
        tokio::select! {
            biased;
            result = ended => match result {
                Ok(()) => interruption(&self.page.state()).unwrap_or(Settled::Quiet),
                Err(_) => Settled::Closed,
            },
            settled = self.end(options, elsewhere) => settled,
        }
    }

    async fn end(
        &self,
        options: &SettleOptions,
        elsewhere: impl Future<Output = ()> + Send,
    ) -> Settled {
        let mut elsewhere = std::pin::pin!(elsewhere.fuse());
        let began = Instant::now();
        let mut mark = self.mark.clone();
        // The newest request that was waited for.
        let mut known = None;
        if let Some(settled) = barrier(self.page.backend.flush()).await {
            return settled;
        }
        loop {
            if began.elapsed() > LOAD_TIMEOUT {
                return Settled::TimedOut;
            }
            if self.is_new_navigation(&mark) {
                if !self.wait_for_navigation(began + LOAD_TIMEOUT).await {
                    return Settled::TimedOut;
                }
                let commits = self.page.state().frames.main().commits;
                if commits > mark.commits {
                    return self.settle_new_document(began + LOAD_TIMEOUT).await;
                }
                // A download or a 204: the document stays, and may have changed too.
                mark.navigations = self.page.state().frames.main().navigations;
            }
            let openings = self.page.state().openings;
            if openings > mark.openings {
                mark.openings = openings;
                if !elsewhere.is_terminated() {
                    let _ = tokio::time::timeout_at(began + options.changes, &mut elsewhere).await;
                }
            }
            if self.page.state().popups_opened > mark.popups {
                self.wait_for_popups(&mut mark, began + LOAD_TIMEOUT / 2)
                    .await;
            }
            let newest = self.page.state().requests.newest(&mark.requests);
            if newest != known {
                known = newest;
                if !self
                    .wait_for_requests(&mark, began + options.requests)
                    .await
                {
                    return Settled::TimedOut;
                }
                if self.is_new_navigation(&mark) {
                    continue;
                }
            }
            let moved_on = self.page.until(|state| mark.is_exceeded(state, known));
            let rest = tokio::select! {
                biased;
                rest = self.wait_until_unchanged(options.changes) => rest,
                _ = moved_on => continue,
            };
            if rest.opens && !elsewhere.is_terminated() {
                let _ = tokio::time::timeout_at(began + options.changes, &mut elsewhere).await;
            }
            if let Some(settled) = self.flush_events().await {
                return settled;
            }
            if !mark.is_exceeded(&self.page.state(), known) {
                return if rest.quiet {
                    Settled::Quiet
                } else {
                    Settled::TimedOut
                };
            }
        }
    }

    /// Everything that the page has done so far is reported.
    async fn flush_events(&self) -> Option<Settled> {
        barrier(self.page.backend.flush_requests()).await
    }

    fn is_new_navigation(&self, mark: &Mark) -> bool {
        mark.is_navigating(&self.page.state())
    }

    /// Waits until the pages that were opened since the mark are loaded, and moves the mark behind them.
    async fn wait_for_popups(&self, mark: &mut Mark, deadline: Instant) {
        let (popups, opened) = {
            let state = self.page.state();
            (state.popups.clone(), state.popups_opened)
        };
        let new = usize::try_from(opened - mark.popups).unwrap_or(usize::MAX);
        let left = deadline.saturating_duration_since(Instant::now());
        join_all(
            popups
                .iter()
                .rev()
                .take(new)
                .map(|popup| popup.settle_opened(left)),
        )
        .await;
        mark.popups = opened;
    }

    /// Waits until the navigation under way has ended, loaded or without a document.
    async fn wait_for_navigation(&self, deadline: Instant) -> bool {
        let arrived = self.page.until(|state| {
            let main = state.frames.main();
            main.pending.is_none() && (main.loaded || main.aborted.is_some())
        });
        matches!(tokio::time::timeout_at(deadline, arrived).await, Ok(Ok(())))
    }

    /// Waits until the requests since the mark are answered, or the page is about to leave anyway.
    async fn wait_for_requests(&self, mark: &Mark, deadline: Instant) -> bool {
        let answered = self.page.until(|state| {
            mark.is_navigating(state) || !state.requests.has_pending(&mark.requests)
        });
        matches!(
            tokio::time::timeout_at(deadline, answered).await,
            Ok(Ok(()))
        )
    }

    /// A document has loaded: waits for what it fetches first, bounded, and until it has shown it. Goes on if it leads to another one.
    async fn settle_new_document(&self, deadline: Instant) -> Settled {
        let mut loaded = Instant::now();
        loop {
            if Instant::now() >= deadline {
                return Settled::TimedOut;
            }
            let mark = Mark::of(&self.page.state());
            let main = self.page.main_frame();
            let shown = async {
                let fetched = self.wait_for_first_requests(&mark, loaded).await;
                if fetched {
                    self.wait_until_document_unchanged(&main, FIRST_CHANGES_TIMEOUT)
                        .await;
                }
                fetched
            };
            let moved_on = self.page.until(|state| mark.is_navigating(state));
            let fetched = tokio::select! {
                biased;
                fetched = shown => fetched,
                _ = moved_on => true,
            };
            if let Some(settled) = self.flush_events().await {
                return settled;
            }
            if self.is_new_navigation(&mark) {
                if !self.wait_for_navigation(deadline).await {
                    return Settled::TimedOut;
                }
                loaded = Instant::now();
            } else if !fetched || !is_fetching(&self.page.state()) {
                return Settled::Navigated;
            }
            // Else one request led to the next, or was told of after the load.
        }
    }

    /// Waits for what a document fetches first; whether that has come, or another document is on its way.
    async fn wait_for_first_requests(&self, mark: &Mark, loaded: Instant) -> bool {
        let mut deadline = loaded + FIRST_REQUESTS_TIMEOUT;
        loop {
            let fetched = self
                .page
                .until(|state| mark.is_navigating(state) || !is_fetching(state));
            if tokio::time::timeout_at(deadline, fetched).await.is_ok() {
                return true;
            }
            let now = Instant::now();
            if now >= loaded + AWAITED_REQUESTS_TIMEOUT || !self.page.shows_waiting().await {
                return false;
            }
            deadline = (now + WAITING_POLL_INTERVAL).min(loaded + AWAITED_REQUESTS_TIMEOUT);
        }
    }

    /// Waits until nothing changes in the watched documents, at most `limit`.
    async fn wait_until_unchanged(&self, limit: Duration) -> DocumentActivity {
        let looks = self
            .frames
            .iter()
            .map(|frame| self.wait_until_document_unchanged(frame, limit));
        let looks = join_all(looks).await;
        DocumentActivity {
            quiet: looks.iter().all(|rest| rest.quiet),
            opens: looks.iter().any(|rest| rest.opens),
        }
    }

    /// Waits until nothing changes in one document and those seen from there.
    async fn wait_until_document_unchanged(
        &self,
        frame: &FrameId,
        limit: Duration,
    ) -> DocumentActivity {
        let limit_ms = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
        let argument = json!({ "limit": limit_ms, "brief": limit.is_zero() });
        let call = self.page.call(frame, "settled", &argument);
        match tokio::time::timeout(limit + ANSWER_TIMEOUT, call).await {
            Ok(Ok(rest)) => rest,
            // The document was replaced: if it was the page's, the navigation's own events tell. Others are not watched any more.
            Ok(Err(_)) => DocumentActivity {
                quiet: true,
                opens: false,
            },
            Err(_) => DocumentActivity {
                quiet: false,
                opens: false,
            },
        }
    }
}

/// What a document tells of itself.
#[derive(Debug, Clone, Copy, Deserialize)]
struct DocumentActivity {
    /// Nothing changes in it.
    quiet: bool,
    /// A link was clicked that leads to a download or to another page.
    opens: bool,
}

impl Mark {
    fn of(state: &PageState) -> Self {
        let main = state.frames.main();
        Self {
            navigations: main.navigations,
            commits: main.commits,
            popups: state.popups_opened,
            openings: state.openings,
            requests: state.requests.mark(),
        }
    }

    fn is_navigating(&self, state: &PageState) -> bool {
        state.frames.main().navigations > self.navigations
    }

    /// Whether something began since, other than the requests that are known.
    fn is_exceeded(&self, state: &PageState, known: Option<u64>) -> bool {
        self.is_navigating(state)
            || state.popups_opened > self.popups
            || state.openings > self.openings
            || state.requests.newest(&self.requests) != known
    }
}

/// Whether the document waits for something that it fetches. That it has come itself may be told after that it is loaded.
fn is_fetching(state: &PageState) -> bool {
    let (id, main) = (state.frames.main_id(), state.frames.main());
    let since = match &main.loader {
        Some(loader) => state.requests.since_document(id, loader),
        None => RequestMark::default(),
    };
    state.requests.has_pending(&since)
}

/// How the wait ends if events cannot be flushed.
async fn barrier(flush: impl Future<Output = Result<(), Error>>) -> Option<Settled> {
    match tokio::time::timeout(ANSWER_TIMEOUT, flush).await {
        Ok(Ok(())) => None,
        Ok(Err(_)) => Some(Settled::Closed),
        Err(_) => Some(Settled::TimedOut),
    }
}

fn interruption(state: &PageState) -> Option<Settled> {
    if state.is_blocked_by_dialog() {
        Some(Settled::Dialog)
    } else if state.file_chooser.is_some() {
        Some(Settled::FileChooser)
    } else {
        None
    }
}

#[cfg(test)]
mod tests;
