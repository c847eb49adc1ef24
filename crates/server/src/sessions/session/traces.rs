//! The trace of a session's browser context: started and stopped by tools, or with the context (`--save-trace`).

use super::{Session, Tabs};
use crate::calls::Call;
use crate::error::{Error, Result};
use crate::sessions::trace::{Trace, TraceLinks};
use std::sync::PoisonError;

impl Session {
    /// Starts a trace of the browser context; launches a browser if necessary.
    pub(crate) async fn start_trace(&self, call: &Call) -> Result<TraceLinks> {
        let tabs = self.tabs(call).await?;
        if self.is_traced() {
            return Err(Error::TraceAlreadyStarted {});
        }
        self.trace(&tabs).await
    }

    /// Ends the trace.
    pub(crate) async fn stop_trace(&self) -> Result<TraceLinks> {
        let trace = self.take_trace().ok_or(Error::TraceNotStarted {})?;
        trace.stop().await
    }

    /// Starts the trace of a new context with `--save-trace`. A failure does not make the call fail.
    pub(super) async fn start_automatic_trace(&self, tabs: &Tabs) {
        if self.settings.files.save_trace
            && let Err(error) = self.trace(tabs).await
        {
            tracing::warn!(%error, "the session cannot be traced");
        }
    }

    /// Ends the trace of a context that is closed or was lost.
    pub(super) async fn end_trace(&self) {
        if let Some(trace) = self.take_trace()
            && let Err(error) = trace.stop().await
        {
            tracing::warn!(%error, "the archive of a trace cannot be written");
        }
    }

    async fn trace(&self, tabs: &Tabs) -> Result<TraceLinks> {
        let output = self.known_output().ok_or(engine::Error::PageClosed {})?;
        let context = tabs.open().context.clone();
        let observers = self.observers.clone();
        let trace = Trace::start(context, output, &self.settings, observers).await?;
        let links = trace.links().clone();
        let mut current = self.trace.lock().unwrap_or_else(PoisonError::into_inner);
        *current = Some(trace);
        Ok(links)
    }

    fn is_traced(&self) -> bool {
        let trace = self.trace.lock().unwrap_or_else(PoisonError::into_inner);
        trace.is_some()
    }

    fn take_trace(&self) -> Option<Trace> {
        let mut trace = self.trace.lock().unwrap_or_else(PoisonError::into_inner);
        trace.take()
    }
}
