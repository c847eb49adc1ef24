//! The frames that a page shows, for any number of subscribers.

use super::Page;
use crate::backend::screencast::QUALITY;
use crate::backend::{ScreencastFrame, ScreencastSender, Screenshot, ScreenshotFormat};
use crate::error::Result;
use crate::progress::Progress;
use std::sync::{Arc, PoisonError};
use std::time::Duration;
use tokio::sync::watch;

/// The screencast of a page that runs.
pub(super) struct RunningScreencast {
    frames: ScreencastSender,
    /// The number of subscribers.
    users: usize,
}

/// The frames of a page from the subscription on. The page sends frames while there is a subscriber.
#[derive(Debug)]
pub struct Screencast {
    page: Page,
    frames: watch::Receiver<Option<ScreencastFrame>>,
}

impl Screencast {
    /// Returns the newest frame, unless it was returned before; then waits for the next one. Frames between two calls are skipped. `None`
    /// when the page is closed or has crashed. Cancel-safe.
    pub async fn next(&mut self) -> Option<ScreencastFrame> {
        loop {
            tokio::select! {
                biased;
                changed = self.frames.changed() => changed.ok()?,
                () = self.page.wait(|state| state.alive().is_err()) => return None,
            }
            if let Some(frame) = self.frames.borrow_and_update().clone() {
                return Some(frame);
            }
        }
    }

    /// Returns what the page shows now as JPEG. `None` if the page is closed, has crashed, or takes longer.
    pub(crate) async fn capture(&self, timeout: Duration) -> Option<Arc<[u8]>> {
        let jpeg = self.capture_as(ScreenshotFormat::Jpeg, timeout, 1.0).await;
        jpeg.map(Arc::from)
    }

    /// Returns what the page shows now as WebP, smaller by a factor.
    pub(crate) async fn capture_webp(&self, timeout: Duration, shrink: f64) -> Option<Vec<u8>> {
        let webp = self.capture_as(ScreenshotFormat::Webp, timeout, shrink);
        webp.await
    }

    async fn capture_as(
        &self,
        format: ScreenshotFormat,
        timeout: Duration,
        shrink: f64,
    ) -> Option<Vec<u8>> {
        let screenshot = Screenshot {
            format,
            quality: Some(QUALITY),
            shrink,
            ..Screenshot::default()
        };
        let progress = Progress::new(timeout);
        self.page.screenshot(&progress, &screenshot).await.ok()
    }
}

impl Page {
    /// Subscribes to the frames of the viewport: the present one, then those of changes.
    pub async fn screencast(&self, progress: &Progress) -> Result<Screencast> {
        self.alive()?;
        let (screencast, sender) = {
            let mut state = self.state();
            let running = state.screencast.get_or_insert_with(|| RunningScreencast {
                frames: watch::Sender::new(None),
                users: 0,
            });
            running.users += 1;
            let mut frames = running.frames.subscribe();
            // The present frame counts as new.
            frames.mark_changed();
            let page = self.clone();
            let is_first = running.users == 1;
            (
                Screencast { page, frames },
                is_first.then(|| running.frames.clone()),
            )
        };
        if let Some(frames) = sender {
            let started = self.backend.start_screencast(frames);
            progress.run(started).await?;
        }
        Ok(screencast)
    }
}

impl Drop for Screencast {
    fn drop(&mut self) {
        let shared = &self.page.shared;
        let mut state = shared.state.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(running) = &mut state.screencast else {
            return;
        };
        running.users -= 1;
        if running.users == 0 {
            state.screencast = None;
            // The state is locked, so that the next screencast starts after this command.
            self.page.backend.stop_screencast();
        }
    }
}
