//! When an action's consequences are over: watches from before the action, and returns as soon as all is at rest again.
//!
//! Why it is done this way stands in `docs/decisions/0005-adaptive-settle.md`.

use crate::backend::FrameId;
use crate::error::Error;
use crate::network::RequestMark;
use crate::page::{LoadState, Page, PageState};
use crate::progress::Progress;
use futures_util::future::join_all;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt as _, StreamExt as _};
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::Instant;

/// Looks at a page since before an action. Dropping it ends nothing but the waiting.
#[derive(Debug)]
#[must_use = "a watch is there to be settled"]
pub struct Watch {
    page: Page,
    frames: Vec<FrameId>,
    mark: Mark,
}

/// How patient to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SettleOptions {
    /// How long to look for a first effect, and how long to put up with a page that never rests.
    pub limit: Duration,
    /// Text was typed: what changes in the document at once says nothing about what a debounced script will do, so only a request or a
    /// navigation ends the looking early.
    pub typed: bool,
}

impl Default for SettleOptions {
    fn default() -> Self {
        Self {
            limit: Duration::from_millis(500),
            typed: false,
        }
    }
}

/// How an action's consequences ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settled {
    /// Something happened, and all is quiet again.
    Quiet,
    /// Nothing happened as far as can be seen.
    Unchanged,
    /// The page shows another document, loaded and quiet.
    Navigated,
    /// A dialog is open.
    Dialog,
    /// A file chooser is open.
    FileChooser,
    /// The page did not come to rest within the bounds.
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
    dialogs_answered: u64,
    requests: RequestMark,
}

/// What a change may leave in its wake: a timer or a microtask of a framework, a frame to draw.
const QUIET: Duration = Duration::from_millis(40);
/// What an action fetches.
const REQUESTS: Duration = Duration::from_secs(5);
/// What an action navigates to.
const LOAD: Duration = Duration::from_secs(10);
/// What a new document fetches once it is loaded.
const FIRST_REQUESTS: Duration = Duration::from_secs(1);
/// A page that does not even answer is given up so much later than one that never rests.
const ANSWER: Duration = Duration::from_secs(2);
/// Frames watched; the main frame is the first of them.
const FRAMES: usize = 12;
/// A page without an address yet is one that stays blank, after this long.
const BLANK: Duration = Duration::from_millis(500);

impl Page {
    /// Begins to watch for the effects of an action. Never fails: what cannot be watched is not waited for.
    pub async fn watch(&self, progress: &Progress) -> Watch {
        let (mark, frames) = {
            let state = self.state();
            let mut frames = vec![state.frames.main_id().clone()];
            frames.extend(state.frames.below_main(FRAMES - 1));
            (Mark::of(&state), frames)
        };
        let begun = async {
            begin(self, &frames).await;
            Ok(())
        };
        // The action itself will meet whatever went wrong here, and say so.
        let _ = progress.run(begun).await;
        Watch {
            page: self.clone(),
            frames,
            mark,
        }
    }

    /// Waits until a document that has just loaded has shown what it fetches first, at most a second or so. At once where it fetches nothing.
    pub async fn settle_loaded(&self) {
        let (mark, main) = {
            let state = self.state();
            if !fetches(&state) {
                return;
            }
            (Mark::of(&state), state.frames.main_id().clone())
        };
        let watch = Watch {
            page: self.clone(),
            frames: vec![main],
            mark,
        };
        let interrupted = self.until(|state| interruption(state).is_some());
        tokio::select! {
            biased;
            _ = interrupted => {}
            _ = watch.rest_in_new_document(Instant::now() + LOAD) => {}
        }
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
        let _ = tokio::time::timeout(BLANK.min(limit), addressed).await;
        let shown = self.until(|state| state.frames.main().pending.is_none());
        let _ = tokio::time::timeout(limit.saturating_sub(BLANK), shown).await;
    }
}

impl Watch {
    /// Waits until the consequences of what was done since are over. Ends at once when a dialog or a file chooser opens.
    pub async fn settle(self, options: &SettleOptions) -> Settled {
        self.settle_with(options, std::future::pending()).await
    }

