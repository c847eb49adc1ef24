//! Settling: observes the page since before an action, and returns as soon as nothing is pending.
//!
//! Waited for is what began since the action:
//!
//! 1. Changes: until 16 ms passed without one, at most [`SettleOptions::changes`]. A node that changes eight times in a wait, or four times
//!    without an action, is ignored.
//! 2. Finite animations that change visibility or position, within the same limit.
//! 3. Timers of at most [`SettleOptions::causes`], animation frames, idle callbacks, messages, and what these cause in turn. What polls is
//!    ignored: a function that a timer with the same delay got while no action was under way.
//! 4. Requests of documents, style sheets, scripts and data. Ignored are URLs that were pending before, the fifth request of a URL, event
//!    streams and WebSockets.
//! 5. A navigation until `load`, at most 10 s, and then the first requests of its document, at most 300 ms, or while scripts of its own
//!    origin are loaded 3 s; a page that shows nothing, only a drawing, or that it is loading, at most 1 s, and at most 5 s while it sends
//!    requests; scripts that keep the thread busy, at most 1 s; messages of its WebSockets that follow each other within 100 ms, at most 1 s.
//!    Popups, requested pages and downloads.
//!
//! A dialog, a file chooser or the end of the page ends the wait at once. `docs/decisions/0008-settle.md` gives the reasons.

use crate::backend::address::{is_of_origin, origin_of};
use crate::backend::{FrameId, Handle};
use crate::error::Error;
use crate::network::RequestMark;
use crate::page::{LoadState, Page, PageState};
use crate::progress::Progress;
use futures_util::FutureExt as _;
use futures_util::future::{self, BoxFuture, FusedFuture as _, join_all};
use serde::Deserialize;
use serde_json::{Value, json};
use std::slice;
use std::time::Duration;
use tokio::time::Instant;

/// Observes a page since before an action. Dropping it only ends the wait.
#[derive(Debug)]
#[must_use = "a watch is there to be settled"]
pub struct Watch {
    page: Page,
    /// The frames whose documents are observed; none if changes count only in consequence of something that is pending.
    frames: Vec<FrameId>,
    mark: Mark,
}

/// Returns whether something that input caused has not run yet.
pub type Peek<'a> = Box<dyn Fn() -> BoxFuture<'a, bool> + Send + Sync + 'a>;

/// The timeouts of settling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SettleOptions {
    /// The timeout for a document that continues to change, and for a page or a download that the action requested.
    pub changes: Duration,
    /// The timeout for timers, frames and messages that the action caused, and for what they cause in turn.
    pub causes: Duration,
    /// The timeout for requests.
    pub requests: Duration,
}

impl Default for SettleOptions {
    fn default() -> Self {
        Self {
            changes: Duration::from_millis(500),
            causes: Duration::from_millis(500),
            requests: Duration::from_secs(5),
        }
    }
}

/// How settling ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settled {
    /// Nothing is pending.
    Quiet,
    /// The page shows another document, which is loaded and quiet.
    Navigated,
    /// A dialog is open.
    Dialog,
    /// A file chooser is open.
    FileChooser,
    /// The timeout expired.
    TimedOut,
    /// The page closed, or its renderer crashed.
    Closed,
}

/// The state of the page before the action.
#[derive(Debug, Clone)]
struct Mark {
    navigations: u64,
    commits: u64,
    popups: u64,
    openings: u64,
    requests: RequestMark,
}

