//! The events of a browser, in terms of the engine.

use super::{FrameId, LoaderId, PageId, RequestId, RequestingWorker};
use crate::error::NetError;
use crate::text::shorten;
use serde::Serialize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;
use tokio::sync::watch;

/// Header names and values in the order of the message.
pub type Headers = Vec<(String, String)>;

/// The largest size of a URL, a name, or the message of a dialog, in bytes.
const MAX_TEXT_LENGTH: usize = 8_000;
/// The longest stored payload of a message, in bytes.
const MAX_PAYLOAD_LENGTH: usize = 16 * 1024;
/// The text that replaces the rest of a longer text.
const CUT_OFF: &str = "… (cut off)";

/// An event of a page.
#[derive(Debug, Clone)]
#[expect(
    missing_docs,
    reason = "the sentence of a variant describes its fields"
)]
pub enum PageEvent {
    /// A frame was attached to its parent.
    FrameAttached { frame: FrameId, parent: FrameId },
    /// The name of a frame became known after [`PageEvent::NavigationCommitted`].
    FrameNamed { frame: FrameId, name: String },
    /// A frame was detached with its descendants.
    FrameDetached { frame: FrameId },
    /// A frame began to load another document (never a same-document navigation). `loader` is known at the latest at the commit.
    NavigationStarted {
        frame: FrameId,
        loader: Option<LoaderId>,
        url: String,
    },
    /// A document requested a popup or a download. The context reports which.
    OpeningRequested,
    /// A navigation to another document was committed. `failed` is the URL that could not be loaded, if the document is an error page of the
    /// browser; empty if the browser does not report the URL.
    NavigationCommitted {
        frame: FrameId,
        loader: LoaderId,
        url: String,
        name: String,
        failed: Option<String>,
    },
    /// A navigation ended without a new document. `reason` is `None` if that is not an error, as for a download or a 204 response.
    NavigationAborted {
        frame: FrameId,
        loader: Option<LoaderId>,
        reason: Option<NetError>,
    },
    /// The URL changed within the document (fragment, history API).
    SameDocumentNavigation { frame: FrameId, url: String },
    /// The document was parsed (`DOMContentLoaded`).
    DomContentLoaded { frame: FrameId, loader: LoaderId },
    /// The document and its resources were loaded (`load`).
    Load { frame: FrameId, loader: LoaderId },
    /// The state of a request changed.
    Request(RequestEvent),
    /// A message was added to the console, or an error was not caught.
    Console(ConsoleMessage),
    /// A dialog opened, which pauses the page.
    DialogOpened {
        kind: DialogKind,
        message: String,
        default_value: String,
    },
    /// The dialog was closed, by a command or by the user.
    DialogClosed,
    /// A file chooser opened.
    FileChooserOpened { multiple: bool },
    /// The file chooser was closed.
    FileChooserClosed,
    /// The renderer process crashed.
    Crashed,
    /// The page was closed.
    Closed,
}

impl PageEvent {
    /// Shortens the texts of a page to the limit. A page determines their length, and most texts are part of answers.
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

/// An event of a request.
#[derive(Debug, Clone)]
#[expect(
    missing_docs,
    reason = "the sentence of a variant describes its fields"
)]
pub enum RequestEvent {
    /// The request was sent. A redirect sends a request with the same identifier again, after a `Responded`.
    Started {
        id: RequestId,
        frame: Option<FrameId>,
        loader: Option<LoaderId>,
        url: String,
        method: String,
        /// The resource type with Playwright's name: `document`, `stylesheet`, `image`, `media`, `font`, `script`, `xhr`, `fetch`, `eventsource`, `websocket`, `manifest`, `ping`, `other`.
        resource_type: String,
        headers: Headers,
        has_body: bool,
        /// The body, if it is a short text.
        body: Option<String>,
        /// Whether the request loads a document of a frame.
        is_navigation: bool,
        /// The time in seconds of the browser's clock; NaN if the browser does not report one.
        at: f64,
    },
    /// The headers that were sent. The event follows a little later.
    HeadersSent { id: RequestId, headers: Headers },
    /// A worker sent the request. The event follows its `Started`.
    SentByWorker {
        id: RequestId,
        worker: RequestingWorker,
    },
    /// The response comes from the memory cache of the page. No request is sent.
    ServedFromCache { id: RequestId },
    /// The status and the headers of the response were received.
    Responded {
        id: RequestId,
        response: ResponseFacts,
        /// Whether `HeadersSent` and `HeadersReceived` are also reported.
        has_raw_headers: bool,
        at: f64,
    },
    /// The headers that were received. The event precedes or follows the response.
    HeadersReceived { id: RequestId, headers: Headers },
    /// The body was received. `size` is the number of bytes that were transferred.
    Finished { id: RequestId, size: u64, at: f64 },
    /// A WebSocket frame or a server-sent event was transferred.
    Message {
        id: RequestId,
        message: StreamMessage,
    },
    /// The request failed or was cancelled.
    Failed {
        id: RequestId,
        reason: NetError,
        cancelled: bool,
        at: f64,
    },
}

