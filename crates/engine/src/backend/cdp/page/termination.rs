//! Whether a page's scripts still give way, and what ends them if they do not.

use super::CdpPage;
use crate::backend::{FrameId, PageEvent};
use crate::error::Result;
use wire::cdp::{page, runtime};

/// Timers are numbered one after the other; a page that had more than this many keeps the oldest.
const STOP_TIMERS: &str = "for (let last = setTimeout(String), id = last; id > Math.max(0, last - 1e6); id--) clearTimeout(id)";

impl CdpPage {
    pub(super) async fn check_script_execution(&self, frame: &FrameId) -> Result<()> {
        let session = self.session_for(frame)?;
        let asked = runtime::Evaluate {
            expression: "0".to_owned(),
            silent: Some(true),
            ..Default::default()
        };
        match session.call(&asked).await {
            // A document without scripts refuses, which is an answer.
            Ok(_) | Err(wire::Error::Protocol { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    pub(super) fn terminate(&self, frame: &FrameId) {
        if let Ok(session) = self.session_for(frame) {
            drop(session.send(&runtime::TerminateExecution {}));
        }
    }

    pub(super) async fn terminated(&self, frame: &FrameId) -> Result<()> {
        let halted = self.session_for(frame)?;
        match halted.call(&runtime::TerminateExecution {}).await {
            Ok(_) | Err(wire::Error::Protocol { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    pub(super) fn clear_timers(&self, frame: &FrameId) {
        // In our world, where the functions are the browser's own.
        let Some(world) = self.worlds().isolated(frame) else {
            return;
        };
        if let Ok(session) = self.session_for(frame) {
            drop(session.send(&runtime::Evaluate {
                expression: STOP_TIMERS.to_owned(),
                unique_context_id: Some(world.unique.to_string()),
                silent: Some(true),
                ..Default::default()
            }));
        }
    }

    pub(super) fn crash(&self) {
        drop(self.session.send(&page::Crash {}));
        self.report(PageEvent::Crashed);
    }
}