/// How long a navigation of an action may take.
const LOAD_TIMEOUT: Duration = Duration::from_secs(10);
/// How long to wait for the first requests of a new document after its load.
const FIRST_REQUESTS_TIMEOUT: Duration = Duration::from_millis(300);
/// How long to wait for them if the document indicates loading.
const AWAITED_REQUESTS_TIMEOUT: Duration = Duration::from_secs(1);
/// How long to wait for scripts of the document's own origin: apps load the parts that they show when they show them.
const SCRIPTS_TIMEOUT: Duration = Duration::from_secs(3);
/// The interval between checks whether such a document still indicates loading.
const WAITING_POLL_INTERVAL: Duration = Duration::from_millis(100);
/// How long to wait for a new document that continues to change.
const FIRST_CHANGES_TIMEOUT: Duration = Duration::from_millis(150);
/// How much longer if its scripts keep the thread busy.
const BUSY_DOCUMENT_TIMEOUT: Duration = Duration::from_secs(1);
/// How long to wait for a new document that shows nothing, after its load or the end of its last requests.
const FIRST_CONTENT_TIMEOUT: Duration = Duration::from_secs(1);
/// How long to wait for such a document after its load, however many requests it sends.
const BLANK_DOCUMENT_TIMEOUT: Duration = Duration::from_secs(5);
/// How much longer an unresponsive page is waited for than one that continues to change.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);
/// The largest number of observed out-of-process frames.
const MAX_OUT_OF_PROCESS_FRAMES: usize = 12;
/// How long starting to observe one of them may take, because its process may be busy.
const FRAME_START_TIMEOUT: Duration = Duration::from_millis(200);
/// How long an open event stream is given to report the consequences of a request, and a WebSocket to receive the next message.
const STREAM_TIMEOUT: Duration = Duration::from_millis(100);
/// The time after which a page without a URL counts as blank.
const BLANK_TIMEOUT: Duration = Duration::from_millis(500);

