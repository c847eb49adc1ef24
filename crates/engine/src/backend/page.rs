//! What a page must be able to do, by concern. Each protocol implements each trait in the same file below its `page` module; `Capture` is in `screenshot.rs`.

use super::{
    Fetched, FrameId, Handle, Headers, InputStep, LoaderId, MediaFeatures, PageId, PdfOptions,
    RequestId, Screenshot, Verdict, Viewport,
};
use crate::error::Result;
use async_trait::async_trait;
use serde_json::Value;
use std::path::PathBuf;

/// One page (tab, popup) and all its frames.
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
    + Unresponsive
    + Send
    + Sync
{
    /// The page's identifier.
    fn id(&self) -> &PageId;
    /// The top frame.
    fn main_frame(&self) -> FrameId;

    /// Returns once every event that the browser sent so far was reported to the observer.
    async fn flush(&self) -> Result<()>;
    /// Like [`PageBackend::flush`], and the requests that the page's documents have sent by now are among the events.
    async fn flush_requests(&self) -> Result<()> {
        self.flush().await
    }
    /// Brings the page to the front of its window.
    async fn activate(&self) -> Result<()>;
    /// Closes the page, without running its `beforeunload` handlers.
    async fn close(&self) -> Result<()>;
}

/// The page's history.
#[async_trait]
pub trait Navigation {
    /// Starts loading `url`; returns at commit or failure. `None`: the document stays (same-document, download, 204).
    async fn navigate(&self, url: &str) -> Result<Option<LoaderId>>;
    /// Starts loading the document again.
    async fn reload(&self, ignore_cache: bool) -> Result<()>;
    /// Moves in the history; false when there is no entry there.
    async fn go(&self, delta: i32) -> Result<bool>;
    /// Aborts the navigation that is under way, and the loading of the document, without waiting for that.
    fn stop_loading(&self);
}

/// Frames and the elements that hold them.
#[async_trait]
pub trait Frames {
    /// The frames that these frame elements hold, in order; `None` for an element without one.
    async fn content_frames(
        &self,
        frame: &FrameId,
        owners: &[Handle],
    ) -> Result<Vec<Option<FrameId>>>;
    /// The element that holds this frame, in its parent's document; `None` for the main frame.
    async fn frame_owner(&self, frame: &FrameId) -> Result<Option<(FrameId, Handle)>>;
}

/// Running JavaScript in a frame.
#[async_trait]
pub trait Evaluation {
    /// Calls a function of the injected code in the frame's isolated world, and returns its answer as JSON; promises are awaited.
    ///
    /// Fails with `DocumentGone` when the document is replaced meanwhile.
    async fn call(&self, frame: &FrameId, function: &str, argument: &Value) -> Result<String>;
    /// Runs a script that adds to the injected code of the frame's document.
    async fn inject_script(&self, frame: &FrameId, script: &str) -> Result<()>;
    /// Injects the code into all frames, so that one of them can call the others; does not wait for it.
    fn prepare_frames(&self) {}
    /// Runs the caller's function in the page's own world and returns its result as JSON, `None` for `undefined`.
    ///
    /// `expression` evaluates to a value or a function; a function is called with the element, if one is given.
    async fn evaluate(
        &self,
        frame: &FrameId,
        expression: &str,
        element: Option<Handle>,
    ) -> Result<Option<Value>>;
    /// Like [`Evaluation::evaluate`], with a list of elements of the frame's document as one array.
    async fn evaluate_all(
        &self,
        frame: &FrameId,
        function: &str,
        elements: &[Handle],
    ) -> Result<Option<Value>>;
    /// Whether the browser can parse a script; does not run it.
    async fn parses(&self, frame: &FrameId, script: &str) -> Result<bool>;
}

/// Trusted input.
#[async_trait]
pub trait Input {
    /// Sends trusted input, in order, in one write; returns when the page has handled all of it.
    ///
    /// Coordinates are CSS pixels of the main frame's viewport.
    async fn input(&self, steps: &[InputStep]) -> Result<()>;
}

/// Dialogs, file choosers and file inputs.
#[async_trait]
pub trait Dialogs {
    /// Answers the open dialog.
    async fn answer_dialog(&self, accept: bool, prompt_text: Option<&str>) -> Result<()>;
    /// Answers the open file chooser; `None` cancels it.
    async fn answer_file_chooser(&self, files: Option<&[PathBuf]>) -> Result<()>;
    /// Sets the files of an `<input type=file>`.
    async fn set_input_files(
        &self,
        frame: &FrameId,
        element: Handle,
        files: &[PathBuf],
    ) -> Result<()>;
}

/// Requests that are paused until a decision about them.
#[async_trait]
pub trait Interception {
    /// Pauses every request of the page's documents until the observer decides about it, or [`Interception::decide`] is called.
    async fn set_interception(&self, on: bool) -> Result<()>;
    /// Decides about a paused request.
    async fn decide(&self, key: &str, verdict: Verdict) -> Result<()>;
    /// Sends a paused request with the changes of a [`Verdict::Continue`], and pauses its response, which is to be decided about under
    /// the same key. Fails with `NavigationFailed` when no response comes.
    async fn fetch(&self, key: &str, changes: Verdict) -> Result<Fetched>;
}

/// The bodies of requests and responses.
#[async_trait]
pub trait Requests {
    /// The body of a response, decoded from its transfer encoding.
    async fn response_body(&self, request: &RequestId) -> Result<Vec<u8>>;
    /// The body of a request.
    async fn request_body(&self, request: &RequestId) -> Result<Option<Vec<u8>>>;
}

/// The device, the preferences and the scripts that a page sees.
#[async_trait]
pub trait Emulation {
    /// Changes the viewport.
    async fn set_viewport(&self, viewport: &Viewport) -> Result<()>;
    /// Emulates media features; what is `None` is the browser's own again.
    async fn emulate_media(&self, features: &MediaFeatures) -> Result<()>;
    /// Sets the headers that are added to every request of the page, over those of its context.
    async fn set_extra_headers(&self, headers: &Headers) -> Result<()>;
    /// Adds a script that runs in each new document before the document's own.
    async fn add_init_script(&self, source: &str) -> Result<()>;
}

/// Screenshots and PDFs.
#[async_trait]
pub trait Capture {
    /// Takes a screenshot; the bytes are an image of the requested format.
    async fn screenshot(&self, options: &Screenshot) -> Result<Vec<u8>>;
    /// Prints the page.
    async fn pdf(&self, options: &PdfOptions) -> Result<Vec<u8>>;
}

/// Detecting a page that does not respond, and ending it.
#[async_trait]
pub trait Unresponsive {
    /// Returns once the frame's renderer has answered anything: an endless script prevents that, and so does a navigation that is under
    /// way.
    async fn check_responsive(&self, frame: &FrameId) -> Result<()>;
    /// Returns once the browser has answered something that involves no page.
    async fn check_browser_responsive(&self) -> Result<()>;
    /// Terminates the script that runs in the frame's renderer, if one does, without waiting for that. Has no effect while another
    /// document is about to be shown.
    fn terminate_execution(&self, frame: &FrameId);
    /// Like [`Unresponsive::terminate_execution`], and returns once the renderer has confirmed it: at once, unless another document
    /// waits for the renderer.
    async fn wait_for_termination(&self, frame: &FrameId) -> Result<()>;
    /// Clears every timer of the frame's document, without waiting for that.
    fn stop_timers(&self, frame: &FrameId);
    /// Ends the page's renderer, which is reported as a crash; also when the renderer cannot be reached.
    fn end_renderer(&self);
}
