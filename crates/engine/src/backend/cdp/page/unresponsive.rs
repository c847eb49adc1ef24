//! Detection and termination of unresponsive pages.

use super::CdpPage;
use crate::backend::scripts::clear_timers;
use crate::backend::{FrameId, PageEvent, Unresponsive};
use crate::error::Result;
use async_trait::async_trait;
use wire::cdp::browser::GetVersion;
use wire::cdp::{page, runtime};

#[async_trait]
impl Unresponsive for CdpPage {
    async fn check_responsive(&self, frame: &FrameId) -> Result<()> {
        let session = self.session_for(frame)?;
        let evaluate = runtime::Evaluate {
            expression: "0".to_owned(),
            silent: Some(true),
            ..Default::default()
        };
        match session.call(&evaluate).await {
            // A document without scripts returns an error, which is a response too.
            Ok(_) | Err(wire::Error::Protocol { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    async fn check_browser_responsive(&self) -> Result<()> {
        let browser = self.session.connection().root();
        Ok(browser.call(&GetVersion {}).await.map(drop)?)
    }

    fn terminate_execution(&self, frame: &FrameId) {
        if let Ok(session) = self.session_for(frame) {
            session.post(&runtime::TerminateExecution {});
        }
    }

    async fn wait_for_termination(&self, frame: &FrameId) -> Result<()> {
        let session = self.session_for(frame)?;
        match session.call(&runtime::TerminateExecution {}).await {
            Ok(_) | Err(wire::Error::Protocol { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn stop_timers(&self, frame: &FrameId) {
        // The isolated world is used because the page cannot replace its functions.
        let Some(world) = self.worlds().isolated(frame) else {
            return;
        };
        if let Ok(session) = self.session_for(frame) {
            session.post(&runtime::Evaluate {
                expression: clear_timers(1_000_000),
                unique_context_id: Some(world.unique.to_string()),
                silent: Some(true),
                ..Default::default()
            });
        }
    }

    fn end_renderer(&self) {
        self.session.post(&page::Crash {});
        self.report(PageEvent::Crashed);
    }
}
