//! What a browser must be able to do for the engine, and what it reports. One implementation per protocol.
//!
//! Commands go down through [`BrowserBackend`], [`ContextBackend`] and [`PageBackend`]; events come up through
//! [`ContextObserver`] and [`PageObserver`], in the browser's order, from one task per page or browser.
//!
//! What goes through here is the engine's and no protocol's: ids are texts that only their backend reads, failures of the network
//! have the names that Chromium's stack gives them (`net::ERR_…`), and what a browser cannot do is an
//! [`Error::UnsupportedByBrowser`](crate::error::Error) that its [`Capabilities`] tell beforehand. A further protocol is a further
//! folder beside `cdp` and `bidi`, and a line in `launch`.

pub(crate) mod address;
pub(crate) mod bidi;
mod capability;
pub(crate) mod cdp;
mod compact;
mod creation;
mod event;
pub(crate) mod expression;
pub(crate) mod gesture;
mod guard;
mod input;
pub(crate) mod interception;
pub(crate) mod keys;
mod options;
mod origin_storage;
mod proxy;
mod refusal;
pub(crate) mod webdriver;

pub use capability::{Capabilities, Feature};
pub use event::{
    ConsoleMessage, ContextObserver, DialogKind, DownloadEvent, Headers, MessageKind, PageEvent,
    PageObserver, RequestEvent, ResponseFacts, SourceLocation,
};
pub use input::{InputStep, Key, Modifier, MouseButton, Point};
pub use interception::{FailureReason, Fetched, PausedRequest, Verdict};
pub use options::{
    ColorScheme, ContextOptions, Cookie, Geolocation, HttpCredentials, MediaFeatures, PdfOptions,
    SameSite, Screenshot, ScreenshotArea, ScreenshotFormat, Size, Throttling, Viewport,
};
pub use proxy::Proxy;
pub(crate) use proxy::{Endpoint, ProxyScheme};

use crate::error::Result;
use crate::routes::Routes;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::watch;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub struct $name(pub Arc<str>);

        impl<T: AsRef<str>> From<T> for $name {
            fn from(id: T) -> Self {
                Self(id.as_ref().into())
            }
        }

        impl $name {
            /// The browser's own text for it.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }
    };
}

id! {
    /// Names a page for as long as it lives.
    PageId
}
id! {
    /// Names a frame of a page; survives navigations.
    FrameId
}
id! {
    /// Names one load of one document in a frame.
    LoaderId
}
id! {
    /// Names a request; a redirect keeps it.
    RequestId
}

/// An element of a frame's document, held by the injected code; dies with the document.
pub type Handle = u64;

/// A browser process or a connection to one.
#[async_trait]
pub trait BrowserBackend: Send + Sync {
    /// Name and version, e.g. `Chrome/156.0.8078.79`.
    fn product(&self) -> &str;

    /// What it can do. A context that asks for anything else is refused before it is made; what a page is asked for later, its
    /// backend refuses by the same words before it begins.
    fn capabilities(&self) -> &'static Capabilities;

    /// Whether each context has a browser of its own; the first one is the one that was started.
    fn has_browser_per_context(&self) -> bool {
        false
    }

    /// Opens an isolated context; its pages are reported to `observer`.
    async fn new_context(
        &self,
        options: &ContextOptions,
        observer: Arc<dyn ContextObserver>,
    ) -> Result<Arc<dyn ContextBackend>>;

    /// Takes over the context that the browser began with (a persistent profile, a browser that runs elsewhere).
    async fn default_context(
        &self,
        options: &ContextOptions,
        observer: Arc<dyn ContextObserver>,
    ) -> Result<Arc<dyn ContextBackend>>;

    /// Holds the reason once the browser is gone.
    fn closed(&self) -> watch::Receiver<Option<String>>;

    /// Ends the browser (or, for one that runs elsewhere, leaves it) and waits until nothing of it is left.
    async fn close(&self) -> Result<()>;
}

