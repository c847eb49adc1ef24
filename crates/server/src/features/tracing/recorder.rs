//! The recorder of a trace. Events are written when no call runs, because only then the passwords of its arguments are known and masked.

use super::events::{Batch, Clock, Event, VERSION};
use super::files::{TraceFiles, TraceLinks};
use super::har::TracedExchange;
use super::snapshots::{Moment, Snapshots};
use crate::config::Settings;
use engine::codegen::Language;
use engine::{BrowserContext, Page};
use serde_json::{Value, json};
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio_util::sync::CancellationToken;

/// The recorder of a trace.
pub(super) struct Recorder {
    files: TraceFiles,
    context: BrowserContext,
    settings: Arc<Settings>,
    clock: Clock,
    snapshots: Snapshots,
    state: Mutex<State>,
    /// The writing of events, one after the other.
    writing: tokio::sync::Mutex<()>,
    stopped: CancellationToken,
}

/// What the recorder has not written yet.
#[derive(Default)]
pub(super) struct State {
    /// The running calls: a batch, then its step.
    pub(super) open: Vec<OpenCall>,
    pub(super) waiting: Batch,
    /// The number of recorded calls.
    pub(super) calls: usize,
}

/// A running call.
pub(super) struct OpenCall {
    pub(super) id: String,
    pub(super) page: Option<Page>,
    /// Whether the input of the call was recorded.
    pub(super) has_input: bool,
}

impl Recorder {
    pub(super) fn new(files: TraceFiles, context: BrowserContext, settings: Arc<Settings>) -> Self {
        Self {
            files,
            context,
            settings,
            clock: Clock::new(),
            snapshots: Snapshots::default(),
            state: Mutex::default(),
            writing: tokio::sync::Mutex::default(),
            stopped: CancellationToken::new(),
        }
    }

    pub(super) fn links(&self) -> &TraceLinks {
        &self.files.links
    }

    pub(super) fn archive(&self) -> PathBuf {
        self.files.archive()
    }

    /// Returns the context that is recorded.
    pub(super) fn context(&self) -> &BrowserContext {
        &self.context
    }

    /// Returns the name of the source of calls.
    pub(super) fn source(&self) -> String {
        self.files.source()
    }

    pub(super) fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Resolves when the trace ends.
    pub(super) async fn stopped(&self) {
        self.stopped.cancelled().await;
    }

    /// Returns what ends the recording of pages.
    pub(super) fn stop_token(&self) -> CancellationToken {
        self.stopped.clone()
    }

    /// Ends the recording of pages.
    pub(super) fn stop(&self) {
        self.stopped.cancel();
    }

    /// Writes the first event.
    pub(super) async fn begin(&self, browser_name: &str) {
        let options = self.context.options();
        let viewport = options.viewport.as_ref();
        let language = match self.settings.answers.codegen {
            Language::None | Language::Typescript => "javascript",
            Language::Python => "python",
            Language::Java => "java",
            Language::Csharp => "csharp",
        };
        self.add(Event::Plain(json!({
            "type": "context-options",
            "version": VERSION,
            "origin": "library",
            "browserName": browser_name,
            "options": {
                "viewport": viewport.map(|viewport| viewport.size),
                "deviceScaleFactor": viewport.map(|viewport| viewport.device_scale_factor),
                "isMobile": viewport.is_some_and(|viewport| viewport.is_mobile),
            },
            "platform": std::env::consts::OS,
            "wallTime": self.clock.wall_ms(0.0),
            "monotonicTime": 0,
            "sdkLanguage": language,
            "testIdAttributeName": self.settings.answers.test_id_attribute,
            "contextId": format!("browser-context@{}", self.files.name),
        })));
        self.write().await;
    }

    /// Writes the last events and the archive.
    pub(super) async fn finish(&self) -> io::Result<()> {
        // The call that ends the trace.
        let first = self.state().open.first().map(|call| call.id.clone());
        if let Some(first) = first {
            self.end_calls(&first, None);
        }
        self.write().await;
        self.files.pack().await
    }

    /// Adds an event of a page, unless too many are waiting.
    pub(super) fn add(&self, event: Event) {
        self.state().waiting.add_page_event(event);
    }

    /// Adds a request, unless too many are waiting.
    pub(super) fn add_request(&self, exchange: TracedExchange) {
        self.state().waiting.add_request(exchange);
    }

    pub(super) async fn write_if_idle(&self) {
        let is_idle = self.state().open.is_empty();
        if is_idle {
            self.write().await;
        }
    }

    /// Writes the waiting events, after the passwords of all pages are known.
    async fn write(&self) {
        let _guard = self.writing.lock().await;
        if self.state().waiting.is_empty() {
            return;
        }
        let pages = self.context.pages();
        let reading = pages.iter().map(Page::register_passwords);
        futures_util::future::join_all(reading).await;
        let batch = {
            let mut state = self.state();
            // A call may have begun meanwhile; its end writes the events.
            if !state.open.is_empty() {
                return;
            }
            std::mem::take(&mut state.waiting)
        };
        self.files.write(batch, &self.settings.secrets).await;
    }

    /// Returns whether a call concerns the pages of this context.
    pub(super) fn records(&self, page: Option<&Page>) -> bool {
        let pages = self.context.pages();
        match page {
            Some(page) => pages.contains(page),
            None => pages.is_empty(),
        }
    }

    /// Ends a running call that has no end of its own, and its steps.
    pub(super) fn end_calls(&self, first: &str, error: Option<&str>) {
        let mut state = self.state();
        let index = state.open.iter().position(|call| call.id == first);
        let index = index.unwrap_or(state.open.len());
        let open = state.open.split_off(index);
        for call in open.into_iter().rev() {
            let event = after_event(&call.id, self.clock.now(), error);
            state.waiting.events.push(Event::Plain(event));
        }
    }

    /// Adds a DOM snapshot.
    pub(super) async fn take(&self, moment: Moment<'_>) {
        let taken = self.snapshots.take(&moment, &self.clock).await;
        self.state().waiting.events.extend(taken);
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the event of the end of a call.
pub(super) fn after_event(id: &str, time: f64, error: Option<&str>) -> Value {
    let mut event = json!({ "type": "after", "callId": id, "endTime": time });
    if let Some(message) = error {
        event["error"] = json!({ "name": "Error", "message": message });
    }
    event
}
