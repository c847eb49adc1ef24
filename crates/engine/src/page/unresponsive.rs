//! Unresponsive pages: preparing their navigation, and terminating scripts of the caller that do not end.

use super::{Page, PageState};
use crate::backend::{DialogKind, FrameId, Handle};
use crate::error::{Error, Result};
use crate::progress::Progress;
use serde_json::Value;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};

/// How long an idle page may take to respond.
const PROBE_TIMEOUT: Duration = Duration::from_millis(250);
/// How long an unresponsive browser excuses its page.
const BROWSER_STALL_TIMEOUT: Duration = Duration::from_secs(10);
/// How many times a script is terminated before the renderer is ended.
const MAX_TERMINATIONS: u32 = 4;
/// The number of consecutive dialogs before a navigation; after those, the script that opens them is terminated.
const MAX_DISMISSED_DIALOGS: u32 = 2;
/// The number of further dialogs before the page is ended.
const MAX_FURTHER_DIALOGS: u32 = 20;
/// The number of popups of a page after which more are expected.
const MAX_EXPECTED_POPUPS: usize = 8;

impl Page {
    /// Prepares the navigation of a page with a dialog: dismisses its dialogs, and terminates a script that keeps it unresponsive. Fails
    /// with `PageHung` if the renderer had to be ended. A page without a dialog is not changed: the navigation detects whether it responds.
    pub async fn prepare_to_leave(&self, progress: &Progress) -> Result<()> {
        if self.opens_without_end().await {
            // While its script opens a window, the page does not respond reliably and its script cannot be terminated.
            self.backend.end_renderer();
            // Popups that do not close are ignored.
            let _ = timeout(
                self.response_timeout() * MAX_TERMINATIONS,
                self.close_popups(progress),
            )
            .await;
            return Err(Error::PageHung {});
        }
        if self.dialog().is_none() {
            return Ok(());
        }
        for dialogs in 0..MAX_DISMISSED_DIALOGS + MAX_FURTHER_DIALOGS {
            if self.dialog().is_some() {
                let main = self.main_frame();
                if dialogs >= MAX_DISMISSED_DIALOGS {
                    self.backend.terminate_execution(&main);
                }
                // A timer may open the next one.
                self.backend.stop_timers(&main);
                match self.answer_dialog(progress, false, None).await {
                    // The dialog was closed already.
                    Ok(()) | Err(Error::Protocol { .. }) => {}
                    Err(error) => return Err(error),
                }
            }
            match progress.run(self.ensure_responsive()).await {
                Err(Error::DialogOpen {}) => {}
                let_go => return let_go,
            }
        }
        Err(self.end())
    }

    /// Terminates the renderer process of a page that cannot be left otherwise; returns the error that says so.
    pub fn end(&self) -> Error {
        self.backend.end_renderer();
        Error::PageHung {}
    }

    /// Returns whether the page has opened too many windows, or has some and opens more.
    async fn opens_without_end(&self) -> bool {
        let opened = {
            let state = self.state();
            if state.opens_without_end || state.popups.len() < MAX_EXPECTED_POPUPS {
                return state.opens_without_end;
            }
            state.popups_opened
        };
        let goes_on = self.until(|state| state.opens_without_end || state.popups_opened > opened);
        matches!(timeout(self.response_timeout(), goes_on).await, Ok(Ok(())))
    }

    /// Returns how long a page may be busy before a navigation terminates its script.
    pub(super) fn response_timeout(&self) -> Duration {
        self.shared.timeouts.response
    }

    async fn close_popups(&self, progress: &Progress) {
        let popups = std::mem::take(&mut self.state().popups);
        let closing = popups.iter().map(|popup| popup.close(progress));
        drop(futures_util::future::join_all(closing).await);
    }

    /// Runs the caller's script in the page's default context; terminates it when cancelled.
    pub(crate) async fn run_script(
        &self,
        frame: &FrameId,
        expression: &str,
        element: Option<Handle>,
    ) -> Result<Option<Value>> {
        let evaluated = self.or_terminate(frame, self.backend.evaluate(frame, expression, element));
        let returned = evaluated.await;
        self.mask_passwords(frame, &returned).await;
        returned.map_err(Error::bounded)
    }

    /// Returns whether a script is valid in the main frame's document, without running it.
    pub(crate) async fn parses(&self, progress: &Progress, script: &str) -> Result<bool> {
        let main = self.main_frame();
        let reading = self.or_terminate(&main, self.backend.parses(&main, script));
        progress.run(reading).await
    }