/// A browser context: cookies, storage, permissions and pages of their own.
#[async_trait]
pub trait ContextBackend: Send + Sync {
    /// Opens a blank page and returns once it can be driven; the observer has heard of it by then.
    async fn new_page(&self) -> Result<PageId>;

    /// Every cookie of the context.
    async fn cookies(&self) -> Result<Vec<Cookie>>;
    /// Adds cookies, replacing those of the same name, domain and path.
    async fn set_cookies(&self, cookies: &[Cookie]) -> Result<()>;
    /// Removes these cookies and no others.
    async fn delete_cookies(&self, cookies: &[Cookie]) -> Result<()>;
    /// Removes every cookie.
    async fn clear_cookies(&self) -> Result<()>;

    /// Documents of any origins, to read and write what their storages hold.
    async fn documents(&self) -> Result<Box<dyn OriginDocuments>>;

    /// Grants permissions by their Playwright names (`geolocation`, `clipboard-read`, …), to one origin or to all.
    async fn grant_permissions(&self, permissions: &[String], origin: Option<&str>) -> Result<()>;
    /// Takes back every grant.
    async fn clear_permissions(&self) -> Result<()>;
    /// Cuts the network of every page of the context, or joins it again.
    async fn set_offline(&self, offline: bool) -> Result<()>;
    /// Throttles the network of every page of the context, in a browser that has a command for that ([`Capabilities::throttles`]).
    async fn set_throttling(&self, throttling: Throttling) -> Result<()>;
    /// Has requests of every page of the context refused or answered without a server.
    async fn set_routes(&self, routes: Routes) -> Result<()>;
    /// Headers that go with every request from now on.
    async fn set_extra_headers(&self, headers: &Headers) -> Result<()>;
    /// Where the pages believe to be; `None` takes it back.
    async fn set_geolocation(&self, geolocation: Option<Geolocation>) -> Result<()>;
    /// A script that runs in each new document before the document's own.
    async fn add_init_script(&self, source: &str) -> Result<()>;

    /// Why the context is gone although its browser is not: where each has a process of its own.
    fn closed_reason(&self) -> Option<String> {
        None
    }

    /// Closes all pages of the context and forgets its data; a default context keeps its profile.
    async fn close(&self) -> Result<()>;
}

/// Empty documents of origins, one after the other, which are shown to nobody and for which no request is sent.
#[async_trait]
pub trait OriginDocuments: Send {
    /// Runs an expression in the document of an origin; its value, or that of its promise, must be a text.
    async fn run(&mut self, origin: &str, expression: String) -> Result<String>;
}

/// One page (tab, popup) and all its frames.
#[async_trait]
pub trait PageBackend: Send + Sync {
    /// The page's name.
    fn id(&self) -> &PageId;
    /// The top frame.
    fn main_frame(&self) -> FrameId;

    /// Starts loading `url`; returns at commit or failure. `None`: the document stays (same-document, download, 204).
    async fn navigate(&self, url: &str) -> Result<Option<LoaderId>>;
    /// Starts loading the document again.
    async fn reload(&self, ignore_cache: bool) -> Result<()>;
    /// Moves in the history; false when there is no entry there.
    async fn go(&self, delta: i32) -> Result<bool>;

    /// Calls a function of the injected code in the frame's isolated world, and returns its answer as JSON; promises are awaited.
    ///
    /// Fails with `DocumentGone` when the document is replaced meanwhile.
    async fn call(&self, frame: &FrameId, function: &str, argument: &Value) -> Result<String>;
    /// Has the injected code brought to all frames, so that one of them can ask the others; without waiting for it.
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

    /// Whether a script is one to the browser: it is read, and not run.
    async fn parses(&self, frame: &FrameId, script: &str) -> Result<bool>;

    /// The same as [`PageBackend::evaluate`] with a list of elements of the frame's document, as one array.
    async fn evaluate_all(
        &self,
        frame: &FrameId,
        function: &str,
        elements: &[Handle],
    ) -> Result<Option<Value>>;

