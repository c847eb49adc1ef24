//! A page that does not answer: what can be done before it is left, and after a script of the caller that never ended.

use super::{Page, PageState};
use crate::backend::{DialogKind, FrameId, Handle};
use crate::error::{Error, Result};
use crate::progress::Progress;
use serde_json::Value;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};

/// How long it takes to answer for what is not busy.
const PROBE_TIMEOUT: Duration = Duration::from_millis(250);
/// How long a browser that stands still itself is an excuse for its page.
const BROWSER_STALL_TIMEOUT: Duration = Duration::from_secs(10);
/// How often a script is halted before the renderer is ended.
const MAX_TERMINATIONS: u32 = 4;
/// How many dialogs in a row a page may open that is to be left; from then on the script behind them is halted.
const MAX_DISMISSED_DIALOGS: u32 = 2;
/// How many more before the page is given up.
const MAX_FURTHER_DIALOGS: u32 = 20;
/// A page that has opened so many windows may be about to open more.
const MAX_EXPECTED_POPUPS: usize = 8;

impl Page {
    /// Gets a page with a dialog ready to be left: its dialogs are dismissed, and a script that keeps it from answering is halted.
    /// Fails with `PageHung` once nothing was left but to end the renderer. One without a dialog is left as it is: whether it answers
    /// is seen by whatever takes it elsewhere.
    pub async fn prepare_to_leave(&self, progress: &Progress) -> Result<()> {
        if self.opens_without_end().await {
            // While its script opens a window it stands still, and neither answers truly nor can be halted.
            self.backend.end_renderer();
            // Those that do not go are left as they are.
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
                // The next one may come by a timer.
                self.backend.stop_timers(&main);
                match self.answer_dialog(progress, false, None).await {
                    // It has gone by itself.
                    Ok(()) | Err(Error::Protocol { .. }) => {}
                    Err(error) => return Err(error),
                }
            }
            match progress.run(self.ensure_responsive()).await {
                Err(Error::DialogOpen {}) => {}
                let_go => return let_go,
            }
        }
        self.backend.end_renderer();
        Err(Error::PageHung {})
    }

    /// Whether the page has opened more windows than it may, or has some and goes on.
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

    /// How long a page that is to be left may work before its script is terminated.
    pub(super) fn response_timeout(&self) -> Duration {
        self.shared.timeouts.response
    }

    async fn close_popups(&self, progress: &Progress) {
        let popups = std::mem::take(&mut self.state().popups);
        let closing = popups.iter().map(|popup| popup.close(progress));
        drop(futures_util::future::join_all(closing).await);
    }

    /// Runs the caller's script in the page's own world; one that is given up is halted.
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

    /// Whether a script is one to the main frame's document: it is read, and not run.
    pub async fn parses(&self, progress: &Progress, script: &str) -> Result<bool> {
        let main = self.main_frame();
        let reading = self.or_terminate(&main, self.backend.parses(&main, script));
        progress.run(reading).await
    }

    /// Asks what only a document that is not busy answers; what keeps one busy that is given up is halted.
    async fn or_terminate<T>(
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

    /// Whether a script of the page opened a dialog; one that asks whether to leave the page is the browser's.
    pub fn has_script_dialog(&self) -> bool {
        self.dialog()
            .is_some_and(|dialog| dialog.kind != DialogKind::Beforeunload)
    }

    /// Waits until the renderer answers, by force where that takes long.
    pub(super) async fn ensure_responsive(&self) -> Result<()> {
        self.unless_interrupted(self.wait_until_responsive()).await
    }

    async fn wait_until_responsive(&self) -> Result<()> {
        let main = self.main_frame();
        if self.state().frames.main().pending.is_some() {
            // On its way to another document it answers nothing else.
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
            self.backend.end_renderer();
            return Err(Error::PageHung {});
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

    /// Returns once the page has had its time to answer, which it has not while the browser itself stands still: when the machine is
    /// busy, or has stopped it.
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

    /// Whether it was no fault of the page's that it has not answered in time: it does so now, or its browser stands still. Returns once
    /// that goes on, or has had its time for it.
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

    /// While the document is to be left: halts what keeps it from going. Never returns but with the failure.
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

/// Halts the caller's script when it is given up, so that it does not hold the page for ever.
struct TerminationGuard(Option<(Page, FrameId)>);

impl Drop for TerminationGuard {
    fn drop(&mut self) {
        let Some((page, frame)) = self.0.take() else {
            return;
        };
        let halted = async move {
            // A script that merely waits for something holds nobody up.
            let answers = page.backend.check_responsive(&frame);
            if timeout(page.response_timeout() / 4, answers).await.is_err() {
                page.backend.terminate_execution(&frame);
            }
        };
        task::spawn("halting a script", halted).detach();
    }
}
