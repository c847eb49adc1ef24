//! What a browser reports, in the engine's own words.

use super::{FrameId, LoaderId, PageId, RequestId};
use crate::error::NetError;
use serde::Serialize;
use std::path::PathBuf;

/// Header names and values in the order of the message.
pub type Headers = Vec<(String, String)>;

/// Bytes of a URL, a name, or the message of a dialog.
const MAX_TEXT_LENGTH: usize = 8_000;
/// What stands for the rest of a longer one.
const CUT_OFF: &str = "… (cut off)";

/// Something that happened in a page.
#[derive(Debug, Clone)]
pub enum PageEvent {
    /// A frame was added below another.
    FrameAttached { frame: FrameId, parent: FrameId },
    /// A frame has this name, as far as [`PageEvent::NavigationCommitted`] did not tell it.
    FrameNamed { frame: FrameId, name: String },
    /// A frame was removed, with all below it.
    FrameDetached { frame: FrameId },
    /// A frame began to load another document (never a same-document navigation). `loader` is known at the latest when it commits.
    NavigationStarted {
        frame: FrameId,
        loader: Option<LoaderId>,
        url: String,
    },
    /// A document asked for another page, or for a download, which will be told of by the context.
    OpeningRequested,
    /// A frame shows another document from now on. `failed` is the address whose document could not be had, where this is the browser's
    /// own page about that; empty where the browser does not say which.
    NavigationCommitted {
        frame: FrameId,
        loader: LoaderId,
        url: String,
        name: String,
        failed: Option<String>,
    },
    /// A navigation ended without another document. `reason` is `None` if that is no error, as for a download or a 204.
    NavigationAborted {
        frame: FrameId,
        loader: Option<LoaderId>,
        reason: Option<NetError>,
    },
    /// The URL changed within the document (fragment, history API).
    SameDocumentNavigation { frame: FrameId, url: String },
    /// The document was parsed.
    DomContentLoaded { frame: FrameId, loader: LoaderId },
    /// The document and all it loads is there.
    Load { frame: FrameId, loader: LoaderId },
    /// A request went on.
    Request(RequestEvent),
    /// A console call, a browser's own message, or an uncaught error.
    Console(ConsoleMessage),
    /// A dialog opened; the page waits for its answer.
    DialogOpened {
        kind: DialogKind,
        message: String,
        default_value: String,
    },
    /// The dialog was answered, by us or by somebody else.
    DialogClosed,
    /// A file chooser opened; it waits for its answer.
    FileChooserOpened { multiple: bool },
    /// The file chooser is gone.
    FileChooserClosed,
    /// The renderer crashed.
    Crashed,
    /// The page is gone.
    Closed,
}

impl PageEvent {
    /// The event with the texts that the page chose cut off where they are longer than anybody reads: a page can make
    /// them as long as it likes, and most stand in every answer.
    pub(crate) fn bounded(mut self) -> Self {
        let cut = |text: &mut String| {
            if text.len() > MAX_TEXT_LENGTH {
                text.truncate(text.floor_char_boundary(MAX_TEXT_LENGTH));
                text.push_str(CUT_OFF);
                text.shrink_to_fit();
            }
        };
        match &mut self {
            Self::NavigationStarted { url, .. }
            | Self::SameDocumentNavigation { url, .. }
            | Self::Request(RequestEvent::Started { url, .. }) => cut(url),
            Self::NavigationCommitted { url, name, .. } => {
                cut(url);
                cut(name);
            }
            Self::FrameNamed { name, .. } => cut(name),
            Self::Console(message) => {
                if let Some(location) = &mut message.location {
                    cut(&mut location.url);
                }
            }
            Self::DialogOpened {
                message,
                default_value,
                ..
            } => {
                cut(message);
                cut(default_value);
            }
            Self::OpeningRequested
            | Self::NavigationAborted { .. }
            | Self::FrameAttached { .. }
            | Self::FrameDetached { .. }
            | Self::DomContentLoaded { .. }
            | Self::Load { .. }
            | Self::Request(_)
            | Self::DialogClosed
            | Self::FileChooserOpened { .. }
            | Self::FileChooserClosed
            | Self::Crashed
            | Self::Closed => {}
        }
        self
    }
}

