//! The check that the pointer events of an action reach its target. The injected script makes it when the first event arrives, and prevents
//! the events of a pressed button that reach another element.

use crate::backend::FrameId;
use crate::error::{Error, Obstacle, Result};
use crate::locator::Element;
use crate::page::Page;
use futures_util::future::join_all;
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Duration;
use task::spawn;

/// How long a page may take to report whether the events reached the target. A page that is busy for longer responds to the action.
const REPORT_TIMEOUT: Duration = Duration::from_secs(2);

/// The element that receives an event instead of the target, and its ancestor that covers the target, if that is another one.
#[derive(Deserialize)]
pub(super) struct Cover {
    cover: String,
    from: Option<String>,
}

impl From<Cover> for Obstacle {
    fn from(Cover { cover, from }: Cover) -> Self {
        Self::Covered(match from {
            Some(from) => format!("{cover} from {from} subtree"),
            None => cover,
        })
    }
}

/// The interception in the documents of the target and of the frames around it. Dropped before its end, it ends in a task of its own.
pub(super) struct Interceptor {
    page: Page,
    /// The target and the owner elements of its frames, each with the number of documents that its frame has shown.
    watched: Vec<(Element, u64)>,
}

impl Interceptor {
    pub(super) fn none(page: &Page) -> Self {
        Self {
            page: page.clone(),
            watched: Vec::new(),
        }
    }

    /// Adds an element whose document intercepts events.
    pub(super) fn add(&mut self, element: Element) {
        let shown = self.commits(&element.frame);
        self.watched.push((element, shown));
    }

    /// Fails if the events did not reach the target, and continues to intercept them.
    pub(super) async fn check(&self) -> Result<()> {
        self.report("missed").await
    }

    /// Fails like [`Self::check`], and ends the interception.
    pub(super) async fn end(mut self) -> Result<()> {
        let reported = self.report("stopInterceptor").await;
        self.watched.clear();
        reported
    }

    /// Calls a function of the interceptor in each document. A document that does not respond was replaced by the action or is blocked by
    /// its effects, so the events reached it.
    async fn report(&self, function: &str) -> Result<()> {
        let reports = self.watched.iter().map(async |(element, shown)| {
            if self.commits(&element.frame) != *shown || self.page.state().is_blocked_by_dialog() {
                return Ok(());
            }
            let report = element.call::<Option<Cover>>(function, json!({}));
            match tokio::time::timeout(REPORT_TIMEOUT, report).await {
                Ok(Ok(Some(cover))) => Err(element.not_actionable(cover.into())),
                Ok(Err(detached @ Error::NotActionable { .. })) => Err(detached),
                _ => Ok(()),
            }
        });
        join_all(reports).await.into_iter().collect()
    }

    fn commits(&self, frame: &FrameId) -> u64 {
        let state = self.page.state();
        state.frames.get(frame).map_or(0, |frame| frame.commits)
    }
}

impl Drop for Interceptor {
    fn drop(&mut self) {
        if self.page.is_closed() || tokio::runtime::Handle::try_current().is_err() {
            return;
        }
        for (element, _) in self.watched.drain(..) {
            let backend = self.page.backend.clone();
            spawn("stop interceptor", async move {
                // Not subject to an open dialog: the browser executes the command when it is closed.
                let stopped = backend.call(&element.frame, "stopInterceptor", &Value::Null);
                let _ = tokio::time::timeout(REPORT_TIMEOUT, stopped).await;
            })
            .detach();
        }
    }
}