impl Page {
    /// Starts to observe the effects of an action. Never fails: what cannot be observed is not waited for.
    pub async fn watch(&self, progress: &Progress) -> Watch {
        let mut watch = self.watch_events();
        let main = self.main_frame();
        let mut frames = vec![main.clone()];
        // A script would run after what the page does when the dialog is closed.
        if self.state().is_blocked_by_dialog() {
            watch.frames = frames;
            return watch;
        }
        let begun = async {
            let Some(owners) = self.begin(&main).await? else {
                frames.clear();
                return Ok(());
            };
            let mut closed = vec![(main.clone(), owners)];
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
        // The action meets the same error and reports it.
        let _ = progress.run(begun).await;
        watch.frames = frames;
        watch
    }

    /// Observes only events of the browser and what input causes, for an action that seldom has effects.
    pub fn watch_events(&self) -> Watch {
        Watch {
            page: self.clone(),
            frames: Vec::new(),
            mark: Mark::of(&self.state()),
        }
    }

    /// Starts observing in a document and those accessible from it; returns the visible frames with inaccessible documents. `None`: the
    /// document runs no scripts.
    async fn begin(&self, frame: &FrameId) -> Result<Option<Vec<Handle>>, Error> {
        self.call(frame, "watch", &Value::Null).await
    }

    /// Starts observing in the documents of these frames.
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
                Some((frame, begun.ok()?.ok()??))
            });
        join_all(begun).await.into_iter().flatten().collect()
    }

    /// Waits after the load of a document for its first requests. Returns at once if there are none and the document has content.
    pub async fn settle_loaded(&self) {
        let watch = self.watch_events();
        let settled = async {
            let fetches = || {
                let state = self.state();
                is_fetching(&state) || received_messages(&state).is_some()
            };
            // Requests that were sent before the load can be reported after it.
            if fetches() || self.shows_waiting().await || fetches() {
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

    /// Returns whether the document waits for scripts of its own origin.
    pub fn is_loading_scripts(&self) -> bool {
        let state = self.state();
        let own = origin_of(&state.frames.main().url);
        let since = since_document(&state);
        let mut pending = state.requests.pending_since(&since);
        pending.any(|request| request.resource_type == "script" && is_of_origin(&request.url, &own))
    }

    /// Returns whether the document indicates loading.
    async fn shows_waiting(&self) -> bool {
        self.holds("waits").await
    }

    /// Returns whether the document shows nothing, and has scripts that can change that.
    async fn is_blank(&self) -> bool {
        self.holds("isBlank").await
    }

    async fn holds(&self, condition: &str) -> bool {
        let main = self.main_frame();
        let holds = self.call(&main, condition, &Value::Null);
        matches!(
            tokio::time::timeout(ANSWER_TIMEOUT, holds).await,
            Ok(Ok(true))
        )
    }

    /// Waits at most `limit` until a popup shows its first document and has loaded it; returns whether it has.
    pub async fn settle_opened(&self, limit: Duration) -> bool {
        self.first_document(limit).await;
        self.wait_for_load(LoadState::Loaded, limit).await
    }

    /// Waits at most `limit` until a popup shows the document for which it was opened, if there is one.
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
    /// Waits until the effects of the action are complete. Ends at once when a dialog or a file chooser opens.
    pub async fn settle(self, options: &SettleOptions) -> Settled {
        self.settle_with(options, std::future::pending(), None)
            .await
    }

    /// Waits until a navigation within the document is complete. Returns at once if the page shows another document.
    pub async fn settle_in_document(self, options: &SettleOptions) {
        let commits = self.page.state().frames.main().commits;
        if commits == self.mark.commits {
            self.settle(options).await;
        }
    }

    /// Like [`Self::settle`]; `elsewhere` resolves when a page opened or a download started. `peek` returns whether something that input
    /// caused has not run yet, and is called if no document is observed.
    pub async fn settle_with(
        self,
        options: &SettleOptions,
        elsewhere: impl Future<Output = ()> + Send,
        peek: Option<Peek<'_>>,
    ) -> Settled {
        let ended = self.page.until(|state| interruption(state).is_some());
        tokio::select! {
            biased;
            result = ended => match result {
                Ok(()) => interruption(&self.page.state()).unwrap_or(Settled::Quiet),
                Err(_) => Settled::Closed,
            },
            settled = self.end(options, elsewhere, peek) => settled,
        }
    }

    async fn end(
        &self,
        options: &SettleOptions,
        elsewhere: impl Future<Output = ()> + Send,
        peek: Option<Peek<'_>>,
    ) -> Settled {
        let mut elsewhere = std::pin::pin!(elsewhere.fuse());
        let began = Instant::now();
        let mut mark = self.mark.clone();
        let mut frames = self.frames.clone();
        // The last request that was waited for.
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
                let deadline = began + options.requests;
                if !self
                    .wait_for_requests(&mark, &frames, deadline, options.causes)
                    .await
                {
                    return Settled::TimedOut;
                }
                if frames.is_empty() {
                    frames.push(self.page.main_frame());
                }
                if self.is_new_navigation(&mark) {
                    continue;
                }
            }
            let moved_on = self.page.until(|state| mark.is_exceeded(state, known));
            let unchanged = async {
                let is_pending = match &peek {
                    Some(peek) if frames.is_empty() => peek().await,
                    _ => frames.is_empty(),
                };
                if is_pending {
                    frames = self.pending_frames(options.causes).await;
                }
                self.wait_until_unchanged(&frames, options).await
            };
            let rest = tokio::select! {
                biased;
                rest = unchanged => rest,
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

    /// Waits until all events of the page so far are handled.
    async fn flush_events(&self) -> Option<Settled> {
        barrier(self.page.backend.flush_requests()).await
    }

    fn is_new_navigation(&self, mark: &Mark) -> bool {
        mark.is_navigating(&self.page.state())
    }

    /// Waits until the popups since the mark are loaded, and updates the mark.
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

    /// Waits until the navigation in progress has ended, with or without a document.
    async fn wait_for_navigation(&self, deadline: Instant) -> bool {
        let arrived = self.page.until(|state| {
            let main = state.frames.main();
            main.pending.is_none() && (main.loaded || main.aborted.is_some())
        });
        matches!(tokio::time::timeout_at(deadline, arrived).await, Ok(Ok(())))
    }

    /// Waits until the requests since the mark have ended, or the page navigates anyway. What their responses cause counts as caused by
    /// the action.
    async fn wait_for_requests(
        &self,
        mark: &Mark,
        frames: &[FrameId],
        deadline: Instant,
        causes: Duration,
    ) -> bool {
        let sent = Instant::now();
        let answered = self.page.until(|state| {
            mark.is_navigating(state) || !state.requests.has_pending(&mark.requests)
        });
        let main = self.page.main_frame();
        let observed = if frames.is_empty() {
            slice::from_ref(&main)
        } else {
            frames
        };
        let held = join_all(
            observed
                .iter()
                .map(|frame| self.pending_in(frame, causes, true)),
        );
        let answered = async { future::join(answered, held).await.0 };
        let in_time = tokio::time::timeout_at(deadline, answered).await;
        if !matches!(in_time, Ok(Ok(()))) {
            return false;
        }
        if self.page.state().requests.has_stream() {
            let navigated = self.page.until(|state| mark.is_navigating(state));
            let _ = tokio::time::timeout_at(sent + STREAM_TIMEOUT, navigated).await;
        }
        true
    }

    /// Waits after the load of a document for its first requests, with a timeout, and until their results are shown. Continues if it
    /// navigates to another one.
    async fn settle_new_document(&self, deadline: Instant) -> Settled {
        let mut loaded = Instant::now();
        // From when on a document that shows nothing is waited for.
        let mut since = loaded;
        loop {
            if Instant::now() >= deadline {
                return Settled::TimedOut;
            }
            let mark = Mark::of(&self.page.state());
            let main = self.page.main_frame();
            let last = loaded + BLANK_DOCUMENT_TIMEOUT;
            let shown = async {
                let fetches = is_fetching(&self.page.state());
                let fetched = self.wait_for_first_requests(&mark, loaded).await;
                if fetched {
                    self.wait_for_first_messages(loaded + AWAITED_REQUESTS_TIMEOUT)
                        .await;
                    if fetches {
                        since = Instant::now();
                    }
                    self.wait_until_shown(&main, last.min(since + FIRST_CONTENT_TIMEOUT))
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
                since = loaded;
            } else if !fetched {
                return Settled::Navigated;
            } else if !is_fetching(&self.page.state()) {
                let fetched = self.page.state().requests.newest(&mark.requests).is_some();
                let now = Instant::now();
                if !fetched || now >= last || !self.page.is_blank().await {
                    return Settled::Navigated;
                }
                since = now;
            }
            // Otherwise one request caused the next, or was reported after the load.
        }
    }

    /// Waits for the first requests of a document; returns whether they have ended, or a navigation started.
    async fn wait_for_first_requests(&self, mark: &Mark, loaded: Instant) -> bool {
        let mut deadline = loaded + FIRST_REQUESTS_TIMEOUT;
        let mut had_scripts = self.page.is_loading_scripts();
        loop {
            let fetched = self
                .page
                .until(|state| mark.is_navigating(state) || !is_fetching(state));
            if tokio::time::timeout_at(deadline, fetched).await.is_ok() {
                return true;
            }
            let now = Instant::now();
            // A module requests the next ones when it is evaluated.
            let has_scripts = self.page.is_loading_scripts();
            let is_loading_scripts = had_scripts || has_scripts;
            had_scripts = has_scripts;
            let limit = if self.page.is_blank().await {
                BLANK_DOCUMENT_TIMEOUT
            } else if is_loading_scripts {
                SCRIPTS_TIMEOUT
            } else {
                AWAITED_REQUESTS_TIMEOUT
            };
            if now >= loaded + limit || !is_loading_scripts && !self.page.shows_waiting().await {
                return false;
            }
            deadline = (now + WAITING_POLL_INTERVAL).min(loaded + limit);
        }
    }

    /// Waits until the WebSockets of a document receive nothing for a while, until the deadline at most.
    async fn wait_for_first_messages(&self, deadline: Instant) {
        loop {
            let received = received_messages(&self.page.state());
            if received.is_none() {
                return;
            }
            let more = self
                .page
                .until(|state| received_messages(state) != received);
            let limit = deadline.min(Instant::now() + STREAM_TIMEOUT);
            if tokio::time::timeout_at(limit, more).await.is_err() {
                return;
            }
        }
    }

    /// Waits until nothing changes in the documents, and nothing is pending that the action caused.
    async fn wait_until_unchanged(
        &self,
        frames: &[FrameId],
        options: &SettleOptions,
    ) -> DocumentActivity {
        let looks = frames
            .iter()
            .map(|frame| self.wait_until_document_unchanged(frame, options));
        let looks = join_all(looks).await;
        DocumentActivity {
            quiet: looks.iter().all(|rest| rest.quiet),
            opens: looks.iter().any(|rest| rest.opens),
        }
    }

    /// Waits until nothing changes in one document and those accessible from it.
    async fn wait_until_document_unchanged(
        &self,
        frame: &FrameId,
        options: &SettleOptions,
    ) -> DocumentActivity {
        let argument = json!({
            "limit": milliseconds(options.changes),
            "causes": milliseconds(options.causes),
            "brief": options.changes.is_zero(),
        });
        let limit = options.changes.max(options.causes);
        self.settled(frame, &argument, limit).await
    }

    /// Waits until nothing changes in a new document, and it shows something, until the deadline at most.
    async fn wait_until_shown(&self, frame: &FrameId, deadline: Instant) {
        let content = deadline.saturating_duration_since(Instant::now());
        let argument = json!({
            "limit": milliseconds(FIRST_CHANGES_TIMEOUT),
            "causes": 0,
            "brief": false,
            "content": milliseconds(content),
            "busy": milliseconds(BUSY_DOCUMENT_TIMEOUT),
        });
        let limit = content.max(FIRST_CHANGES_TIMEOUT + BUSY_DOCUMENT_TIMEOUT);
        self.settled(frame, &argument, limit).await;
    }

    async fn settled(
        &self,
        frame: &FrameId,
        argument: &Value,
        limit: Duration,
    ) -> DocumentActivity {
        let call = self.page.call(frame, "settled", argument);
        match tokio::time::timeout(limit + ANSWER_TIMEOUT, call).await {
            Ok(Ok(rest)) => rest,
            // The document was replaced: if it was the page's, the navigation events report that. Others are not observed any more.
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

/// The activity that a document reports.
#[derive(Debug, Clone, Copy, Deserialize)]
struct DocumentActivity {
    /// Whether nothing changes.
    quiet: bool,
    /// Whether a link to a download or to another page was clicked.
    opens: bool,
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
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

    /// Returns whether something has started since, except the known requests.
    fn is_exceeded(&self, state: &PageState, known: Option<u64>) -> bool {
        self.is_navigating(state)
            || state.popups_opened > self.popups
            || state.openings > self.openings
            || state.requests.newest(&self.requests) != known
    }
}

/// Returns whether the document waits for a request, or for the first message of a WebSocket. The end of its own request may be reported
/// after its load.
fn is_fetching(state: &PageState) -> bool {
    let since = since_document(state);
    state.requests.has_pending(&since) || state.requests.has_silent_socket(&since)
}

/// Returns the number of messages that the document's WebSockets have received, if it has any.
fn received_messages(state: &PageState) -> Option<usize> {
    state.requests.received_messages(&since_document(state))
}

/// Returns the mark of the main document's request.
fn since_document(state: &PageState) -> RequestMark {
    let (id, main) = (state.frames.main_id(), state.frames.main());
    match &main.loader {
        Some(loader) => state.requests.since_document(id, loader),
        None => RequestMark::default(),
    }
}

/// Returns how the wait ends if events cannot be flushed.
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

mod causes;
#[cfg(test)]
mod tests;
