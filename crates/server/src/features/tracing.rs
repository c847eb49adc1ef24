//! Traces: recordings of a browser context in the format of Playwright, which its trace viewer opens. A trace has the calls with DOM
//! snapshots before and after them, images of the page, console messages, and requests with their bodies. Tools start and stop it, or it
//! begins and ends with the context (`--save-trace`).

mod call_recorder;
mod events;
mod files;
mod har;
mod page_recorder;
mod recorder;
mod resources;
mod snapshots;
mod tools;

use crate::calls::Call;
use crate::config::Settings;
use crate::error::{Error, Result};
use crate::files::Output;
use crate::sessions::observers::{CallObserver, Observers};
use crate::sessions::session::feature::SessionFeature;
use crate::sessions::session::{Session, Tabs};
use crate::tools::tool::ToolDef;
use async_trait::async_trait;
use engine::{BrowserContext, BrowserKind};
use files::{TraceFiles, TraceLinks};
use recorder::Recorder;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use task::Task;

pub(super) const TOOLS: &[ToolDef] = tools::TOOLS;

/// The trace of a browser context.
#[derive(Default)]
pub(super) struct Tracing(Mutex<Option<Trace>>);

impl Tracing {
    /// Starts a trace of the browser context; launches a browser if necessary.
    async fn start(&self, session: &Session, call: &Call) -> Result<TraceLinks> {
        let tabs = session.tabs(call).await?;
        if self.trace().is_some() {
            return Err(Error::TraceAlreadyStarted {});
        }
        self.record(session, &tabs).await
    }

    /// Ends the trace.
    async fn stop(&self) -> Result<TraceLinks> {
        let trace = self.trace().take().ok_or(Error::TraceNotStarted {})?;
        trace.stop().await
    }

    async fn record(&self, session: &Session, tabs: &Tabs) -> Result<TraceLinks> {
        let output = session.known_output();
        let output = output.ok_or(engine::Error::PageClosed {})?;
        let context = tabs.open().context.clone();
        let observers = session.observers().clone();
        let trace = Trace::start(context, output, session.settings(), observers).await?;
        let links = trace.links().clone();
        *self.trace() = Some(trace);
        Ok(links)
    }

    /// Ends the trace of a context that is closed or was lost.
    async fn end(&self) {
        let trace = self.trace().take();
        if let Some(trace) = trace
            && let Err(error) = trace.stop().await
        {
            tracing::warn!(%error, "the archive of a trace cannot be written");
        }
    }

    fn trace(&self) -> MutexGuard<'_, Option<Trace>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl SessionFeature for Tracing {
    /// Ends the trace of a context that was lost.
    async fn before_open(&self, _: &Session) -> Result<()> {
        self.end().await;
        Ok(())
    }

    /// Starts the trace of a new context with `--save-trace`. A failure does not make the call fail.
    async fn opened(&self, session: &Session, tabs: &Arc<Tabs>) -> Result<()> {
        if session.settings().files.save_trace
            && let Err(error) = self.record(session, tabs).await
        {
            tracing::warn!(%error, "the session cannot be traced");
        }
        Ok(())
    }

    async fn closing(&self, _: &Session) {
        self.end().await;
    }
}

/// The trace that is being recorded.
struct Trace {
    recorder: Arc<Recorder>,
    observer: Arc<dyn CallObserver>,
    observers: Arc<Observers>,
    follow: Task,
}

impl Trace {
    /// Starts to record the calls and the pages of a context.
    async fn start(
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
    fn links(&self) -> &TraceLinks {
        self.recorder.links()
    }

    /// Ends the recording and writes the archive.
    async fn stop(self) -> Result<TraceLinks> {
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
