//! Polling the frames of a screencast, where the browser does not send them.

use crate::backend::{ScreencastFrame, ScreencastSender};
use crate::error::Result;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};
use task::Task;

/// The quality of the JPEG images of a screencast.
pub(crate) const QUALITY: u8 = 80;
/// The shortest interval between two polls.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// A poll waits this many times as long as the last screenshot took, so that screenshots take a third of the browser's time at most.
const REST_FACTOR: u32 = 2;

/// The polling of a page for frames, until it is stopped or dropped.
#[derive(Default)]
pub(crate) struct Polling(Mutex<Option<Task>>);

impl Polling {
    /// Starts to send frames. `capture` returns a JPEG; one call ends before the next begins, and its errors are ignored, because a
    /// document that is being replaced cannot be captured. `capture` returns `None` once the page is gone.
    pub(crate) fn start<F>(
        &self,
        frames: ScreencastSender,
        mut capture: impl FnMut() -> Option<F> + Send + 'static,
    ) where
        F: Future<Output = Result<Vec<u8>>> + Send + 'static,
    {
        let task = task::spawn("screencast", async move {
            let mut last = Arc::<[u8]>::default();
            loop {
                let (time, began) = (SystemTime::now(), Instant::now());
                let Some(captured) = capture() else { return };
                match captured.await {
                    Ok(jpeg) if *jpeg != *last => {
                        last = jpeg.into();
                        let jpeg = last.clone();
                        frames.send_replace(Some(ScreencastFrame { jpeg, time }));
                    }
                    Ok(_) => {}
                    Err(error) => tracing::trace!(%error, "no frame"),
                }
                tokio::time::sleep(POLL_INTERVAL.max(began.elapsed() * REST_FACTOR)).await;
            }
        });
        self.set(Some(task));
    }

    pub(crate) fn stop(&self) {
        self.set(None);
    }

    fn set(&self, task: Option<Task>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = task;
    }
}
