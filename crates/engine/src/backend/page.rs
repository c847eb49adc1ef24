//! The interface of a page, in one trait for each concern. Each protocol implements a trait in the file of that name below its `page` module; `Capture` is in `screenshot.rs`.

use super::{
    CoveredSource, Fetched, FrameId, Handle, Headers, InputStep, LoaderId, MatchedStyles,
    MediaFeatures, OutputFile, PageId, PdfOptions, RequestId, RunningWorker, ScreencastSender,
    Screenshot, Verdict, Viewport, WorkerId,
};
use crate::error::{Error, Result};
use async_trait::async_trait;
use serde_json::Value;
use std::path::PathBuf;

/// A page with all its frames.
#[async_trait]
pub trait PageBackend:
    Navigation
    + Frames
    + Evaluation
    + Input
    + Dialogs
    + Interception
    + Requests
    + Emulation
    + Capture
    + Profiling
    + Screencast
    + Styles
    + Unresponsive
    + Workers
    + Send
    + Sync
{
    /// Returns the identifier of the page.
    fn id(&self) -> &PageId;
    /// Returns the main frame.
    fn main_frame(&self) -> FrameId;

    /// Returns when all events that the browser has sent were reported to the observer.
    async fn flush(&self) -> Result<()>;
    /// Returns like [`PageBackend::flush`], after the requests that the documents have sent were also reported.
    async fn flush_requests(&self) -> Result<()> {
        self.flush().await
    }
    /// Brings the page to the front of its window.
    async fn activate(&self) -> Result<()>;
    /// Closes the page, without running its `beforeunload` handlers.
    async fn close(&self) -> Result<()>;
}

/// Navigation and the history of a page.
#[async_trait]
pub trait Navigation {
    /// Starts to load `url`. Returns at the commit or the failure. `None`: the document stays (same-document, download, 204).
    async fn navigate(&self, url: &str) -> Result<Option<LoaderId>>;
    /// Reloads the document.
    async fn reload(&self, ignore_cache: bool) -> Result<()>;
    /// Navigates in the history by `delta` entries. Returns false if there is no such entry.
    async fn go(&self, delta: i32) -> Result<bool>;
    /// Aborts the navigation and the loading of the document, without waiting for the effect.
    fn stop_loading(&self);
}

/// Frames and their owner elements.
#[async_trait]
pub trait Frames {
    /// Returns the frames of these frame elements, in order; `None` for an element that has no frame.
    async fn content_frames(
        &self,
        frame: &FrameId,
        owners: &[Handle],
    ) -> Result<Vec<Option<FrameId>>>;
    /// Returns the owner element of a frame and the frame of its document; `None` for the main frame.
    async fn frame_owner(&self, frame: &FrameId) -> Result<Option<(FrameId, Handle)>>;
}

/// Running JavaScript in a frame.
#[async_trait]
pub trait Evaluation {
    /// Calls a function of the injected script in the frame's isolated world and returns its result as JSON. Promises are awaited.
    ///
    /// Fails with `DocumentGone` if the document is replaced meanwhile.
    async fn call(&self, frame: &FrameId, function: &str, argument: &Value) -> Result<String>;
    /// Runs a script that extends the injected script of the frame's document.
    async fn inject_script(&self, frame: &FrameId, script: &str) -> Result<()>;
    /// Returns whether commands wait until the promise of an injected function that was called before has settled.
    fn waits_for_promises(&self) -> bool {
        false
    }
    /// Reports the event listeners of documents to their injected scripts, if the browser knows them. All frames of the page must be given.
    async fn update_listeners(&self, _frames: &[FrameId]) -> Result<()> {
        Ok(())
    }
    /// Reports the closed shadow roots of elements to the injected script of their document, if the browser knows them. Returns whether there
    /// are any.
    async fn find_closed_roots(&self, _frame: &FrameId, _hosts: &[Handle]) -> Result<bool> {
        Ok(false)
    }
    /// Injects the script into all frames without waiting, so that frames can call each other.
    fn prepare_frames(&self) {}
    /// Runs a function of the caller in the page's main world and returns its result as JSON; `None` for `undefined`.
    ///
    /// `expression` evaluates to a value or a function. A function is called with the element, if there is one.
    async fn evaluate(
        &self,
        frame: &FrameId,
        expression: &str,
        element: Option<Handle>,
    ) -> Result<Option<Value>>;
    /// Evaluates like [`Evaluation::evaluate`], with an array of elements of the frame's document as argument.
    async fn evaluate_all(
        &self,
        frame: &FrameId,
        function: &str,
        elements: &[Handle],
    ) -> Result<Option<Value>>;
    /// Calls a tool that the frame's document registered with the WebMCP API of the browser. Returns its result as JSON, or as the text that
    /// the tool gave; `None` if the browser has no such tool, as with polyfills. If the future is dropped, the tool is cancelled.
    async fn call_document_tool(
        &self,
        _frame: &FrameId,
        _name: &str,
        _arguments: &Value,
    ) -> Result<Option<String>> {
        Ok(None)
    }
    /// Whether the browser can parse a script. The script is not run.
    async fn parses(&self, frame: &FrameId, script: &str) -> Result<bool>;
}

