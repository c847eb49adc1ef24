//! Loading documents: by URL, again, and from the history.

use super::rescue::PATIENCE;
use super::{Page, PageState};
use crate::backend::LoaderId;
use crate::error::{Error, Result};
use crate::frame::Frame;
use crate::progress::Progress;
use std::time::Duration;

/// The network stack's word for a navigation that was given up, by whomever.
const ABORTED: &str = "net::ERR_ABORTED";
/// Its word for a request that was refused, by whomever.
const REFUSED: &str = "net::ERR_BLOCKED_BY_CLIENT";
/// How long the browser may take to tell what became of a navigation that is decided.
const TOLD: Duration = Duration::from_secs(1);

/// How far a navigation must have come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LoadState {
    /// The document is shown.
    Committed,
    /// The document was parsed.
    DomContentLoaded,
    /// The document and all it loads is there.
    Loaded,
}

/// What a navigation has led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Landing {
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
struct Before {
    navigations: u64,
    commits: u64,
    moves: u64,
}

impl Page {
    /// Loads `url` and waits until it has come as far as `until`. Where the document stays (a download, a 204, a fragment) it is done at once.
    ///
    /// A dialog that opens meanwhile ends the waiting: with `DialogOpen` if the document has not changed yet.
    ///
    /// A navigation that is given up before there is a document is ended: the page could do nothing else while it waits for it.
    pub async fn goto(&self, progress: &Progress, url: &str, until: LoadState) -> Result<Landing> {
        let gone = progress
            .run(async {
                progress.log(format!(
                    "navigating to \"{url}\", waiting until \"{until}\""
                ));
                let before = self.before().await?;
                let navigated = self.unless_interrupted(self.backend.navigate(url));
                match self.leaving(before, navigated).await {
                    Ok(Some(loader)) => {
                        let shown = |main: &Frame| main.has_shown(&loader);
                        let arrived = self.arrived(before, Some(&loader), shown, until);
                        self.leaving(before, arrived).await
                    }
                    Ok(None) => {
                        let told = self.until(|state| {
                            let main = state.frames.main();
                            let ended = main.navigations > before.navigations
                                && main.pending.is_none();
                            ended || main.moves > before.moves
                        });
                        let _ = tokio::time::timeout(TOLD, told).await;
                        if self.is_crashed() {
                            return Err(Error::NavigationFailed {
                                url: url.to_owned(),
                                reason: ABORTED.to_owned(),
                            });
                        }
                        Ok(before.stayed(&self.state()).unwrap_or(Landing::Shown))
                    }
                    Err(error) => {
                        let shows_why = matches!(&error, Error::NavigationFailed { reason, .. } if reason != ABORTED);
                        if shows_why {
                            // The browser's own page about it replaces the document a little later.
                            let shown = self.until(|state| {
                                let main = state.frames.main();
                                main.commits > before.commits && main.loaded
                            });
                            let _ = tokio::time::timeout(TOLD, shown).await;
                        }
                        Err(error)
                    }
                }
            })
            .await;
        let gone = gone.map_err(|error| self.with_rule(error));
        if matches!(gone, Err(Error::Timeout { .. }))
            && self.state().frames.main().pending.is_some()
        {
            self.backend.stop_loading();
        }
        gone
    }

    /// Loads the document again.
    pub async fn reload(
        &self,
        progress: &Progress,
        ignore_cache: bool,
        until: LoadState,
    ) -> Result<Landing> {
        progress
            .run(async {
                let before = self.before().await?;
                let reloaded = async {
                    self.unless_interrupted(self.backend.reload(ignore_cache))
                        .await?;
                    let shown = |main: &Frame| main.commits > before.commits;
                    self.arrived(before, None, shown, until).await
                };
                self.leaving(before, reloaded).await
            })
            .await
    }

    /// Moves in the history by `delta`; false when there is no entry there.
    pub async fn go(&self, progress: &Progress, delta: i32, until: LoadState) -> Result<bool> {
        progress
            .run(async {
                let before = self.before().await?;
                let gone = async {
                    if !self.unless_interrupted(self.backend.go(delta)).await? {
                        return Ok(false);
                    }
                    // An entry of the same document changes the URL at most.
                    let shown =
                        |main: &Frame| main.commits > before.commits || main.moves > before.moves;
                    self.arrived(before, None, shown, until).await?;
                    Ok(true)
                };
                self.leaving(before, gone).await
            })
            .await
    }

