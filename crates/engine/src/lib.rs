//! Controls browsers: contexts, pages, locators, actions, snapshots. Independent of MCP.

mod action;
mod addresses;
mod backend;
mod browser;
mod changes;
pub mod codegen;
mod console;
mod context;
mod devices;
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
mod page;
mod page_snapshot;
mod progress;
mod reading;
mod regexp;
mod routes;
mod selector;
mod settle;
mod snapshot;
mod storage;
mod tokens;

pub use action::{Click, InputFile, Payload};
pub use addresses::AddressRules;
pub use backend::{
    Alternative, BrowserBackend, Capabilities, ColorScheme, ConsoleMessage, ContextBackend,
    ContextObserver, ContextOptions, Cookie, DialogKind, DownloadEvent, FailureReason, Feature,
    Fetched, FrameId, Geolocation, Handle, Headers, HeldKey, HttpCredentials, InputStep, Key,
    LoaderId, MediaFeatures, MessageKind, Modifier, MouseButton, OriginDocuments, PageBackend,
    PageEvent, PageId, PageObserver, PageTimeouts, PausedRequest, PdfOptions, Point, Proxy,
    RequestEvent, RequestId, ResponseFacts, SameSite, Screenshot, ScreenshotArea, ScreenshotFormat,
    Size, SourceLocation, Throttling, Verdict, Viewport,
};
pub use browser::Browser;
pub use console::{ConsoleCounts, ConsoleEntry};
pub use context::BrowserContext;
pub use devices::{Device, device, device_names, user_agent_of};
pub use download::{Download, DownloadState};
pub use error::{
    Candidate, ElementState, ElementSummary, Error, NetError, NetErrorClass, Obstacle, Result,
    StaleElement,
};
pub use frame::FrameFacts;
pub use launch::{
    AUTO, BrowserChoice, BrowserKind, CdpEndpoint, Channel, ConnectOptions, FoundBrowser,
    LaunchOptions, Search, WebDriverEndpoint, find, find_all, remove_stale_profiles,
    sandbox_unavailable,
};
pub use locator::{Checked, Element, Locator, Rect, States, WaitFor};
pub use network::{Request, RequestOutcome};
pub use origins::{OriginRules, is_like};
pub use page::{
    Dialog, DialogHandlerGuard, Events, FileChooser, Intercepted, Interceptor, LoadGuard,
    LoadState, NavigationOutcome, Page, PasswordMasks, password_dots, without_invisible,
};
pub use page_snapshot::{Snapshot, SnapshotOptions};
pub use progress::Progress;
pub use reading::{Content, ElementFacts, Form, Link, Links, Metadata, Table};
pub use routes::{HeaderChanges, Mock, Route, RouteAnswer, Routes, UrlPattern};
pub use selector::{Selector, SelectorError, Step, Target, TextMatch};
pub use settle::{SettleOptions, Settled, Watch};
pub use snapshot::{Found, Layout, Pattern};
pub use storage::{OriginStorage, StorageItem, StorageState};
pub use tokens::estimate_tokens;