/// Trusted input.
#[async_trait]
pub trait Input {
    /// Sends trusted input in order, in one write. Returns when the page has handled it.
    ///
    /// Coordinates are CSS pixels of the main frame's viewport.
    async fn input(&self, steps: &[InputStep]) -> Result<()>;
    /// Whether the protocol has a command that inserts text. Otherwise [`InputStep::InsertText`] presses a key for each letter.
    fn inserts_text(&self) -> bool;
}

/// Dialogs, file choosers and file inputs.
#[async_trait]
pub trait Dialogs {
    /// Handles the open dialog.
    async fn answer_dialog(&self, accept: bool, prompt_text: Option<&str>) -> Result<()>;
    /// Handles the open file chooser; `None` cancels it.
    async fn answer_file_chooser(&self, files: Option<&[PathBuf]>) -> Result<()>;
    /// Sets the files of an `<input type=file>`.
    async fn set_input_files(
        &self,
        frame: &FrameId,
        element: Handle,
        files: &[PathBuf],
    ) -> Result<()>;
}

/// Requests that are paused until a decision.
#[async_trait]
pub trait Interception {
    /// Pauses every request of the page's documents until the observer decides about it, or [`Interception::decide`] is called.
    async fn set_interception(&self, on: bool) -> Result<()>;
    /// Decides about a paused request.
    async fn decide(&self, key: &str, verdict: Verdict) -> Result<()>;
    /// Sends a paused request with the changes of a [`Verdict::Continue`] and pauses its response, for which a decision under the same key
    /// is required. Fails with `NavigationFailed` if there is no response.
    async fn fetch(&self, key: &str, changes: Verdict) -> Result<Fetched>;
}

/// The bodies of requests and responses.
#[async_trait]
pub trait Requests {
    /// Returns the decoded body of a response.
    async fn response_body(&self, request: &RequestId) -> Result<Vec<u8>>;
    /// Returns the body of a request, if it has one.
    async fn request_body(&self, request: &RequestId) -> Result<Option<Vec<u8>>>;
}

/// The device, the media features and the scripts that a page sees.
#[async_trait]
pub trait Emulation {
    /// Changes the viewport.
    async fn set_viewport(&self, viewport: &Viewport) -> Result<()>;
    /// Ends the emulation of a viewport, so that the page is as large as its window. Has no effect where a viewport is a resized window.
    async fn clear_viewport(&self) -> Result<()> {
        Ok(())
    }
    /// Emulates media features. `None` resets a feature.
    async fn emulate_media(&self, features: &MediaFeatures) -> Result<()>;
    /// Sets the headers that are added to every request of the page. They override those of its context.
    async fn set_extra_headers(&self, headers: &Headers) -> Result<()>;
    /// Adds a script that runs in each new document before the document's own.
    async fn add_init_script(&self, source: &str) -> Result<()>;
}

/// Screenshots and PDFs.
#[async_trait]
pub trait Capture {
    /// Takes a screenshot. Returns an image of the requested format.
    async fn screenshot(&self, options: &Screenshot) -> Result<Vec<u8>>;
    /// Prints the page.
    async fn pdf(&self, options: &PdfOptions) -> Result<Vec<u8>>;
}

