//! The traits that a browser protocol implements for the engine, and the events that it reports. There is one implementation per protocol.
//!
//! [`BrowserBackend`], [`ContextBackend`] and [`PageBackend`] execute commands; [`ContextObserver`] and [`PageObserver`] receive events in
//! the browser's order, from one task per page or browser.
//!
//! Their types belong to the engine and to no protocol: ids are opaque texts of the backend, net errors have Chromium's names
//! ([`NetError`](crate::error::NetError)), and an unsupported feature is an [`Error::UnsupportedByBrowser`](crate::error::Error) that
//! [`Capabilities`] declare in advance. A new protocol is a new folder beside `cdp` and `bidi`, and a line in `launch`.

pub(crate) mod address;
pub(crate) mod bidi;
mod browser;
mod capability;
pub(crate) mod cdp;
pub(crate) mod changed_response;
mod context;
mod creation;
mod event;
pub(crate) mod expression;
mod frame_tree;
pub(crate) mod gesture;
mod guard;
mod id;
pub(crate) mod image;
mod input;
pub(crate) mod interception;
pub(crate) mod keys;
mod observer;
mod options;
mod origin_storage;
mod page;
mod profiling;
mod proxy;
mod refusal;
mod registry;
pub(crate) mod screencast;
pub(crate) mod scripts;
mod stack;
mod styles;
mod tls;
pub(crate) mod webkit;
mod withheld;
mod worker;

pub use crate::feature::{Alternative, Feature};
pub use crate::routes::FailureReason;
pub use browser::BrowserBackend;
pub use capability::Capabilities;
pub use context::{ContextBackend, OriginDocuments};
pub(crate) use context::{Cookies, Permissions};
pub use event::{
    ConsoleMessage, DialogKind, DownloadEvent, Headers, MessageKind, PageEvent, RequestEvent,
    ResponseFacts, ScreencastFrame, ScreencastSender, SourceLocation, SourcePosition,
    StreamMessage, StreamMessageKind,
};
pub use id::{FrameId, Handle, LoaderId, PageId, RequestId, WorkerId};
pub use input::{HeldKey, InputStep, Key, Modifier, MouseButton, Point};
pub use interception::{Fetched, PausedRequest, Verdict};
pub(crate) use observer::Reporter;
pub use observer::{ContextObserver, PageObserver};
pub use options::{
    ColorScheme, ContextOptions, Cookie, EmulatedOption, Geolocation, HttpCredentials,
    MediaFeatures, PageTimeouts, PdfOptions, SameSite, Screenshot, ScreenshotArea,
    ScreenshotFormat, Size, Throttling, Viewport,
};
pub use page::PageBackend;
pub(crate) use page::{
    Capture, Dialogs, Emulation, Evaluation, Frames, Input, Interception, Navigation, Profiling,
    Requests, Screencast, Styles, Unresponsive, Workers,
};
pub use profiling::{CoveredRange, CoveredSource, FunctionPosition, OutputFile, SourceKind};
pub use proxy::Proxy;
pub(crate) use proxy::{Endpoint, ProxyScheme};
pub use styles::{Declaration, InheritedRules, MatchedStyles, RuleOrigin, StyleRule, StyleSheet};
pub use tls::TlsOptions;
pub use worker::{RequestingWorker, RunningWorker, WorkerKind};