    /// The same; `elsewhere` resolves when an effect is seen outside the page, such as a download that began.
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
            settled = self.come_to_rest(options, elsewhere) => settled,
        }
    }

    async fn come_to_rest(
        &self,
        options: &SettleOptions,
        elsewhere: impl Future<Output = ()> + Send,
    ) -> Settled {
        let mut elsewhere = std::pin::pin!(elsewhere.fuse());
        let began = Instant::now();
        let mut mark = self.mark.clone();
        // The newest request that was waited for.
        let mut known = None;
        let mut effect = false;
        if let Some(settled) = self.barrier().await {
            return settled;
        }
        loop {
            if began.elapsed() > LOAD {
                return Settled::TimedOut;
            }
            if self.navigating(&mark) {
                if !self.arrive(began + LOAD).await {
                    return Settled::TimedOut;
                }
                let commits = self.page.state().frames.main().commits;
                if commits > mark.commits {
                    return self.rest_in_new_document(began + LOAD).await;
                }
                // A download or a 204: the document stays, and may have changed too.
                mark.navigations = self.page.state().frames.main().navigations;
                effect = true;
            }
            if self.page.state().popups_opened > mark.popups {
                self.popups_loaded(&mut mark, began + REQUESTS).await;
                effect = true;
            }
            effect |= self.page.state().dialogs_answered > mark.dialogs_answered;
            let newest = self.page.state().requests.newest(&mark.requests);
            if newest != known {
                known = newest;
                effect = true;
                if !self.answered(&mark, began + REQUESTS).await {
                    return Settled::TimedOut;
                }
                if self.navigating(&mark) {
                    continue;
                }
            }
            let moved_on = self.page.until(|state| mark.is_exceeded(state, known));
            let rest = tokio::select! {
                biased;
                rest = self.rest(options, effect) => rest,
                _ = moved_on => continue,
                () = &mut elsewhere => {
                    effect = true;
                    continue;
                }
            };
            if let Some(settled) = self.barrier().await {
                return settled;
            }
            if !mark.is_exceeded(&self.page.state(), known) {
                return rest.settled(effect, options.typed);
            }
        }
    }

    /// Every event of what the page has done so far has arrived.
    async fn barrier(&self) -> Option<Settled> {
        match tokio::time::timeout(ANSWER, self.page.backend.flush()).await {
            Ok(Ok(())) => None,
            Ok(Err(_)) => Some(Settled::Closed),
            Err(_) => Some(Settled::TimedOut),
        }
    }

    fn navigating(&self, mark: &Mark) -> bool {
        mark.is_navigating(&self.page.state())
    }

    /// Waits until the pages that were opened since the mark are loaded, and moves the mark behind them.
    async fn popups_loaded(&self, mark: &mut Mark, deadline: Instant) {
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
    async fn arrive(&self, deadline: Instant) -> bool {
        let arrived = self.page.until(|state| {
            let main = state.frames.main();
            main.pending.is_none() && (main.loaded || main.aborted.is_some())
        });
        matches!(tokio::time::timeout_at(deadline, arrived).await, Ok(Ok(())))
    }

    /// Waits until the requests since the mark are answered, or the page is about to leave anyway.
    async fn answered(&self, mark: &Mark, deadline: Instant) -> bool {
        let answered = self
            .page
            .until(|state| mark.is_navigating(state) || !state.requests.busy(&mark.requests));
        matches!(
            tokio::time::timeout_at(deadline, answered).await,
            Ok(Ok(()))
        )
    }

    /// A document has loaded: what it fetches first, bounded, and a short rest. Goes on if it leads to another one.
    async fn rest_in_new_document(&self, deadline: Instant) -> Settled {
        let mut patience = Instant::now() + FIRST_REQUESTS;
        loop {
            if Instant::now() >= deadline {
                return Settled::TimedOut;
            }
            let mark = Mark::of(&self.page.state());
            let main = [self.page.main_frame()];
            begin(&self.page, &main).await;
            let fetched = async {
                let done = self
                    .page
                    .until(|state| mark.is_navigating(state) || !fetches(state));
                if fetches(&self.page.state()) {
                    let _ = tokio::time::timeout_at(patience, done).await;
                }
                self.look(&main[0], QUIET, QUIET * 4, QUIET, true).await
            };
            let moved_on = self.page.until(|state| mark.is_navigating(state));
            tokio::select! {
                biased;
                _ = fetched => {}
                _ = moved_on => {}
            }
            if let Some(settled) = self.barrier().await {
                return settled;
            }
            if self.navigating(&mark) {
                if !self.arrive(deadline).await {
                    return Settled::TimedOut;
                }
                patience = Instant::now() + FIRST_REQUESTS;
            } else if !fetches(&self.page.state()) || Instant::now() >= patience {
                return Settled::Navigated;
            }
            // Else it was told of a request after it was told that the document is loaded.
        }
    }

    /// Waits until every frame is at rest.
    async fn rest(&self, options: &SettleOptions, effect: bool) -> Rest {
        let quiet = if options.typed && !effect {
            options.limit
        } else {
            QUIET.min(options.limit)
        };
        let mut looks: FuturesUnordered<_> = self
            .frames
            .iter()
            .map(|frame| async move {
                (
                    frame,
                    self.look(frame, quiet, options.limit, options.limit, effect)
                        .await,
                )
            })
            .collect();
        let mut rest = Rest {
            seen: effect,
            quiet: true,
        };
        let mut rested = Vec::new();
        while let Some((frame, look)) = looks.next().await {
            rest.join(look);
            rested.push(frame);
            if rest.seen {
                break;
            }
        }
        drop(looks);
        // Something was seen in one frame: the others need no patience any more.
        let others = self.frames.iter().filter(|frame| !rested.contains(frame));
        let late = join_all(
            others.map(|frame| self.look(frame, quiet, options.limit, Duration::ZERO, false)),
        );
        for look in late.await {
            rest.join(look);
        }
        rest
    }

    /// Waits until one frame is at rest.
    async fn look(
        &self,
        frame: &FrameId,
        quiet: Duration,
        limit: Duration,
        patience: Duration,
        effect: bool,
    ) -> Rest {
        let argument = json!({
            "quiet": milliseconds(quiet),
            "limit": milliseconds(limit),
            "patience": milliseconds(patience),
            "effect": effect,
        });
        let call = self.page.call(frame, "settled", &argument);
        match tokio::time::timeout(limit + ANSWER, call).await {
            Ok(Ok(rest)) => rest,
            // The document was replaced: if it was the page's, the navigation's own events tell.
            Ok(Err(Error::DocumentGone {})) => Rest::GONE,
            Ok(Err(_)) => Rest::NOTHING,
            Err(_) => Rest::RESTLESS,
        }
    }
}