/// The frames that the page shows, as they come.
#[async_trait]
pub trait Screencast {
    /// Starts to send the frames of the viewport: the present one, then one for each change, or those of a poll where the browser reports no
    /// changes. A poll must not delay other commands. Frames are sent until [`Screencast::stop_screencast`], across navigations.
    async fn start_screencast(&self, frames: ScreencastSender) -> Result<()>;
    /// Stops the screencast, without waiting for the effect.
    fn stop_screencast(&self);
}

/// Traces, heap snapshots and coverage. Only Chromium has them.
#[async_trait]
pub trait Profiling {
    /// Begins a trace with the categories of the Performance panel of Chrome DevTools.
    async fn start_trace(&self) -> Result<()> {
        lacks("traces")
    }
    /// Returns whether a trace that the page began is being recorded.
    fn is_tracing(&self) -> bool {
        false
    }
    /// Ends the trace and writes it to the file, in the Trace Event Format. Returns whether it has all events.
    async fn stop_trace(&self, _file: OutputFile) -> Result<bool> {
        lacks("traces")
    }
    /// Returns the elements of a trace that still exist in the main frame's document, by their node ids.
    async fn traced_elements(&self, _nodes: &[i64]) -> Result<Vec<Option<Handle>>> {
        lacks("traces")
    }
    /// Writes a snapshot of the JavaScript heap to the file.
    async fn heap_snapshot(&self, _file: OutputFile) -> Result<()> {
        lacks("heap snapshots")
    }
    /// Begins to count executions of scripts and used rules of style sheets.
    async fn start_coverage(&self) -> Result<()> {
        lacks("coverage")
    }
    /// Ends the counting and returns the scripts and style sheets of the documents that are shown.
    async fn stop_coverage(&self) -> Result<Vec<CoveredSource>> {
        lacks("coverage")
    }
}

/// Fails, because the browser has no such command. Tools check the features before.
fn lacks<T>(what: &str) -> Result<T> {
    Err(Error::protocol(what, "the browser has no such command"))
}

/// The style rules of elements. Only Chromium reports them.
#[async_trait]
pub trait Styles {
    /// Returns the style rules that match an element, and the longhand properties of those names that are shorthands.
    async fn matched_styles(
        &self,
        _frame: &FrameId,
        _element: Handle,
        _names: &[String],
    ) -> Result<MatchedStyles> {
        lacks("styles")
    }
}

/// Detection and termination of unresponsive pages.
#[async_trait]
pub trait Unresponsive {
    /// Returns after the renderer of the frame has responded to a command. A script that does not return prevents that, and so does a
    /// pending navigation.
    async fn check_responsive(&self, frame: &FrameId) -> Result<()>;
    /// Returns after the browser process has responded to a command.
    async fn check_browser_responsive(&self) -> Result<()>;
    /// Terminates the execution of the script in the frame's renderer without waiting for the effect. Has no effect while a navigation
    /// is being committed.
    fn terminate_execution(&self, frame: &FrameId);
    /// Terminates like [`Unresponsive::terminate_execution`] and returns when the renderer has confirmed it: at once, unless another
    /// document waits for the renderer.
    async fn wait_for_termination(&self, frame: &FrameId) -> Result<()>;
    /// Clears all timers of the frame's document, without waiting for the effect.
    fn stop_timers(&self, frame: &FrameId);
    /// Terminates the renderer process of the page, which is reported as a crash. Works if the renderer is unresponsive.
    fn end_renderer(&self);
}

/// The workers of a page. Shared and service workers belong to the context of the page.
#[async_trait]
pub trait Workers {
    /// Returns the running workers, as far as the browser reports them: those of the page, and the shared and service workers of its context.
    async fn workers(&self) -> Result<Vec<RunningWorker>> {
        Ok(Vec::new())
    }
    /// Stops to observe a shared or service worker, without waiting for the effect, so that the browser can stop it.
    fn release_worker(&self, _worker: &WorkerId) {}
    /// Runs an expression in a worker and returns its result as [`Evaluation::evaluate`] does. Only Chromium does so.
    async fn evaluate_in_worker(
        &self,
        _worker: &WorkerId,
        _expression: &str,
    ) -> Result<Option<Value>> {
        Err(Error::protocol(
            "workers",
            "the browser does not run scripts in them",
        ))
    }
}