impl RequestEvent {
    /// Returns the start of a WebSocket, which the browser does not report as a request. Its headers follow.
    pub(crate) fn web_socket(id: RequestId, url: String) -> Self {
        Self::Started {
            id,
            frame: None,
            loader: None,
            url,
            method: "GET".to_owned(),
            resource_type: "websocket".to_owned(),
            headers: Headers::new(),
            has_body: false,
            body: None,
            is_navigation: false,
            at: f64::NAN,
        }
    }
}

/// A frame of a WebSocket, or an event of an event source.
#[derive(Debug, Clone, PartialEq)]
pub struct StreamMessage {
    /// The time of its arrival at the engine.
    pub at: SystemTime,
    /// What was transferred.
    pub kind: StreamMessageKind,
    /// The payload: text, or the Base64 of binary data. Its beginning, if it is longer than 16 KiB.
    pub payload: String,
    /// The length of the complete payload, as text or Base64, in bytes.
    pub length: usize,
}

/// The kind of a message of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StreamMessageKind {
    /// A frame that the page sent, with its opcode. <https://www.rfc-editor.org/rfc/rfc6455#section-5.2>
    Sent(u8),
    /// A frame that the page received, with its opcode.
    Received(u8),
    /// A server-sent event. <https://html.spec.whatwg.org/multipage/server-sent-events.html>
    Event {
        /// The type of the event.
        name: String,
        /// The last event ID; often empty.
        id: String,
    },
}

impl StreamMessage {
    /// Creates a message that is transferred now.
    pub(crate) fn now(kind: StreamMessageKind, mut payload: String) -> Self {
        let length = payload.len();
        shorten(&mut payload, MAX_PAYLOAD_LENGTH - '…'.len_utf8());
        Self {
            at: SystemTime::now(),
            kind,
            payload,
            length,
        }
    }
}

/// The status line and the headers of a response.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResponseFacts {
    /// The HTTP status.
    pub status: u16,
    /// The reason phrase, or the standard one if the protocol has none.
    pub status_text: String,
    /// The headers.
    pub headers: Headers,
    /// The media type without parameters.
    pub mime_type: String,
    /// Whether the response comes from a cache.
    pub from_cache: bool,
    /// Whether the response comes from a service worker.
    pub from_service_worker: bool,
    /// The IP address and port of the server.
    pub remote_address: Option<String>,
    /// The protocol, such as `http/1.1`, if the browser reports it.
    #[serde(skip)]
    pub protocol: Option<String>,
}

/// A console message.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ConsoleMessage {
    /// The kind of the message.
    pub kind: MessageKind,
    /// The text as a console displays it.
    pub text: String,
    /// The position of the call.
    pub location: Option<SourceLocation>,
}

/// The kind of a console message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, strum::Display, strum::EnumString)]
#[serde(rename_all = "camelCase")]
#[strum(serialize_all = "camelCase")]
#[expect(
    missing_docs,
    reason = "their names are those of the console's methods"
)]
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
    /// An uncaught exception or rejection of the page.
    PageError,
}

/// A position in a script or document.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SourceLocation {
    /// The URL of the script or document.
    pub url: String,
    /// The line, from 0.
    pub line: u32,
    /// The column, from 0.
    pub column: u32,
    /// The name of the function; empty if it has none or the browser does not report it.
    #[serde(skip)]
    pub function: String,
    /// The position in the source from which the script was built, if it was looked up and has one.
    #[serde(skip)]
    pub source: Option<SourcePosition>,
}

/// A position in a source from which a script or a style sheet was built. Line and column are from 1.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SourcePosition {
    /// The path of the source on the origin of the built file, such as `src/app.ts`; the URL if it has another origin.
    pub source: Arc<str>,
    /// The line.
    pub line: u32,
    /// The column, in UTF-16 units.
    pub column: u32,
}

impl std::fmt::Display for SourcePosition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}:{}", self.source, self.line, self.column)
    }
}

/// The kind of a dialog.
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
    /// The beforeunload dialog.
    Beforeunload,
}

/// An event of a download.
#[derive(Debug, Clone)]
#[expect(
    missing_docs,
    reason = "the sentence of a variant describes its fields"
)]
pub enum DownloadEvent {
    /// The download started.
    Started {
        id: String,
        page: Option<PageId>,
        url: String,
        suggested_name: String,
    },
    /// The download was completed. The file is at `path`.
    Finished { id: String, path: PathBuf },
    /// The download was cancelled or failed.
    Failed { id: String, reason: String },
}

/// A frame of a screencast.
#[derive(Debug, Clone)]
pub struct ScreencastFrame {
    /// The image, a JPEG.
    pub jpeg: Arc<[u8]>,
    /// When the page showed it.
    pub time: SystemTime,
}

/// Sends the frames of a screencast. A frame replaces the one before, whether or not it was received.
pub type ScreencastSender = watch::Sender<Option<ScreencastFrame>>;
