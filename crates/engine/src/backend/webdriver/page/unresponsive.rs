//! Detecting a page that does not respond, and ending it.

use super::WebDriverPage;
use crate::backend::{FrameId, Navigation, PageEvent, Unresponsive};
use crate::error::{Error, Result};
use crate::task;
use async_trait::async_trait;

#[async_trait]
impl Unresponsive for WebDriverPage {
    async fn check_responsive(&self, frame: &FrameId) -> Result<()> {
        match self.run_raw(frame, "return 1".to_owned(), vec![]).await {
            Ok(_) | Err(Error::DocumentGone {} | Error::DialogOpen {} | Error::Script { .. }) => {
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    async fn check_browser_responsive(&self) -> Result<()> {
        self.context()?.windows().await.map(drop)
    }

    /// Only the end of a page ends a script in WebKit.
    fn terminate_execution(&self, _frame: &FrameId) {}

    async fn wait_for_termination(&self, frame: &FrameId) -> Result<()> {
        self.stop_loading();
        self.check_responsive(frame).await
    }

    fn stop_timers(&self, _frame: &FrameId) {
        self.run_in_background(
            "for (let last = setTimeout(String), id = last; id > Math.max(0, last - 1e5); id--) clearTimeout(id); return 1",
        );
    }

    fn end_renderer(&self) {
        if let Some(page) = self.itself() {
            task::spawn("ending a page", async move {
                let closed = match page.context() {
                    Ok(context) => context.end_window(&page).await,
                    Err(gone) => Err(gone),
                };
                tracing::debug!(?closed, "a page that did not answer");
            })
            .detach();
        }
        self.report(PageEvent::Crashed);
    }
}
