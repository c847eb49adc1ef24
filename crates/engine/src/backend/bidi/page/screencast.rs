//! The screencast of a page, whose frames are polled: WebDriver BiDi has no event for them.

use super::BidiPage;
use crate::backend::screencast::QUALITY;
use crate::backend::{Screencast, ScreencastSender};
use crate::error::Result;
use async_trait::async_trait;
use std::sync::Arc;
use wire::bidi::browsing_context::{CaptureScreenshot, ImageFormat};

#[async_trait]
impl Screencast for BidiPage {
    async fn start_screencast(&self, frames: ScreencastSender) -> Result<()> {
        let (parts, context) = (Arc::downgrade(&self.parts), self.name());
        self.polling.start(frames, move || {
            let captured = parts.upgrade()?.root.send(&CaptureScreenshot {
                context: context.clone(),
                origin: "viewport",
                format: ImageFormat {
                    kind: "image/jpeg",
                    quality: Some(f64::from(QUALITY) / 100.0),
                },
                clip: None,
            });
            Some(async move { Ok(captured.await?.data.0) })
        });
        Ok(())
    }

    fn stop_screencast(&self) {
        self.polling.stop();
    }
}