/// The life of a request.
#[derive(Debug, Clone)]
pub enum RequestEvent {
    /// It was sent. A redirect is a request of the same id again, after a `Responded`.
    Started {
        id: RequestId,
        frame: Option<FrameId>,
        loader: Option<LoaderId>,
        url: String,
        method: String,
        /// The resource type as Playwright names it: `document`, `stylesheet`, `image`, `media`, `font`, `script`, `xhr`, `fetch`, `eventsource`, `websocket`, `manifest`, `ping`, `other`.
        resource_type: String,
        headers: Headers,
        has_body: bool,
        /// The body, if it is short and text.
        body: Option<String>,
        /// It loads a document for a frame.
        is_navigation: bool,
        /// Seconds on the browser's own clock.
        at: f64,
    },
    /// The headers that were really sent, known a little later.
    HeadersSent { id: RequestId, headers: Headers },
    /// The answer comes from the page's own memory; nothing is sent.
    ServedFromCache { id: RequestId },
    /// Status and headers of the answer arrived.
    Responded {
        id: RequestId,
        response: ResponseFacts,
        /// `HeadersSent` and `HeadersReceived` tell of it too.
        has_raw_headers: bool,
        at: f64,
    },
    /// The headers that were really received, known a little before or after the response.
    HeadersReceived { id: RequestId, headers: Headers },
    /// The body arrived. `size` is what crossed the network, in bytes.
    Finished { id: RequestId, size: u64, at: f64 },
    /// It failed or was cancelled.
    Failed {
        id: RequestId,
        reason: NetError,
        cancelled: bool,
        at: f64,
    },
}

/// What the first line and the headers of a response say.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResponseFacts {
    /// HTTP status.
    pub status: u16,
    /// The reason phrase, or the standard one where the protocol has none.
    pub status_text: String,
    /// Headers.
    pub headers: Headers,
    /// The media type without parameters.
    pub mime_type: String,
    /// The answer came from a cache.
    pub from_cache: bool,
    /// The answer came from a service worker.
    pub from_service_worker: bool,
    /// IP address and port of the server.
    pub remote_address: Option<String>,
}

/// A line of the console.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ConsoleMessage {
    /// What kind of call it was.
    pub kind: MessageKind,
    /// The text as a console shows it.
    pub text: String,
    /// Where it was called.
    pub location: Option<SourceLocation>,
}

/// What made a console message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, strum::Display, strum::EnumString)]
#[serde(rename_all = "camelCase")]
#[strum(serialize_all = "camelCase")]
pub enum MessageKind {
    Log,
    Debug,
    Info,
    Warning,
    Error,
    Verbose,
    Dir,
    Dirxml,
    Table,
    Trace,
    Clear,
    StartGroup,
    StartGroupCollapsed,
    EndGroup,
    Assert,
    Profile,
    ProfileEnd,
    Count,
    TimeEnd,
    /// An uncaught error or rejection of the page.
    PageError,
}

/// A place in a script or document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SourceLocation {
    /// URL of the script or document.
    pub url: String,
    /// Line, from 0.
    pub line: u32,
    /// Column, from 0.
    pub column: u32,
}

/// What kind of dialog a page opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, strum::Display)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum DialogKind {
    /// `alert()`
    Alert,
    /// `confirm()`
    Confirm,
    /// `prompt()`
    Prompt,
    /// The question whether to leave the page.
    Beforeunload,
}

/// The life of a download.
#[derive(Debug, Clone)]
pub enum DownloadEvent {
    /// It began.
    Started {
        id: String,
        page: Option<PageId>,
        url: String,
        suggested_name: String,
    },
    /// It ended; the file lies at `path`.
    Finished { id: String, path: PathBuf },
    /// It was cancelled or failed.
    Failed { id: String, reason: String },
}
