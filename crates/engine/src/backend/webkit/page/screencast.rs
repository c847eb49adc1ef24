//! The screencast of a page, whose frames are polled: WebKit's inspector has no event for them.

use super::WebKitPage;
use crate::backend::image::convert;
use crate::backend::screencast::QUALITY;
use crate::backend::{Screencast, ScreencastSender, Screenshot, ScreenshotFormat};
use crate::error::{Error, Result};
use async_trait::async_trait;
use task::compute;

#[async_trait]
impl Screencast for WebKitPage {
    async fn start_screencast(&self, frames: ScreencastSender) -> Result<()> {
        let page = self.itself.clone();
        self.screencast.start(frames, move || {
            let page = page.upgrade()?;
            Some(async move {
                let png = page.capture_frame().await?;
                drop(page);
                let options = Screenshot {
                    format: ScreenshotFormat::Jpeg,
                    quality: Some(QUALITY),
                    css_scale: false,
                    ..Screenshot::default()
                };
                compute(move || convert(&png, None, 1.0, &options))
                    .await
                    .map_err(|error| Error::protocol("screencast", error))
            })
        });
        Ok(())
    }

    fn stop_screencast(&self) {
        self.screencast.stop();
    }
}