async fn begin(page: &Page, frames: &[FrameId]) {
    join_all(
        frames
            .iter()
            .map(|frame| page.call::<()>(frame, "watch", &Value::Null)),
    )
    .await;
}

impl Mark {
    fn of(state: &PageState) -> Self {
        let main = state.frames.main();
        Self {
            navigations: main.navigations,
            commits: main.commits,
            popups: state.popups_opened,
            dialogs_answered: state.dialogs_answered,
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
            || state.requests.newest(&self.requests) != known
    }
}

/// What a frame says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
struct Rest {
    /// It changed since the watch began.
    seen: bool,
    /// It rests now.
    quiet: bool,
}

impl Rest {
    const GONE: Self = Self {
        seen: true,
        quiet: true,
    };
    const NOTHING: Self = Self {
        seen: false,
        quiet: true,
    };
    const RESTLESS: Self = Self {
        seen: true,
        quiet: false,
    };

    fn join(&mut self, other: Self) {
        self.seen |= other.seen;
        self.quiet &= other.quiet;
    }

    fn settled(self, effect: bool, typed: bool) -> Settled {
        match (self.seen || effect, self.quiet) {
            (false, _) => Settled::Unchanged,
            (true, true) => Settled::Quiet,
            // The whole limit is waited out after typing, at rest or not.
            (true, false) if typed => Settled::Quiet,
            (true, false) => Settled::TimedOut,
        }
    }
}

/// Whether the document waits for something that it fetches. That it has come itself may be told after that it is loaded.
fn fetches(state: &PageState) -> bool {
    let (id, main) = (state.frames.main_id(), state.frames.main());
    let since = match &main.loader {
        Some(loader) => state.requests.since_document(id, loader),
        None => RequestMark::default(),
    };
    state.requests.busy(&since)
}

fn interruption(state: &PageState) -> Option<Settled> {
    if state.is_held() {
        Some(Settled::Dialog)
    } else if state.file_chooser.is_some() {
        Some(Settled::FileChooser)
    } else {
        None
    }
}

fn milliseconds(duration: Duration) -> u64 {
    duration.as_millis().try_into().unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
