//! A native browser automation library: drives Chromium, Firefox and WebKit in their own protocols, without Node and without a driver for
//! Chromium and Firefox. Elements, actions and waiting follow Playwright.
//!
//! A [`Browser`] has isolated [contexts](BrowserContext), a context has [pages](Page), and a page has [locators](Locator). A locator names
//! elements and is resolved anew by each operation. Actions wait until their element is visible, enabled, stable and not covered.
//!
//! Every operation that waits takes a [`Progress`]: its deadline, its cancellation, and the log that becomes part of the error of a timeout.
//! Everything runs in a Tokio runtime.
//!
//! # Launch a browser, and act on a page
//!
//! ```
//! use engine::{Browser, BrowserChoice, Click, ContextOptions, LaunchOptions, LoadState, Progress, Search};
//! use std::{env, time::Duration};
//!
//! #[tokio::main]
//! async fn main() -> engine::Result<()> {
//!     let path = env::var_os("PATH").unwrap_or_default();
//!     let search = Search {
//!         headless_shell: true,
//!         path: env::split_paths(&path).collect(),
//!         ..Search::default()
//!     };
//!     let found = engine::find(&BrowserChoice::Any, &search)?;
//!     let options = LaunchOptions {
//!         executable: found.path,
//!         headless_shell: found.headless_shell,
//!         headless: true,
//!         sandbox_unavailable: engine::sandbox_unavailable(),
//!         ..LaunchOptions::default()
//!     };
//!
//!     let progress = Progress::new(Duration::from_secs(60));
//!     let browser = Browser::launch(&progress, &options).await?;
//!     let context = browser.new_context(&progress, ContextOptions::default()).await?;
//!     let page = context.new_page(&progress).await?;
//!
//!     let url = "data:text/html,<button onclick=\"this.textContent = 'Sold'\">Buy</button>";
//!     page.goto(&progress, url, LoadState::Loaded).await?;
//!     page.locator("getByRole('button', { name: 'Buy' })")?
//!         .click(&progress, &Click::default())
//!         .await?;
//!     assert_eq!(page.locator("button")?.text(&progress).await?, "Sold");
//!     browser.close(&progress).await
//! }
//! ```
//!
//! # Read a page as a snapshot, and act on its refs
//!
//! A [`Snapshot`] describes the page for programs and language models: roles, names, states, and a ref for each element that can be acted on.
//! A ref is a target of [`Page::locator`]. It names the element of the snapshot, or the operation fails with [`Error::StaleRef`].
//!
//! ```
//! # #[tokio::main]
//! # async fn main() -> engine::Result<()> {
//! #     let path = std::env::var_os("PATH").unwrap_or_default();
//! #     let path = std::env::split_paths(&path).collect();
//! #     let search = engine::Search { headless_shell: true, path, ..engine::Search::default() };
//! #     let found = engine::find(&engine::BrowserChoice::Any, &search)?;
//! #     let options = engine::LaunchOptions {
//! #         executable: found.path,
//! #         headless_shell: found.headless_shell,
//! #         headless: true,
//! #         sandbox_unavailable: engine::sandbox_unavailable(),
//! #         ..engine::LaunchOptions::default()
//! #     };
//! #     let progress = engine::Progress::new(std::time::Duration::from_secs(60));
//! #     let browser = engine::Browser::launch(&progress, &options).await?;
//! #     let context = browser.new_context(&progress, engine::ContextOptions::default()).await?;
//! #     let page = context.new_page(&progress).await?;
//! #     read(page, progress.clone()).await?;
//! #     browser.close(&progress).await
//! # }
//! use engine::{Layout, SnapshotOptions};
//!
//! # async fn read(page: engine::Page, progress: engine::Progress) -> engine::Result<()> {
//! let url = "data:text/html,<h1>Sign in</h1><label>E-mail <input></label>";
//! page.goto(&progress, url, engine::LoadState::Loaded).await?;
//!
//! let options = SnapshotOptions {
//!     layout: Layout::Compact,
//!     ..SnapshotOptions::default()
//! };
//! let before = page.snapshot(&progress, &options).await?;
//! assert_eq!(before.text, "# Sign in\ntextbox \"E-mail\" e3");
//!
//! page.locator("e3")?.fill(&progress, "ada@example.org").await?;
//! let after = page.snapshot(&progress, &options).await?;
//! assert_eq!(
//!     after.changes_since(&before, None),
//!     ["~ textbox \"E-mail\" [active] e3: ada@example.org"]
//! );
//! # Ok(())
//! # }
//! ```
//!
//! # Handle errors
//!
//! An [`Error`] is a fact with its details. A locator that an action uses must match one element; a timeout names the last failed check.
//!
//! ```
//! # #[tokio::main]
//! # async fn main() -> engine::Result<()> {
//! #     let path = std::env::var_os("PATH").unwrap_or_default();
//! #     let path = std::env::split_paths(&path).collect();
//! #     let search = engine::Search { headless_shell: true, path, ..engine::Search::default() };
//! #     let found = engine::find(&engine::BrowserChoice::Any, &search)?;
//! #     let options = engine::LaunchOptions {
//! #         executable: found.path,
//! #         headless_shell: found.headless_shell,
//! #         headless: true,
//! #         sandbox_unavailable: engine::sandbox_unavailable(),
//! #         ..engine::LaunchOptions::default()
//! #     };
//! #     let progress = engine::Progress::new(std::time::Duration::from_secs(60));
//! #     let browser = engine::Browser::launch(&progress, &options).await?;
//! #     let context = browser.new_context(&progress, engine::ContextOptions::default()).await?;
//! #     let page = context.new_page(&progress).await?;
//! #     check(page, progress.clone()).await?;
//! #     browser.close(&progress).await
//! # }
//! use engine::{Click, Error};
//! use std::time::Duration;
//!
//! # async fn check(page: engine::Page, progress: engine::Progress) -> engine::Result<()> {
//! let url = "data:text/html,<button>Yes</button><button disabled>No</button>";
//! page.goto(&progress, url, engine::LoadState::Loaded).await?;
//!
//! match page.locator("button")?.click(&progress, &Click::default()).await {
//!     Err(Error::ElementAmbiguous { count, candidates, .. }) => {
//!         assert_eq!((count, candidates.len()), (2, 2));
//!     }
//!     other => panic!("{other:?}"),
//! }
//!
//! let short = progress.within(Duration::from_millis(200));
//! let disabled = page.locator("button:disabled")?;
//! let error = disabled.click(&short, &Click::default()).await.unwrap_err();
//! assert!(error.to_string().contains("element is not enabled"), "{error}");
//! # Ok(())
//! # }
//! ```
//!
//! # Where to find what
//!
//! | | |
//! |---|---|
//! | find, launch and connect to browsers | [`find`], [`LaunchOptions`], [`ConnectOptions`], [`Browser`] |
//! | isolate: cookies, emulation, permissions, offline mode | [`BrowserContext`], [`ContextOptions`], [`device`] |
//! | navigate, evaluate, take screenshots, handle dialogs | [`Page`] |
//! | find elements, act, read, wait | [`Locator`], [`Selector`], [`Click`], [`WaitFor`] |
//! | wait for the effects of an action | [`Page::watch`], [`SettleOptions`] |
//! | snapshots and what changed | [`Snapshot`], [`SnapshotOptions`] |
//! | observe, block, mock and change requests | [`Request`], [`Routes`], [`Route`], [`HarReplay`] |
//! | save and restore logins | [`StorageState`] |
//! | code for other tools | [`codegen`], [`Recording`] |
//! | measure and audit | [`Vitals`], [`TraceInsights`], [`AccessibilityAudit`], [`PageCheck`] |
//! | record videos | [`VideoRecording`], [`Ffmpeg`] |
//!
//! [`Capabilities`] lists what a kind of browser supports. An operation that it does not support fails with
//! [`Error::UnsupportedByBrowser`] before it changes anything.
//!
//! # Types of other crates
//!
//! JSON of pages is `serde_json::Value`; facts implement `serde::Serialize`, and options `serde::Deserialize`. [`Progress`] has a
//! `tokio_util::sync::CancellationToken` and a `tokio::time::Instant`; changes of pages are a `tokio::sync::watch::Receiver`. A video is a
//! `tempfile::TempPath`, which is deleted unless it is kept. Some types implement `schemars::JsonSchema` and traits of `strum`.
#![warn(missing_docs)]

