//! Traces: recordings of a browser context in the format of Playwright, which its trace viewer opens. A trace has the calls with DOM
//! snapshots before and after them, images of the page, console messages, and requests with their bodies.

mod call_recorder;
mod events;
mod files;
mod har;
mod page_recorder;
mod recorder;
mod resources;
mod snapshots;

use crate::config::Settings;
use crate::error::{Error, Result};
use crate::files::Output;
use crate::sessions::observers::{CallObserver, Observers};
use engine::{BrowserContext, BrowserKind};
use files::TraceFiles;
pub(crate) use files::TraceLinks;
use recorder::Recorder;
use std::sync::Arc;
use task::Task;

/// The trace that is being recorded.
pub(crate) struct Trace {
    recorder: Arc<Recorder>,
    observer: Arc<dyn CallObserver>,
    observers: Arc<Observers>,
    follow: Task,
}

impl Trace {
    /// Starts to record the calls and the pages of a context.
    pub(crate) async fn start(
        context: BrowserContext,
        output: &Output,
        settings: &Arc<Settings>,
        observers: Arc<Observers>,
    ) -> Result<Self> {
        let files = TraceFiles::create(output).await?;
        let recorder = Arc::new(Recorder::new(files, context, settings.clone()));
        recorder.begin(browser_name(settings.browser.kind)).await;
        let follow = task::spawn("trace", page_recorder::follow(recorder.clone()));
        let observer: Arc<dyn CallObserver> = recorder.clone();
        observers.add(observer.clone());
        Ok(Self {
            recorder,
            observer,
            observers,
            follow,
        })
    }

    /// Returns the links of the files.
    pub(crate) fn links(&self) -> &TraceLinks {
        self.recorder.links()
    }

    /// Ends the recording and writes the archive.
    pub(crate) async fn stop(self) -> Result<TraceLinks> {
        self.observers.remove(&self.observer);
        self.recorder.stop();
        self.follow.ended().await;
        let done = self.recorder.finish().await;
        done.map_err(|error| Error::file(&self.recorder.archive(), "write", &error))?;
        Ok(self.recorder.links().clone())
    }
}

/// Returns Playwright's name of a browser.
fn browser_name(kind: BrowserKind) -> &'static str {
    match kind {
        BrowserKind::Chromium => "chromium",
        BrowserKind::Firefox => "firefox",
        BrowserKind::Webkit => "webkit",
    }
}