    /// Waits until the document that is shown has come as far as `until`, at most `limit`; whether it did. A dialog,
    /// which holds the document up for as long as it is open, ends the waiting.
    pub async fn wait_for_load(&self, until: LoadState, limit: Duration) -> bool {
        let over = self.until(|state| reached(state, until) || state.is_held());
        let over = tokio::time::timeout(limit, over).await;
        matches!(over, Ok(Ok(()))) && reached(&self.state(), until)
    }

    /// The rule by which the page may not request an address, in words.
    pub(crate) fn refusal(&self, url: &str) -> Option<String> {
        self.shared.origins.refusal(url)
    }

    /// A request that our rules refused, with the rule; perhaps it was one that the URL redirects to.
    fn with_rule(&self, error: Error) -> Error {
        let Error::NavigationFailed { url, reason } = &error else {
            return error;
        };
        if reason != REFUSED {
            return error;
        }
        let asked = self.requests().into_iter().rev().map(|request| request.url);
        let refused = std::iter::once(url.clone()).chain(asked).find_map(|url| {
            let rule = self.refusal(&url)?;
            Some(Error::OriginBlocked { url, rule })
        });
        refused.unwrap_or(error)
    }

    async fn before(&self) -> Result<Before> {
        self.alive()?;
        // Once the navigation has been asked for, no script of the old document can be halted any more.
        self.ready_to_leave().await?;
        // What the last call caused is not to be taken for what this one does. An endless script may begin this very moment.
        match tokio::time::timeout(PATIENCE, self.backend.flush()).await {
            Ok(flushed) => flushed?,
            Err(_) => self.ready_to_leave().await?,
        }
        let state = self.state();
        let main = state.frames.main();
        Ok(Before {
            navigations: main.navigations,
            commits: main.commits,
            moves: main.moves,
        })
    }

    /// Runs a navigation; a script of the document that is left does not hold it up for ever.
    async fn leaving<T>(
        &self,
        before: Before,
        navigation: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        tokio::select! {
            biased;
            done = navigation => done,
            hung = self.kept_leaving(|state| before.is_held_up(state)) => Err(hung),
        }
    }

    /// Waits until `shown` holds and the document has come as far as `until`, or the navigation has come to nothing.
    async fn arrived(
        &self,
        before: Before,
        loader: Option<&LoaderId>,
        mut shown: impl FnMut(&Frame) -> bool + Send,
        until: LoadState,
    ) -> Result<Landing> {
        let mut verdict = Ok(Landing::Shown);
        self.until(|state| {
            let main = state.frames.main();
            let shown = shown(main);
            if state.is_held() {
                verdict = if shown {
                    Ok(Landing::Shown)
                } else {
                    Err(Error::DialogOpen {})
                };
                return true;
            }
            if !shown && let Some(reason) = came_to_nothing(main, before, loader) {
                // A download or a 204: the document stays, which is no failure.
                verdict = match reason {
                    "" | ABORTED => Ok(Landing::Stayed {
                        status: status_of_ended(state),
                    }),
                    reason => Err(Error::NavigationFailed {
                        url: main.url.clone(),
                        reason: reason.to_owned(),
                    }),
                };
                return true;
            }
            shown && reached(state, until)
        })
        .await?;
        verdict
    }
}

impl Before {
    /// Whether a navigation ended since, without another document.
    fn stayed(&self, state: &PageState) -> Option<Landing> {
        let main = state.frames.main();
        let ended = main.navigations > self.navigations && main.commits == self.commits;
        ended.then(|| Landing::Stayed {
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
fn came_to_nothing<'a>(
    main: &'a Frame,
    before: Before,
    loader: Option<&LoaderId>,
) -> Option<&'a str> {
    let (ended, reason) = main.aborted.as_ref()?;
    let ours = match (loader, ended) {
        (Some(ours), Some(ended)) => ours == ended,
        _ => main.navigations > before.navigations,
    };
    (ours && main.commits == before.commits).then_some(reason)
}

fn reached(state: &PageState, until: LoadState) -> bool {
    let main = state.frames.main();
    match until {
        LoadState::Committed => main.commits > 0,
        LoadState::DomContentLoaded => main.parsed,
        LoadState::Loaded => main.loaded,
    }
}

impl std::fmt::Display for LoadState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Committed => "commit",
            Self::DomContentLoaded => "domcontentloaded",
            Self::Loaded => "load",
        })
    }
}