    /// Runs a query that only an idle document answers; when cancelled, terminates the script that blocks it.
    pub(crate) async fn or_terminate<T>(
        &self,
        frame: &FrameId,
        asked: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        self.alive()?;
        let mut halting = TerminationGuard(Some((self.clone(), frame.clone())));
        let answer = self.unless_interrupted(asked).await;
        halting.0 = None;
        answer
    }

    /// Returns whether a script of the page opened a dialog; a beforeunload dialog is the browser's.
    pub fn has_script_dialog(&self) -> bool {
        self.dialog()
            .is_some_and(|dialog| dialog.kind != DialogKind::Beforeunload)
    }

    /// Waits until the renderer responds, and terminates its scripts if that takes long.
    pub(super) async fn ensure_responsive(&self) -> Result<()> {
        self.unless_interrupted(self.wait_until_responsive()).await
    }

    async fn wait_until_responsive(&self) -> Result<()> {
        let main = self.main_frame();
        if self.state().frames.main().pending.is_some() {
            // During a navigation to another document, the page executes no other commands.
            let in_vain = async {
                for _ in 0..MAX_TERMINATIONS {
                    self.grace_period_elapsed().await;
                }
            };
            tokio::select! {
                biased;
                answered = self.backend.wait_for_termination(&main) => return answered,
                () = in_vain => {}
            }
            return Err(self.end());
        }
        let mut answers = std::pin::pin!(self.backend.check_responsive(&main));
        for attempt in 0..=MAX_TERMINATIONS {
            if attempt > 0 {
                self.backend.stop_loading();
                self.backend.terminate_execution(&main);
                self.backend.stop_timers(&main);
            }
            tokio::select! {
                biased;
                answered = &mut answers => return answered,
                () = self.grace_period_elapsed() => {}
            }
        }
        self.backend.end_renderer();
        Err(Error::PageHung {})
    }

    /// Returns when the page had its time to respond. The time does not count while the browser itself is unresponsive, because the machine
    /// is busy or suspended.
    async fn grace_period_elapsed(&self) {
        let had = async {
            loop {
                sleep(self.response_timeout()).await;
                let asked = Instant::now();
                let answer = self.backend.check_browser_responsive().await;
                if answer.is_err() || asked.elapsed() < self.response_timeout() {
                    return;
                }
            }
        };
        let _ = timeout(BROWSER_STALL_TIMEOUT, had).await;
    }

    /// Returns whether the page was not the cause of a missing response: it responds now, or its browser is unresponsive. Returns after the
    /// browser responds again or its timeout has passed.
    pub async fn is_responsive_again(&self) -> bool {
        if self.alive().is_err() {
            return false;
        }
        let main = self.main_frame();
        if let Ok(answer) = timeout(PROBE_TIMEOUT, self.backend.check_responsive(&main)).await {
            return answer.is_ok();
        }
        let mut browser = std::pin::pin!(self.backend.check_browser_responsive());
        if timeout(PROBE_TIMEOUT, &mut browser).await.is_ok() {
            return false;
        }
        matches!(timeout(BROWSER_STALL_TIMEOUT, browser).await, Ok(Ok(())))
    }

    /// Terminates scripts that delay the navigation. Returns only with the failure.
    pub(super) async fn force_leave(&self, held_up: impl Fn(&PageState) -> bool) -> Error {
        let mut held = 0;
        loop {
            self.grace_period_elapsed().await;
            if !held_up(&self.state()) {
                held = 0;
                continue;
            }
            if held == MAX_TERMINATIONS {
                self.backend.end_renderer();
                return Error::PageHung {};
            }
            held += 1;
            self.backend.terminate_execution(&self.main_frame());
        }
    }
}

/// Terminates the caller's script when it is cancelled, so that it does not block the page forever.
struct TerminationGuard(Option<(Page, FrameId)>);

impl Drop for TerminationGuard {
    fn drop(&mut self) {
        let Some((page, frame)) = self.0.take() else {
            return;
        };
        let halted = async move {
            // A script that only waits blocks nothing.
            let answers = page.backend.check_responsive(&frame);
            if timeout(page.response_timeout() / 4, answers).await.is_err() {
                page.backend.terminate_execution(&frame);
            }
        };
        task::spawn("halting a script", halted).detach();
    }
}