    /// The frames that these frame elements hold, in order; `None` for an element without one.
    async fn content_frames(
        &self,
        frame: &FrameId,
        owners: &[Handle],
    ) -> Result<Vec<Option<FrameId>>>;
    /// The element that holds this frame, in its parent's document; `None` for the main frame.
    async fn frame_owner(&self, frame: &FrameId) -> Result<Option<(FrameId, Handle)>>;

    /// Sends trusted input, in order, in one go; returns when the page has handled all of it.
    ///
    /// Coordinates are CSS pixels of the main frame's viewport.
    async fn input(&self, steps: &[InputStep]) -> Result<()>;
    /// Sets the files of an `<input type=file>`.
    async fn set_input_files(
        &self,
        frame: &FrameId,
        element: Handle,
        files: &[PathBuf],
    ) -> Result<()>;

    /// Has every request of the page's documents wait for a decision: the observer's, or [`PageBackend::decide`].
    async fn set_interception(&self, on: bool) -> Result<()>;
    /// A script that runs in each new document before the document's own.
    async fn add_init_script(&self, source: &str) -> Result<()>;
    /// Headers that go with every request of the page, over those of its context.
    async fn set_extra_headers(&self, headers: &Headers) -> Result<()>;
    /// Decides about a request that waits.
    async fn decide(&self, key: &str, verdict: Verdict) -> Result<()>;

    /// Sends a request that waits, with the changes of a [`Verdict::Continue`], and has its answer wait instead, to be decided about
    /// by the same name. Fails with `NavigationFailed` when no answer comes.
    async fn fetch(&self, key: &str, changes: Verdict) -> Result<Fetched>;

    /// Answers the open dialog.
    async fn answer_dialog(&self, accept: bool, prompt_text: Option<&str>) -> Result<()>;
    /// Answers the open file chooser; `None` cancels it.
    async fn answer_file_chooser(&self, files: Option<&[PathBuf]>) -> Result<()>;

    /// Draws the page; the bytes are an image of the format asked for.
    async fn screenshot(&self, options: &Screenshot) -> Result<Vec<u8>>;
    /// Prints the page.
    async fn pdf(&self, options: &PdfOptions) -> Result<Vec<u8>>;
    /// Changes the viewport.
    async fn set_viewport(&self, viewport: &Viewport) -> Result<()>;
    /// Emulates media features; what is `None` is the browser's own again.
    async fn emulate_media(&self, features: &MediaFeatures) -> Result<()>;

    /// The body of a response, decoded from its transfer encoding.
    async fn response_body(&self, request: &RequestId) -> Result<Vec<u8>>;
    /// The body of a request.
    async fn request_body(&self, request: &RequestId) -> Result<Option<Vec<u8>>>;

    /// Gives up the navigation that is under way, and the loading of the document, without waiting for that.
    fn stop_loading(&self);
    /// Returns once the frame's renderer has answered anything: a script that runs without end keeps it from that, and so
    /// does a navigation that is under way.
    async fn check_responsive(&self, frame: &FrameId) -> Result<()>;
    /// Returns once the browser has answered something that it need not ask any page for.
    async fn check_browser_responsive(&self) -> Result<()>;
    /// Ends the script that runs in the frame's renderer now, if one does, without waiting for that. In vain while another
    /// document is about to be shown.
    fn terminate_execution(&self, frame: &FrameId);
    /// The same, and returns once the renderer has taken note: at once, but for one that another document waits for.
    async fn wait_for_termination(&self, frame: &FrameId) -> Result<()>;
    /// Takes back every timer of the frame's document, without waiting for that.
    fn stop_timers(&self, frame: &FrameId);
    /// Ends the page's renderer, which is reported as a crash; also when nothing can reach it any more.
    fn end_renderer(&self);

    /// Returns once every event that the browser sent so far was reported to the observer.
    async fn flush(&self) -> Result<()>;
    /// The same, and the requests that the page's documents have sent by now are among the events.
    async fn flush_requests(&self) -> Result<()> {
        self.flush().await
    }
    /// Brings the page to the front of its window.
    async fn activate(&self) -> Result<()>;
    /// Closes the page, without asking its `beforeunload`.
    async fn close(&self) -> Result<()>;
}