mod action;
mod addresses;
mod annotated_screenshot;
mod annotation;
mod audit;
mod backend;
mod browser;
mod changes;
pub mod codegen;
mod console;
mod context;
mod devices;
mod dom_snapshot;
mod download;
mod egress;
mod error;
mod feature;
mod frame;
mod injected;
mod input;
mod launch;
mod locator;
mod memory;
mod network;
mod origins;
mod overlay;
mod page;
mod page_snapshot;
mod peer;
mod performance;
mod progress;
mod reading;
mod recording;
mod regexp;
mod routes;
mod selector;
mod settle;
mod snapshot;
mod source_map;
mod sources;
mod storage;
mod styles;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod text;
mod tokens;
mod video;
mod workers;

pub use action::{Click, HeldInput, InputFile, Payload};
pub use addresses::AddressRules;
pub use annotated_screenshot::{AnnotatedScreenshot, Placement};
pub use annotation::{Annotation, Annotations};
pub use audit::{
    AccessibilityAudit, AuditedElement, BrokenLink, Finding, FindingKind, LinkCheck, PageCheck,
    Violation, ViolationNode,
};
pub use backend::address::INTERNAL_PAGES;
pub use backend::{
    Alternative, BrowserBackend, Capabilities, ColorScheme, ConsoleMessage, ContextBackend,
    ContextObserver, ContextOptions, Cookie, CoveredRange, CoveredSource, Declaration, DialogKind,
    DownloadEvent, EmulatedOption, FailureReason, Feature, Fetched, FrameId, FunctionPosition,
    Geolocation, Handle, Headers, HeldKey, HttpCredentials, InheritedRules, InputStep, Key,
    LoaderId, MatchedStyles, MediaFeatures, MessageKind, Modifier, MouseButton, OriginDocuments,
    OutputFile, PageBackend, PageEvent, PageId, PageObserver, PageTimeouts, PausedRequest,
    PdfOptions, Point, Proxy, RequestEvent, RequestId, RequestingWorker, ResponseFacts, RuleOrigin,
    RunningWorker, SameSite, ScreencastFrame, ScreencastSender, Screenshot, ScreenshotArea,
    ScreenshotFormat, Size, SourceKind, SourceLocation, SourcePosition, StreamMessage,
    StreamMessageKind, StyleRule, StyleSheet, Throttling, TlsOptions, Verdict, Viewport, WorkerId,
    WorkerKind,
};
pub use browser::Browser;
pub use console::{ConsoleCounts, ConsoleEntry};
pub use context::{BrowserContext, RequestRecorder};
pub use devices::{Device, device, device_names, user_agent_of};
pub use dom_snapshot::{ActionTarget, DomSnapshot, StyleOverride};
pub use download::{Download, DownloadState};
pub use error::{
    Candidate, ElementState, ElementSummary, Error, Measurement, NetError, NetErrorClass, Obstacle,
    Result, StaleElement,
};
pub use frame::FrameFacts;
pub use input::similar_key;
pub use launch::{
    AUTO, BrowserChoice, BrowserKind, CdpEndpoint, Channel, ConnectOptions, EXTENSIONS,
    ExtensionEndpoint, Ffmpeg, FoundBrowser, LaunchOptions, Search, TemporaryFile,
    WebDriverEndpoint, extension_capabilities, find, find_all, remove_stale_profiles,
    sandbox_unavailable,
};
pub use locator::{Checked, Element, Locator, Rect, States, WaitFor};
pub use network::{Request, RequestOutcome, StreamMessages};
pub use origins::{OriginRules, is_like};
pub use overlay::{ActionOverlay, ActionStyle, ChapterOverlay};
pub use page::{
    Dialog, DialogHandlerGuard, DocumentTool, Events, FileChooser, InputObserver, Intercepted,
    Interceptor, LoadGuard, LoadState, NavigationOutcome, Page, PasswordMasks, Screencast,
    is_function, is_invisible, password_dots, without_invisible,
};
pub use page_snapshot::{Overview, Snapshot, SnapshotOptions};
pub use performance::{
    BlockingRequest, CoverageReport, CoveredFile, HeapClass, HeapSummary, HotFunction, Interaction,
    LargestPaint, LayoutShift, LayoutShiftCause, LcpBreakdown, LongTask, Measured, Rating,
    TraceInsights, TracedInteraction, TracedShift, Vital, Vitals,
};
pub use progress::Progress;
pub use reading::{Content, ElementFacts, Form, Link, Links, Metadata, Table};
pub use recording::{Recorded, Recording};
pub use routes::{
    HarReplay, Mock, RequestChanges, ResponseChanges, Route, RouteAnswer, Routes, UrlPattern,
};
pub use selector::{Selector, SelectorError, Step, Target, TextMatch, reference_in};
pub use settle::{Peek, SettleOptions, Settled, Watch};
pub use snapshot::{Found, Layout, Line, LineKind, LineRange, Lines, Pattern, Ref, VisibleRef};
pub use storage::{OriginStorage, StorageItem, StorageState};
pub use styles::{
    BoxModel, Declared, ElementStyles, MatchedRule, Overridden, Precedence, RuleOf, StyleProperty,
    Variable,
};
pub use tokens::{estimate_tokens, prefix_of_tokens, suffix_of_tokens};
pub use video::{VideoEncoder, VideoOptions, VideoRecording};
pub use wire::span::{COMMAND as COMMAND_SPAN, TARGET as TELEMETRY};
pub use workers::{Registration, Worker};
