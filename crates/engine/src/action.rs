//! Actions on elements: find the element, wait until it is actionable, compute the point, act, verify.
//!
//! Each attempt resolves the element again; attempts continue until one succeeds or the deadline passes. The timeout error has the last
//! failed check as `obstacle`, and the attempts as its log. A dialog that an action opens ends the action successfully.

mod aim;
mod drag;
mod files;
mod fill;
mod gesture;
mod interceptor;
mod keyboard;
mod pointer;
mod scroll;
mod select;

pub use files::{InputFile, Payload};
pub use gesture::HeldInput;
pub use pointer::Click;

use crate::backend::FrameId;
use crate::error::{Error, Result};
use crate::locator::{Element, Locator};
use crate::page::Page;
use crate::progress::Progress;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::time::Duration;

/// Short intervals first.
const RETRY_INTERVALS: [Duration; 5] = [
    Duration::ZERO,
    Duration::from_millis(20),
    Duration::from_millis(100),
    Duration::from_millis(100),
    Duration::from_millis(500),
];

/// The shortest interval between attempts in a document that changes permanently.
const MIN_RETRY_INTERVAL: Duration = Duration::from_millis(100);

/// The attempts of one action on one target.
pub(crate) struct Tries<'a> {
    locator: &'a Locator,
    progress: &'a Progress,
    /// The name of the action in call logs.
    action: &'static str,
    failed: usize,
    shown: Option<String>,
    /// The frame in which the element was found last.
    place: Option<(Page, FrameId)>,
    /// Whether the last attempt sent input that reached another element.
    missed: bool,
}

impl<'a> Tries<'a> {
    pub(crate) fn of(locator: &'a Locator, progress: &'a Progress, action: &'static str) -> Self {
        progress.log(format!("waiting for {locator}"));
        Self {
            locator,
            progress,
            action,
            failed: 0,
            shown: None,
            place: None,
            missed: false,
        }
    }

    /// Returns the number of failed attempts.
    pub(crate) fn attempts(&self) -> usize {
        self.failed
    }

    /// Resolves the element for this attempt.
    pub(crate) async fn element(&mut self) -> Result<Element> {
        let element = self.locator.find().await?;
        self.record_element(&element);
        Ok(element)
    }

    /// Resolves the element for this attempt, and calls an injected function on it, in one round trip. `steps` are logged before the result
    /// is evaluated.
    pub(crate) async fn find_and_call<T: DeserializeOwned>(
        &mut self,
        function: &str,
        argument: &Value,
        step: impl FnOnce() -> Option<String>,
    ) -> Result<(Element, T)> {
        let (element, answer) = self.locator.find_and_call(function, argument).await?;
        self.record_element(&element);
        if let Some(step) = step() {
            self.note(step);
        }
        Ok((element, answer?))
    }

    fn record_element(&mut self, element: &Element) {
        self.place = Some((element.page.clone(), element.frame.clone()));
        if self.shown.as_ref() != Some(&element.preview) {
            self.progress
                .detail(format!("locator resolved to {}", element.preview));
            if self.shown.is_none() {
                self.progress
                    .log(format!("attempting {} action", self.action));
            }
            self.shown = Some(element.preview.clone());
        }
    }

    /// Waits before the next attempt, if the error permits one.
    pub(crate) async fn wait_before_retry(&mut self, error: Error) -> Result<()> {
        let never_found = self.shown.is_none() && matches!(error, Error::ElementNotFound { .. });
        if !error.transient() || (never_found && !self.locator.waits_for_element()) {
            return Err(error);
        }
        let pause = RETRY_INTERVALS[self.failed.min(RETRY_INTERVALS.len() - 1)];
        self.failed += 1;
        if never_found {
            self.progress.set_obstacle(error);
            tokio::time::sleep(pause.min(MIN_RETRY_INTERVAL)).await;
            return Ok(());
        }
        self.progress.detail(match &error {
            Error::NotActionable { obstacle, .. } => obstacle.to_string(),
            error => error.to_string(),
        });
        self.progress
            .detail(format!("retrying {} action", self.action));
        self.progress.set_obstacle(error);
        if !pause.is_zero() {
            self.progress
                .detail(format!("waiting {}ms", pause.as_millis()));
        }
        match &self.place {
            Some((page, frame)) if pause > MIN_RETRY_INTERVAL => {
                // A change of the document ends the wait early.
                let argument = json!({ "limit": ms(pause) });
                let change = async {
                    if page
                        .call::<()>(frame, "nextChange", &argument)
                        .await
                        .is_err()
                    {
                        std::future::pending::<()>().await;
                    }
                };
                let early = async { tokio::join!(tokio::time::sleep(MIN_RETRY_INTERVAL), change) };
                let _ = tokio::time::timeout(pause, early).await;
            }
            _ => tokio::time::sleep(pause).await,
        }
        Ok(())
    }

    pub(crate) fn note(&self, step: impl std::fmt::Display) {
        self.progress.detail(step);
    }
}

fn ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Repeats `$body` until it succeeds, fails permanently, or the deadline passes.
macro_rules! until_done {
    ($tries:ident, $progress:expr, $body:block) => {
        $progress
            .run(async {
                loop {
                    let done = async { $body }.await;
                    match done {
                        Ok(done) => return Ok(done),
                        Err(error) => $tries.wait_before_retry(error).await?,
                    }
                }
            })
            .await
    };
}
pub(crate) use until_done;

#[cfg(test)]
mod tests;
