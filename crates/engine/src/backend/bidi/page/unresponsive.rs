//! Detection and termination of unresponsive pages.

use super::BidiPage;
use super::evaluation::sandbox_target;
use crate::backend::scripts::clear_timers;
use crate::backend::{FrameId, Navigation, PageEvent, Unresponsive};
use crate::error::{Error, Result};
use async_trait::async_trait;
use wire::bidi::browsing_context::Close;
use wire::bidi::script::CallFunction;
use wire::bidi::session::Status;

#[async_trait]
impl Unresponsive for BidiPage {
    async fn check_responsive(&self, frame: &FrameId) -> Result<()> {
        let call = self.root().send(&CallFunction {
            function_declaration: "() => 0".to_owned(),
            await_promise: false,
            target: sandbox_target(frame),
            arguments: vec![],
            user_activation: None,
            serialization_options: None,
        });
        let document = self.document_of(frame)?;
        tokio::select! {
            biased;
            answer = call => match answer {
                Ok(_) | Err(wire::Error::Refused { .. }) => Ok(()),
                Err(error) => Err(error.into()),
            },
            left = self.document_replaced(frame, document) => match left {
                // The document was replaced, so the page is responsive.
                Error::DocumentGone {} => Ok(()),
                other => Err(other),
            },
        }
    }

    async fn check_browser_responsive(&self) -> Result<()> {
        Ok(self.root().call(&Status {}).await.map(drop)?)
    }

    /// Firefox has no command to terminate execution. A script ends only with its page.
    fn terminate_execution(&self, _frame: &FrameId) {}

    async fn wait_for_termination(&self, frame: &FrameId) -> Result<()> {
        self.stop_loading();
        self.check_responsive(frame).await
    }

    fn stop_timers(&self, frame: &FrameId) {
        self.run_in_background(&clear_timers(100_000), frame);
    }

    fn end_renderer(&self) {
        self.root().post(&Close {
            context: self.name(),
            prompt_unload: Some(false),
        });
        self.report(PageEvent::Crashed);
    }
}
