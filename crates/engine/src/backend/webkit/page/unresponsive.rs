//! Detecting a page that does not respond, and ending it.

use super::WebKitPage;
use crate::backend::scripts::clear_timers;
use crate::backend::{FrameId, Navigation, PageEvent, Unresponsive};
use crate::error::{Error, Result};
use async_trait::async_trait;

#[async_trait]
impl Unresponsive for WebKitPage {
    async fn check_responsive(&self, frame: &FrameId) -> Result<()> {
        match self.run(frame, "() => 1", &[]).await {
            Ok(_) | Err(Error::DocumentGone {} | Error::DialogOpen {} | Error::Script { .. }) => {
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    async fn check_browser_responsive(&self) -> Result<()> {
        self.parts.targets.windows().await.map(drop)
    }

    /// WebKit ends a script only with its page.
    fn terminate_execution(&self, _frame: &FrameId) {}

    async fn wait_for_termination(&self, frame: &FrameId) -> Result<()> {
        self.stop_loading();
        self.check_responsive(frame).await
    }

    fn stop_timers(&self, _frame: &FrameId) {
        self.run_in_background(format!("() => {{ {} }}", clear_timers(100_000)));
    }

    fn end_renderer(&self) {
        self.close_in_background();
        self.report(PageEvent::Crashed);
    }
}
