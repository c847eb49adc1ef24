//! The screencast of a page, which the browser sends.

use super::CdpPage;
use crate::backend::screencast::QUALITY;
use crate::backend::{Screencast, ScreencastFrame, ScreencastSender};
use crate::error::Result;
use async_trait::async_trait;
use std::sync::{MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};
use wire::cdp::page;

/// The largest side of a frame, in pixels.
const MAX_SIDE: u32 = 2_048;
/// The longest time from the drawing of a frame to its arrival. A larger difference is one of the clocks of two machines.
const MAX_DELAY: Duration = Duration::from_secs(2);

#[async_trait]
impl Screencast for CdpPage {
    async fn start_screencast(&self, frames: ScreencastSender) -> Result<()> {
        *self.frames() = Some(frames);
        let started = self
            .call_in_front(&page::StartScreencast {
                format: Some(page::ImageFormat::Jpeg),
                quality: Some(i64::from(QUALITY)),
                max_width: Some(MAX_SIDE),
                max_height: Some(MAX_SIDE),
            })
            .await;
        Ok(started.map(drop)?)
    }

    fn stop_screencast(&self) {
        *self.frames() = None;
        self.session.post(&page::StopScreencast {});
    }
}

impl CdpPage {
    fn frames(&self) -> MutexGuard<'_, Option<ScreencastSender>> {
        self.screencast
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn on_screencast_frame(&self, frame: page::ScreencastFrame) {
        self.session.post(&page::ScreencastFrameAck {
            session_id: frame.session_id,
        });
        if let Some(frames) = &*self.frames() {
            let now = SystemTime::now();
            let drawn = frame
                .metadata
                .timestamp
                .and_then(|time| Duration::try_from_secs_f64(time).ok())
                .map(|time| SystemTime::UNIX_EPOCH + time);
            let is_plausible = |drawn: &SystemTime| {
                now.duration_since(*drawn)
                    .is_ok_and(|delay| delay < MAX_DELAY)
            };
            frames.send_replace(Some(ScreencastFrame {
                jpeg: frame.data.0.into(),
                time: drawn.filter(is_plausible).unwrap_or(now),
            }));
        }
    }
}
